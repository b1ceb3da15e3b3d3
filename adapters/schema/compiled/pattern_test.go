package compiled

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ECMA-262 patterns, flag u; MissionWeave's schemas use lookaheads to mean "to the very end".
func TestPattern_ECMA(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		yes, no []string
	}{
		{
			`^P(?!$)(?:[0-9]+D)?(?:T(?=[0-9])(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?$`,
			[]string{"P1D", "PT1H", "P1DT2H3M4.5S", "PT0S", "PT5M"},
			[]string{"P", "PT", "P1DT", "PT1", "PT.5S", "1D", "P1D\n", "PT1H2", "P-1D"},
		},
		{`^sha256:[0-9a-f]{4}$(?![\s\S])`, []string{"sha256:00ff"}, []string{"sha256:00ff\n", "sha256:00f", "sha256:00fff", "SHA256:00ff", " sha256:00ff"}},
		{`\S`, []string{"a", " a ", "\u200b"}, []string{"", " \t\n\u00a0\u3000\ufeff\u2028"}},
		{`[^A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]`, []string{"a b", "é", "a\n", "\x00"}, []string{"", "urn:a[b]-c~%"}},
		{`^[^\s]+$`, []string{"é😀", "a"}, []string{"", "a b", "a\u2003"}},
		{`^.$`, []string{"a", "😀", "\u0085"}, []string{"", "\n", "\r", "\u2028", "ab"}},
		{`^(?:|a|bc)*$`, []string{"", "abca", "bcbc"}, []string{"b", "abcb"}},
		{`^(a|ab)(c|bcd)$`, []string{"ac", "abc", "abcd", "abbcd"}, []string{"ab", "abcdd"}},
		{`^a{2}b{0}c{1,}d{0,2}$`, []string{"aac", "aacccdd"}, []string{"ac", "aabc", "aa", "aacddd"}},
		{`^a*?b+?c??$`, []string{"b", "aabbc"}, []string{"a", "bcc"}},
		{`^\x41\u0042\u{1F600}\t\/\-?$`[:24] + `$`, []string{"AB😀\t/"}, []string{"AB😀\t"}},
		{`^[\d\-\]a-c]+$`, []string{"1-]abc"}, []string{"d", ""}},
		{`^\w\W\D$`, []string{"_-x", "a éx"[:4]}, []string{"aax", "a-1"}},
		{`a^b`, nil, []string{"ab", "a\nb", "b"}},
		{`a$`, []string{"ba"}, []string{"ab", "a\n"}},
		{`(?=a)[a-c](?!b).`, []string{"xac", "aa"}, []string{"ab", "bc", "a"}},
		{`(?!a)`, []string{"", "b", "ab"}, nil},
		{`[]`, nil, []string{"", "a"}},
		{`[^]`, []string{"a", "\n"}, []string{""}},
		{`^\uFFFD$`, []string{"\ufffd"}, []string{"a"}},
		{``, []string{"", "a"}, nil},
	} {
		p, err := compilePattern(tt.pattern)
		require.NoError(t, err, tt.pattern)
		for _, s := range tt.yes {
			assert.True(t, p.match([]byte(s)), "%s must match %q", tt.pattern, s)
		}
		for _, s := range tt.no {
			assert.False(t, p.match([]byte(s)), "%s must not match %q", tt.pattern, s)
		}
	}
	p, err := compilePattern(`^[\ud7ff-\ue000]$`) // surrogates stand alone in a string that has no canonical form
	require.NoError(t, err)
	assert.True(t, p.match([]byte{0xed, 0xa0, 0x80}))
	assert.False(t, p.match([]byte{0xed, 0xa0, 0x80, 0xed, 0xa0, 0x80}))
}

func TestPattern_RefusesWhatItCannotDo(t *testing.T) {
	for _, bad := range []string{
		`(a)\1`, `\b`, `\p{L}`, `(?<=a)b`, `(?<n>a)`, `(?=ab)`, `(?!a|b)`, `(?:a`, `a)`, `[a`, `[b-a]`, `[\d-z]`, `a**`, `*a`, `^*`, `(?=a)*`, `a{2,1}`,
		`a{1001}`, `a{`, `a{x}`, `}`, `]`, `\`, `\q`, `\u00`, `\ud800`, `\u{110000}`, `\x4`, `\01`, `(((a{1000}){1000}){1000})`, `(.*a){12}b.{12}(x|y.{12}){9}`,
		strings.Repeat("(", 200) + strings.Repeat(")", 200),
	} {
		_, err := compilePattern(bad)
		assert.Error(t, err, bad)
	}
}

// What package regexp can do too gives the same answers.
func TestPattern_AsAnotherEngineDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	atoms := []string{"a", "b", ".", "[ab]", "[^a]", "(?:a|bc)", "(b)", "é", "[é-ÿ]", `\d`, "(?:)", "c"}
	suffix := []string{"", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}"}
	chars := []string{"a", "b", "c", "é", "0", "\n", "ab", "bc"}
	for range 1500 {
		pattern := []string{"", "^"}[r.IntN(2)]
		for range r.IntN(5) {
			pattern += atoms[r.IntN(len(atoms))] + suffix[r.IntN(len(suffix))]
			if r.IntN(6) == 0 {
				pattern += "|"
			}
		}
		pattern += []string{"", "$"}[r.IntN(2)]
		want := regexp.MustCompile(strings.ReplaceAll(pattern, ".", `[^\n\r\x{2028}\x{2029}]`))
		got, err := compilePattern(pattern)
		require.NoError(t, err, pattern)
		for range 20 {
			text := ""
			for range r.IntN(7) {
				text += chars[r.IntN(len(chars))]
			}
			require.Equal(t, want.MatchString(text), got.match([]byte(text)), "%s on %q", pattern, text)
		}
	}
}
