package workspacetest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func read(t *testing.T, b *bench) {
	b.put("ws/f", "0123456789")
	b.put("ws/empty", "")
	b.put("ws/big", strings.Repeat("abc", 1<<20))
	h := b.at("f")
	for _, row := range []struct {
		offset int64
		limit  int
		want   string
	}{
		{0, 10, "0123456789"},
		{0, 1000, "0123456789"},
		{3, 4, "3456"},
		{8, 10, "89"},
		{10, 5, ""},
		{1 << 40, 5, ""},
		{-3, 10, "789"},
		{-3, 2, "78"},
		{-100, 3, "012"},
		{0, 0, ""},
		{5, -1, ""},
		{0, 1 << 40, "0123456789"},
	} {
		data, err := h.Read(b.ctx, row.offset, row.limit)
		require.NoError(t, err)
		assert.Equal(t, row.want, string(data), "%d %d", row.offset, row.limit)
	}
	data, err := b.at("big").Read(b.ctx, 1, 3<<20)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("abc", 1<<20)[1:], string(data))
	data, err = b.at("empty").Read(b.ctx, 0, 10)
	require.NoError(t, err)
	assert.Empty(t, data)
	_, err = b.at(".").Read(b.ctx, 0, 10)
	b.is(workspace.CodeIsDirectory, err)
	_, err = b.at("missing").Read(b.ctx, 0, 10)
	b.is(workspace.CodeNotFound, err)
	data, err = h.Read(b.ctx, 0, 3)
	require.NoError(t, err)
	data[0] = 'X'
	again, err := h.Read(b.ctx, 0, 3)
	require.NoError(t, err)
	assert.Equal(t, "012", string(again), "the caller owns what it read")
}

func list(t *testing.T, b *bench) {
	for _, n := range []string{"b", "a", "é", "B", ".hidden", "dir/inner", "\xff"} {
		b.put("ws/"+n, "x")
	}
	b.link("nowhere", "ws/link")
	entries, total, err := b.at(".").List(b.ctx, 100)
	require.NoError(t, err)
	assert.Equal(t, 8, total)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
		assert.Equal(t, b.ws(e.Name), e.Path)
		assert.Equal(t, b.ws(""), e.Root)
		assert.True(t, e.Exists)
		if e.Name != "link" {
			assert.Equal(t, b.at(e.Name).Info(), e)
		}
	}
	assert.Equal(t, []string{".hidden", "B", "a", "b", "dir", "link", "é", "\xff"}, names)
	assert.Equal(t, "L", entries[5].Mode.String()[:1], "a link is listed as itself")
	for limit, want := range map[int]int{0: 0, -1: 0, 1: 1, 3: 3, 8: 8} {
		some, n, err := b.at(".").List(b.ctx, limit)
		require.NoError(t, err)
		assert.Equal(t, 8, n)
		assert.Equal(t, entries[:want], some)
	}
	_, _, err = b.at("a").List(b.ctx, 1)
	b.is(workspace.CodeNotDirectory, err)
	_, _, err = b.at("missing").List(b.ctx, 1)
	b.is(workspace.CodeNotFound, err)
	b.Mkdir(t, b.ws("empty"))
	entries, total, err = b.at("empty").List(b.ctx, 5)
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.Zero(t, total)
}

// EDT-01
func replaceNew(t *testing.T, b *bench) {
	h := b.at("new")
	i, err := h.Replace(b.ctx, []byte("one"), false, nil)
	require.NoError(t, err)
	b.holds("ws/new", "one")
	assert.True(t, i.Exists)
	assert.Equal(t, int64(3), i.Identity.Size)
	assert.Zero(t, i.Mode&0o111)
	assert.Equal(t, i, h.Info(), "the handle is one on what it made")
	assert.Equal(t, i, b.at("new").Info())
	data, err := h.Read(b.ctx, 0, 10)
	require.NoError(t, err)
	assert.Equal(t, "one", string(data))

	i, err = b.at("tool").Replace(b.ctx, []byte("#!"), true, nil)
	require.NoError(t, err)
	assert.NotZero(t, i.Mode&0o100, "executable")
	_, err = b.at("empty").Replace(b.ctx, nil, false, nil)
	require.NoError(t, err)
	b.holds("ws/empty", "")
	b.link("made", "ws/dangling")
	_, err = b.at("dangling").Replace(b.ctx, []byte("through a link"), false, nil)
	require.NoError(t, err)
	b.holds("ws/made", "through a link")
	b.holds("ws/dangling", "-> made")
}

