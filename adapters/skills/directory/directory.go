// Package directory finds Agent Skills in directories of the host (ports/skills; spec section 7, SKL-01, SKL-04, SKL-06).
//
// All reading goes through os.Root: no path is resolved outside the configured directory, and none of a skill outside the
// skill, whatever links there are. It reads what is there and never judges what it says.
package directory

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// Config says where to look and how much to take. Zero limits are the defaults.
type Config struct {
	Directories  []string // absolute; a directory named twice is read once
	MaxFileBytes int64    // of SKILL.md and of a resource; 1 MiB
	MaxSkills    int      // in one directory; 256
	MaxResources int      // listed of one skill; 200
}

// Source reads the directories. It holds nothing open between calls.
type Source struct{ cfg Config }

var _ skills.Source = (*Source)(nil)

// New makes a source.
func New(cfg Config) *Source {
	if cfg.MaxFileBytes <= 0 {
		cfg.MaxFileBytes = 1 << 20
	}
	if cfg.MaxSkills <= 0 {
		cfg.MaxSkills = 256
	}
	if cfg.MaxResources <= 0 {
		cfg.MaxResources = 200
	}
	dirs := make([]string, len(cfg.Directories))
	for i, d := range cfg.Directories {
		dirs[i] = filepath.Clean(d)
	}
	cfg.Directories = dirs
	return &Source{cfg: cfg}
}

// fileName is the only name of a skill's file; it is compared exactly, also where the file system would not.
const fileName = "SKILL.md"

// resourceDirs are the directories of a skill whose files it may name.
var resourceDirs = []string{"assets", "references", "scripts"}

// Find implements skills.Source.
func (s *Source) Find(ctx context.Context) ([]skills.File, error) {
	var out []skills.File
	var problems []*fault.Error
	done := map[string]bool{}
	for _, dir := range s.cfg.Directories {
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			if done[resolved] {
				continue
			}
			done[resolved] = true
		}
		files, bad := s.root(ctx, dir)
		out, problems = append(out, files...), append(problems, bad...)
		if err := ctx.Err(); err != nil {
			return nil, fault.From(err)
		}
	}
	if len(problems) > 0 {
		return nil, fault.New(skills.CodeUnreadable, "count", len(problems)).With(problems...)
	}
	return out, nil
}

// root reads one configured directory.
func (s *Source) root(ctx context.Context, dir string) (out []skills.File, problems []*fault.Error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, []*fault.Error{noDir(dir, err)}
	}
	defer root.Close() //nolint:errcheck // opened to read
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, []*fault.Error{noDir(dir, err)}
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, nil
		}
		if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		f, found, bad := s.skill(root, dir, e.Name())
		switch {
		case bad != nil:
			problems = append(problems, bad)
		case found && len(out) == s.cfg.MaxSkills:
			return nil, append(problems, fault.New(skills.CodeTooMany, "path", dir, "limit", s.cfg.MaxSkills))
		case found:
			out = append(out, f)
		}
	}
	return out, problems
}

// skill reads one directory below root. A link stays inside the root or is refused.
func (s *Source) skill(root *os.Root, dir, name string) (f skills.File, found bool, bad *fault.Error) {
	p := filepath.Join(dir, name)
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, false, nil // a dangling link
	case err != nil:
		return f, false, s.failed(p, err)
	case !info.IsDir():
		return f, false, nil // a link to a file
	}
	own, err := root.OpenRoot(name)
	if err != nil {
		return f, false, s.failed(p, err)
	}
	defer own.Close() //nolint:errcheck // opened to read
	entries, err := fs.ReadDir(own.FS(), ".")
	if err != nil {
		return f, false, s.failed(p, err)
	}
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == fileName }) {
		return f, false, nil
	}
	f = skills.File{Root: dir, Dir: name, Path: filepath.Join(p, fileName)}
	if f.Data, bad = s.read(own, fileName, f.Path); bad != nil {
		return f, false, bad
	}
	for _, d := range resourceDirs {
		s.list(own, d, &f)
	}
	return f, true, nil
}

