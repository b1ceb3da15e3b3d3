package ollama

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// BenchmarkRead reads a reply of 1,000 pieces; the figure to watch is allocations per piece.
func BenchmarkRead(b *testing.B) {
	m := client(b, Config{})
	piece := `{"model":"m","created_at":"2026-09-01T10:00:00Z","message":{"role":"assistant","content":" word"},"done":false}` + "\n"
	body := []byte(strings.Repeat(piece, 1000) + `{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":1000}` + "\n")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		call := m.start(context.Background())
		if _, err := call.read(bytes.NewReader(body), "m", nil); err != nil {
			b.Fatal(err)
		}
		call.end()
	}
}
