package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// PLN-05, PLN-08: the figures a reader sees are the ones the specification's formula gives.
func TestRun_PricesThePlan(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, run(&out))
	assert.Equal(t, `code  (3000 + 4*6000 + 14000) / 6 = 6833 1/3 slack 0
docs  (1000 + 4*2000 + 5000) / 6 = 2333 1/3 slack 7583 1/3
read  (800 + 4*1500 + 3000) / 6 = 1633 1/3 slack 0
test  (500 + 4*2500 + 8000) / 6 = 3083 1/3 slack 0
critical path [read code test]: 11550 tokens; all budgets: 36864 tokens
next of [read]: read
next of [code docs]: code
next of [test docs]: test
next of [docs]: docs
`, out.String()[:bytes.Index(out.Bytes(), []byte("rejected:"))])
	for _, reason := range []string{"plan.cycle path=a -> a", "plan.dangling dependency=gone id=a", "plan.estimate"} {
		assert.Contains(t, out.String(), reason)
	}
}
