package gitguard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// refused is what is added to the name of something that was put aside.
const (
	refused    = ".refused"
	maxRefused = 100 // names in one place that are tried in order
)

// Aside is a place whose content was moved out of Git's sight.
type Aside struct{ From, To string }

// Sweep puts aside the hooks, settings and redirections that a process gave to a Git directory of the owner's which had
// none when it started. What exists, the sandbox keeps; it cannot keep a name from being made in a directory where Git
// itself makes files, and nothing is put there to hold the place. Nothing is lost: it could be the owner's own.
func (g *Guard) Sweep(ctx context.Context) (done []Aside, err error) {
	g.left = nil
	for _, p := range g.absent {
		there, e := g.opened(ctx, p)
		to := ""
		if e == nil && there {
			if to, e = g.putAside(ctx, p); denied(e) && g.reclaim(ctx, g.above(p)) == nil {
				to, e = g.putAside(ctx, p)
			}
		}
		if e != nil {
			g.left, err = append(g.left, p), e
			continue
		}
		if !there {
			continue
		}
		done = append(done, Aside{From: p, To: to})
	}
	return done, err
}

// opened is there; a process may have closed the directory behind it.
func (g *Guard) opened(ctx context.Context, p string) (there bool, err error) {
	if there, err = g.there(ctx, p); denied(err) {
		if err = g.reclaim(ctx, g.above(p)); err == nil {
			there, err = g.there(ctx, p)
		}
	}
	return there, err
}

func denied(err error) bool { return errors.Is(err, fault.New(workspace.CodePermission)) }

func (g *Guard) above(p string) string {
	up, _ := split(p)
	return up
}

// reclaim gives this user back a directory of the owner's Git, and what leads to it, that a process closed.
func (g *Guard) reclaim(ctx context.Context, dir string) error {
	h, err := g.entry(ctx, dir)
	if denied(err) {
		if err = g.reclaim(ctx, g.above(dir)); err == nil {
			h, err = g.entry(ctx, dir)
		}
	}
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // nothing was written
	r, ok := h.(workspace.Reclaimer)
	switch i := h.Info(); {
	case !ok || !i.Mode.IsDir() || i.Path != dir || i.Mode.Perm()&0o700 == 0o700:
		return nil
	}
	return r.Reclaim(ctx)
}

// PutAside renames one of Found.Refused out of Git's sight and returns the new path. Where that fails, also because the owner
// gave no right to write there, it stays where it is and is kept from being changed. Either way it is dealt with.
func (g *Guard) PutAside(ctx context.Context, p string) (string, error) {
	g.refuse = slices.DeleteFunc(g.refuse, func(r string) bool { return r == p })
	ask := policy.Request{Op: policy.OpWrite, Path: p + refused}
	if d := g.policy.Decide(ask); !d.Allowed {
		return "", d.Fault(ask)
	}
	to, err := g.putAside(ctx, p)
	if err == nil {
		g.found = slices.DeleteFunc(g.found, func(f string) bool { return f == p })
		g.absent = sorted(append(g.absent, p))
	}
	return to, err
}

func (g *Guard) putAside(ctx context.Context, p string) (string, error) {
	from, err := g.entry(ctx, p)
	if err != nil {
		return "", err
	}
	defer from.Close() //nolint:errcheck // MoveTo reports what matters
	for n := 1; ; n++ {
		name := p + refused
		switch {
		case n > maxRefused: // a process may have taken all of those: one that it cannot guess
			name = p + refused + "-" + rand.Text()
		case n > 1:
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
		if i.Exists && err == nil {
			err = fault.New(workspace.CodeExists, "path", name)
		}
		switch {
		case n < 2*maxRefused && errors.Is(err, fault.New(workspace.CodeExists)):
		case err == nil && i.Path != name:
			return "", fmt.Errorf("%s leads to %s", name, i.Path)
		case err != nil:
			return "", err
		default:
			return name, nil
		}
	}
}
