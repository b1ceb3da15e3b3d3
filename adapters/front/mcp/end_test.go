package mcp_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// A client that closed our output is an ordinary end, as long as main ignores SIGPIPE (a pipe that is not stdout never raises it).
func TestServeStdio_ClosedOutput(t *testing.T) {
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	defer func() { _ = outW.Close() }()
	require.NoError(t, outR.Close())
	inR, inW := io.Pipe() // stays open: the output alone must end it
	defer func() { _ = inW.Close() }()
	go func() { _, _ = io.WriteString(inW, ping("1")+"\n") }()
	r := &fronttest.Runner{}
	end, err := serverOf(options(r)).ServeStdio(context.Background(), inR, outW)
	require.NoError(t, err)
	assert.Equal(t, mcp.EndOutput, end)
	assert.Equal(t, []string{owner}, r.Released())
}

// A client that never reads holds nothing up: neither the stop of the server nor, after the drain time, its own EOF.
func TestServeStdio_NeverReadingClient(t *testing.T) {
	for _, how := range []string{"stop", "EOF"} {
		t.Run(how, func(t *testing.T) {
			r := &fronttest.Runner{}
			o := options(r)
			o.Limits = mcp.Limits{InFlight: 4, Waiting: 4, Drain: 20 * time.Millisecond, Settle: 20 * time.Millisecond}
			s := open(t, o)
			for i := range 6 {
				s.send(runCall(fmt.Sprint(i)))
			}
			want := mcp.EndStopped
			if how == "stop" {
				s.cancel()
			} else {
				want = mcp.EndInput
				require.NoError(t, s.in.Close())
			}
			<-s.done
			assert.Equal(t, want, s.end)
			assert.Equal(t, []string{owner}, r.Released())
			assert.NotContains(t, r.States(), service.Queued)
		})
	}
}

// A handler that ignores the end cannot leave a Task behind that nobody owns any more.
func TestServeStdio_TaskAcceptedAfterTheEnd(t *testing.T) {
	r, began, goOn := &fronttest.Runner{}, make(chan struct{}), make(chan struct{})
	undone := make(chan struct{})
	r.Before = func(_ context.Context, call string) error {
		switch call {
		case "run":
			close(began)
			<-goOn
		case "cancel":
			close(undone)
		}
		return nil
	}
	o := options(r)
	o.Limits.Settle = time.Millisecond
	s := open(t, o)
	s.send(runCall("1"))
	<-began
	s.cancel()
	<-s.done
	assert.Equal(t, mcp.EndStopped, s.end)
	require.NoError(t, s.out.Close())
	close(goOn)
	<-undone
}
