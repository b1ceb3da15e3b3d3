// Package schematest is the contract of ports/schema: what every Compiler and Checker must do, whatever technology they are.
// It reads nothing but what stands in it.
package schematest

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// New makes the Compiler under test with these formats.
type New func(formats map[string]func(text []byte) bool) schema.Compiler

// Run checks a Compiler and its Checkers.
func Run(t *testing.T, newCompiler New) {
	formats := map[string]func([]byte) bool{"even": func(b []byte) bool { return len(b)%2 == 0 }}
	compile := func(t *testing.T, texts ...string) (schema.Checker, error) {
		t.Helper()
		var sources []schema.Source
		for i, text := range texts {
			sources = append(sources, schema.Source{Name: string(rune('a' + i)), Doc: Tree(t, text)})
		}
		return newCompiler(formats).Compile(sources)
	}
	t.Run("keywords", func(t *testing.T) {
		for _, tt := range keywords() {
			k, err := compile(t, tt.schema)
			require.NoError(t, err, tt.schema)
			for _, text := range tt.valid {
				assert.NoError(t, k.Check("a", Tree(t, text)), "%s %s", tt.schema, text)
			}
			for _, text := range tt.invalid {
				err := k.Check("a", Tree(t, text))
				assert.Equal(t, schema.CodeMismatch, fault.CodeOf(err), "%s %s", tt.schema, text)
			}
		}
	})
	t.Run("references", func(t *testing.T) {
		k, err := compile(t,
			`{"$id":"https://x.example/s/a.json","properties":{"b":{"$ref":"b.json#/$defs/x~1y"},"self":{"$ref":"#"},"whole":{"$ref":"https://x.example/s/b.json"}}}`,
			`{"$id":"https://x.example/s/b.json","type":"array","$defs":{"x/y":{"const":1}}}`)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b"}, k.Names())
		assert.NoError(t, k.Check("a", Tree(t, `{"b":1,"self":{"self":{"b":1.0}},"whole":[]}`)))
		assert.Equal(t, fault.Args{"schema": "a", "pointer": "/self/self/b", "rule": "const", "detail": "1"},
			fault.From(k.Check("a", Tree(t, `{"self":{"self":{"b":2}}}`))).Args)
		assert.Error(t, k.Check("a", Tree(t, `{"whole":{}}`)))
		assert.Equal(t, schema.CodeUnknown, fault.CodeOf(k.Check("c", Tree(t, `1`))))
	})
	t.Run("refuses what it cannot do exactly", func(t *testing.T) {
		for text, code := range map[string]fault.Code{
			`{"$ref":"#/nowhere"}`:                      schema.CodeReference,
			`{"$ref":"https://other.example/"}`:         schema.CodeReference,
			`{"properties":{"a":{"$ref":"#/$defs/b"}}}`: schema.CodeReference,
			`{"$defs":{"unused":{"notAKeyword":1}}}`:    schema.CodeUnsupported,
			`{"requierd":["a"]}`:                        schema.CodeUnsupported,
			`{"format":"odd"}`:                          schema.CodeUnsupported,
			`{"pattern":"(a)\\1"}`:                      schema.CodeUnsupported,
			`{"pattern":"["}`:                           schema.CodeUnsupported,
			`{"type":"text"}`:                           schema.CodeMalformed,
			`{"minLength":-1}`:                          schema.CodeMalformed,
			`{"minimum":"1"}`:                           schema.CodeMalformed,
			`{"allOf":{}}`:                              schema.CodeMalformed,
			`{"properties":[]}`:                         schema.CodeMalformed,
			`{"items":1}`:                               schema.CodeMalformed,
			`[]`:                                        schema.CodeMalformed,
		} {
			k, err := compile(t, text)
			assert.Nil(t, k, text)
			assert.Equal(t, code, fault.CodeOf(err), "%s: %v", text, err)
		}
	})
	t.Run("a loop ends", func(t *testing.T) {
		k, err := compile(t, `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`)
		if err == nil {
			assert.Error(t, k.Check("a", Tree(t, `1`)))
		}
	})
	t.Run("several goroutines", func(t *testing.T) {
		k, err := compile(t, `{"items":{"type":"string"},"uniqueItems":true}`)
		require.NoError(t, err)
		good, bad := Tree(t, `["b","a"]`), Tree(t, `["a","b","a"]`)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 200 {
					assert.NoError(t, k.Check("a", good))
					assert.Error(t, k.Check("a", bad))
				}
			})
		}
		all.Wait()
	})
}

type keyword struct {
	schema         string
	valid, invalid []string
}

