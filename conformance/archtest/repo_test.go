package archtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/archtest"
)

func report(t *testing.T, problems []archtest.Problem) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// TestRepository holds this repository to the rules of its architecture (NFR-05, NFR-09).
func TestRepository(t *testing.T) {
	root, err := archtest.Root()
	require.NoError(t, err)
	linux, err := archtest.Load(root, "linux")
	require.NoError(t, err)
	windows, err := archtest.Load(root, "windows")
	require.NoError(t, err)
	require.Greater(t, len(linux), 20, "the listing must not be empty")

	t.Run("imports on linux", func(t *testing.T) { report(t, archtest.CheckImports(linux)) })
	t.Run("imports on windows", func(t *testing.T) { report(t, archtest.CheckImports(windows)) })
	t.Run("both systems", func(t *testing.T) { report(t, archtest.CheckSystems(linux, windows)) })
	t.Run("source", func(t *testing.T) {
		problems, err := archtest.CheckSource(root)
		require.NoError(t, err)
		report(t, problems)
	})
	t.Run("suites", func(t *testing.T) {
		problems, err := archtest.CheckSuites(root)
		require.NoError(t, err)
		report(t, problems)
	})
	t.Run("top level", func(t *testing.T) {
		problems, err := archtest.CheckTop(root)
		require.NoError(t, err)
		report(t, problems)
	})
}
