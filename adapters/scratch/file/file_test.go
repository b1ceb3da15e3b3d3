package file_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/scratch/file"
	"github.com/agent-mcp/agent-mcp/conformance/scratchtest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func base(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	return dir
}

func count(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return len(entries)
}

func TestScratch_Contract(t *testing.T) {
	scratchtest.Run(t, func(t *testing.T) (workspace.Scratch, func() int) {
		dir := base(t)
		s, err := file.New(dir, nil)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s, func() int { return count(t, dir) }
	})
}

// guard records what is open and checks that nothing is made before it is recorded.
type guard struct {
	t    *testing.T
	mu   sync.Mutex
	open map[string]bool
	fail error
}

func (g *guard) Open(_ context.Context, kind journal.Kind, path string) (journal.Resource, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fail != nil {
		return journal.Resource{}, g.fail
	}
	assert.Equal(g.t, journal.KindFile, kind)
	assert.NoFileExists(g.t, path, "made before it was recorded")
	g.open[path] = true
	return journal.Resource{ID: path, Kind: kind, Path: path}, nil
}

func (g *guard) Close(_ context.Context, res journal.Resource) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.NoFileExists(g.t, res.Path, "forgotten before it was gone")
	delete(g.open, res.Path)
	return nil
}

// PRF-02: recorded before it exists, forgotten after it is gone; owner-only.
func TestScratch_IsJournaledAndPrivate(t *testing.T) {
	dir := filepath.Join(base(t), "made", "here")
	g := &guard{t: t, open: map[string]bool{}}
	s, err := file.New(dir, g)
	require.NoError(t, err)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	name, err := s.Keep(t.Context(), []byte("secret"))
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{filepath.Join(dir, name): true}, g.open)
	kept, err := os.Stat(filepath.Join(dir, name))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
		assert.Equal(t, fs.FileMode(0o600), kept.Mode().Perm())
	}
	g.fail = errors.New("journal is full")
	_, err = s.Keep(t.Context(), []byte("x"))
	require.ErrorIs(t, err, g.fail)
	assert.Equal(t, 1, count(t, dir), "not recorded, not made")
	g.fail = nil
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other"), nil, 0o600))
	require.NoError(t, s.Close())
	assert.Empty(t, g.open)
	assert.Equal(t, 1, count(t, dir), "what is not ours stays")
}

func TestNew_Refuses(t *testing.T) {
	dir := base(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for _, bad := range []string{"", "relative", dir + "/x/../y", filepath.Join(dir, "file"), filepath.Join(dir, "file", "x")} {
		_, err := file.New(bad, nil)
		assert.Equal(t, workspace.CodeRootInvalid, fault.CodeOf(err), bad)
	}
	if os.Symlink(dir, filepath.Join(dir, "link")) == nil {
		_, err := file.New(filepath.Join(dir, "link"), nil)
		assert.Equal(t, workspace.CodeRootInvalid, fault.CodeOf(err))
	}
}

// A content that vanished, or a directory that may not be written, is a coded fault.
func TestScratch_Faults(t *testing.T) {
	dir := base(t)
	s, err := file.New(dir, nil)
	require.NoError(t, err)
	name, err := s.Keep(t.Context(), []byte("old"))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(dir, name)))
	_, err = s.Load(t.Context(), name)
	assert.Equal(t, workspace.CodeNotFound, fault.CodeOf(err))
	require.NoError(t, s.Drop(t.Context(), name))
	require.NoError(t, s.Close())
	_, err = s.Keep(t.Context(), []byte("x"))
	assert.Equal(t, workspace.CodeFailed, fault.CodeOf(err), "closed")
	if runtime.GOOS != "windows" && os.Geteuid() != 0 {
		s, err = file.New(dir, nil)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(dir, 0o500))
		_, err = s.Keep(t.Context(), []byte("x"))
		assert.Equal(t, workspace.CodePermission, fault.CodeOf(err))
		require.NoError(t, os.Chmod(dir, 0o700))
		require.NoError(t, s.Close())
	}
}

// REC-06: a note is on record as one, and stays for the next start until it is dropped.
func TestNotes_StayUntilDropped(t *testing.T) {
	scratchtest.Run(t, func(t *testing.T) (workspace.Scratch, func() int) {
		dir := base(t)
		s, err := file.Notes(dir, nil)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, s.Close()) })
		return s, func() int { return count(t, dir) }
	})
	dir := base(t)
	var kinds []journal.Kind
	s, err := file.Notes(dir, opened(func(k journal.Kind) { kinds = append(kinds, k) }))
	require.NoError(t, err)
	_, err = s.Keep(t.Context(), []byte("stays"))
	require.NoError(t, err)
	gone, err := s.Keep(t.Context(), []byte("goes"))
	require.NoError(t, err)
	require.NoError(t, s.Drop(t.Context(), gone))
	require.NoError(t, s.Close())
	assert.Equal(t, 1, count(t, dir))
	assert.Equal(t, []journal.Kind{journal.KindNote, journal.KindNote}, kinds)
}

// opened is a Guard that is told of kinds.
type opened func(journal.Kind)

func (o opened) Open(_ context.Context, k journal.Kind, _ string) (journal.Resource, error) {
	o(k)
	return journal.Resource{}, nil
}
func (opened) Close(context.Context, journal.Resource) error { return nil }
