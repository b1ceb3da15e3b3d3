package toolbox_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// large is a workspace of 2,000 directories with five files each.
func large(b *testing.B) toolbox.Config {
	dir := b.TempDir()
	for i := range 2000 {
		d := fmt.Sprintf("%s/p%d/q%d", dir, i/50, i%50)
		require.NoError(b, os.MkdirAll(d, 0o755))
		for f := range 5 {
			require.NoError(b, os.WriteFile(fmt.Sprintf("%s/f%d.go", d, f), []byte("package p\n\nfunc F() {}\n"), 0o600))
		}
	}
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: dir, Network: policy.NetworkInput{Mode: sandbox.NetworkNone},
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	if f != nil {
		b.Fatal(f)
	}
	tree, err := osroot.New([]string{dir}, osroot.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { _ = tree.Close() })
	return toolbox.Config{Policy: p, Tree: tree}
}

func BenchmarkGuard_2000Directories(b *testing.B) {
	c := large(b)
	for b.Loop() {
		if _, err := gitguard.New(c.Tree, c.Policy, gitguard.Bounds{}).Find(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch_10000Files(b *testing.B) {
	box := toolbox.New(large(b))
	for b.Loop() {
		if r := box.Do(context.Background(), audit.Ref{}, tool.Call{Name: tool.Search, Path: ".", Pattern: "zzz"}); r.Fault != nil {
			b.Fatal(r.Text)
		}
	}
}
