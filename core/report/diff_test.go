package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiff_ReadsLikeAPatch(t *testing.T) {
	lines := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintln(&b, i)
		}
		return b.String()
	}
	for _, tt := range []struct{ name, before, after, want string }{
		{"equal", "a\n", "a\n", ""},
		{"new file", "", "a\nb\n", "@@ -1 +1 @@\n+a\n+b\n"},
		{"emptied", "a\nb\n", "", "@@ -1 +1 @@\n-a\n-b\n"},
		{"one line", lines(1, 9), lines(1, 4) + "five\n" + lines(6, 9), "@@ -2 +2 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"two places far apart", "x\n" + lines(1, 20) + "y\n", "X\n" + lines(1, 20) + "Y\n", "@@ -1 +1 @@\n-x\n+X\n 1\n 2\n 3\n@@ -19 +19 @@\n 18\n 19\n 20\n-y\n+Y\n"},
		{"two places close together", "x\n1\n2\ny\n", "1\n2\nY\n", "@@ -1 +1 @@\n-x\n 1\n 2\n-y\n+Y\n"},
		{"last newline", "a", "a\n", "@@ -1 +1 @@\n a\n-\\ no newline at the end\n"},
		{"binary", "a\x00", "b", "2 → 1 bytes"},
		{"not UTF-8", "\xff", "b", "1 → 1 bytes"},
		{"all different", lines(1, 300), lines(1001, 1300), "300 → 300 lines"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Diff([]byte(tt.before), []byte(tt.after))) })
	}
	long := Diff(nil, []byte(strings.Repeat("x\n", 390)))
	assert.LessOrEqual(t, strings.Count(long, "\n"), maxDiffLines+3)
	assert.True(t, strings.HasSuffix(long, "…\n"))
}

// Every script turns the one into the other.
func TestDiff_ScriptIsRight(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() (out []string) {
		for range r.IntN(12) {
			out = append(out, string(rune('a'+r.IntN(4))))
		}
		return out
	}
	for range 3000 {
		a, b := text(), text()
		script, ok := shortest(a, b)
		require.True(t, ok)
		var left, right []string
		x, y := 0, 0
		for _, e := range script {
			switch e {
			case keep:
				require.Equal(t, a[x], b[y])
				left, right = append(left, a[x]), append(right, b[y])
				x, y = x+1, y+1
			case remove:
				left = append(left, a[x])
				x++
			case add:
				right = append(right, b[y])
				y++
			}
		}
		require.Equal(t, a, left)
		require.Equal(t, b, right)
	}
}
