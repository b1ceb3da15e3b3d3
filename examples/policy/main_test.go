package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 8)
	for i, want := range []string{
		" yes", " yes", "no. /home/me/project/.git/hooks", "needs delete", "lies outside", " yes", " yes", "is not on the restricted list",
	} {
		assert.Contains(t, lines[i], want)
	}
}
