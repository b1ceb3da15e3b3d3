package canon_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
)

func TestAppend_WritesTheCanonicalForm(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{nil, `null`},
		{true, `true`},
		{"<a href=\"x\">&\u2028\x7f</a>", "\"<a href=\\\"x\\\">&\u2028\x7f</a>\""},
		{"\x00\b\t\n\f\r\x1f\\", `"\u0000\b\t\n\f\r\u001f\\"`},
		{int8(-3), `-3`},
		{uint64(1<<53 - 1), `9007199254740991`},
		{int64(-(1<<53 - 1)), `-9007199254740991`},
		{0.30000000000000004, `0.30000000000000004`},
		{math.Copysign(0, -1), `0`},
		{1e21, `1e+21`},
		{1e20, `100000000000000000000`},
		{1e-6, `0.000001`},
		{1e-7, `1e-7`},
		{-1.5e-10, `-1.5e-10`},
		{5e-324, `5e-324`},
		{math.MaxFloat64, `1.7976931348623157e+308`},
		{json.Number("1.50"), `1.5`},
		{json.Number("1e2"), `100`},
		{json.Number("-0"), `0`},
		{[]any{}, `[]`},
		{[]string{"b", "a"}, `["b","a"]`},
		{map[string]any{}, `{}`},
		// RFC 8785 section 3.2.3: sorted by UTF-16 code units, so U+1F600 comes before U+FB33.
		{
			map[string]any{"\ufb33": 1, "\U0001F600": 2, "1": 3, "\u20ac": 4, "\r": 5, "\u0080": 6, "\u00f6": 7},
			"{\"\\r\":5,\"1\":3,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":4,\"\U0001F600\":2,\"\ufb33\":1}",
		},
		{time.Unix(0, 0).UTC(), `"1970-01-01T00:00:00Z"`},
	} {
		got, err := canon.Append(nil, tt.v)
		require.NoError(t, err, "%#v", tt.v)
		assert.Equal(t, tt.want, string(got))
		assert.True(t, canon.IsCanonical(got), "%s", got)
	}
}

func TestAppend_RefusesWhatJSONCannotHold(t *testing.T) {
	deep := any("x")
	for range 300 {
		deep = []any{deep}
	}
	for _, v := range []any{
		math.NaN(), math.Inf(1),
		[]any{math.Inf(-1)},
		make(chan int), json.Number("1x"), json.Number(""),
		json.Number("true"), json.Number("1e999"),
		map[string]any{"\xff": 1},
		"a\xff\xfeb",
		uint64(1 << 53), int64(-1 << 53), json.Number("1e401"), json.Number("0." + strings.Repeat("1", 63)),
		deep,
	} {
		got, err := canon.Append([]byte("kept"), v)
		assert.Error(t, err)
		assert.Equal(t, "kept", string(got))
	}
}

func TestCanonical_IsStrict(t *testing.T) {
	got, err := canon.Canonical([]byte(" {\"b\" : [1.0, 1E1], \"a\":{\"\\u0061\":\"\\u003c\"}} \n"))
	require.NoError(t, err)
	assert.Equal(t, `{"a":{"a":"<"},"b":[1,10]}`, string(got))
	for _, bad := range []string{
		"", "{", "[1,]", `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, "1 2", "{}x", `{"a"}`, "nul", "[",
		strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		_, err := canon.Canonical([]byte(bad))
		assert.Error(t, err, "%q", bad)
	}
}

func TestMarshal_FollowsTags(t *testing.T) {
	got, err := canon.Marshal(struct {
		Z int    `json:"z"`
		A string `json:"a,omitempty"`
		M map[string]int
	}{1, "", map[string]int{"y": 1, "x": 2}})
	require.NoError(t, err)
	assert.Equal(t, `{"M":{"x":2,"y":1},"z":1}`, string(got))
}

func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[1.5e3,null,true],"a":"\ud83d\ude00"}`))
	f.Add([]byte(`[0.1,-0,1e400,"\u0000"]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := canon.Canonical(text)
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q became invalid: %q", text, once)
		}
		twice, err := canon.Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("%q is not a fixed point: %q, %v", once, twice, err)
		}
	})
}
