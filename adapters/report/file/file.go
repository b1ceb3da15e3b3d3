// Package file keeps reports as Markdown files in one directory, for their owner only (ports/report): the newest come last in
// an ordinary listing. The first line of each, a comment that no viewer shows, says which Task it is about.
//
// It never follows a symlink in its directory, never reads what is not its own, and never keeps more than it was told to.
package file

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
)

// Store implements report.Store. Several processes may use one directory.
type Store struct {
	dir  string
	keep int
	mu   sync.Mutex
}

var _ report.Store = (*Store)(nil)

// New returns the store in dir, which is made at the first Put. It keeps at most so many reports, at least one.
func New(dir string, keep int) *Store { return &Store{dir: dir, keep: max(keep, 1)} }

const (
	stamp    = "20060102T150405Z"
	opening  = "<!-- "
	closing  = " -->"
	maxFirst = 2 << 10 // bytes of the first line
)

var (
	plainTask = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	ours      = regexp.MustCompile(`^\d{8}T\d{6}Z-([A-Za-z0-9-]{1,64})\.md$`)
)

func failed(path string, err error) error {
	return fault.Wrap(err, report.CodeFailed, "path", path, "detail", hostfile.Reason(err))
}

// Put implements report.Store. The file appears whole or not at all.
func (s *Store) Put(ctx context.Context, e report.Entry, markdown string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fault.From(err)
	}
	if !plainTask.MatchString(e.Task) || len(e.Title) > report.MaxTitle || len(markdown) > report.MaxBytes {
		return "", failed(s.dir, errors.New("no task, or too large"))
	}
	e.Ended = e.Ended.UTC().Truncate(time.Second)
	first, err := json.Marshal(e) // writes < and > as escapes, so that it cannot end the comment
	if err != nil {
		return "", failed(s.dir, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := hostfile.MakeDir(s.dir); err != nil {
		return "", failed(s.dir, err)
	}
	path := filepath.Join(s.dir, e.Ended.Format(stamp)+"-"+e.Task+".md")
	if err := write(path, opening+string(first)+closing+"\n"+markdown); err != nil {
		return "", failed(path, err)
	}
	return path, s.prune(filepath.Base(path), e.Task)
}

func write(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// prune removes older reports about the same Task, what is above the bound, and what a crash left half written.
func (s *Store) prune(name, task string) error {
	names, err := s.names()
	if err != nil {
		return err
	}
	for i, n := range names {
		if n != name && (i >= s.keep || ours.FindStringSubmatch(n)[1] == task) {
			_ = os.Remove(filepath.Join(s.dir, n)) // another process may have done it
		}
	}
	old := time.Now().Add(-time.Hour)
	halves, _ := filepath.Glob(filepath.Join(s.dir, ".new-*"))
	for _, h := range halves {
		if info, err := os.Lstat(h); err == nil && info.ModTime().Before(old) {
			_ = os.Remove(h)
		}
	}
	return nil
}

// names are the reports' file names, the newest first.
func (s *Store) names() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed(s.dir, err)
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && ours.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names, nil
}

// Last implements report.Store.
func (s *Store) Last(ctx context.Context, n int) ([]report.Kept, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	var out []report.Kept
	for _, name := range names {
		if len(out) >= n {
			break
		}
		path := filepath.Join(s.dir, name)
		if e, ok := read(path); ok && e.Task == ours.FindStringSubmatch(name)[1] {
			out = append(out, report.Kept{Entry: e, Place: path})
		}
	}
	return out, nil
}

// read looks at the first line.
func read(path string) (e report.Entry, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return e, false
	}
	defer f.Close() //nolint:errcheck // only read
	line, err := bufio.NewReader(io.LimitReader(f, maxFirst)).ReadString('\n')
	if err != nil {
		return e, false
	}
	text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), opening)
	if !ok {
		return e, false
	}
	if text, ok = strings.CutSuffix(text, closing); !ok {
		return e, false
	}
	return e, json.Unmarshal([]byte(text), &e) == nil
}
