package mem_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/adapters/trace/mem"
	"github.com/agent-mcp/agent-mcp/conformance/tracetest"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

func TestSink_KeepsEventsByStream(t *testing.T) {
	s := mem.New()
	fields := []trace.Field{trace.F("a", 1)}
	s.Emit(trace.Event{Stream: trace.App, Name: "one", Fields: fields})
	fields[0].Value = 2
	s.Emit(trace.Event{Stream: trace.LLM, Name: "two"})
	assert.Len(t, s.Events(), 2)
	assert.Equal(t, []trace.Event{{Stream: trace.App, Name: "one", Fields: []trace.Field{trace.F("a", 1)}}}, s.Stream(trace.App))
}

func TestSink_Contract(t *testing.T) {
	tracetest.Run(t, func(*testing.T) (trace.Sink, func(trace.Stream) []tracetest.Seen) {
		s := mem.New()
		return s, func(want trace.Stream) (out []tracetest.Seen) {
			for _, e := range s.Stream(want) {
				seen := tracetest.Seen{Name: e.Name, Session: e.Session, Task: e.Task, PlannerTask: e.PlannerTask, Call: e.Call}
				for _, f := range e.Fields {
					if f.Name == "value" {
						seen.Value = fmt.Sprint(f.Value)
					}
				}
				out = append(out, seen)
			}
			return out
		}
	})
}
