package engine

import (
	"bytes"
	"context"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Bounds of a request.
const (
	maxRequestBytes = 256 << 10 // text; more than any local model's context
	minTemperature  = 0.0
	maxTemperature  = 2.0
)

// Run implements service.Runner: everything that can be judged at once is judged here, the rest while the Task runs.
func (e *Engine) Run(_ context.Context, req service.RunRequest) (service.Accepted, error) {
	if f := e.admit(req); f != nil {
		return service.Accepted{}, f
	}
	sub := session.Submitted{
		At: e.now(), TaskID: e.Ident.New(), NewSession: e.Ident.New(), SessionID: req.SessionID,
		Owner: req.Owner, Request: req.Request, Temperature: req.Temperature, Images: req.Images,
	}
	for _, a := range e.feed(sub) {
		switch a := a.(type) {
		case session.Refused:
			return service.Accepted{}, a.Fault
		case session.Accepted:
			s := audit.Ref{Session: a.SessionID, Task: a.TaskID}
			e.emit(trace.Info, "task.accepted", s, trace.F("ahead", a.Ahead), trace.F("images", len(req.Images)))
			ahead := e.Catalog.Text(keyAheadNone, nil)
			if a.Ahead > 0 {
				ahead = e.Catalog.Text(keyAheadSome, map[string]any{"ahead": a.Ahead})
			}
			return service.Accepted{
				TaskID: a.TaskID, SessionID: a.SessionID, Ahead: a.Ahead, Summary: ahead,
				Text: e.Catalog.Text(keyAccepted, map[string]any{"task": a.TaskID, "session": a.SessionID, "ahead": ahead}),
			}, nil
		}
	}
	return service.Accepted{}, fault.New(fault.CodeInternal, "detail", "no answer to a submitted Task")
}

// admit judges a request: text (MCP-RUN-01), temperature (MCP-RUN-03), images (OLL-09).
func (e *Engine) admit(req service.RunRequest) *fault.Error {
	switch {
	case len(req.Request) > maxRequestBytes:
		return fault.New(service.CodeRequestTooBig, "size", group(len(req.Request)), "limit", group(maxRequestBytes))
	case !utf8.ValidString(req.Request) || strings.ContainsRune(req.Request, 0):
		return fault.New(service.CodeRequestText)
	case !strings.ContainsFunc(req.Request, visible):
		return fault.New(service.CodeRequestEmpty)
	}
	if t := req.Temperature; t != nil && (math.IsNaN(*t) || *t < minTemperature || *t > maxTemperature) {
		return fault.New(service.CodeTemperature, "value", *t, "min", minTemperature, "max", maxTemperature)
	}
	if req.SessionID != "" && !isUUID(req.SessionID) {
		return fault.New(service.CodeUnknownSession, "session", cutRunes(req.SessionID, maxTitleRunes))
	}
	return e.admitImages(req.Images)
}

// visible tells what a reader would see: no space, control or format character (such as a zero-width space).
func visible(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) }

func (e *Engine) admitImages(images [][]byte) *fault.Error {
	if len(images) == 0 {
		return nil
	}
	v := e.cfg.Vision
	if len(images) > v.MaxImages {
		return fault.New(service.CodeImageCount, "count", len(images), "limit", v.MaxImages)
	}
	total := int64(0)
	for i, img := range images {
		size := int64(len(img))
		if size > v.MaxImageBytes {
			return fault.New(service.CodeImageSize, "index", i, "size", size, "limit", v.MaxImageBytes)
		}
		if !isImage(img) {
			return fault.New(service.CodeImageKind, "index", i)
		}
		total += size
	}
	if total > v.MaxTotalBytes {
		return fault.New(service.CodeImageTotal, "size", total, "limit", v.MaxTotalBytes)
	}
	e.mu.Lock()
	info := e.info
	e.mu.Unlock()
	if info != nil && !info.Has("vision") {
		return fault.New(model.CodeNoVision, "model", e.cfg.Agent.Model)
	}
	return nil
}

// isImage looks at magic bytes: PNG, JPEG, GIF, WebP.
func isImage(b []byte) bool {
	return bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) || bytes.HasPrefix(b, []byte{0xff, 0xd8, 0xff}) ||
		bytes.HasPrefix(b, []byte("GIF87a")) || bytes.HasPrefix(b, []byte("GIF89a")) ||
		len(b) >= 12 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP"
}

// isUUID accepts the canonical form only, in lower case: what ports/ident makes.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
