package toolbox_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/tool"
)

// AGT-04, AGT-07, SEC-INV-04: the runtime sees how files are, and only those that the policy lets be read; it leaves no record.
func TestLook(t *testing.T) {
	b := setup(t)
	b.tree.Put("/w/a.txt", "hello", 0o644)
	b.tree.Put("/w/d/.keep", "", 0o644)
	b.tree.Put("/usr/x", "y", 0o644)
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	for asked, want := range map[string]tool.Seen{
		"/w/a.txt":        {Path: "/w/a.txt", Known: true, Exists: true, SHA256: hello},
		"a.txt":           {Path: "/w/a.txt", Known: true, Exists: true, SHA256: hello},
		"/w/d":            {Path: "/w/d", Known: true, Exists: true},
		"/w/none":         {Path: "/w/none", Known: true},
		"/w/none/b":       {Path: "/w/none/b", Known: true},
		"/w/a.txt/b":      {Path: "/w/a.txt/b", Known: true},
		"/etc/shadow":     {Path: "/etc/shadow"},
		"../../etc/motd":  {Path: "../../etc/motd"},
		"/w/../etc/motd2": {Path: "/w/../etc/motd2"},
	} {
		assert.Equal(t, []tool.Seen{want}, b.Look(context.Background(), []string{asked}), asked)
	}
	assert.Empty(t, b.records)
	first := b.Look(context.Background(), []string{"/w/a.txt"})
	b.tree.Put("/w/a.txt", "other", 0o644)
	assert.NotEqual(t, first, b.Look(context.Background(), []string{"/w/a.txt"}))
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	assert.False(t, b.Look(gone, []string{"/w/a.txt"})[0].Known)
}

// AGT-04: what is moved or removed is known by its content, so that putting it back as it was is seen.
func TestEffects_ContentOfWhatIsGone(t *testing.T) {
	b := setup(t)
	b.tree.Put("/w/a.txt", "hello", 0o644)
	sum := b.Look(context.Background(), []string{"a.txt"})[0].SHA256
	r := b.do(tool.Call{Name: tool.Move, Path: "a.txt", Dest: "b.txt"})
	assert.Equal(t, []tool.Effect{{Kind: tool.EffectMoved, Path: "/w/a.txt", Dest: "/w/b.txt", Before: sum}}, r.Effects)
	r = b.do(tool.Call{Name: tool.Remove, Path: "b.txt"})
	assert.Equal(t, []tool.Effect{{Kind: tool.EffectRemoved, Path: "/w/b.txt", Before: sum}}, r.Effects)
}
