package gitguard

import (
	"context"
	"errors"
	"fmt"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// refused is what is added to the name of something that was put aside.
const (
	refused    = ".refused"
	maxRefused = 100 // in one place
)

// Aside is a place whose content was moved out of Git's sight.
type Aside struct{ From, To string }

// Sweep puts aside the hooks, settings and redirections that a process gave to a Git directory of the owner's which had
// none when it started. What exists, the sandbox keeps; it cannot keep a name from being made in a directory where Git
// itself makes files, and nothing is put there to hold the place. Nothing is lost: it could be the owner's own.
func (g *Guard) Sweep(ctx context.Context) (done []Aside, err error) {
	for _, p := range g.absent {
		if !g.exists(ctx, p) {
			continue
		}
		to, e := g.putAside(ctx, p)
		if e != nil {
			err = e
			continue
		}
		done = append(done, Aside{From: p, To: to})
	}
	return done, err
}

func (g *Guard) putAside(ctx context.Context, p string) (string, error) {
	from, err := g.entry(ctx, p)
	if err != nil {
		return "", err
	}
	defer from.Close() //nolint:errcheck // MoveTo reports what matters
	for n := 1; ; n++ {
		name := p + refused
		if n > 1 {
			name = fmt.Sprint(p, refused, "-", n)
		}
		to, err := g.entry(ctx, name)
		if err != nil {
			return "", err
		}
		i := to.Info()
		if !i.Exists && i.Path == name {
			_, err = from.MoveTo(ctx, to)
		}
		_ = to.Close()
		switch {
		case n < maxRefused && (i.Exists || errors.Is(err, fault.New(workspace.CodeExists))):
		case i.Path != name:
			return "", fmt.Errorf("%s leads to %s", name, i.Path)
		default:
			return name, err
		}
	}
}
