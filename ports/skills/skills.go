// Package skills is the port to the directories that hold Agent Skills (spec section 7, SKL-01..07). A source finds and
// reads files; what a file means, whether it is well-formed and which skill is used is core/skill's.
package skills

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// File is one <name>/SKILL.md as it was found.
type File struct {
	Root      string   // the configured directory, absolute
	Dir       string   // the name of the skill's directory
	Path      string   // of SKILL.md, for people
	Data      []byte   // as read, BOM and CRLF included
	Resources []string // files below scripts/, references/ and assets/, relative to the skill, "/" between, sorted, bounded
	More      bool     // there are more resources than were listed
	Refused   []string // entries of those directories that lead out of the skill or are no files
}

// Source reads configured directories. Safe for concurrent use.
type Source interface {
	// Find returns every skill of the configured directories, in their order, by name within one. A directory entry that
	// is no directory, or has no SKILL.md, is no skill and is passed over. One thing that cannot be read fails the whole:
	// the fault is CodeUnreadable with every reason.
	Find(ctx context.Context) ([]File, error)
	// Resource reads a resource that Find listed for f. CodeNoResource when rel is not below one of the three directories
	// or is no file, CodeEscape when it leads out of the skill (SKL-06), CodeTooLarge.
	Resource(ctx context.Context, f File, rel string) ([]byte, error)
}

// Codes.
const (
	CodeUnreadable fault.Code = "skills.unreadable"   // args: count; Reasons say what
	CodeNoDir      fault.Code = "skills.no_directory" // args: path, detail
	CodeNoFile     fault.Code = "skills.no_file"      // args: path, detail — a SKILL.md that cannot be read as a file
	CodeEscape     fault.Code = "skills.escape"       // args: path — a link out of the root
	CodeTooLarge   fault.Code = "skills.too_large"    // args: path, limit (bytes)
	CodeTooMany    fault.Code = "skills.too_many"     // args: path, limit
	CodeNoResource fault.Code = "skills.no_resource"  // args: path
)
