package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// LOG-03: an untouched file is good; one changed character is found.
func TestCheck_FindsWhatWasChanged(t *testing.T) {
	log, file := audit.Begin("me", ""), filepath.Join(t.TempDir(), "audit.jsonl")
	var text strings.Builder
	for i := range 5 {
		line, next := log.Next(audit.Task(time.Unix(int64(i), 0), audit.Ref{Task: "t"}, service.Queued, service.Planning, ""))
		log = next
		text.WriteString(string(line) + "\n")
	}
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	var out bytes.Buffer
	ok, err := check(file, &out)
	require.NoError(t, err)
	require.True(t, ok)
	require.Contains(t, out.String(), "5 records, good\n")
	require.Contains(t, out.String(), "task.state         5")

	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(text.String(), "planning", "plannning", 1)), 0o600))
	ok, err = check(file, &out)
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, out.String(), "BROKEN")
}
