package workspacetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// FS-06
func mkdirRmdir(t *testing.T, b *bench) {
	b.put("ws/file", "f")
	h := b.at("d/")
	i, err := h.Mkdir(b.ctx)
	require.NoError(t, err)
	assert.True(t, i.Mode.IsDir())
	assert.Equal(t, i, b.at("d").Info())
	_, err = h.Mkdir(b.ctx)
	b.is(workspace.CodeExists, err, "twice")
	_, err = b.at("file").Mkdir(b.ctx)
	b.is(workspace.CodeExists, err, "a file is there")
	_, err = b.at(".").Mkdir(b.ctx)
	b.is(workspace.CodeExists, err)
	late := b.at("late")
	b.Mkdir(t, b.ws("late"))
	_, err = late.Mkdir(b.ctx)
	b.is(workspace.CodeExists, err, "somebody was faster")

	b.put("ws/full/f", "f")
	before := b.Snapshot(t)
	b.is(workspace.CodeNotEmpty, b.at("full").Rmdir(b.ctx))
	b.is(workspace.CodeNotDirectory, b.at("file").Rmdir(b.ctx))
	b.is(workspace.CodeNotFound, b.at("missing").Rmdir(b.ctx))
	b.is(workspace.CodeOutside, b.at(".").Rmdir(b.ctx), "a root stands in a directory outside")
	b.same(before)
	require.NoError(t, h.Rmdir(b.ctx))
	b.lacks("ws/d")
	assert.False(t, h.Info().Exists)
	b.is(workspace.CodeNotFound, h.Rmdir(b.ctx), "twice")
	_, err = h.Mkdir(b.ctx)
	require.NoError(t, err, "the place is free again")
}

func remove(t *testing.T, b *bench) {
	b.put("ws/dir/f", "f")
	b.put("ws/g", "g")
	b.link("g", "ws/link")
	b.is(workspace.CodeIsDirectory, b.at("dir").Remove(b.ctx))
	b.is(workspace.CodeIsDirectory, b.at(".").Remove(b.ctx))
	b.is(workspace.CodeNotFound, b.at("missing").Remove(b.ctx))
	h := b.at("dir/f")
	require.NoError(t, h.Remove(b.ctx))
	b.lacks("ws/dir/f")
	b.is(workspace.CodeNotFound, h.Remove(b.ctx), "twice")
	require.NoError(t, b.at("link").Remove(b.ctx), "Resolve followed the link")
	b.lacks("ws/g")
	b.holds("ws/link", "-> g")
}

// FS-07
func move(t *testing.T, b *bench) {
	b.put("ws/f", "f")
	b.put("ws/dir/x", "x")
	from, to := b.at("f"), b.at("dir/moved")
	was := from.Info().Identity
	i, err := from.MoveTo(b.ctx, to)
	require.NoError(t, err)
	b.lacks("ws/f")
	b.holds("ws/dir/moved", "f")
	assert.Equal(t, b.ws("dir/moved"), i.Path)
	assert.Equal(t, was.File, i.Identity.File, "the same file")
	assert.Equal(t, was.ModifiedAt, i.Identity.ModifiedAt)
	assert.Equal(t, i, to.Info())
	assert.False(t, from.Info().Exists)
	data, err := to.Read(b.ctx, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, "f", string(data))

	_, err = b.at("dir").MoveTo(b.ctx, b.at("other/"))
	require.NoError(t, err)
	b.holds("ws/other/x", "x")
	b.lacks("ws/dir")
}

func moveRefusals(t *testing.T, b *bench) {
	b.put("ws/f", "f")
	b.put("ws/g", "g")
	b.put("ws/dir/x", "x")
	b.Mkdir(t, b.ws("empty"))
	late := b.at("late")
	b.put("ws/late", "somebody was faster")
	gone := b.at("g")
	b.Rename(t, b.ws("g"), b.ws("h"))
	before := b.Snapshot(t)
	to := func(from, to workspace.Handle, code fault.Code, why string) {
		t.Helper()
		_, err := from.MoveTo(b.ctx, to)
		b.is(code, err, why)
	}
	to(b.at("f"), b.at("h"), workspace.CodeExists, "a file is there")
	to(b.at("f"), b.at("empty"), workspace.CodeExists, "a directory is there")
	to(b.at("dir"), b.at("empty"), workspace.CodeExists, "an empty directory is there")
	to(b.at("f"), late, workspace.CodeExists, "it appeared")
	to(b.at("f"), b.at("f"), workspace.CodeExists, "onto itself")
	same := b.at("f")
	to(same, same, workspace.CodeExists, "onto itself, by one handle")
	to(b.at("missing"), b.at("new"), workspace.CodeNotFound, "nothing to move")
	to(gone, b.at("new"), workspace.CodeChanged, "it went elsewhere")
	to(b.at("f"), b.at("new/"), workspace.CodeNotDirectory, "a file to a directory's place")
	to(b.at("dir"), b.at("dir/into"), workspace.CodeFailed, "into itself")
	to(b.at("."), b.at("new"), workspace.CodeFailed, "the root into itself")
	to(b.at("../mnt"), b.at("new"), workspace.CodeOutside, "a root stands in a directory outside")
	b.same(before)
}

