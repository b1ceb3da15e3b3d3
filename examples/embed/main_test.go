package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_DoesTheWholeTaskInMemory(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(context.Background(), &out))
	for _, want := range []string{"State: finished (completed)", "says hello to Ada", "/project/greet", "processes: 1"} {
		require.Contains(t, out.String(), want)
	}
}

func TestMain_StaysSmall(t *testing.T) {
	b, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, body, _ := strings.Cut(string(b), "func main()")
	require.Less(t, strings.Count(body, "\n"), 60, "an embedder needs under 60 lines")
}
