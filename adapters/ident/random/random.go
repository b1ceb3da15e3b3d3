// Package random makes random UUIDs (ports/ident), version 4 of RFC 9562, from the operating system's generator. It
// keeps no state and never repeats.
package random

import (
	"crypto/rand"
	"encoding/hex"

	"github.com/agent-mcp/agent-mcp/ports/ident"
)

// Source makes ids. Safe for concurrent use.
type Source struct{}

var _ ident.Source = Source{}

// New returns a source of random ids.
func New() Source { return Source{} }

// New returns a version 4 UUID with 122 random bits.
func (Source) New() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the program is ended when there is no randomness
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var t [36]byte
	hex.Encode(t[0:8], b[0:4])
	hex.Encode(t[9:13], b[4:6])
	hex.Encode(t[14:18], b[6:8])
	hex.Encode(t[19:23], b[8:10])
	hex.Encode(t[24:36], b[10:16])
	t[8], t[13], t[18], t[23] = '-', '-', '-', '-'
	return string(t[:])
}
