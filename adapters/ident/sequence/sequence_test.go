package sequence_test

import (
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/ident/sequence"
	"github.com/agent-mcp/agent-mcp/conformance/identtest"
)

func TestSource_Contract(t *testing.T) { identtest.Run(t, sequence.New()) }

func TestSource_IsPredictable(t *testing.T) {
	s := sequence.New()
	for n := uint64(1); n < 20; n++ {
		if got := s.New(); got != sequence.ID(n) {
			t.Fatalf("id %d is %s", n, got)
		}
	}
}
