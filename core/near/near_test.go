package near_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/near"
)

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"path", "path", 0},
		{"pth", "path", 1},
		{"paths", "path", 1},
		{"pafh", "path", 1},
		{"ptah", "path", 1},
		{"kitten", "sitting", 3},
		{"設定", "設計", 1},
	} {
		require.Equal(t, c.want, near.Distance(c.a, c.b), "%s %s", c.a, c.b)
		require.Equal(t, c.want, near.Distance(c.b, c.a), "%s %s", c.b, c.a)
	}
	require.Greater(t, near.Distance(strings.Repeat("a", 65), "a"), 1000)
}
