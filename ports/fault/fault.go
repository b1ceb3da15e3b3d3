// Package fault holds the coded error: the only error that crosses a port.
//
// A fault has a Code (which is also the key of its text in the catalogue), named Args for that text, and an optional
// cause for developers. People never read Error(); they read the catalogue text in their language (I18N-01), rendered
// once at the edge. The package never renders and never logs.
package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Code names one kind of failure, "area.reason" in lower case. It equals the message key of its text. The optional
// remedy has the key Code + ".hint".
type Code string

// Codes that every port may return.
const (
	CodeInternal    Code = "internal.unexpected"  // a bug of ours; args: detail
	CodeCancelled   Code = "internal.cancelled"   // the context was cancelled
	CodeTimeout     Code = "internal.timeout"     // the context's deadline passed
	CodeUnsupported Code = "internal.unsupported" // this platform or adapter cannot do it; args: what
)

// Args are the named values of a code's text. Values are strings, integers, floats or booleans.
type Args map[string]any

// Error is a coded error. Treat it as immutable once returned.
type Error struct {
	Code    Code
	Args    Args
	Reasons []*Error // every reason found, when one failure has several (style rule 10)
	cause   error
}

// New makes a fault. kv are key, value pairs; an odd count or a non-string key is a programmer's mistake and panics.
func New(code Code, kv ...any) *Error { return Wrap(nil, code, kv...) }

// Wrap makes a fault with a developer's cause. It never returns nil, also when cause is nil.
func Wrap(cause error, code Code, kv ...any) *Error {
	if len(kv)%2 != 0 {
		panic("fault: odd number of key/value arguments for " + string(code))
	}
	e := &Error{Code: code, cause: cause}
	if len(kv) > 0 {
		e.Args = make(Args, len(kv)/2)
		for i := 0; i < len(kv); i += 2 {
			e.Args[kv[i].(string)] = kv[i+1]
		}
	}
	return e
}

// With returns a copy that carries the given reasons after its own.
func (e *Error) With(reasons ...*Error) *Error {
	c := *e
	c.Reasons = append(slices.Clone(e.Reasons), reasons...)
	return &c
}

// Error is for developers: code, sorted args, reasons, cause.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(string(e.Code))
	keys := make([]string, 0, len(e.Args))
	for k := range e.Args {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, " %s=%v", k, e.Args[k])
	}
	for _, r := range e.Reasons {
		b.WriteString("; " + r.Error())
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

// Unwrap returns the developer's cause.
func (e *Error) Unwrap() error { return e.cause }

// Is reports equality of codes, so errors.Is(err, fault.New(code)) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// From turns any error into a fault: nil stays nil, a fault is returned as it is, context errors get their code, and
// everything else becomes CodeInternal with the text as detail.
func From(err error) *Error {
	var f *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.Canceled):
		return Wrap(err, CodeCancelled)
	case errors.Is(err, context.DeadlineExceeded):
		return Wrap(err, CodeTimeout)
	}
	return Wrap(err, CodeInternal, "detail", err.Error())
}

// CodeOf returns the code of err, "" for nil.
func CodeOf(err error) Code {
	if f := From(err); f != nil {
		return f.Code
	}
	return ""
}
