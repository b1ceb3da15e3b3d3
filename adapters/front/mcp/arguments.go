package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// maxIdent bounds a Task or Session id; a UUID has 36 bytes. What is longer names nothing and is not echoed.
const maxIdent = 128

// arguments collects every reason why the arguments of a tool do not fit.
type arguments struct {
	members wire.Members
	reasons []*fault.Error
}

// readArguments splits the arguments; known are their names. Absent arguments are an empty object.
func readArguments(raw json.RawMessage, known ...string) *arguments {
	a := &arguments{}
	if wire.IsNull(raw) {
		return a
	}
	members, err := wire.Object(raw)
	var dup *wire.DuplicateError
	switch {
	case errors.As(err, &dup):
		for _, key := range slices.Compact(slices.Sorted(slices.Values(dup.Keys[:min(len(dup.Keys), 8)]))) {
			a.refuse(CodeArgumentTwice, "name", wire.Short(key))
		}
	case errors.Is(err, wire.ErrTooMany):
		a.refuse(wire.CodeTooMany, "limit", wire.MaxMembers)
		return a
	case err != nil:
		a.refuse(CodeArgumentsObject)
		return a
	}
	a.members = members
	for _, m := range members {
		if !slices.Contains(known, m.Key) && len(a.reasons) < 8 {
			a.refuse(CodeArgumentUnknown, "name", wire.Short(m.Key), "known", strings.Join(known, ", "))
		}
	}
	return a
}

func (a *arguments) refuse(code fault.Code, kv ...any) {
	a.reasons = append(a.reasons, fault.New(code, kv...))
}

// get returns an argument that is there and not null.
func (a *arguments) get(name string) (json.RawMessage, bool) {
	raw := a.members.Get(name)
	return raw, !wire.IsNull(raw)
}

// text reads a string; required ones must be there.
func (a *arguments) text(name string, required bool) (s string, there bool) {
	raw, there := a.get(name)
	if !there {
		if required {
			a.refuse(CodeArgumentMissing, "name", name)
		}
		return "", false
	}
	s, err := wire.Text(raw)
	switch {
	case errors.Is(err, wire.ErrNotText):
		a.refuse(CodeArgumentText, "name", name)
	case err != nil:
		a.refuse(CodeArgumentType, "name", name, "want", "string")
	}
	return s, err == nil
}

func (a *arguments) number(name string) *float64 {
	raw, there := a.get(name)
	if !there {
		return nil
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		a.refuse(CodeArgumentType, "name", name, "want", "number")
		return nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil { // valid JSON, so only its range can be wrong
		a.refuse(CodeArgumentNumber, "name", name)
		return nil
	}
	return &v
}

// argumentFault is the one fault for all reasons, nil when there are none. detail is their localized text.
func (c *core) argumentFault(a *arguments) *fault.Error {
	if len(a.reasons) == 0 {
		return nil
	}
	details := make([]string, len(a.reasons))
	for i, r := range a.reasons {
		details[i] = c.catalog.Fault(r)
	}
	return fault.New(service.CodeArguments, "detail", strings.Join(details, " "))
}

// runArguments decodes those of agent_run. What a request may say is the Runner's matter.
func (c *core) runArguments(raw json.RawMessage) (service.RunRequest, *fault.Error) {
	a := readArguments(raw, "request", "session_id", "temperature", "images")
	var req service.RunRequest
	req.Request, _ = a.text("request", true)
	req.SessionID, _ = a.text("session_id", false)
	req.Temperature = a.number("temperature")
	encoded, imageFault := c.imageArguments(a)
	if len(a.reasons) == 1 && a.reasons[0].Code == CodeArgumentText && a.reasons[0].Args["name"] == "request" {
		return req, fault.New(service.CodeRequestText)
	}
	if f := c.argumentFault(a); f != nil {
		return req, f
	}
	if len(req.SessionID) > maxIdent {
		return req, fault.New(service.CodeUnknownSession, "session", wire.Short(req.SessionID))
	}
	if imageFault != nil {
		return req, imageFault
	}
	req.Images, imageFault = c.decodeImages(encoded)
	return req, imageFault
}

// statusArguments decodes those of agent_status.
func (c *core) statusArguments(raw json.RawMessage) (task, session string, f *fault.Error) {
	a := readArguments(raw, "task_id", "session_id")
	task, _ = a.text("task_id", true)
	session, _ = a.text("session_id", false)
	if f := c.argumentFault(a); f != nil {
		return "", "", f
	}
	switch {
	case len(task) > maxIdent:
		return "", "", fault.New(service.CodeBadTaskID, "task", wire.Short(task))
	case len(session) > maxIdent:
		return "", "", fault.New(service.CodeWrongSession, "task", wire.Short(task), "session", wire.Short(session))
	}
	return task, session, nil
}

// imageArguments finds the images without decoding them; count and sizes are judged before anything is allocated.
func (c *core) imageArguments(a *arguments) ([]json.RawMessage, *fault.Error) {
	raw, there := a.get("images")
	if !there {
		return nil, nil
	}
	var (
		images []json.RawMessage
		count  int
	)
	isArray := wire.Elements(raw, func(i int, v json.RawMessage) bool {
		count++
		if len(images) < c.limits.Images {
			images = append(images, v)
		}
		return true
	})
	if !isArray {
		a.refuse(CodeArgumentType, "name", "images", "want", "array")
		return nil, nil
	}
	for i, v := range images {
		if v[0] != '"' {
			a.refuse(CodeArgumentType, "name", "images["+strconv.Itoa(i)+"]", "want", "string")
		}
	}
	if count > c.limits.Images {
		return nil, fault.New(service.CodeImageCount, "count", count, "limit", c.limits.Images)
	}
	return images, nil
}

// decodeImages checks every size from the length of the Base64 first. index in its faults counts from 0.
func (c *core) decodeImages(encoded []json.RawMessage) ([][]byte, *fault.Error) {
	bodies := make([]string, len(encoded))
	total := 0
	for i, raw := range encoded {
		s, err := wire.Text(raw)
		if err != nil {
			return nil, fault.New(service.CodeImageEncoding, "index", i)
		}
		bodies[i] = strings.TrimRight(stripDataURL(s), "=")
		size := base64.RawStdEncoding.DecodedLen(len(bodies[i]))
		if size > c.limits.ImageBytes {
			return nil, fault.New(service.CodeImageSize, "index", i, "size", size, "limit", c.limits.ImageBytes)
		}
		total += size
	}
	if total > c.limits.ImagesBytes {
		return nil, fault.New(service.CodeImageTotal, "size", total, "limit", c.limits.ImagesBytes)
	}
	var images [][]byte
	for i, body := range bodies {
		alphabet := base64.RawStdEncoding
		if strings.ContainsAny(body, "-_") {
			alphabet = base64.RawURLEncoding
		}
		image, err := alphabet.DecodeString(body)
		if err != nil || len(image) == 0 {
			return nil, fault.Wrap(err, service.CodeImageEncoding, "index", i)
		}
		images = append(images, image)
	}
	return images, nil
}

// stripDataURL drops the prefix of a data URL in Base64.
func stripDataURL(s string) string {
	if len(s) < 5 || !strings.EqualFold(s[:5], "data:") {
		return s
	}
	head, body, found := strings.Cut(s, ",")
	if !found || !strings.HasSuffix(strings.ToLower(head), ";base64") {
		return s // what it is not is said by the decoder
	}
	return body
}
