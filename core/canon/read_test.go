package canon_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// MissionWeave D1, R-6.4.17 stage 1; RFC 8259, RFC 7493.
func TestRead_RefusesWhatIsNoStrictJSON(t *testing.T) {
	for _, tt := range []struct {
		text string
		code fault.Code
	}{
		{"", canon.CodeTruncated},
		{"  \n", canon.CodeTruncated},
		{"\xef\xbb\xbf{}", canon.CodeBOM},
		{"\ufeff1", canon.CodeBOM},
		{"{}\ufeff", canon.CodeTrailing},
		{"{} {}", canon.CodeTrailing},
		{"1 2", canon.CodeTrailing},
		{"nullx", canon.CodeTrailing},
		{"{}\x00", canon.CodeTrailing},
		{"\xff", canon.CodeEncoding},
		{"{}\xff", canon.CodeEncoding},
		{"\"a\xffb\"", canon.CodeEncoding},
		{"\"\xc0\xaf\"", canon.CodeEncoding},         // overlong
		{"\"\xed\xa0\x80\"", canon.CodeEncoding},     // a surrogate
		{"\"\xf4\x90\x80\x80\"", canon.CodeEncoding}, // beyond U+10FFFF
		{"\"\xe2\x82", canon.CodeTruncated},
		{`{"a":1,"a":2}`, canon.CodeDuplicate},
		{`{"a":1,"\u0061":2}`, canon.CodeDuplicate},
		{`{"\ud83d\ude00":1,"b":0,"😀":2}`, canon.CodeDuplicate},
		{`{"\ud800":1,"\ud800":2}`, canon.CodeDuplicate},
		{`[{"":1,"":2}]`, canon.CodeDuplicate},
		{"{", canon.CodeTruncated},
		{"[", canon.CodeTruncated},
		{"[1", canon.CodeTruncated},
		{"[1,", canon.CodeTruncated},
		{`{"a`, canon.CodeTruncated},
		{`{"a"`, canon.CodeTruncated},
		{`{"a":`, canon.CodeTruncated},
		{`"\u12`, canon.CodeTruncated},
		{`"\`, canon.CodeTruncated},
		{"tru", canon.CodeTruncated},
		{"-", canon.CodeTruncated},
		{"1.", canon.CodeTruncated},
		{"1e", canon.CodeTruncated},
		{"1e+", canon.CodeTruncated},
		{"[1,]", canon.CodeSyntax},
		{"[,1]", canon.CodeSyntax},
		{"[1 2]", canon.CodeSyntax},
		{`{"a":1,}`, canon.CodeSyntax},
		{`{"a"}`, canon.CodeSyntax},
		{`{a:1}`, canon.CodeSyntax},
		{`{'a':1}`, canon.CodeSyntax},
		{`{"a":1]`, canon.CodeSyntax},
		{`"\x41"`, canon.CodeSyntax},
		{`"\u00g0"`, canon.CodeSyntax},
		{"\"a\nb\"", canon.CodeSyntax},
		{"\"a\x00b\"", canon.CodeSyntax},
		{"nul!", canon.CodeSyntax},
		{"True", canon.CodeSyntax},
		{"NaN", canon.CodeSyntax},
		{"Infinity", canon.CodeSyntax},
		{"+1", canon.CodeSyntax},
		{".5", canon.CodeSyntax},
		{"[1.]", canon.CodeSyntax},
		{"[-]", canon.CodeSyntax},
		{"[1e]", canon.CodeSyntax},
		{"01", canon.CodeTrailing},
		{"-01", canon.CodeTrailing},
		{"0x1", canon.CodeTrailing},
		{"/**/1", canon.CodeSyntax},
		{"\u00a01", canon.CodeSyntax}, // white space, but not JSON's
	} {
		d, err := canon.Read([]byte(tt.text), canon.Limits{})
		assert.Nil(t, d, "%q", tt.text)
		assert.Equal(t, tt.code, fault.CodeOf(err), "%q: %v", tt.text, err)
		assert.Equal(t, tt.code == canon.CodeTruncated, errors.Is(err, io.ErrUnexpectedEOF), "%q", tt.text)
	}
}

// MissionWeave: valid JSON without a canonical form is read, and said.
func TestRead_KeepsWhatHasNoCanonicalForm(t *testing.T) {
	for _, tt := range []struct {
		text string
		code fault.Code
	}{
		{`1e400`, canon.CodeRange},
		{`-1e309`, canon.CodeRange},
		{`[1.7976931348623159e308]`, canon.CodeRange},
		{`17976931348623159` + strings.Repeat("0", 40) + `e252`, canon.CodeRange},
		{`1e401`, canon.CodeExponent},
		{`0e401`, canon.CodeExponent},
		{`1e-401`, canon.CodeExponent},
		{`1E+99999999999999999999999999999999`, canon.CodeExponent},
		{`1e-99999999999999999999999999999999`, canon.CodeExponent},
		{`0.` + strings.Repeat("1", 63), canon.CodeNumberLong},
		{`1` + strings.Repeat("0", 100_000), canon.CodeNumberLong},
		{`1e` + strings.Repeat("9", 100_000), canon.CodeNumberLong},
		{`"\ud800"`, canon.CodeSurrogate},
		{`"\udc00\ud800"`, canon.CodeSurrogate},
		{`"\ud800x\udc00"`, canon.CodeSurrogate},
		{`"\ud800\u0041"`, canon.CodeSurrogate},
		{`{"\ud800":1,"\ud801":2,"\udfff":3}`, canon.CodeSurrogate}, // three names
	} {
		d, err := canon.Read([]byte(tt.text), canon.Limits{})
		require.NoError(t, err, "%.40s", tt.text)
		assert.Equal(t, tt.code, fault.CodeOf(d.Model()), "%.40s", tt.text)
		out, err := d.Append([]byte("kept"))
		assert.Equal(t, tt.code, fault.CodeOf(err))
		assert.Equal(t, "kept", string(out))
		out, err = d.AppendWithout([]byte("kept"), "x")
		assert.Equal(t, tt.code, fault.CodeOf(err))
		assert.Equal(t, "kept", string(out))
		_, err = canon.Parse([]byte(tt.text))
		assert.Equal(t, tt.code, fault.CodeOf(err))
	}
}

func TestRead_Limits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct {
		text   string
		limits canon.Limits
		code   fault.Code
	}{
		{nest(128), canon.Limits{}, ""},
		{nest(129), canon.Limits{}, canon.CodeTooDeep},
		{strings.Repeat("[", 1<<19), canon.Limits{}, canon.CodeTooDeep},
		{strings.Repeat(`{"a":`, 1<<17), canon.Limits{}, canon.CodeTooDeep},
		{nest(5000), canon.Limits{Depth: 1 << 30}, canon.CodeTooDeep}, // the most there is
		{nest(3), canon.Limits{Depth: 3}, ""},
		{nest(3), canon.Limits{Depth: 2}, canon.CodeTooDeep},
		{strings.Repeat(" ", 1<<20) + "1", canon.Limits{}, canon.CodeTooLarge},
		{strings.Repeat(" ", 1<<20-1) + "1", canon.Limits{}, ""},
		{"[" + strings.Repeat("1,", 99_998) + "1]", canon.Limits{}, ""},
		{"[" + strings.Repeat("1,", 99_999) + "1]", canon.Limits{}, canon.CodeTooMany},
		{`{"a":1}`, canon.Limits{Nodes: 3}, ""},
		{`{"a":1}`, canon.Limits{Nodes: 2}, canon.CodeTooMany},
		{"1234", canon.Limits{Number: 4}, ""},
	} {
		_, err := canon.Read([]byte(tt.text), tt.limits)
		assert.Equal(t, tt.code, fault.CodeOf(err), "%.20s %+v", tt.text, tt.limits)
	}
}

func TestRead_NamesThePlace(t *testing.T) {
	for _, tt := range []struct {
		text         string
		line, column int
	}{
		{"{\n  \"é\": ?}", 2, 8},
		{"{\"a\":1,\n\"b\":2,\n \"a\":3}", 3, 2},
		{"[1]\n\n x", 3, 2},
		{"\"é\xff\"", 1, 3},
	} {
		_, err := canon.Read([]byte(tt.text), canon.Limits{})
		f := fault.From(err)
		assert.Equal(t, []any{tt.line, tt.column}, []any{f.Args["line"], f.Args["column"]}, "%q", tt.text)
	}
	d, err := canon.Read([]byte(`{"a":{"x/y":[1,{"~":"\ud800"}]}}`), canon.Limits{})
	require.NoError(t, err)
	assert.Equal(t, fault.Args{"line": 1, "column": 22}, fault.From(d.Model()).Args)
	a, _ := d.Member(canon.Root, "a")
	xy, _ := d.Member(a, "x/y")
	_, inner := d.Item(xy, 1)
	tilde, ok := d.Member(inner, "~")
	require.True(t, ok)
	assert.Equal(t, "/a/x~1y/1/~0", d.Pointer(tilde))
	assert.Equal(t, "/a/x~1y/1", d.Pointer(inner))
	assert.Equal(t, "", d.Pointer(canon.Root))
	_, ok = d.Member(xy, "0")
	assert.False(t, ok)
	_, ok = d.Member(a, "none")
	assert.False(t, ok)
}

// MissionWeave D7; RFC 8785 sections 3.2.1 to 3.2.4.
func TestDoc_WritesTheCanonicalForm(t *testing.T) {
	for text, want := range map[string]string{
		" { } ":                       `{}`,
		"[ ]":                         `[]`,
		"[\t1 , [ ] ,{}\r\n]":         `[1,[],{}]`,
		`"\u003c\/\u007f\u2028"`:      "\"</\u007f\u2028\"",
		`"\u0000\u001F\b\t\n\f\r\""`:  `"\u0000\u001f\b\t\n\f\r\""`,
		`"e\u0301 \u00e9"`:            "\"e\u0301 \u00e9\"", // not normalised
		`"\ud83d\ude00\uD83D\uDE00😀"`: `"😀😀😀"`,
		`-0`:                          `0`,
		`-0.0e-7`:                     `0`,
		`0e400`:                       `0`,
		`1e-400`:                      `0`,
		`9007199254740993`:            `9007199254740992`,
		`999999999999999`:             `999999999999999`,
		`-999999999999999`:            `-999999999999999`,
		`9999999999999999`:            `10000000000000000`,
		`4.2e1`:                       `42`,
		`42.0`:                        `42`,
		`1E21`:                        `1e+21`,
		`0.000001`:                    `0.000001`,
		`1e-7`:                        `1e-7`,
		`{"\ufb33":1,"😀":2,"1":3,"€":4,"\r":5,"\u0080":6,"ö":7}`: "{\"\\r\":5,\"1\":3,\"\u0080\":6,\"ö\":7,\"€\":4,\"😀\":2,\"\ufb33\":1}",
		`{"aa":1,"a":2,"":3,"b":{"z":[{"y":1,"x":2}]}}`:          `{"":3,"a":2,"aa":1,"b":{"z":[{"x":2,"y":1}]}}`,
	} {
		d, err := canon.Read([]byte(text), canon.Limits{})
		require.NoError(t, err, text)
		got, err := d.Append(nil)
		require.NoError(t, err, text)
		assert.Equal(t, want, string(got), text)
		assert.True(t, canon.IsCanonical(got), text)
		again, err := canon.Append(nil, d.Any(canon.Root))
		require.NoError(t, err, text)
		assert.Equal(t, want, string(again), text)
	}
	d, err := canon.Read([]byte(`{"signature":{"a":1},"b":{"signature":2},"a":0}`), canon.Limits{})
	require.NoError(t, err)
	got, err := d.AppendWithout(nil, "signature")
	require.NoError(t, err)
	assert.Equal(t, `{"a":0,"b":{"signature":2}}`, string(got))
	b, _ := d.Member(canon.Root, "b")
	got, err = d.AppendValue(nil, b)
	require.NoError(t, err)
	assert.Equal(t, `{"signature":2}`, string(got))
}

// Names sort as UTF-16 code units do, however long and alike they are.
func TestCompare_IsTheOrderOfUTF16(t *testing.T) {
	names := []string{"", "a", "ab", "b", "\x7f", "\u0080", "é", "\u07ff", "\u0800", "\ud7ff", "\U00010000", "😀", "\U0010ffff", "\ue000", "\ufb33", "\uffff"}
	for i, a := range names {
		for k, b := range names {
			for _, prefix := range []string{"", "é", "😀"} {
				got := canon.Compare(prefix+a, []byte(prefix+b))
				assert.Equal(t, i < k, got < 0, "%q %q", a, b)
				assert.Equal(t, i == k, got == 0, "%q %q", a, b)
			}
		}
	}
}

// tree makes a random value and a text of it with free order, white space and escapes.
func tree(r *rand.Rand, depth int) string {
	gap := func() string { return strings.Repeat(" ", r.IntN(2)) + strings.Repeat("\n", r.IntN(2)) }
	text := func() string {
		var b strings.Builder
		b.WriteByte('"')
		for range r.IntN(6) {
			switch c := rune(r.IntN(0x300)); r.IntN(5) {
			case 0:
				fmt.Fprintf(&b, `\u%04x`, c)
			case 1:
				b.WriteString("😀")
			case 2:
				b.WriteString("\ufb33")
			default:
				if c < 0x20 || c == '"' || c == '\\' {
					c = 'x'
				}
				b.WriteRune(c)
			}
		}
		return b.String() + `"`
	}
	switch n := r.IntN(7); {
	case depth > 4 || n < 2:
		return text()
	case n == 2:
		return []string{"true", "false", "null", "-0", "1e5"}[r.IntN(5)]
	case n == 3:
		return fmt.Sprintf("%v", (r.Float64()-0.5)*float64(uint64(1)<<r.IntN(60)))
	case n == 4:
		parts := make([]string, r.IntN(5))
		for i := range parts {
			parts[i] = gap() + tree(r, depth+1) + gap()
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	parts := make([]string, r.IntN(30>>(2*depth)+2))
	for i := range parts {
		parts[i] = gap() + strings.TrimSuffix(text(), `"`) + fmt.Sprintf("/%d", i) + `"` + gap() + ":" + gap() + tree(r, depth+1)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// A published library of RFC 8785 writes the same bytes.
func TestCanonical_AsAnotherLibraryDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		text := []byte(tree(r, 0))
		got, err := canon.Canonical(text)
		require.NoError(t, err, "%s", text)
		if bytes.IndexByte([]byte(`{[`), text[0]) < 0 {
			continue // the library takes objects and arrays
		}
		want, err := jcs.Transform(text)
		require.NoError(t, err, "%s", text)
		require.Equal(t, string(want), string(got), "%s", text)
	}
}

// A Reader and a Doc need no more memory than this, whatever they read before.
func TestReader_Allocations(t *testing.T) {
	text := []byte(`{"b":{"x":[1,2.5,"é\n"],"a":null},"a":"text","signature":{"value":"v"}}`)
	var r canon.Reader
	out := make([]byte, 0, 1<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		d, err := r.Read(text, canon.Limits{})
		if err != nil {
			panic(err)
		}
		if out, err = d.AppendWithout(out[:0], "signature"); err != nil {
			panic(err)
		}
	}))
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = canon.Read(text, canon.Limits{}) }), 9.0)
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"b":[1.5e3,null,true],"a":"\ud83d\ude00"}`, `[0.1,-0,1e400,"\u0000","\ud800"]`, `{"a":1,"\u0061":2}`, "\"\xe2\x82\"", `{"":{"":[]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := canon.Read(text, canon.Limits{})
		if err != nil {
			if d != nil {
				t.Fatal("a result with an error")
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q was read and is no JSON", text)
		}
		form, err := d.Append(nil)
		if (err == nil) != (d.Model() == nil) {
			t.Fatalf("%q: %v, %v", text, err, d.Model())
		}
		if err != nil {
			return
		}
		again, err := canon.Read(form, canon.Limits{Bytes: len(form)})
		if err != nil {
			t.Fatalf("%q became %q: %v", text, form, err)
		}
		if twice, err := again.Append(nil); err != nil || !bytes.Equal(twice, form) {
			t.Fatalf("%q is not a fixed point: %q, %v", form, twice, err)
		}
		if want, err := jcs.Transform(text); err == nil && !bytes.Equal(want, form) && !odd(text) {
			t.Fatalf("%q: another library writes %s", text, hex.EncodeToString(want))
		}
	})
}

