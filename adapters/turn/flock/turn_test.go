package flock_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/turn/flock"
	"github.com/agent-mcp/agent-mcp/conformance/turntest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

func TestTurn_Contract(t *testing.T) {
	turntest.Run(t, func(t *testing.T) (a, b turn.Turn) {
		dir := filepath.Join(t.TempDir(), "turn")
		return flock.New(dir, "c1"), flock.New(dir, "c1")
	})
}

const childVariable = "AGENT_MCP_TEST_TURN"

// TestMain lets the test binary be a process that holds the turn and waits to be killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		_, err := flock.New(dir, "c1").Acquire(context.Background(), turntest.Holder("child"), nil)
		fmt.Println("ready", err)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestAcquire_TheDeathOfTheHolderGivesItBack(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready <nil>\n", line)

	var seen []turn.Holder
	release, err := flock.New(dir, "c1").Acquire(t.Context(), turntest.Holder("me"), func(h turn.Holder) {
		seen = append(seen, h)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.NoError(t, err)
	release()
	assert.Equal(t, []turn.Holder{turntest.Holder("child")}, seen)

	other, err := flock.New(dir, "c2").Acquire(t.Context(), turntest.Holder("me"), nil)
	require.NoError(t, err, "another configuration has another turn")
	other()
}

func TestAcquire_ABrokenHolderFileHindersNobody(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "{", string(make([]byte, 10_000))} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c1.holder"), []byte(content), 0o600))
		release, err := flock.New(dir, "c1").Acquire(t.Context(), turntest.Holder("a"), nil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "c1.holder"), []byte(content), 0o600))
		done := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := flock.New(dir, "c1").Acquire(ctx, turntest.Holder("b"), func(turn.Holder) { t.Error("nobody is named") })
			done <- err
		}()
		cancel()
		assert.Equal(t, fault.CodeCancelled, fault.CodeOf(<-done))
		release()
	}
	_, err := flock.New(filepath.Join(dir, "c1.lock"), "x").Acquire(t.Context(), turntest.Holder("a"), nil)
	assert.Equal(t, turn.CodeFailed, fault.CodeOf(err))
}
