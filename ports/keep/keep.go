// Package keep is the port to directories of the agent's own that outlive Tasks and starts (sandbox.cache). What lies in
// them belongs to whoever the owner lets write there; this port only makes and checks the place.
package keep

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Keeper makes and checks kept directories. base is a canonical directory of this user's; below is a relative path
// without "." or ".." (else CodeFailed). Safe for concurrent use, by several processes too.
type Keeper interface {
	// Make makes base/below and what is missing above it, for its owner only, and takes away from others what an
	// existing last directory gives them. It follows no symlink below base. Errors: CodeUnsafe, CodeFailed.
	Make(ctx context.Context, base, below string) error
	// Check looks at base/below without changing anything. Every component below base must be a real directory of this
	// user's, and base and all but the last writable by nobody else; what is in the last may have changed its mode.
	// Errors: CodeMissing, CodeUnsafe, CodeFailed.
	Check(ctx context.Context, base, below string) error
}

// Codes. All carry path.
const (
	CodeMissing fault.Code = "keep.missing"
	CodeUnsafe  fault.Code = "keep.unsafe" // also: detail — a symlink, no directory, or somebody else's
	CodeFailed  fault.Code = "keep.failed" // also: detail — the disk is full or read-only
)
