package fronttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func TestRunner_Contract(t *testing.T) {
	fronttest.TestRunner(t, func(*testing.T) fronttest.Subject {
		r := &fronttest.Runner{}
		return fronttest.Subject{Runner: r, Finish: func(id, answer string) { r.Set(id, service.Completed, answer) }}
	})
}

func TestRunner_Busy(t *testing.T) {
	r := &fronttest.Runner{MaxQueued: 1}
	acc, err := r.Run(context.Background(), service.RunRequest{Request: "x"})
	require.NoError(t, err)
	_, err = r.Run(context.Background(), service.RunRequest{Request: "x"})
	assert.Equal(t, service.CodeBusy, fault.CodeOf(err))
	require.NoError(t, r.Cancel(context.Background(), acc.TaskID))
	_, err = r.Run(context.Background(), service.RunRequest{Request: "x"})
	assert.NoError(t, err)
}

func TestRunner_Before(t *testing.T) {
	var calls []string
	boom := errors.New("boom")
	r := &fronttest.Runner{Before: func(_ context.Context, call string) error {
		calls = append(calls, call)
		return boom
	}}
	_, err := r.Run(context.Background(), service.RunRequest{Request: "x"})
	assert.ErrorIs(t, err, boom)
	_, err = r.Status(context.Background(), fronttest.NoTask, "")
	assert.ErrorIs(t, err, boom)
	assert.ErrorIs(t, r.Cancel(context.Background(), fronttest.NoTask), boom)
	assert.ErrorIs(t, r.Release(context.Background(), ""), boom)
	assert.Equal(t, []string{"run", "status", "cancel", "release"}, calls)
	assert.Empty(t, r.Requests())
}

func TestCatalog_NamesWhatItSays(t *testing.T) {
	f := fault.New("a.b", "y", 2, "x", "one").With(fault.New("c.d"))
	assert.Equal(t, "a.b x=one y=2\nc.d", fronttest.Catalog{}.Fault(f))
	assert.Equal(t, "und", fronttest.Catalog{}.Tag())
}
