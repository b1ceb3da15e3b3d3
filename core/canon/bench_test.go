package canon_test

import (
	"strings"
	"testing"

	"github.com/agent-mcp/agent-mcp/core/canon"
)

// texts of equal size: honest ones and such that an enemy would choose. MB/s must be alike.
func texts(size int) map[string][]byte {
	fill := func(open, part, last string) []byte {
		return []byte(open + strings.Repeat(part, (size-len(open)-len(last))/len(part)) + last)
	}
	names := []byte("{")
	for i := 0; len(names) < size-40; i++ {
		names = append(append(names, `"aaaaaaaaaaaaaaaaaaaaaaaaaaa`...), byte('a'+i*7919%26), byte('a'+i*104729/26%26), byte('a'+i*31/676%26), byte('0'+i%10), byte('0'+i/10%10), byte('0'+i/100%10), byte('0'+i/1000%10), byte('0'+i/10000%10))
		names = append(names, `":1,`...)
	}
	names = append(names, `"":1}`...)
	return map[string][]byte{
		"honest":       fill("[", `{"id":"urn:uuid:11111111-2222-4333-8444-555555555555","n":42,"at":"2026-07-15T00:00:00Z"},`, `0]`),
		"escapes":      fill(`"`, `\u0061`, `"`),
		"long numbers": fill("[", `0.12345678901234567890123456789012345678901234567890123456789e-300,`, "0]"),
		"exponents":    fill("[", `1e999999999999999999999999999999999999,`, "0]"),
		"names":        names,
		"ones":         fill("[", "1,", "0]"),
	}
}

func BenchmarkRead(b *testing.B) {
	for name, text := range texts(1 << 16) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			var r canon.Reader
			var out []byte
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				d, err := r.Read(text, canon.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				out, _ = d.Append(out[:0])
			}
		})
	}
}
