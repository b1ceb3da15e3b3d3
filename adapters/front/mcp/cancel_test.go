package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func TestServeStdio_CancelledGetsNoAnswer(t *testing.T) {
	r, began := &fronttest.Runner{}, make(chan struct{})
	r.Before = func(ctx context.Context, call string) error {
		if call != "run" {
			return nil
		}
		close(began)
		<-ctx.Done()
		return ctx.Err()
	}
	s := open(t, options(r))
	s.send(runCall("7"))
	<-began
	s.send(cancelled("7"))
	s.send(cancelled("8")) // unknown: ignored
	s.send(cancelled("null"))
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	s.sync()
	assert.Empty(t, s.finish())
}

// A Task whose id no client can know is cancelled.
func TestServeStdio_CancelledRunDoesNotWorkOn(t *testing.T) {
	r, began, goOn := &fronttest.Runner{}, make(chan struct{}), make(chan struct{})
	var undone atomic.Int32
	r.Before = func(_ context.Context, call string) error {
		switch call {
		case "run":
			close(began)
			<-goOn // accepts although its request is cancelled
		case "cancel":
			undone.Add(1)
		}
		return nil
	}
	s := open(t, options(r))
	s.send(runCall("7"))
	<-began
	s.send(cancelled("7"))
	s.sync()
	close(goOn)
	assert.Empty(t, s.finish())
	assert.EqualValues(t, 1, undone.Load())
	assert.Equal(t, []service.State{service.Cancelled}, r.States())
}

// Ids are compared as values; the one that waits is refused too; afterwards the id is free.
func TestServeStdio_IDInUse(t *testing.T) {
	r, began, goOn := &fronttest.Runner{}, make(chan struct{}, 9), make(chan struct{})
	r.Before = func(_ context.Context, call string) error {
		if call == "run" {
			began <- struct{}{}
			<-goOn
		}
		return nil
	}
	o := options(r)
	o.Limits.InFlight = 1
	s := open(t, o)
	s.send(runCall(`"a"`))
	<-began
	s.send(runCall(`2`)) // waits
	for _, id := range []string{`"\u0061"`, `2`} {
		a := s.ask(ping(id))
		require.NotNil(t, a.Error)
		assert.Equal(t, -32600, a.Error.Code)
		assert.Equal(t, "mcp.id_in_use", a.Error.Message)
		assert.Equal(t, id, string(a.ID))
	}
	close(goOn)
	assert.Equal(t, `"a"`, string(s.receive().ID))
	assert.Equal(t, `2`, string(s.receive().ID))
	assert.Nil(t, s.ask(ping(`2`)).Error)
	assert.Len(t, r.Requests(), 2)
}

func TestServeStdio_CancelledWhileWaiting(t *testing.T) {
	r, began, goOn := &fronttest.Runner{}, make(chan struct{}, 9), make(chan struct{})
	r.Before = func(_ context.Context, call string) error {
		if call == "run" {
			began <- struct{}{}
			<-goOn
		}
		return nil
	}
	o := options(r)
	o.Limits.InFlight = 1
	s := open(t, o)
	s.send(runCall(`1`))
	<-began
	s.send(runCall(`2`))
	s.send(cancelled(`2`))
	s.send(runCall(`3`))
	a := s.ask(ping(`3`)) // the id in use shows that all of it was read
	require.NotNil(t, a.Error)
	close(goOn)
	var ids []string
	for range 2 {
		ids = append(ids, string(s.receive().ID))
	}
	assert.Equal(t, []string{"1", "3"}, ids)
	assert.Empty(t, s.finish())
	assert.Len(t, r.Requests(), 2, "a dropped request reached the Runner")
}

// Every request gets exactly one answer, or none when it was cancelled; then its Task does not go on.
func TestServeStdio_CancelStorm(t *testing.T) {
	const n = 1000
	r := &fronttest.Runner{}
	s := open(t, options(r))
	go func() {
		for i := range n {
			s.send(runCall(fmt.Sprint(i)))
			if i%2 == 0 {
				s.send(cancelled(fmt.Sprint(i)))
				s.send(cancelled(fmt.Sprint(i)))
			}
		}
		_ = s.in.Close()
	}()
	answers, known := map[string]int{}, map[string]bool{}
	for s.lines.Scan() {
		a := fronttest.Decode(t, s.lines.Text())
		answers[string(a.ID)]++
		known[strings.TrimPrefix(strings.Split(a.Text, "\n")[0], "Task ID: ")] = true
	}
	<-s.done
	require.NoError(t, s.err)
	for i := range n {
		if got := answers[fmt.Sprint(i)]; i%2 == 1 {
			assert.Equal(t, 1, got, i)
		} else {
			assert.LessOrEqual(t, got, 1, i)
		}
	}
	assert.Len(t, known, len(answers))
	assert.LessOrEqual(t, len(answers), len(r.Requests()))
}

// A cancelled agent_run does not hold up those after it, at work or waiting.
func TestServeStdio_CancelledGivesItsTurnUp(t *testing.T) {
	r, began, goOn := &fronttest.Runner{}, make(chan struct{}, 9), make(chan struct{})
	var first atomic.Bool
	r.Before = func(_ context.Context, call string) error {
		if call == "run" && first.CompareAndSwap(false, true) {
			began <- struct{}{}
			<-goOn // ignores that it is cancelled
		}
		return nil
	}
	o := options(r)
	o.Limits.InFlight = 3
	s := open(t, o)
	s.send(runCall("1"))
	<-began
	for _, id := range []string{"2", "3", "4", "5"} { // 2 and 3 wait for their turn, 4 and 5 for their place
		s.send(runCall(id))
	}
	s.send(cancelled("4"))
	s.send(cancelled("2"))
	s.send(cancelled("1"))
	got := []string{string(s.receive().ID), string(s.receive().ID)}
	assert.ElementsMatch(t, []string{"3", "5"}, got)
	close(goOn)
	assert.Empty(t, s.finish())
}
