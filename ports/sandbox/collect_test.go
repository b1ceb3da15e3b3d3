package sandbox

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// RES-01: head and tail are exactly the first and last bytes, whatever the sizes of the writes.
func TestCollector_KeepsHeadAndTail(t *testing.T) {
	whole := make([]byte, 2000)
	for i := range whole {
		whole[i] = byte(i % 251)
	}
	for _, limit := range []int{1, 2, 3, 10, 999, 2000, 3000} {
		for _, step := range []int{1, 7, 400, 2000} {
			t.Run(fmt.Sprint(limit, "/", step), func(t *testing.T) {
				c := NewCollector(limit)
				for rest := whole; len(rest) > 0; {
					k := min(step, len(rest))
					n, err := c.Write(rest[:k])
					assert.Equal(t, k, n)
					assert.NoError(t, err)
					rest = rest[k:]
				}
				got := c.Capture()
				assert.EqualValues(t, len(whole), got.Total)
				if limit >= len(whole) {
					assert.True(t, bytes.Equal(whole, got.Head))
					assert.Empty(t, got.Tail)
					return
				}
				assert.Equal(t, limit, len(got.Head)+len(got.Tail))
				assert.True(t, bytes.HasPrefix(whole, got.Head))
				assert.True(t, bytes.HasSuffix(whole, got.Tail))
			})
		}
	}
}

func TestUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir string
		want      bool
	}{{"/a", "/a", true}, {"/a/b", "/a", true}, {"/ab", "/a", false}, {"/a", "/a/b", false}, {"/a", "/", true}} {
		assert.Equal(t, c.want, Under(c.path, c.dir), c)
	}
}
