package toolbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"time"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Bounds of one Look: what lies above them is told by its size and times instead of its content.
const (
	lookFileBytes = 64 << 20
	lookBytes     = 256 << 20
	lookTime      = 5 * time.Second
)

// Look tells how paths are now (AGT-04, AGT-07): whether something is there, and of a file the digest of its content. It is the
// runtime's own look, so it leaves no record, and what the policy does not let be read is not Known. One Seen per path, in order.
func (b *Box) Look(ctx context.Context, paths []string) []tool.Seen {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	out := make([]tool.Seen, len(paths))
	left := int64(lookBytes)
	for i, p := range paths {
		out[i] = b.glance(ctx, p, &left)
	}
	return out
}

func (b *Box) glance(ctx context.Context, asked string, left *int64) tool.Seen {
	unknown := tool.Seen{Path: asked}
	if b.closed {
		return unknown
	}
	h, err := b.Tree.Resolve(ctx, asked)
	switch {
	case is(err, workspace.CodeNotFound), is(err, workspace.CodeNotDirectory):
		if p := path.Clean(asked); path.IsAbs(p) && b.Policy.Decide(policy.Request{Op: policy.OpRead, Path: p}).Allowed {
			return tool.Seen{Path: p, Known: true}
		}
		return unknown
	case err != nil:
		return unknown
	}
	defer h.Close() //nolint:errcheck // nothing was written
	info := h.Info()
	if !b.Policy.Decide(policy.Request{Op: policy.OpRead, Path: info.Path}).Allowed {
		return unknown
	}
	seen := tool.Seen{Path: info.Path, Known: true, Exists: info.Exists}
	sum, ok := state(ctx, h, left)
	if seen.SHA256 = sum; !ok {
		return unknown
	}
	return seen
}

// before is the state of a file that is about to be moved or removed; "" when it may not be read or cannot be.
func (b *Box) before(ctx context.Context, h workspace.Handle) string {
	if !b.Policy.Decide(policy.Request{Op: policy.OpRead, Path: h.Info().Path}).Allowed {
		return ""
	}
	left := int64(lookFileBytes)
	sum, _ := state(ctx, h, &left)
	return sum
}

// state tells a regular file's content from every other, by its digest or, where it is too large, by size and times; "" for anything
// else. ok is false when it could not be read.
func state(ctx context.Context, h workspace.Handle, left *int64) (sum string, ok bool) {
	info := h.Info()
	if !info.Exists || !info.Mode.IsRegular() {
		return "", true
	}
	if id := info.Identity; id.Size > lookFileBytes || id.Size > *left {
		return fmt.Sprintf("state:%d:%d:%d", id.Size, id.ModifiedAt.UnixNano(), id.Change.UnixNano()), true
	}
	*left -= info.Identity.Size
	hash := sha256.New()
	for at := int64(0); ; {
		data, err := h.Read(ctx, at, chunk)
		if err != nil {
			return "", false
		}
		_, _ = hash.Write(data) // a hash takes everything
		if at += int64(len(data)); len(data) < chunk || at > lookFileBytes {
			return hex.EncodeToString(hash.Sum(nil)), true
		}
	}
}
