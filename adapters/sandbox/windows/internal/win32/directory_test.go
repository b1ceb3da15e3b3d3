package win32

import (
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

func entry(name string, last bool) []byte {
	wide := utf16.Encode([]rune(name))
	b := make([]byte, fixedEntry)
	for _, u := range wide {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	binary.LittleEndian.PutUint32(b[60:], uint32(2*len(wide)))
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	if !last {
		binary.LittleEndian.PutUint32(b, uint32(len(b)))
	}
	return b
}

func TestNames(t *testing.T) {
	var b []byte
	for _, n := range []string{".", "..", "a", "日本語.txt", "𝔘"} {
		b = append(b, entry(n, false)...)
	}
	b = append(b, entry("last one", true)...)
	assert.Equal(t, []string{"a", "日本語.txt", "𝔘", "last one"}, names(append(b, make([]byte, 100)...)))
	assert.Empty(t, names(nil))
	assert.Empty(t, names(b[:fixedEntry-1]))
	binary.LittleEndian.PutUint32(b[60:], 1<<31)
	assert.Empty(t, names(b))
}