// odd tells texts that the other library reads loosely.
func odd(text []byte) bool { return len(text) == 0 || text[0] != '{' && text[0] != '[' }

// An array of integers takes a short way through reading and writing: the result is that of the long one.
func TestRead_ArraysOfIntegers(t *testing.T) {
	for text, want := range map[string]string{
		"[1,2,3]": "[1,2,3]", "[ 1,2]": "[1,2]", "[1, 2]": "[1,2]", "[1 ,2]": "[1,2]", "[1,2 ]": "[1,2]", "[1,2\n,3]": "[1,2,3]",
		"[-0,1]": "[0,1]", "[1,-0]": "[1,0]", "[0,-0,0]": "[0,0,0]", "[1,-1]": "[1,-1]", "[1,2.0]": "[1,2]", "[1,1e2,3]": "[1,100,3]", "[1,12345678901234567890]": "[1,12345678901234567000]",
		"[1,[2,3],4]": "[1,[2,3],4]", "[[1],[2]]": "[[1],[2]]", `[1,"a",2]`: `[1,"a",2]`, "[1,true,2]": "[1,true,2]", "[]": "[]", "[7]": "[7]", `{"a":[1,2],"A":[3]}`: `{"A":[3],"a":[1,2]}`,
		"[1,2,{}]": "[1,2,{}]", "\n[1,2]\n": "[1,2]",
	} {
		d, err := canon.Read([]byte(text), canon.Limits{})
		require.NoError(t, err, text)
		got, err := d.Append(nil)
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
	}
	for _, text := range []string{"[1,]", "[1,,2]", "[01,2]", "[1,2", "[1,", "[1,02]", "[,1]", "[1,2}", "[1 2]", "[1,2]]", "[1,-]", "[1,2\x00]"} {
		_, err := canon.Read([]byte(text), canon.Limits{})
		require.Error(t, err, text)
	}
	many := []byte("[" + strings.Repeat("1,", 99) + "1]")
	_, err := canon.Read(many, canon.Limits{Nodes: 101})
	require.NoError(t, err)
	_, err = canon.Read(many, canon.Limits{Nodes: 100})
	require.Equal(t, canon.CodeTooMany, fault.CodeOf(err))
}

