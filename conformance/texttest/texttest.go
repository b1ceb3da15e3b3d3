// Package texttest is the contract suite of ports/text: whatever renders the catalogue must pass it.
package texttest

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Make builds a catalogue of the language tag from locale texts (tag → key → text). "en" is always among them.
type Make func(t *testing.T, texts map[string]map[string]string, tag string) (text.Catalog, error)

// texts of the suite.
func texts() map[string]map[string]string {
	return map[string]map[string]string{
		"en": {
			"w.two": "two", "w.three": "three",
			"a.hello": "Hello {who}, {count} times", "a.english": "only English", "a.braces": "a {b} {Not} {} { {x",
			"f.main": "It failed: {why}", "f.main.hint": "Try {what}.", "f.reason": "because {why}", "f.reason.hint": "Same remedy.",
		},
		"ja": {"w.two": "二つ", "a.hello": "{who} さん、{count} 回", "f.main": "失敗しました: {why}"},
	}
}

// Run checks a catalogue.
func Run(t *testing.T, build Make) {
	t.Helper()
	catalog := func(t *testing.T, tag string) text.Catalog {
		c, err := build(t, texts(), tag)
		require.NoError(t, err)
		return c
	}
	t.Run("named placeholders", func(t *testing.T) { // I18N-09
		c := catalog(t, "en")
		require.Equal(t, "Hello Ann, 3 times", c.Text("a.hello", map[string]any{"who": "Ann", "count": 3}))
		require.Equal(t, "Hello {who}, 1.5 times", c.Text("a.hello", map[string]any{"count": 1.5}), "a missing value stays visible")
		require.Equal(t, "a B {Not} {} { {x", c.Text("a.braces", map[string]any{"b": "B", "Not": 1}), "only {name} is a placeholder")
		require.Equal(t, "Hello {count}, 2 times", c.Text("a.hello", map[string]any{"who": "{count}", "count": 2}), "values are not parsed again")
	})
	t.Run("words", func(t *testing.T) { // I18N-07
		two, three := text.Word{Plain: "2", Key: "w.two"}, text.Word{Plain: "3", Key: "w.three"}
		args := map[string]any{"who": two, "count": text.Words{two, three}}
		require.Equal(t, "二つ さん、二つ, three 回", catalog(t, "ja").Text("a.hello", args))
		require.Equal(t, "失敗しました: x", catalog(t, "ja").Text("f.main", map[string]any{"why": text.Word{Plain: "x"}}))
		require.Contains(t, catalog(t, "ja").Fault(fault.New("f.main", "why", two)), "失敗しました: 二つ")
		require.Equal(t, map[string]any{"who": two, "count": text.Words{two, three}}, args, "what was given is not changed")
		require.Equal(t, "f.main count=2, 3 why=2", fault.New("f.main", "why", two, "count", text.Words{two, three}).Error(), "logs are in no language")
	})
	t.Run("falls back from the locale to English to the key", func(t *testing.T) { // I18N-10
		c := catalog(t, "ja")
		require.Equal(t, "ja", c.Tag())
		require.Equal(t, "Ann さん、1 回", c.Text("a.hello", map[string]any{"who": "Ann", "count": 1}))
		require.Equal(t, "only English", c.Text("a.english", nil))
		require.Equal(t, "no.such_key", c.Text("no.such_key", nil))
	})
	t.Run("a fault is its text, its reasons and its hints", func(t *testing.T) {
		f := fault.New("f.main", "why", "W", "what", "T").With(
			fault.New("f.reason", "why", "one"), fault.New("f.reason", "why", "two").With(fault.New("no.text")))
		got := catalog(t, "en").Fault(f)
		require.Equal(t, []string{"It failed: W", "- because one", "  Same remedy.", "- because two", "  - no.text", "Try T."}, strings.Split(got, "\n"))
		require.Equal(t, 1, strings.Count(got, "Same remedy."), "a hint is shown once")
		require.Equal(t, "失敗しました: W", strings.Split(catalog(t, "ja").Fault(f), "\n")[0])
		require.Empty(t, catalog(t, "en").Fault(nil))
	})
	t.Run("foreign text cannot drive a terminal", func(t *testing.T) {
		got := catalog(t, "en").Text("a.hello", map[string]any{"who": "x\x1b[2J\u202ey\u009b", "count": "1\r"})
		require.Equal(t, "Hello x\ufffd[2J\ufffdy\ufffd, 1\ufffd times", got)
		require.Equal(t, "Hello a\n\tb, 1 times", catalog(t, "en").Text("a.hello", map[string]any{"who": "a\n\tb", "count": 1}))
	})
	t.Run("a language without texts is refused", func(t *testing.T) { // AT-20
		_, err := build(t, texts(), "fr")
		require.Equal(t, text.CodeUnknownLocale, fault.CodeOf(err))
		_, err = build(t, texts(), "jp") // well formed, but no language's tag: a slip, told with what there is
		require.Equal(t, text.CodeUnknownLocale, fault.CodeOf(err))
		require.Contains(t, fault.From(err).Args["known"], "ja")
		_, err = build(t, texts(), "not a tag!")
		require.Equal(t, text.CodeBadTag, fault.CodeOf(err))
	})
	t.Run("is safe for concurrent use", func(t *testing.T) {
		c := catalog(t, "ja")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 50 {
					if c.Text("a.english", nil) != "only English" {
						t.Error("wrong text")
					}
				}
			})
		}
		wg.Wait()
	})
}
