package windows

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// machine does calls over the api. Each is idempotent where a crash may have come before its end, and what it cannot do it
// leaves to its caller to take back.
type machine struct {
	api
	skipped []string // objects whose list may not be changed, a few of them: the tree has less there than its root gives
}

const mostSkipped = 16

// held are handles that keep something alive until they are closed.
type held []handle

// do performs one call. What it gives must be closed to end what it holds.
func (m *machine) do(ctx context.Context, c call) (held, error) {
	switch c := c.(type) {
	case grant:
		return nil, m.grant(ctx, c)
	case revoke:
		return nil, m.revoke(ctx, c)
	case seal:
		return nil, m.seal(ctx, c)
	case unseal:
		return nil, m.unseal(ctx, c)
	case pin:
		h, _, err := m.there(c.Place, toHold)
		if err != nil {
			return nil, err
		}
		return held{h}, nil
	case makeDir:
		d, err := c.List.marshal()
		if err != nil {
			return nil, err
		}
		return nil, m.MakeDir(c.Path, d)
	case removeTree:
		return nil, m.removePath(ctx, c.Path)
	case addFilters:
		return m.addFilters(c)
	case dropFilters:
		return nil, m.dropFilters(c)
	case exempt:
		return nil, m.setExempt(c.Who, true)
	case unexempt:
		return nil, m.setExempt(c.Who, false)
	case emptyProfile:
		return nil, m.emptyProfile(ctx, c.Profile)
	}
	panic(fmt.Sprintf("windows: nobody does %T", c))
}

// there opens an object that must still be the one that was planned for.
func (m *machine) there(p place, to purpose) (handle, status, error) {
	h, err := m.Open(p.Path, to)
	if err != nil {
		return 0, status{}, err
	}
	s, err := m.Status(h)
	if err == nil && s.ID != p.ID {
		err = errNotThere
	}
	if err != nil {
		_ = m.Close(h)
		return 0, status{}, err
	}
	return h, s, nil
}

// wherever opens an object at its path, or where it was moved on its volume. fs.ErrNotExist: it is gone.
func (m *machine) wherever(p place, to purpose) (handle, status, error) {
	h, s, err := m.there(p, to)
	if err == nil || !errors.Is(err, errNotThere) && !errors.Is(err, fs.ErrNotExist) {
		return h, s, err
	}
	if h, err = m.OpenID(p.Path, p.ID, to); err != nil {
		return 0, status{}, err
	}
	if s, err = m.Status(h); err != nil {
		_ = m.Close(h)
	}
	return h, s, err
}

func (m *machine) list(h handle) (dacl, error) {
	b, err := m.Security(h)
	if err != nil {
		return dacl{}, err
	}
	return parseDescriptor(b)
}

func (m *machine) setList(h handle, d dacl) error {
	b, err := d.marshal()
	if err != nil {
		return err
	}
	return m.SetDACL(h, b)
}

func walkIf(dir bool) purpose {
	if dir {
		return toWalk
	}
	return toChange
}

func (m *machine) grant(ctx context.Context, c grant) error {
	h, _, err := m.there(c.Place, walkIf(c.Place.Dir && c.Spread))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	d, err := m.list(h)
	if err != nil {
		return err
	}
	out, _ := d.inherit(c.Who, c.Handed)
	out, _ = out.with(c.Aces)
	if err := m.setList(h, out); err != nil || !c.Spread {
		return err
	}
	w := walk{m: m, who: c.Who, roots: c.Roots, granting: true}
	return w.below(ctx, h, c.Place.Path, out)
}

func (m *machine) revoke(ctx context.Context, c revoke) error {
	_, below := granted(c.Aces)
	h, s, err := m.wherever(c.Place, walkIf(c.Place.Dir && below != 0))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	d, err := m.list(h)
	if err != nil {
		return err
	}
	out, changed := d.without(c.Aces)
	if changed {
		if err := m.setList(h, out); err != nil {
			return err
		}
	}
	if !s.Dir || below == 0 {
		return nil
	}
	w := walk{m: m, who: c.Who}
	return w.below(ctx, h, c.Place.Path, out)
}

var errListChanged = errors.New("somebody changed its list of rights meanwhile")

