// Package identtest is the contract of ports/ident: every Source passes Run.
package identtest

import (
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/ports/ident"
)

// Run checks the contract.
func Run(t *testing.T, s ident.Source) {
	t.Helper()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				id := s.New()
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Len(t, seen, 1000, "no id comes twice")
	for id := range seen {
		assert.Regexp(t, form, id)
	}
}
