// Package text is the port from code + args to a sentence in the user's language (I18N-01..11).
package text

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Key names one message of the catalogue that is not a fault: "area.name". Constants of this type must exist in every
// shipped locale, like those of fault.Code.
type Key string

// Word is an argument that people read in their language, and programs, logs and models as it is written: a value of a
// configuration's enumeration, a right, an item.
type Word struct {
	Plain string // "exact"
	Key   Key    // of what people read; "" = the plain form
}

// String is the plain form.
func (w Word) String() string { return w.Plain }

// MarshalText writes the plain form.
func (w Word) MarshalText() ([]byte, error) { return []byte(w.Plain), nil }

// Words is an argument of several; a catalogue puts a comma between them.
type Words []Word

// String is the plain form.
func (w Words) String() string {
	out := make([]string, len(w))
	for i, word := range w {
		out[i] = word.Plain
	}
	return strings.Join(out, ", ")
}

// MarshalText writes the plain form.
func (w Words) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// Catalog renders texts. Safe for concurrent use; never fails: a missing key falls back locale → en → the key itself.
type Catalog interface {
	// Text renders a message with named {placeholders}. Arguments of type Word and Words are texts of the catalogue themselves.
	Text(key Key, args map[string]any) string
	// Fault renders a fault: its text, one line per reason, and its hint (Code + ".hint") when there is one.
	Fault(f *fault.Error) string
	// Tag is the BCP 47 tag in use.
	Tag() string
}

// Codes of loading catalogues.
const (
	CodeUnknownLocale fault.Code = "locale.unknown"     // args: tag, known
	CodeBadTag        fault.Code = "locale.bad_tag"     // args: tag
	CodeBrokenFile    fault.Code = "locale.broken"      // args: path, detail
	CodeUnknownKey    fault.Code = "locale.unknown_key" // args: path, key, nearest
)