// FS-03: what was resolved is used, or nothing.
func swappedObject(t *testing.T, b *bench) {
	b.put("secret", "outside")
	for name, swap := range map[string]func(){
		"another file": func() { b.Rename(t, b.ws("f"), b.ws("f2")); b.put("ws/f", "other") },
		"a link out":   func() { b.Remove(t, b.ws("f")); b.link("../secret", "ws/f") },
		"a directory":  func() { b.Remove(t, b.ws("f")); b.Mkdir(t, b.ws("f")) },
		"nothing":      func() { b.Remove(t, b.ws("f")) },
	} {
		b.put("ws/f", "mine")
		h, dest := b.at("f"), b.at("dest")
		swap()
		before := b.Snapshot(t)
		_, err := h.Read(b.ctx, 0, 10)
		b.is(workspace.CodeChanged, err, name)
		_, err = h.Replace(b.ctx, []byte("x"), false, nil)
		b.is(workspace.CodeChanged, err, name)
		_, err = h.MoveTo(b.ctx, dest)
		b.is(workspace.CodeChanged, err, name)
		b.is(workspace.CodeChanged, h.Remove(b.ctx), name)
		b.same(before)
		b.Remove(t, b.ws("f"))
	}
	b.holds("secret", "outside")
}

// FS-03: an ancestor that becomes a link to outside redirects nothing.
func swappedAncestor(t *testing.T, b *bench) {
	b.put("ws/d/in/f", "mine")
	b.put("evil/in/f", "theirs")
	f, fresh, dir := b.at("d/in/f"), b.at("d/in/new"), b.at("d/in")
	b.Rename(t, b.ws("d"), b.ws("away"))
	b.link("../evil", "ws/d")
	data, err := f.Read(b.ctx, 0, 10)
	if err == nil {
		assert.Equal(t, "mine", string(data))
	} else {
		b.is(workspace.CodeChanged, err)
	}
	_, _ = f.Replace(b.ctx, []byte("edited"), false, nil)
	_, _ = fresh.Replace(b.ctx, []byte("fresh"), false, nil)
	_ = f.Remove(b.ctx)
	_ = dir.Rmdir(b.ctx)
	b.holds("evil/in/f", "theirs")
	b.lacks("evil/in/new")
	_, err = b.tree.Resolve(b.ctx, "d/in/f")
	b.is(workspace.CodeOutside, err)
}

func removedParent(t *testing.T, b *bench) {
	b.put("ws/d/f", "f")
	fresh, sub, f := b.at("d/new"), b.at("d/sub"), b.at("d/f")
	b.put("ws/g", "g")
	b.Remove(t, b.ws("d"))
	_, err := fresh.Replace(b.ctx, []byte("x"), false, nil)
	assert.Contains(t, []fault.Code{workspace.CodeNotFound, workspace.CodeChanged}, fault.CodeOf(err))
	_, err = sub.Mkdir(b.ctx)
	b.is(workspace.CodeNotFound, err)
	_, err = f.Read(b.ctx, 0, 1)
	b.is(workspace.CodeChanged, err)
	_, err = b.at("g").MoveTo(b.ctx, fresh)
	assert.Contains(t, []fault.Code{workspace.CodeNotFound, workspace.CodeChanged}, fault.CodeOf(err))
	assert.Equal(t, []string{b.Base + "/mnt/", b.Base + "/ws/", b.Base + "/ws/g"}, sorted(b.Snapshot(t)))
}

func cancelled(t *testing.T, b *bench) {
	b.put("ws/f", "f")
	h, fresh := b.at("f"), b.at("new")
	dir := b.at(".")
	before := b.Snapshot(t)
	ctx, cancel := context.WithCancel(b.ctx)
	cancel()
	for name, call := range map[string]func() error{
		"resolve": func() error { _, err := b.tree.Resolve(ctx, "f"); return err },
		"read":    func() error { _, err := h.Read(ctx, 0, 1); return err },
		"list":    func() error { _, _, err := dir.List(ctx, 1); return err },
		"replace": func() error { _, err := h.Replace(ctx, []byte("x"), false, nil); return err },
		"mkdir":   func() error { _, err := fresh.Mkdir(ctx); return err },
		"move":    func() error { _, err := h.MoveTo(ctx, fresh); return err },
		"remove":  func() error { return h.Remove(ctx) },
		"rmdir":   func() error { return dir.Rmdir(ctx) },
	} {
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(call()), name)
	}
	b.same(before)
}

func closed(t *testing.T, b *bench) {
	b.put("ws/f", "f")
	tree := b.Open(t)
	h, err := tree.Resolve(b.ctx, "f")
	require.NoError(t, err)
	require.NoError(t, tree.Close())
	require.NoError(t, tree.Close(), "twice is fine")
	_, err = tree.Resolve(b.ctx, "f")
	b.is(workspace.CodeFailed, err)
	data, err := h.Read(b.ctx, 0, 1)
	require.NoError(t, err, "a handle outlives its tree")
	assert.Equal(t, "f", string(data))
	require.NoError(t, h.Close())
	require.NoError(t, h.Close(), "twice is fine")
	_, err = h.Read(b.ctx, 0, 1)
	b.is(workspace.CodeFailed, err)
	_, err = h.Replace(b.ctx, nil, false, nil)
	b.is(workspace.CodeFailed, err)
	_, err = b.at("f").MoveTo(b.ctx, h)
	b.is(workspace.CodeFailed, err, "another tree's handle")
	b.is(workspace.CodeFailed, h.Remove(b.ctx))
	b.holds("ws/f", "f")
}
