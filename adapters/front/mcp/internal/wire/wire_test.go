package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/wire"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

func TestObject(t *testing.T) {
	got, err := wire.Object([]byte(` { "a" : 1 , "b\"\\":{"a":[1,"}"]},"":"x\\" ,"é":[ ] } `))
	require.NoError(t, err)
	assert.Equal(t, wire.Members{
		{Key: "a", Value: []byte("1")},
		{Key: `b"\`, Value: []byte(`{"a":[1,"}"]}`)},
		{Key: "", Value: []byte(`"x\\"`)},
		{Key: "é", Value: []byte(`[ ]`)},
	}, got)
	for _, raw := range []string{`[]`, `1`, `"{}"`, `null`, ``} {
		_, err := wire.Object([]byte(raw))
		assert.ErrorIs(t, err, wire.ErrNotObject, raw)
	}
	got, err = wire.Object([]byte(`{"a":1,"a":2,"b":3,"\u0062":4,"c":5}`))
	var dup *wire.DuplicateError
	require.ErrorAs(t, err, &dup)
	assert.Equal(t, []string{"a", "b"}, dup.Keys)
	assert.Equal(t, "1", string(got.Get("a")))
	assert.Equal(t, "5", string(got.Get("c")))
}

func TestObject_ManyKeys(t *testing.T) {
	var b strings.Builder
	for i := range 1000 {
		b.WriteString(`"` + strings.Repeat("k", i+1) + `":` + "1,")
	}
	_, err := wire.Object([]byte(`{` + b.String() + `"z":1}`))
	require.NoError(t, err)
	_, err = wire.Object([]byte(`{` + b.String() + `"kkk":1}`))
	var dup *wire.DuplicateError
	require.ErrorAs(t, err, &dup)
	assert.Equal(t, []string{"kkk"}, dup.Keys)
}

func TestText(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `""`: "", `"\u0041\n\/"`: "A\n/", `"é😀"`: "é😀", `"\ud83d\ude00"`: "😀", `"\\ud800"`: `\ud800`,
		`"\uD83D\uDE00x"`: "😀x",
	} {
		got, err := wire.Text([]byte(raw))
		assert.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
	for _, raw := range []string{`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800x"`, `"\ud83d\u0041"`, "\"\xff\"", "\"\xed\xa0\x80\"", `"\ud83d\ude00\ude00"`} {
		_, err := wire.Text([]byte(raw))
		assert.ErrorIs(t, err, wire.ErrNotText, "%q", raw)
	}
	for _, raw := range []string{`1`, `null`, `{}`, `["a"]`, ``} {
		_, err := wire.Text([]byte(raw))
		assert.ErrorIs(t, err, wire.ErrNotString, raw)
	}
}

func TestDepth(t *testing.T) {
	for raw, want := range map[string]int{`1`: 0, `{}`: 1, `[[],[[]]]`: 3, `{"a":"[[[["}`: 1, `["\"]",{"b":[1]}]`: 3} {
		assert.Equal(t, want, wire.Depth([]byte(raw)), raw)
	}
}

func TestParseID_Key(t *testing.T) {
	id := func(raw string) wire.ID {
		got, ok := wire.ParseID([]byte(raw))
		require.True(t, ok, raw)
		return got
	}
	assert.Equal(t, id(`"a"`).Key(), id(`"\u0061"`).Key(), "the same text is the same id")
	assert.Equal(t, id(`-0`).Key(), id(`0`).Key())
	assert.NotEqual(t, id(`1`).Key(), id(`"1"`).Key())
	assert.NotEqual(t, id(`9007199254740993`).Key(), id(`9007199254740992`).Key())
	assert.False(t, wire.ID{}.Known())
}

func TestReply_Append(t *testing.T) {
	render := func(f *fault.Error) string { return string(f.Code) + "\u2028\xff" }
	id, _ := wire.ParseID([]byte(`"<\u2028>"`))
	for name, c := range map[string]struct {
		reply wire.Reply
		want  string
	}{
		"result":      {wire.Reply{ID: id, Result: map[string]any{"a": "<&>\u2028\xff"}}, `{"jsonrpc":"2.0","id":"<\u2028>","result":{"a":"<&>\u2028\ufffd"}}` + "\n"},
		"error":       {wire.Reply{ID: id, Err: wire.Fail(-1, "x.y")}, `{"jsonrpc":"2.0","id":"<\u2028>","error":{"code":-1,"message":"x.y\u2028\ufffd"}}` + "\n"},
		"no id":       {wire.Reply{Err: wire.Fail(-1, "x.y")}, `{"jsonrpc":"2.0","error":{"code":-1,"message":"x.y\u2028\ufffd"}}` + "\n"},
		"with a note": {wire.Reply{ID: id, Before: []wire.Note{{Method: "n", Params: 1}}, Result: 2}, `{"jsonrpc":"2.0","method":"n","params":1}` + "\n" + `{"jsonrpc":"2.0","id":"<\u2028>","result":2}` + "\n"},
	} {
		var buf bytes.Buffer
		require.NoError(t, c.reply.Append(&buf, render), name)
		assert.Equal(t, c.want, buf.String(), name)
	}
	for _, r := range []wire.Reply{
		{ID: id, Result: math.NaN()}, {ID: id, Result: 1, Before: []wire.Note{{Method: "n", Params: math.Inf(1)}}},
	} {
		var buf bytes.Buffer
		require.Error(t, r.Append(&buf, render))
		assert.Equal(t, 1, strings.Count(buf.String(), "\n"), "nothing half-written may stay")
		assert.Contains(t, buf.String(), `"code":-32603`)
	}
}

func TestShort(t *testing.T) {
	assert.Equal(t, "abc", wire.Short("abc"))
	assert.Equal(t, strings.Repeat("語", 64)+"…", wire.Short(strings.Repeat("語", 65)))
	assert.True(t, utf8.ValidString(wire.Short("a\xff")))
}

func seeds() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a\u0000","method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":null}]}}}`,
		`[]`, `{}`, `{"id":1,"id":2}`, `{"ID":1}`, "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"\\ud800\"}", `{"jsonrpc":"2.0","id":1e5,"method":"p","params":[]}`,
		strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), `{"jsonrpc":"2.0","id":-0,"method":"p","params":null}`, `{"result":1}`, ` {"a" : "\\" , "b":"\"" } `,
	}
}

