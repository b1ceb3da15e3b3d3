package guard

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// MCP-STS-03: what a model or a file says is shown as text; it neither drives a terminal nor fakes or reverses a line.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"日本語 tab\t line\n":                 "日本語 tab\t line\n",
		"a\r\nb":                           "a\nb",
		"a\u2028b\u0085c":                  "a\nb\nc",
		"\x1b]0;title\x07\x1b[2J":          "\uFFFD]0;title\uFFFD\uFFFD[2J",
		"over\rwritten \x00 \x7f \u009b1m": "over\uFFFDwritten \uFFFD \uFFFD \uFFFD1m",
		"\u202etxt.exe \u2066x":            "\uFFFDtxt.exe \uFFFDx",
		"\xff\xfe ok":                      "\uFFFD ok",
		"family 👨\u200d👩\u200d👧 joins with U+200D": "family 👨\u200d👩\u200d👧 joins with U+200D",
	} {
		require.Equal(t, want, Plain(in))
	}
}
