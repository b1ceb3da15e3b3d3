package chain_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/chain"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

func build(t testing.TB, n int) ([][]byte, chain.Head) {
	t.Helper()
	head := chain.Begin(chain.Genesis{Domain: "test", Name: "one"})
	var lines [][]byte
	for i := range n {
		line, next, err := head.Next(map[string]any{"kind": "k", "fields": map[string]any{"i": i, "text": "日本語 \"<&>\"\n", "b": true}})
		require.NoError(t, err)
		lines, head = append(lines, line), next
	}
	return lines, head
}

func verify(lines [][]byte) chain.Report {
	var v chain.Verifier
	for _, l := range lines {
		v.Line(l)
	}
	return v.Report()
}

func code(r chain.Report) fault.Code {
	if r.Fault == nil {
		return ""
	}
	return r.Fault.Code
}

func TestVerify_AcceptsWhatNextWrote(t *testing.T) { // LOG-03
	lines, head := build(t, 5)
	r := verify(lines)
	assert.True(t, r.Whole())
	assert.Equal(t, head, r.Head)
	assert.Equal(t, chain.Genesis{Domain: "test", Name: "one"}, r.Genesis)
	assert.Equal(t, 5, r.Lines)
	assert.Nil(t, r.Strict(head))
	assert.True(t, verify(nil).Whole())
}

func TestNext_EqualRecordsGiveEqualBytes(t *testing.T) {
	a, _ := build(t, 3)
	for range 20 { // map order differs from run to run
		b, _ := build(t, 3)
		require.Equal(t, a, b)
	}
}

func TestNext_RefusesMistakes(t *testing.T) {
	h := chain.Begin(chain.Genesis{})
	for _, rec := range []map[string]any{{"seq": 1}, {"prev": ""}, {"hash": ""}, {"genesis": nil}, {"x": math.NaN()}} {
		_, next, err := h.Next(rec)
		assert.Error(t, err)
		assert.Equal(t, h, next)
	}
	_, _, err := chain.Head{}.Next(map[string]any{})
	assert.Error(t, err)
}

func TestVerify_AnyChangedByteIsSeen(t *testing.T) { // LOG-03: every byte × every kind of change
	lines, head := build(t, 3)
	text := bytes.Join(lines, []byte("\n"))
	check := func(changed []byte) {
		if r := verify(bytes.Split(changed, []byte("\n"))); r.Strict(head) == nil {
			t.Fatalf("unseen: %q", changed)
		}
	}
	for i := range text {
		for _, mask := range []byte{1, 2, 4, 8, 16, 32, 64, 128, text[i] ^ '\n', text[i] ^ ' ', text[i] ^ '}', text[i]} {
			if mask == 0 {
				continue
			}
			changed := bytes.Clone(text)
			changed[i] ^= mask
			check(changed)
		}
		check(slices.Delete(bytes.Clone(text), i, i+1))
		check(slices.Insert(bytes.Clone(text), i, ' '))
		check(slices.Insert(bytes.Clone(text), i, text[i]))
	}
}

func TestVerify_CutAtEveryByteIsATornTail(t *testing.T) {
	lines, _ := build(t, 3)
	for cut := range len(lines[2]) {
		r := verify([][]byte{lines[0], lines[1], lines[2][:cut]})
		require.Nil(t, r.Fault, "cut %d", cut)
		require.Equal(t, 2, r.Lines)
		require.True(t, r.Torn, "cut %d", cut)
	}
	r := verify([][]byte{lines[0], make([]byte, 100)})
	assert.True(t, r.Torn, "a page that was never written")
}

func TestVerify_NamesTheBreak(t *testing.T) {
	l, head := build(t, 5)
	other := func() [][]byte {
		h := chain.Begin(chain.Genesis{Domain: "test", Name: "two"})
		var out [][]byte
		for range 5 {
			line, next, err := h.Next(map[string]any{})
			require.NoError(t, err)
			out, h = append(out, line), next
		}
		return out
	}()
	regenesis := bytes.Replace(l[0], []byte(`"name":"one"`), []byte(`"name":"two"`), 1)
	for _, tt := range []struct {
		name  string
		lines [][]byte
		want  fault.Code
		line  any
	}{
		{"swapped", [][]byte{l[0], l[2], l[1], l[3], l[4]}, chain.CodeOrder, 2},
		{"removed", [][]byte{l[0], l[2], l[3], l[4]}, chain.CodeOrder, 2},
		{"repeated", [][]byte{l[0], l[1], l[1], l[2]}, chain.CodeOrder, 3},
		{"from another chain", [][]byte{l[0], other[1], other[2]}, chain.CodeLink, 2},
		{"a second start", [][]byte{l[0], other[0]}, chain.CodeOrder, 2},
		{"renamed", [][]byte{regenesis, l[1]}, chain.CodeEdited, 1},
		{"torn in the middle", [][]byte{l[0], l[1][:20], l[2]}, chain.CodeBroken, 2},
		{"garbage in the middle", [][]byte{l[0], []byte("hello"), l[2]}, chain.CodeBroken, 2},
		{"garbage at the end", [][]byte{l[0], []byte(`{"a":1}`)}, chain.CodeBroken, 2},
		{"an empty line", [][]byte{l[0], {}, l[1]}, chain.CodeBroken, 2},
	} {
		r := verify(tt.lines)
		assert.Equal(t, tt.want, code(r), tt.name)
		if r.Fault != nil {
			assert.Equal(t, tt.line, r.Fault.Args["line"], tt.name)
		}
	}

	r := verify(l[2:])
	assert.Nil(t, r.Fault)
	assert.EqualValues(t, 2, r.Pruned)
	assert.False(t, r.Whole())
	assert.Equal(t, chain.CodeHead, r.Strict(head).Code)

	r = verify(l[:3])
	assert.True(t, r.Whole(), "a cut-off tail is only seen with the head")
	assert.Equal(t, chain.CodeTail, r.Strict(head).Code)
}

func BenchmarkNext(b *testing.B) {
	h := chain.Begin(chain.Genesis{Domain: "test", Name: "one"})
	rec := map[string]any{"kind": "tool.call", "at": "2026-01-01T00:00:00Z", "fields": map[string]any{"path": "/a/b", "bytes": 12}}
	for b.Loop() {
		_, next, err := h.Next(rec)
		if err != nil {
			b.Fatal(err)
		}
		h = next
	}
}

func BenchmarkVerify(b *testing.B) {
	lines, _ := build(b, 100)
	for b.Loop() {
		if !verify(lines).Whole() {
			b.Fatal("broken")
		}
	}
}