// FuzzParse: never panics; what it accepts is what an exact decoder sees; an id it reports is the one on the wire.
func FuzzParse(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		m, bad := wire.Parse(line)
		if bad != nil {
			require.Contains(t, []int{wire.ParseError, wire.InvalidRequest, wire.InvalidParams}, bad.Code)
			require.Equal(t, !json.Valid(line), bad.Code == wire.ParseError)
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(line, &fields) != nil {
			require.False(t, m.ID.Known())
			return
		}
		if m.ID.Known() {
			require.NotEmpty(t, m.ID.Key())
			raw, err := m.ID.MarshalJSON()
			require.NoError(t, err)
			var got, want any
			require.NoError(t, json.Unmarshal(raw, &got))
			require.NoError(t, json.Unmarshal(fields["id"], &want))
			require.Equal(t, want, got)
		}
		if bad == nil && m.Kind != wire.Response {
			var method string
			require.NoError(t, json.Unmarshal(fields["method"], &method))
			require.Equal(t, method, m.Method)
			require.Equal(t, m.Kind == wire.Request, m.ID.Known())
			if m.Params != nil {
				require.JSONEq(t, string(fields["params"]), string(m.Params))
			}
		}
	})
}

// FuzzObject: the members are those of the standard decoder's tokens, in order, each key once.
func FuzzObject(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		got, err := wire.Object(raw)
		if errors.Is(err, wire.ErrNotObject) {
			require.NotEqual(t, byte('{'), bytes.TrimSpace(raw)[0])
			return
		}
		if errors.Is(err, wire.ErrTooMany) {
			return
		}
		keys, values := tokens(t, raw)
		var once []string
		repeats := 0
		for i, k := range keys {
			if slices.Contains(once, k) {
				repeats++
				continue
			}
			once = append(once, k)
			require.Equal(t, values[i], string(got[len(once)-1].Value))
			require.Equal(t, k, got[len(once)-1].Key)
		}
		require.Len(t, got, len(once))
		require.Equal(t, repeats > 0, err != nil)
		require.LessOrEqual(t, wire.Depth(raw), len(raw))
	})
}

func tokens(t *testing.T, raw []byte) (keys, values []string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	_, err := dec.Token()
	require.NoError(t, err)
	for dec.More() {
		k, err := dec.Token()
		require.NoError(t, err)
		key, ok := k.(string)
		require.True(t, ok)
		keys = append(keys, key)
		var v json.RawMessage
		require.NoError(t, dec.Decode(&v))
		values = append(values, string(v))
	}
	_, err = dec.Token()
	require.NoError(t, err)
	_, err = dec.Token()
	require.ErrorIs(t, err, io.EOF)
	return keys, values
}