func replaceOld(t *testing.T, b *bench) {
	b.put("ws/f", "old")
	b.Put(t, b.ws("tool"), "old", true)
	b.link("f", "ws/link")
	before := b.at("f").Info()
	i, err := b.at("link").Replace(b.ctx, []byte("new content"), false, nil)
	require.NoError(t, err)
	b.holds("ws/f", "new content")
	b.holds("ws/link", "-> f")
	assert.Equal(t, before.Mode, i.Mode, "the mode is kept")
	assert.NotEqual(t, before.Identity, i.Identity)
	i, err = b.at("tool").Replace(b.ctx, []byte("new"), false, nil)
	require.NoError(t, err)
	assert.NotZero(t, i.Mode&0o100, "still executable")
	i, err = b.at("f").Replace(b.ctx, []byte("script"), true, nil)
	require.NoError(t, err)
	assert.NotZero(t, i.Mode&0o100, "made executable")
	data := bytes.Repeat([]byte("x"), 3<<20)
	_, err = b.at("f").Replace(b.ctx, data, false, nil)
	require.NoError(t, err)
	got, err := b.at("f").Read(b.ctx, 0, 4<<20)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, got))
}

// FS-03, EDT-01: an edit is made only of what the caller has seen.
func replaceWanted(t *testing.T, b *bench) {
	b.put("ws/f", "seen")
	seen := b.at("f").Info().Identity
	h := b.at("f")
	b.put("ws/f", "changed in place")
	before := b.Snapshot(t)
	_, err := h.Replace(b.ctx, []byte("edit"), false, &seen)
	b.is(workspace.CodeChanged, err)
	_, err = b.at("f").Replace(b.ctx, []byte("edit"), false, &seen)
	b.is(workspace.CodeChanged, err)
	_, err = b.at("missing").Replace(b.ctx, []byte("edit"), false, &seen)
	b.is(workspace.CodeChanged, err)
	b.same(before)
	now := b.at("f").Info().Identity
	_, err = b.at("f").Replace(b.ctx, []byte("edit"), false, &now)
	require.NoError(t, err)
	b.holds("ws/f", "edit")
}

func replaceRefusals(t *testing.T, b *bench) {
	b.put("ws/dir/f", "f")
	fresh := b.at("fresh")
	gone := b.at("dir/f")
	b.put("ws/fresh", "somebody was faster")
	b.Remove(t, b.ws("dir/f"))
	before := b.Snapshot(t)
	_, err := fresh.Replace(b.ctx, []byte("x"), false, nil)
	b.is(workspace.CodeChanged, err, "it appeared")
	_, err = gone.Replace(b.ctx, []byte("x"), false, nil)
	b.is(workspace.CodeChanged, err, "it vanished")
	_, err = b.at("dir").Replace(b.ctx, []byte("x"), false, nil)
	b.is(workspace.CodeIsDirectory, err)
	_, err = b.at(".").Replace(b.ctx, []byte("x"), false, nil)
	assert.Contains(t, []fault.Code{workspace.CodeIsDirectory, workspace.CodeOutside}, fault.CodeOf(err))
	_, err = b.at("new/").Replace(b.ctx, []byte("x"), false, nil)
	b.is(workspace.CodeIsDirectory, err, "a trailing slash asks for a directory")
	b.same(before)
}

// EDT-01: one handle writes, looks, and puts the old content back.
func restore(t *testing.T, b *bench) {
	b.put("ws/f", "old")
	h := b.at("f")
	old, err := h.Read(b.ctx, 0, 100)
	require.NoError(t, err)
	was := h.Info().Identity
	edited, err := h.Replace(b.ctx, []byte("bad edit"), false, &was)
	require.NoError(t, err)
	_, err = h.Replace(b.ctx, old, false, &edited.Identity)
	require.NoError(t, err)
	b.holds("ws/f", "old")
	fresh := b.at("new")
	_, err = fresh.Replace(b.ctx, []byte("bad file"), false, nil)
	require.NoError(t, err)
	require.NoError(t, fresh.Remove(b.ctx))
	assert.False(t, fresh.Info().Exists)
	b.lacks("ws/new")
}

// Readers see one whole content or another; writers without a lock either win or are told.
func concurrentWrites(t *testing.T, b *bench) {
	whole := func(i int) string { return strings.Repeat(fmt.Sprintf("%04d", i), 5000) }
	b.put("ws/f", whole(0))
	ctx, stop := context.WithCancel(b.ctx)
	defer stop()
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				h, err := b.tree.Resolve(b.ctx, "f")
				if !assert.NoError(t, err) {
					return
				}
				data, err := h.Read(b.ctx, 0, 1<<20)
				if err == nil {
					assert.Len(t, data, 20000)
					assert.Equal(t, strings.Repeat(string(data[:4]), 5000), string(data), "a mixture")
				} else {
					assert.Equal(t, workspace.CodeChanged, fault.CodeOf(err))
				}
				assert.NoError(t, h.Close())
			}
		})
	}
	for w := range 2 {
		writers.Go(func() {
			for i := range 8 {
				h, err := b.tree.Resolve(b.ctx, "f")
				if !assert.NoError(t, err) {
					return
				}
				_, err = h.Replace(b.ctx, []byte(whole(1+w*8+i)), false, nil)
				if err != nil {
					assert.Equal(t, workspace.CodeChanged, fault.CodeOf(err), err)
				}
				assert.NoError(t, h.Close())
			}
		})
	}
	writers.Wait()
	stop()
	readers.Wait()
}