func (m *machine) seal(ctx context.Context, c seal) error {
	h, s, err := m.there(c.Place, walkIf(c.Place.Dir))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	d, err := m.list(h)
	if err != nil {
		return err
	}
	out, turned := d.sealed(c.Who)
	if !slices.Equal(turned, c.Turned) {
		return errListChanged // the record would not bring it back
	}
	out, _ = out.with(c.Aces)
	if err := m.setList(h, out); err != nil || !s.Dir {
		return err
	}
	w := walk{m: m, who: c.Who}
	return w.below(ctx, h, c.Place.Path, out)
}

func (m *machine) unseal(ctx context.Context, c unseal) error {
	h, s, err := m.wherever(c.Place, walkIf(c.Place.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	d, err := m.list(h)
	if err != nil {
		return err
	}
	out, changed := d.unsealed(c.Turned)
	out, dropped := out.without(c.Aces)
	at, err := m.Where(h)
	if err != nil {
		return err
	}
	above, err := m.handedBy(winpath.Dir(winpath.FromFinal(at.Final)), c.Who, s.Dir)
	if err != nil {
		return err
	}
	out, inherits := out.inherit(c.Who, above)
	if changed || dropped || inherits {
		if err := m.setList(h, out); err != nil {
			return err
		}
	}
	if !s.Dir {
		return nil
	}
	w := walk{m: m, who: c.Who}
	return w.below(ctx, h, c.Place.Path, out)
}

// handedBy is what a directory hands down to the profile.
func (m *machine) handedBy(dir string, who sid, toDir bool) ([]ace, error) {
	h, err := m.Open(dir, toLook)
	if err != nil {
		return nil, err
	}
	defer func() { _ = m.Close(h) }()
	d, err := m.list(h)
	if err != nil {
		return nil, err
	}
	return handDown(slices.Concat(d.of(who, true), d.of(who, false)), toDir), nil
}

// walk makes what lies below a directory inherit what the directory now hands down to one identifier, and touches no other
// entry. It follows no junction and no link: each object is opened in its directory, and never by a path.
type walk struct {
	m        *machine
	who      sid
	roots    []string
	granting bool
}

func (w walk) below(ctx context.Context, dir handle, path string, above dacl) error {
	names, err := w.m.List(dir)
	if err != nil {
		return err
	}
	own := slices.Concat(above.of(w.who, true), above.of(w.who, false))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.child(ctx, dir, name, winpath.Join(path, name), own); err != nil {
			return err
		}
	}
	return nil
}

func (w walk) child(ctx context.Context, dir handle, name, path string, own []ace) error {
	h, err := w.m.OpenChild(dir, name, toChange)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, fs.ErrPermission):
		return w.skip(dir, name, path)
	case err != nil:
		return err
	}
	defer func() { _ = w.m.Close(h) }()
	s, err := w.m.Status(h)
	if err != nil {
		return err
	}
	d, err := w.m.list(h)
	if err != nil {
		return err
	}
	handed := handDown(own, s.Dir)
	if err := w.judge(path, d, handed); err != nil {
		return err
	}
	out, changed := d.inherit(w.who, handed)
	if changed {
		if err := w.m.setList(h, out); err != nil {
			return err
		}
	}
	if !s.Dir || s.Surrogate || d.Protected || d.Null {
		return nil
	}
	inside, err := w.m.OpenChild(h, "", toWalk)
	if err != nil {
		return err
	}
	defer func() { _ = w.m.Close(inside) }()
	return w.below(ctx, inside, path, out)
}

// judge refuses an object that gives the profile more than it is handed, by entries of its own that are not ours.
func (w walk) judge(path string, d dacl, handed []ace) error {
	if !w.granting || masks(d.of(w.who, false))&^masks(handed) == 0 {
		return nil
	}
	if slices.ContainsFunc(w.roots, func(r string) bool { return winpath.Same(r, path) }) {
		return nil
	}
	return fault.New(CodeForeignGrant, "path", path, "have", setOf(masks(d.of(w.who, false))).String(), "sid", string(w.who))
}

// skip leaves out an object whose list this user may not change. When rights are taken back it must have none of ours.
func (w walk) skip(dir handle, name, path string) error {
	if w.granting {
		if len(w.m.skipped) < mostSkipped {
			w.m.skipped = append(w.m.skipped, path)
		}
		return nil
	}
	h, err := w.m.OpenChild(dir, name, toLook)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // whoever may not even look at it has changed nothing on it
		}
		return err
	}
	defer func() { _ = w.m.Close(h) }()
	d, err := w.m.list(h)
	if err != nil {
		return err
	}
	if len(d.of(w.who, true)) > 0 {
		return fmt.Errorf("%s: its list of rights may not be changed any more", path)
	}
	return nil
}
