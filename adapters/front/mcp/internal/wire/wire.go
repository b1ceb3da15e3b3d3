// Package wire reads and writes the JSON-RPC 2.0 messages of MCP exactly: keys match by their exact spelling, a key twice
// is refused, an id is a string or an integer and is echoed byte for byte, an error whose id is unknown has none, batches
// do not exist (design/mcp.md, section 1).
//
// It never decodes a value that nobody reads, never recurses into a message, and never knows methods or transports.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// JSON-RPC and MCP error codes.
const (
	ParseError         = -32700
	InvalidRequest     = -32600
	MethodNotFound     = -32601
	InvalidParams      = -32602
	Internal           = -32603
	HeaderMismatch     = -32020
	MissingCapability  = -32021
	UnsupportedVersion = -32022
)

// Codes of messages that are no MCP request.
const (
	CodeParse     fault.Code = "mcp.parse"      // not JSON
	CodeBatch     fault.Code = "mcp.batch"      // an array of messages
	CodeNotObject fault.Code = "mcp.not_object" // JSON, but no object
	CodeEnvelope  fault.Code = "mcp.envelope"   // not a JSON-RPC 2.0 object; args: field
	CodeID        fault.Code = "mcp.id"         // id is neither a string nor an integer, or longer than 4 KiB
	CodeKeyTwice  fault.Code = "mcp.key_twice"  // args: key
	CodeKeyCase   fault.Code = "mcp.key_case"   // args: key, want
	CodeTooMany   fault.Code = "mcp.too_many"   // args: limit — members of one object
	CodeTooDeep   fault.Code = "mcp.too_deep"   // args: limit — levels
	CodeBadParams fault.Code = "mcp.bad_params" // args: field — missing or ill-typed
	CodeInternal  fault.Code = "mcp.internal"   // a bug of ours
)

const (
	maxDepth = 128     // levels; MCP itself needs fewer than ten
	maxID    = 4 << 10 // bytes of an encoded id
)

// ID is a request id as it came: an integer or a string. The zero ID is "unknown".
type ID struct{ raw, key string }

// Known reports whether there is an id.
func (id ID) Known() bool { return id.raw != "" }

// Key is equal for equal ids however they are spelled, and different for 1 and "1".
func (id ID) Key() string { return id.key }

// ParseID reads an id. Floats, exponents, null, booleans, arrays and objects are no ids; a string must be valid text.
func ParseID(raw json.RawMessage) (ID, bool) {
	switch {
	case len(raw) == 0 || len(raw) > maxID:
		return ID{}, false
	case raw[0] == '"':
		s, err := Text(raw)
		if err != nil {
			return ID{}, false
		}
		return ID{raw: string(raw), key: `"` + s}, true
	}
	digits := bytes.TrimPrefix(raw, []byte("-"))
	if len(digits) == 0 || len(bytes.Trim(digits, "0123456789")) > 0 {
		return ID{}, false
	}
	key := string(raw)
	if key == "-0" {
		key = "0"
	}
	return ID{raw: string(raw), key: key}, true
}

// Kind of a message.
type Kind uint8

// Kinds.
const (
	Request Kind = iota
	Notification
	Response // an answer to a request of the server; there are none, so it is ignored
)

// Message is one well-formed envelope.
type Message struct {
	Kind   Kind
	ID     ID
	Method string
	Params json.RawMessage // an object, or nil
}

// Error is a JSON-RPC error. Fault gives its message in the user's language.
type Error struct {
	Code  int
	Fault *fault.Error
	Data  any
}

// Fail makes an Error; kv are the arguments of its text.
func Fail(code int, text fault.Code, kv ...any) *Error {
	return &Error{Code: code, Fault: fault.New(text, kv...)}
}

// Refuse turns an error of Object into the JSON-RPC error with this code; field says which object it was.
func Refuse(code int, field string, err error) *Error {
	var dup *DuplicateError
	switch {
	case errors.As(err, &dup):
		return Fail(code, CodeKeyTwice, "key", Short(dup.Keys[0]))
	case errors.Is(err, ErrTooMany):
		return Fail(code, CodeTooMany, "limit", MaxMembers)
	}
	return Fail(code, CodeBadParams, "field", field)
}

// Short makes untrusted text fit for a message: at most 64 runes, valid UTF-8.
func Short(s string) string {
	n := 0
	for i := range s {
		if n++; n > 64 {
			s = s[:i] + "…"
			break
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

var envelopeKeys = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// Parse reads one message. On an error the returned Message carries the id when one is known. line must not change
// afterwards: Params points into it.
func Parse(line []byte) (Message, *Error) {
	var m Message
	if !json.Valid(line) {
		return m, Fail(ParseError, CodeParse)
	}
	switch line[space(line, 0)] {
	case '{':
	case '[':
		return m, Fail(InvalidRequest, CodeBatch)
	default:
		return m, Fail(InvalidRequest, CodeNotObject)
	}
	members, err := Object(line)
	var dup *DuplicateError
	if raw := members.Get("id"); raw != nil && !(errors.As(err, &dup) && slices.Contains(dup.Keys, "id")) {
		m.ID, _ = ParseID(raw)
	}
	if err != nil {
		return m, Refuse(InvalidRequest, "jsonrpc", err)
	}
	if got, want, found := members.Variant(envelopeKeys...); found {
		return m, Fail(InvalidRequest, CodeKeyCase, "key", Short(got), "want", want)
	}
	return m.fill(members, line)
}

func (m Message) fill(members Members, line []byte) (Message, *Error) {
	hasMethod := members.Get("method") != nil
	answers := members.Get("result") != nil || members.Get("error") != nil
	switch {
	case answers && !hasMethod:
		m.Kind = Response
		return m, nil
	case answers:
		return m, Fail(InvalidRequest, CodeEnvelope, "field", "method")
	case members.Get("id") == nil:
		m.Kind = Notification
	case !m.ID.Known():
		return m, Fail(InvalidRequest, CodeID)
	}
	if version, err := Text(members.Get("jsonrpc")); err != nil || version != "2.0" {
		return m, Fail(InvalidRequest, CodeEnvelope, "field", "jsonrpc")
	}
	var err error
	if m.Method, err = Text(members.Get("method")); err != nil || m.Method == "" {
		return m, Fail(InvalidRequest, CodeEnvelope, "field", "method")
	}
	bad := m.takeParams(members.Get("params"), line)
	if m.Kind == Notification {
		return m, nil // is never answered, so one that is spoiled has no params
	}
	return m, bad
}

func (m *Message) takeParams(raw json.RawMessage, line []byte) *Error {
	switch {
	case Depth(line) > maxDepth:
		return Fail(InvalidRequest, CodeTooDeep, "limit", maxDepth)
	case IsNull(raw):
		return nil
	case raw[0] == '{':
		m.Params = raw
		return nil
	case raw[0] == '[':
		return Fail(InvalidParams, CodeBadParams, "field", "params")
	}
	return Fail(InvalidRequest, CodeEnvelope, "field", "params")
}
