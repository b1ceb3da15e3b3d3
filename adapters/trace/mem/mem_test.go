package mem_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/adapters/trace/mem"
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