// read returns a regular file's content, up to the limit.
func (s *Source) read(root *os.Root, name, shown string) ([]byte, *fault.Error) {
	info, err := root.Stat(name) // before opening: a pipe would wait for its other end
	if err != nil {
		return nil, s.failed(shown, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(skills.CodeNoFile, "path", shown, "detail", info.Mode().Type().String())
	}
	h, err := root.Open(name)
	if err != nil {
		return nil, s.failed(shown, err)
	}
	defer h.Close() //nolint:errcheck // opened to read
	data, err := io.ReadAll(io.LimitReader(h, s.cfg.MaxFileBytes+1))
	if err != nil {
		return nil, s.failed(shown, err)
	}
	if int64(len(data)) > s.cfg.MaxFileBytes {
		return nil, fault.New(skills.CodeTooLarge, "path", shown, "limit", s.cfg.MaxFileBytes)
	}
	return data, nil
}

// list adds the files below dir of a skill. Links to directories are not walked.
func (s *Source) list(own *os.Root, dir string, f *skills.File) {
	visited := 0
	_ = fs.WalkDir(own.FS(), dir, func(p string, e fs.DirEntry, err error) error { // its only errors are ours
		visited++
		switch {
		case err != nil && p == dir:
			return fs.SkipAll // the skill has no such directory
		case err != nil:
			f.Refused = append(f.Refused, p)
			return fs.SkipDir
		case e.IsDir() && visited <= 20*s.cfg.MaxResources:
			return nil
		case visited > 20*s.cfg.MaxResources || len(f.Resources) >= s.cfg.MaxResources || len(f.Refused) >= s.cfg.MaxResources:
			f.More = true
			return fs.SkipAll
		}
		if regular(own, p) {
			f.Resources = append(f.Resources, p)
		} else {
			f.Refused = append(f.Refused, p)
		}
		return nil
	})
	slices.Sort(f.Resources)
}

// regular reports whether p is a file that a link does not lead out to.
func regular(own *os.Root, p string) bool {
	info, err := own.Stat(filepath.FromSlash(p))
	return err == nil && info.Mode().IsRegular()
}

// Resource implements skills.Source.
func (s *Source) Resource(ctx context.Context, f skills.File, rel string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	top, _, below := strings.Cut(rel, "/")
	if !below || rel != path.Clean(rel) || strings.Contains(rel, `\`) || !filepath.IsLocal(filepath.FromSlash(rel)) ||
		!slices.Contains(resourceDirs, top) || !slices.Contains(s.cfg.Directories, f.Root) {
		return nil, fault.New(skills.CodeNoResource, "path", rel)
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, noDir(f.Root, err)
	}
	defer root.Close() //nolint:errcheck // opened to read
	own, err := root.OpenRoot(f.Dir)
	if err != nil {
		return nil, s.failed(filepath.Join(f.Root, f.Dir), err)
	}
	defer own.Close() //nolint:errcheck // opened to read
	data, bad := s.read(own, filepath.FromSlash(rel), rel)
	if bad != nil {
		if bad.Code == skills.CodeNoFile {
			return nil, fault.Wrap(bad, skills.CodeNoResource, "path", rel)
		}
		return nil, bad
	}
	return data, nil
}

// failed names an error of the file system. os.Root has no error value for a path that leads out; it is known by its text.
func (s *Source) failed(p string, err error) *fault.Error {
	if strings.Contains(err.Error(), "path escapes from parent") {
		return fault.Wrap(err, skills.CodeEscape, "path", p)
	}
	return fault.Wrap(err, skills.CodeNoFile, "path", p, "detail", cause(err))
}

func noDir(p string, err error) *fault.Error {
	return fault.Wrap(err, skills.CodeNoDir, "path", p, "detail", cause(err))
}

// cause is the error without the operation and path, which the texts say already.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
