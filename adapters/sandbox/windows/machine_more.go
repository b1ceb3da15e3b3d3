package windows

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
)

func (m *machine) removePath(ctx context.Context, path string) error {
	h, err := m.Open(path, toDelete)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	return m.remove(ctx, h)
}

// remove deletes an object with everything in it, never through a junction or a link.
func (m *machine) remove(ctx context.Context, h handle) error {
	s, err := m.Status(h)
	if err != nil {
		return err
	}
	if s.Dir && !s.Link {
		if err := m.empty(ctx, h, nil); err != nil {
			return err
		}
	}
	return m.Delete(h)
}

// empty removes what is in a directory. Names of keep stay, emptied.
func (m *machine) empty(ctx context.Context, dir handle, keep []string) error {
	names, err := m.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		kept := slices.ContainsFunc(keep, func(k string) bool { return strings.EqualFold(k, name) })
		if err := m.removeChild(ctx, dir, name, kept); err != nil {
			return err
		}
	}
	return nil
}

func (m *machine) removeChild(ctx context.Context, dir handle, name string, kept bool) error {
	h, err := m.OpenChild(dir, name, toDelete)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	if !kept {
		return m.remove(ctx, h)
	}
	s, err := m.Status(h)
	if err != nil {
		return err
	}
	if !s.Dir || s.Link {
		return m.Delete(h)
	}
	return m.empty(ctx, h, nil)
}

// addFilters opens a dynamic session: whatever ends this process ends the filters. All are added in one transaction, so that
// there is no moment with a part of them.
func (m *machine) addFilters(c addFilters) (held, error) {
	engine, err := m.OpenEngine(true)
	if err != nil {
		return nil, err
	}
	err = m.transaction(engine, func() error {
		if err := m.AddSublayer(engine, c.Layer, sublayerWeight); err != nil {
			return err
		}
		for _, f := range c.Filters {
			if err := m.AddFilter(engine, c.Layer, f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, m.CloseEngine(engine))
	}
	return held{engine}, nil
}

func (m *machine) transaction(engine handle, body func() error) error {
	if err := m.Begin(engine); err != nil {
		return err
	}
	err := body()
	if err == nil {
		err = m.Commit(engine)
	}
	if err != nil {
		return errors.Join(err, m.Abort(engine))
	}
	return nil
}

// dropFilters deletes what a session that has ended should have taken with it. Usually there is nothing left.
func (m *machine) dropFilters(c dropFilters) error {
	engine, err := m.OpenEngine(false)
	if err != nil {
		return err
	}
	err = m.transaction(engine, func() error {
		for _, k := range c.Keys {
			if err := m.DeleteFilter(engine, k); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := m.DeleteSublayer(engine, c.Layer); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	return errors.Join(err, m.CloseEngine(engine))
}

// setExempt changes the machine's list by one member: the call replaces the whole list, so it is read just before.
func (m *machine) setExempt(who sid, on bool) error {
	list, err := m.Exempt()
	if err != nil {
		return err
	}
	if slices.Contains(list, who) == on {
		return nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s sid) bool { return s == who })
	if on {
		list = append(list, who)
	}
	return m.SetExempt(list)
}

// profileDirs are those that the system makes in a profile's directory.
var profileDirs = []string{"Temp", "INetCache", "INetCookies", "INetHistory"}

// emptyProfile leaves the profile as the system made it: programs of one Task must find nothing of another's.
func (m *machine) emptyProfile(ctx context.Context, profile string) error {
	if err := m.EmptyProfileKey(profile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	who, err := m.ProfileSID(profile)
	if err != nil {
		return err
	}
	path, err := m.ProfileDir(who)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if p := winpath.Canonical(path); p != winpath.None || winpath.Dir(path) == path {
		return errors.New("the profile's directory is " + string(p) + ": " + path)
	}
	h, err := m.Open(path, toWalk)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = m.Close(h) }()
	s, err := m.Status(h)
	if err != nil {
		return err
	}
	if s.Link || !s.Dir {
		return errors.New("the profile's directory is none: " + path)
	}
	return m.empty(ctx, h, profileDirs)
}
