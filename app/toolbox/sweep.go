package toolbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// refused is what is added to the name of something that was put aside.
const (
	refused    = ".refused"
	maxRefused = 100 // in one place
)

// arrived moves what the owner made since the last look from what may not appear to what stays as it is.
func (b *Box) arrived(ctx context.Context) {
	b.absent = slices.DeleteFunc(b.absent, func(p string) bool {
		if !b.exists(ctx, p) {
			return false
		}
		b.guards = append(b.guards, p)
		return true
	})
	slices.Sort(b.guards)
}

// putAside is a place whose content was moved out of Git's sight.
type putAside struct{ from, to string }

// sweep puts aside the hooks, settings and redirections that a process gave to a Git directory of the owner's which had
// none when it started. What exists, the sandbox keeps; it cannot keep a name from being made in a directory where Git
// itself makes files, and nothing is put there to hold the place. Nothing is lost: it could be the owner's own.
func (b *Box) sweep(ctx context.Context) (done []putAside, err error) {
	for _, p := range b.absent {
		if !b.exists(ctx, p) {
			continue
		}
		to, e := b.putAside(ctx, p)
		if e != nil {
			err = e
			continue
		}
		done = append(done, putAside{from: p, to: to})
	}
	return done, err
}

func (b *Box) putAside(ctx context.Context, p string) (string, error) {
	from, err := b.entry(ctx, p)
	if err != nil {
		return "", err
	}
	defer from.Close() //nolint:errcheck // MoveTo reports what matters
	for n := 1; ; n++ {
		name := p + refused
		if n > 1 {
			name = fmt.Sprint(p, refused, "-", n)
		}
		to, err := b.entry(ctx, name)
		if err != nil {
			return "", err
		}
		i := to.Info()
		if !i.Exists && i.Path == name {
			_, err = from.MoveTo(ctx, to)
		}
		_ = to.Close()
		switch {
		case n < maxRefused && (i.Exists || is(err, workspace.CodeExists)):
		case i.Path != name:
			return "", fmt.Errorf("%s leads to %s", name, i.Path)
		default:
			return name, err
		}
	}
}

// told says in words what was put aside, and why.
func (b *Box) told(swept []putAside) string {
	var out strings.Builder
	for _, s := range swept {
		fmt.Fprintf(&out, "\nrenamed %s to %s: only the owner may give a repository hooks or settings", b.show(s.from), b.show(s.to))
	}
	return out.String()
}
