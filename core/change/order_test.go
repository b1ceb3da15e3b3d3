package change_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/change"
)

// NFR-02: a difference is the same bytes in whatever order the two sides were found.
func TestCompare_SameBytesInAnyOrder(t *testing.T) {
	was, now := applied(), permissions()
	now.Mounts = append(now.Mounts, change.Mount{Name: "a-new"}, change.Mount{Name: "z-new"})
	now.Entries = append(now.Entries[1:], change.Entry{Alias: "a-new"}, change.Entry{Alias: "z-new"})
	bytesOf := func() string {
		b, err := json.Marshal(change.Compare(&was, now, "f2"))
		require.NoError(t, err)
		return string(b)
	}
	want := bytesOf()
	require.Contains(t, want, "z-new")
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		for _, p := range []*change.Permissions{&was.Permissions, &now} {
			r.Shuffle(len(p.Mounts), func(i, j int) { p.Mounts[i], p.Mounts[j] = p.Mounts[j], p.Mounts[i] })
			r.Shuffle(len(p.Entries), func(i, j int) { p.Entries[i], p.Entries[j] = p.Entries[j], p.Entries[i] })
		}
		require.Equal(t, want, bytesOf())
	}
}
