package policy_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// NFR-02: in whatever order the owner wrote mounts, entries and endpoints, and however often it is asked, a policy is the same
// and gives the same verdicts with the same reasons, byte for byte.
func TestPolicy_SameBytesInAnyOrder(t *testing.T) {
	in := input()
	in.Network = policy.NetworkInput{Mode: sandbox.NetworkRestricted, Hosts: []string{"c.example.com:443", "a.example.com:80", "b.example.com:1"}}
	verdicts := func() string {
		p := build(t, in)
		all := []any{p.Roots(), p.Entries(), p.SandboxRoots(), p.ToolRoots(), p.Network(), p.Limits()}
		for _, op := range []policy.Op{policy.OpRead, policy.OpWrite, policy.OpDelete, policy.OpMkdir, policy.OpMove} {
			for _, path := range []string{"/home/u/work", "/home/u/work/a", "/home/u/work/.git/config", "/srv/docs/x", "/srv/out/trash/x", "/srv", "/etc/shadow", "not/absolute"} {
				all = append(all, p.Decide(policy.Request{Op: op, Path: path, Dest: "/srv/docs/y"}))
			}
		}
		b, err := json.Marshal(all)
		require.NoError(t, err)
		return string(b)
	}
	want := verdicts()
	require.Contains(t, want, "policy.outside")
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		r.Shuffle(len(in.Mounts), func(i, j int) { in.Mounts[i], in.Mounts[j] = in.Mounts[j], in.Mounts[i] })
		r.Shuffle(len(in.Entries), func(i, j int) { in.Entries[i], in.Entries[j] = in.Entries[j], in.Entries[i] })
		r.Shuffle(len(in.Denied), func(i, j int) { in.Denied[i], in.Denied[j] = in.Denied[j], in.Denied[i] })
		h := in.Network.Hosts
		r.Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
		require.Equal(t, want, verdicts())
	}
}