func keywords() []keyword {
	long := string(bytes.Repeat([]byte{'9'}, 400))
	return []keyword{
		{`true`, []string{`1`, `null`}, nil},
		{`false`, nil, []string{`1`, `{}`}},
		{`{}`, []string{`1`, `[]`}, nil},
		{`{"title":"t","description":"d","$comment":"c","$schema":"https://json-schema.org/draft/2020-12/schema"}`, []string{`1`}, nil},
		{`{"type":"integer"}`, []string{`1`, `-0`, `42.0`, `4.2e1`, `100e-2`, `1e400`, `0.0e-7`, `1.50e1`}, []string{`1.5`, `1e-1`, `"1"`, `105e-2`, `true`}},
		{`{"type":"number"}`, []string{`1`, `1.5`, `1e999999999999999999`}, []string{`"1"`, `null`}},
		{`{"type":["string","null"]}`, []string{`""`, `null`}, []string{`false`, `0`, `[]`, `{}`}},
		{`{"type":["integer","string"]}`, []string{`1`, `"a"`}, []string{`1.5`, `null`}},
		{`{"type":"boolean"}`, []string{`true`, `false`}, []string{`0`, `"true"`}},
		{`{"type":"object"}`, []string{`{}`}, []string{`[]`}},
		{`{"type":"array"}`, []string{`[]`}, []string{`{}`}},
		{`{"const":"a"}`, []string{`"a"`, `"\u0061"`}, []string{`"A"`, `["a"]`, `null`}},
		{`{"const":1}`, []string{`1`, `1.0`, `10e-1`}, []string{`1.01`, `"1"`, `true`, `-1`, `1e1`}},
		{`{"const":0}`, []string{`-0`, `0e5`, `0.00`}, []string{`1e-400`, `false`}},
		{`{"const":{"a":[1,{"b":null}]}}`, []string{`{"a":[1.0,{"b":null}]}`}, []string{`{"a":[1,{"b":0}]}`, `{"a":[1]}`, `{}`}},
		{`{"const":null}`, []string{`null`}, []string{`0`, `false`, `""`}},
		{`{"const":false}`, []string{`false`}, []string{`0`, `true`}},
		{`{"enum":["a","b"]}`, []string{`"a"`, `"b"`}, []string{`"c"`, `""`, `1`}},
		{`{"enum":["a",1,null,[2]]}`, []string{`"a"`, `1.0`, `null`, `[2]`}, []string{`"1"`, `[2,2]`}},
		{`{"required":["a","b"]}`, []string{`{"b":1,"a":2,"c":3}`, `1`}, []string{`{}`, `{"a":1}`, `{"a":1,"c":2}`}},
		{`{"properties":{"a":{"type":"string"},"z":false}}`, []string{`{"a":"x"}`, `{"b":1}`, `{}`, `[]`}, []string{`{"a":1}`, `{"z":1}`}},
		{`{"properties":{"a":true},"additionalProperties":false}`, []string{`{"a":1}`, `{}`, `1`}, []string{`{"b":1}`, `{"a":1,"b":1}`}},
		{`{"properties":{"a":true},"additionalProperties":{"type":"string"}}`, []string{`{"a":1,"b":"x"}`}, []string{`{"b":1}`}},
		{`{"required":["a"],"additionalProperties":false}`, nil, []string{`{"a":1}`, `{}`}},
		{`{"propertyNames":{"pattern":"^a","maxLength":2}}`, []string{`{"a":1,"ab":2}`, `{}`}, []string{`{"b":1}`, `{"abc":1}`}},
		{`{"propertyNames":false}`, []string{`{}`}, []string{`{"b":1}`}},
		{`{"minProperties":1,"maxProperties":2}`, []string{`{"a":1}`, `{"a":1,"b":2}`}, []string{`{}`, `{"a":1,"b":2,"c":3}`}},
		{`{"maxProperties":0}`, []string{`{}`, `[1]`}, []string{`{"a":1}`}},
		{`{"items":{"type":"string"}}`, []string{`[]`, `["a"]`, `{}`}, []string{`["a",1]`}},
		{`{"prefixItems":[{"const":1},{"const":2}],"items":false}`, []string{`[]`, `[1]`, `[1,2]`}, []string{`[2]`, `[1,2,3]`}},
		{`{"minItems":1,"maxItems":2}`, []string{`[1]`, `[1,2]`, `""`}, []string{`[]`, `[1,2,3]`}},
		{`{"uniqueItems":true}`, []string{`[]`, `[1]`, `[1,"1",[1],true,null,{"a":1}]`, `[0,false,""]`}, []string{`[1,2,1.0]`, `[{"a":1,"b":2},{"b":2,"a":1}]`, `[[0],[-0]]`, `["a","\u0061"]`}},
		{`{"uniqueItems":false}`, []string{`[1,1]`}, nil},
		{`{"minLength":2,"maxLength":3}`, []string{`"ab"`, `"éé"`, `"😀😀😀"`, `1`}, []string{`"a"`, `"😀"`, `"abcd"`, `"éééé"`, `""`}},
		{`{"maxLength":0}`, []string{`""`}, []string{`"a"`}},
		{`{"pattern":"b+$"}`, []string{`"abb"`, `"b"`, `1`}, []string{`"ba"`, `""`, `"b\n"`}},
		{`{"format":"even"}`, []string{`"ab"`, `""`, `7`}, []string{`"a"`}},
		{`{"minimum":-1,"maximum":9007199254740991}`, []string{`-1`, `-1.0`, `0`, `9007199254740991`, `90071992547409910e-1`, `1e-400`, `"x"`}, []string{`-1.0000000000000000000000000000001`, `9007199254740991.1`, `9007199254740992`, `1e400`, `-1e1`, long}},
		{`{"exclusiveMinimum":0,"exclusiveMaximum":1}`, []string{`0.5`, `1e-400`, `0.99999999999999999999999999`}, []string{`0`, `-0`, `1`, `1.0`, `2`, `-0.5`}},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, []string{`1`, `2`}, []string{`0`, `3`}},
		{`{"anyOf":[{"const":1},{"type":"string"}]}`, []string{`1`, `"a"`}, []string{`2`, `null`}},
		{`{"oneOf":[{"minimum":1},{"maximum":2}]}`, []string{`0`, `3`}, []string{`1`, `1.5`}},
		{`{"oneOf":[{"type":"string"},{"type":"null"}]}`, []string{`""`, `null`}, []string{`1`}},
		{`{"not":{"required":["a"]}}`, []string{`{}`, `{"b":1}`}, []string{`{"a":1}`, `1`}},
		{`{"if":{"properties":{"k":{"const":"x"}},"required":["k"]},"then":{"required":["y"]},"else":{"required":["z"]}}`, []string{`{"k":"x","y":1}`, `{"k":"q","z":1}`, `{"z":1}`}, []string{`{"k":"x","z":1}`, `{}`, `{"y":1}`}},
		{`{"if":{"const":1},"else":false}`, []string{`1`}, []string{`2`}},
		{`{"then":false,"else":false}`, []string{`1`}, nil},
		{`{"$defs":{"a":{"type":"string"}},"$ref":"#/$defs/a","maxLength":1}`, []string{`"a"`}, []string{`"ab"`, `1`}},
		{`{"$defs":{"tree":{"properties":{"next":{"$ref":"#/$defs/tree"},"v":{"type":"number"}}}},"$ref":"#/$defs/tree"}`, []string{`{"v":1,"next":{"v":2}}`}, []string{`{"next":{"next":{"v":"x"}}}`}},
	}
}