// Names that begin alike, that are not ASCII, that are parts of each other: many of them are in the same order as few.
func TestRead_ManyNamesAreSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	parts := []string{"a", "b", "\u0000", "é", "日本", "\ue000", "😀", "zzzzzzzz", "~", "A", "\uffff"}
	for range 300 {
		names := map[string]bool{}
		prefix := strings.Repeat(parts[r.IntN(len(parts))], r.IntN(4))
		for range 13 + r.IntN(60) {
			name := prefix
			for range r.IntN(5) {
				name += parts[r.IntN(len(parts))]
			}
			names[name] = true
		}
		text, err := json.Marshal(names)
		require.NoError(t, err)
		want, err := jcs.Transform(text)
		require.NoError(t, err)
		d, err := canon.Read(text, canon.Limits{})
		require.NoError(t, err)
		got, err := d.Append(nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		again := strings.TrimSuffix(string(text), "}") + "," + strings.TrimPrefix(string(text), "{")
		if len(names) > 0 {
			_, err = canon.Read([]byte(again), canon.Limits{})
			require.Equal(t, canon.CodeDuplicate, fault.CodeOf(err))
		}
	}
}

// Names that share long beginnings in groups, each group longer than the last: every level of the sort is used.
func TestRead_NamesInNestedGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	names := map[string]int{}
	for depth := range 8 {
		prefix := strings.Repeat("abcdefghij", depth)
		for i := range 40 {
			names[prefix+fmt.Sprint(r.IntN(1000))+strings.Repeat("z", i%9)] = i
		}
	}
	text := []byte("{")
	for name, v := range names { // a map's order: any
		text = fmt.Appendf(text, "%q:%d,", name, v)
	}
	text = append(text, `"":0}`...)
	want, err := jcs.Transform(text)
	require.NoError(t, err)
	d, err := canon.Read(text, canon.Limits{})
	require.NoError(t, err)
	got, err := d.Append(nil)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}
