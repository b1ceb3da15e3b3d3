package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Note is a notification from the server.
type Note struct {
	Method string
	Params any
}

// Reply answers one request: Before is sent first, then what Follow has to say, then either Result or Err.
type Reply struct {
	ID        ID
	Before    []Note
	NotesOnly bool // there is no answer yet
	Follow    Follow
	Result    any
	Err       *Error
}

// Follow sends notifications until it has no more or ctx ends. It sends nil at least every beat, where nothing happens. false
// means that nobody takes them any more.
type Follow func(ctx context.Context, beat time.Duration, send func(*Note) bool) bool

// Code is that of the error, 0 for a result.
func (r Reply) Code() int {
	if r.Err == nil {
		return 0
	}
	return r.Err.Code
}

type errorBody struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Append writes the reply to buf, one line per message, "\n" at each end. The lines are valid UTF-8 without U+2028 and
// U+2029, whatever the values hold. render turns a fault into its text. A result that cannot be encoded becomes an
// internal error, which is also returned.
func (r Reply) Append(buf *bytes.Buffer, render func(*fault.Error) string) error {
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	start := buf.Len()
	for _, n := range r.Before {
		buf.WriteString(`{"jsonrpc":"2.0","method":`)
		if err := part(enc, buf, n.Method); err != nil {
			return r.giveUp(buf, start, err, render)
		}
		buf.WriteString(`,"params":`)
		if err := part(enc, buf, n.Params); err != nil {
			return r.giveUp(buf, start, err, render)
		}
		buf.WriteString("}\n")
	}
	if r.NotesOnly {
		return nil
	}
	buf.WriteString(`{"jsonrpc":"2.0"`)
	if r.ID.Known() {
		buf.WriteString(`,"id":`)
		r.ID.appendTo(buf)
	}
	var err error
	if r.Err != nil {
		buf.WriteString(`,"error":`)
		err = part(enc, buf, errorBody{r.Err.Code, render(r.Err.Fault), r.Err.Data})
	} else {
		buf.WriteString(`,"result":`)
		err = part(enc, buf, r.Result)
	}
	if err != nil {
		return r.giveUp(buf, start, err, render)
	}
	buf.WriteString("}\n")
	return nil
}

func (r Reply) giveUp(buf *bytes.Buffer, start int, cause error, render func(*fault.Error) string) error {
	buf.Truncate(start)
	_ = Reply{ID: r.ID, Err: Fail(Internal, CodeInternal)}.Append(buf, render) // two strings and a number always encode
	return cause
}

// part encodes v without the newline that Encoder adds.
func part(enc *json.Encoder, buf *bytes.Buffer, v any) error {
	if err := enc.Encode(v); err != nil {
		return err
	}
	buf.Truncate(buf.Len() - 1)
	return nil
}

// MarshalJSON echoes the id; "unknown" is null.
func (id ID) MarshalJSON() ([]byte, error) {
	if !id.Known() {
		return []byte("null"), nil
	}
	var b bytes.Buffer
	id.appendTo(&b)
	return b.Bytes(), nil
}

// appendTo echoes the id byte for byte, but for U+2028 and U+2029: some clients take them for the end of a line, so they
// are escaped, which is the same string.
func (id ID) appendTo(buf *bytes.Buffer) {
	for _, r := range id.raw {
		switch r {
		case '\u2028':
			buf.WriteString(`\u2028`)
		case '\u2029':
			buf.WriteString(`\u2029`)
		default:
			buf.WriteRune(r)
		}
	}
}