// Tree reads a JSON text for a test.
func Tree(t testing.TB, text string) schema.Tree {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%.80s", text)
	tree := &tree{}
	tree.add(v)
	return tree
}

type tree struct{ nodes []node }

type node struct {
	kind  schema.Kind
	text  []byte
	names [][]byte
	items []int
}

func (t *tree) add(v any) int {
	n := len(t.nodes)
	t.nodes = append(t.nodes, node{})
	made := node{}
	switch v := v.(type) {
	case bool:
		made.kind = schema.False
		if v {
			made.kind = schema.True
		}
	case json.Number:
		made.kind, made.text = schema.Number, []byte(v)
	case string:
		made.kind, made.text = schema.String, []byte(v)
	case []any:
		made.kind = schema.Array
		for _, item := range v {
			made.items = append(made.items, t.add(item))
		}
	case map[string]any:
		made.kind = schema.Object
		var names []string
		for name := range v { // order is made explicit below
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			made.names = append(made.names, []byte(name))
			made.items = append(made.items, t.add(v[name]))
		}
	}
	t.nodes[n] = made
	return n
}

func (t *tree) Kind(n int) schema.Kind { return t.nodes[n].kind }
func (t *tree) Text(n int) []byte      { return t.nodes[n].text }
func (t *tree) Len(n int) int          { return len(t.nodes[n].items) }

func (t *tree) Item(n, i int) (name []byte, value int) {
	if t.nodes[n].names != nil {
		name = t.nodes[n].names[i]
	}
	return name, t.nodes[n].items[i]
}
