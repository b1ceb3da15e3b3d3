// Package image is the port to the identity of executables outside the workspace: what a path really is once every
// symlink is resolved, and what is in it (PRC-01, PRC-02, CFG-05). It reports facts; whether a file may be approved or
// started is core/broker's to judge. It never runs anything.
package image

import (
	"context"
	"io/fs"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Identifier looks at files and directories. Safe for concurrent use.
type Identifier interface {
	// Identify resolves path (absolute) through every symlink and describes what it names. A directory is described too
	// (runtime roots), without a hash. Facts that speak against a file are no errors. Errors: CodeMissing, CodeCycle,
	// CodeRelative, CodeUnreadable, CodeChanged.
	Identify(ctx context.Context, path string) (Identity, error)
}

// Link is one symlink met on the way.
type Link struct {
	Path   string // canonical place of the link
	Target string // as stored in it
}

// Format is what the first bytes say.
type Format string

// Formats.
const (
	FormatELF     Format = "elf"
	FormatPE      Format = "pe"
	FormatMachO   Format = "macho"
	FormatScript  Format = "script" // starts with "#!"
	FormatUnknown Format = "unknown"
)

// Identity is everything known about one path.
type Identity struct {
	Asked      string // as given
	Path       string // canonical: absolute, clean, no symlink in it
	Links      []Link // in the order they were followed
	Regular    bool
	Directory  bool
	Executable bool // regular and some x bit is set (Windows: by extension)
	Mode       fs.FileMode
	Size       int64
	SHA256     string // lower-case hex of the content; "" when not a regular file
	Format     Format

	// Interpreter is a script's "#!" program as written and InterpreterArgument what follows it; "" when there is none.
	// Interpreters are the files that really run it, outer first (Interpreters); they have no Interpreters of their own.
	// InterpreterFound: the last of them is there and can run, and no absolute path is missing on the way.
	Interpreter, InterpreterArgument string
	Interpreters                     []Identity
	InterpreterFound                 bool

	// GroupWritable and WorldWritable speak of the file itself. OpenParents lists directories above it that everybody
	// may write (without the sticky bit): there the file can be swapped by anyone.
	GroupWritable, WorldWritable bool
	OpenParents                  []string

	// Shared lists the file itself and directories above it (and above every link) that belong to another user than root
	// and this one, or that a group other than root's and this user's own may write (no sticky bit): whoever that is can
	// swap the file.
	Shared []string
}

// missing reports that a look found nothing at a path, or a link that leads to nothing.
func missing(err error) bool {
	code := fault.CodeOf(err)
	return code == CodeMissing || code == CodeCycle
}

// Codes. All carry the argument path.
const (
	CodeMissing    fault.Code = "image.missing"
	CodeCycle      fault.Code = "image.cycle"
	CodeRelative   fault.Code = "image.relative"   // the path is not absolute
	CodeUnreadable fault.Code = "image.unreadable" // also: detail
	CodeChanged    fault.Code = "image.changed"    // it changed while it was being read
)
