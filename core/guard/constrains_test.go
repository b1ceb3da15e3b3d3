package guard_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/guard"
)

// SES-06: what sets a limit is found in the middle of anything.
func TestLimits_AreFoundWhereverTheyStand(t *testing.T) {
	filler := strings.Repeat("The report of March is long and has many words in it. ", 40)
	for name, c := range map[string]struct {
		words string
		want  []string
	}{
		"nothing":               {"Please read a.txt. It is long.", nil},
		"the middle":            {filler + "Never touch keep.txt. " + filler, []string{"Never touch keep.txt."}},
		"a file name is no end": {"Do not change v1.2/go.mod or main.go! Then read.", []string{"Do not change v1.2/go.mod or main.go!"}},
		"a list":                {"Hello.\nNever touch these files:\n- keep.txt\n- sub/own.txt\n\nRead the others.", []string{"Never touch these files:", "- keep.txt", "- sub/own.txt"}},
		"a numbered list":       {"Rules:\n1. Tabs.\n2. British words.\nGo on.", []string{"Rules:", "1. Tabs.", "2. British words."}},
		"twice":                 {"Use only tabs. Use only tabs.", []string{"Use only tabs."}},
		"Japanese":              {"報告書を読んでください。keep.txtには絶対に触らないでください。終わったら教えて。", []string{"keep.txtには絶対に触らないでください。"}},
		"Japanese list":         {"次のファイルは変更禁止：\n・設定.txt\n・鍵.txt\n読んでね。", []string{"次のファイルは変更禁止：", "・設定.txt", "・鍵.txt"}},
		"typographic":           {"Please don’t use the network.", []string{"Please don’t use the network."}},
		"exceptions":            {"Delete all files except notes.md.", []string{"Delete all files except notes.md."}},
		"an amount":             {"Write at most 200 words.", []string{"Write at most 200 words."}},
	} {
		t.Run(name, func(t *testing.T) {
			got := guard.Limits(c.words)
			require.Equal(t, c.want, got)
			require.Equal(t, got, guard.Limits(strings.Join(got, "\n")), "again")
		})
	}
}

func TestLimits_AnEndlessSentenceIsCutAroundThem(t *testing.T) {
	words := strings.Repeat("and more of it ", 300) + "but never touch keep.txt " + strings.Repeat("and so on ", 300)
	got := guard.Limits(words)
	require.Len(t, got, 1)
	require.Contains(t, got[0], "never touch keep.txt")
	require.LessOrEqual(t, utf8.RuneCountInString(got[0]), 400)
	require.Equal(t, got, guard.Limits(got[0]))
}

func FuzzLimits(f *testing.F) {
	f.Add("Never a. Only b:\n- c\n1. d")
	f.Fuzz(func(t *testing.T, s string) {
		for _, l := range guard.Limits(s) {
			if n := utf8.RuneCountInString(l); n == 0 || n > 400 {
				t.Fatalf("%d runes", n)
			}
		}
	})
}
