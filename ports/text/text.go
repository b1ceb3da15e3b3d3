// Package text is the port from code + args to a sentence in the user's language (I18N-01..11).
package text

import "github.com/agent-mcp/agent-mcp/ports/fault"

// Key names one message of the catalogue that is not a fault: "area.name". Constants of this type must exist in every
// shipped locale, like those of fault.Code.
type Key string

// Catalog renders texts. Safe for concurrent use; never fails: a missing key falls back locale → en → the key itself.
type Catalog interface {
	// Text renders a message with named {placeholders}.
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
