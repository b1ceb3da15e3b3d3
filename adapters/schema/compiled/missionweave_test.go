package compiled_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/conformance/schematest"
	"github.com/agent-mcp/agent-mcp/conformance/weavedata"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// plain formats for this test: both checkers get the same, so that only the rest can differ.
func formats() map[string]func([]byte) bool {
	uri := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e]*$`)
	at := regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`)
	return map[string]func([]byte) bool{"uri": uri.Match, "date-time": at.Match}
}

// ours compiles the 22 schemas.
func ours(t testing.TB, files fs.FS) schema.Checker {
	t.Helper()
	names, err := fs.Glob(files, "schemas/*.schema.json")
	require.NoError(t, err)
	require.Len(t, names, 22)
	var sources []schema.Source
	for _, name := range names {
		sources = append(sources, schema.Source{
			Name: strings.TrimSuffix(path.Base(name), ".schema.json"),
			Doc:  schematest.Tree(t, string(weavedata.Read(t, files, name))),
		})
	}
	k, err := compiled.New(formats()).Compile(sources)
	require.NoError(t, err)
	return k
}

// engine gives the library the patterns of the schemas in Go's dialect: its own cannot look ahead.
type engine struct {
	*regexp.Regexp
	also *regexp.Regexp
}

func (e engine) MatchString(s string) bool {
	return e.Regexp.MatchString(s) && (e.also == nil || e.also.MatchString(s))
}

func dialect(s string) (jsonschema.Regexp, error) {
	var also *regexp.Regexp
	if strings.HasPrefix(s, "^P(?!$)") { // neither P nor …T alone
		also = regexp.MustCompile(`[0-9][DHMS]`)
		s = strings.ReplaceAll(strings.ReplaceAll(s, "(?!$)", ""), "T(?=[0-9])", "T(?:)")
		s = strings.Replace(s, "(?:T(?:)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\\.[0-9]+)?S)?)?$",
			"(?:T(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+(?:\\.[0-9]+)?S)?|[0-9]+M(?:[0-9]+(?:\\.[0-9]+)?S)?|[0-9]+(?:\\.[0-9]+)?S))?$", 1)
	}
	s = strings.ReplaceAll(s, `$(?![\s\S])`, `$`)
	r, err := regexp.Compile(s)
	return engine{r, also}, err
}

func theirs(t testing.TB, files fs.FS, names []string) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseRegexpEngine(dialect)
	for name, valid := range formats() {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if s, ok := v.(string); ok && !valid([]byte(s)) {
				return assert.AnError
			}
			return nil
		}})
	}
	const base = "https://missionweaveprotocol.dev/schemas/0.1/"
	out := map[string]*jsonschema.Schema{}
	for _, name := range names {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(weavedata.Read(t, files, "schemas/"+name+".schema.json")))
		require.NoError(t, err)
		require.NoError(t, c.AddResource(base+name+".schema.json", doc))
	}
	for _, name := range names {
		var err error
		out[name], err = c.Compile(base + name + ".schema.json")
		require.NoError(t, err)
	}
	return out
}

// both checkers agree on every published document and on thousands that differ from one in one place.
func TestMissionWeave_AsAnotherCheckerDoes(t *testing.T) {
	files := weavedata.FS(t, "our schema checker agrees with a published one on the 22 schemas of MissionWeave")
	k := ours(t, files)
	other := theirs(t, files, k.Names())
	var manifest []struct{ Schema, Instance string }
	require.NoError(t, json.Unmarshal(weavedata.Read(t, files, "conformance/manifest.json"), &manifest))
	require.Len(t, manifest, 58)
	r := rand.New(rand.NewPCG(3, 4))
	verdicts := map[bool]int{}
	for _, m := range manifest {
		name := strings.TrimSuffix(path.Base(m.Schema), ".schema.json")
		for i := range 25 {
			var v any
			d := json.NewDecoder(bytes.NewReader(weavedata.Read(t, files, m.Instance)))
			d.UseNumber()
			require.NoError(t, d.Decode(&v))
			if i > 0 {
				v = mutate(r, v)
			}
			text, err := json.Marshal(v)
			require.NoError(t, err)
			want := other[name].Validate(v)
			got := k.Check(name, schematest.Tree(t, string(text)))
			require.Equal(t, want == nil, got == nil, "%s %s\n%v\n%v", name, text, want, got)
			verdicts[got == nil]++
		}
	}
	require.Greater(t, verdicts[true], 60)
	require.Greater(t, verdicts[false], 800)
}

// mutate changes one place of a value.
func mutate(r *rand.Rand, v any) any {
	instead := []any{
		nil, true, false, "", "x", "urn:a:b", "urn:a b", "P", "P1D", "PT", "PT1H", "active", "agent", "human", "service", "2026-07-15T00:00:00Z",
		json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("2.0"), json.Number("9007199254740992"), json.Number("1e30"),
		[]any{},
		map[string]any{},
		[]any{"urn:a:b", "urn:a:b"},
		strings.Repeat("é", 201), "sha256:" + strings.Repeat("0", 64), "sha256:" + strings.Repeat("0", 65),
	}
	if r.IntN(5) == 0 {
		return instead[r.IntN(len(instead))]
	}
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v { // order is made explicit below
			names = append(names, name)
		}
		slices.Sort(names)
		if len(names) == 0 || r.IntN(8) == 0 {
			v[[]string{"extra", "extensions", "sessionEpoch", "membershipEpoch", "urn:x:y", "signature"}[r.IntN(6)]] = instead[r.IntN(len(instead))]
			return v
		}
		name := names[r.IntN(len(names))]
		if r.IntN(4) == 0 {
			delete(v, name)
		} else {
			v[name] = mutate(r, v[name])
		}
		return v
	case []any:
		switch {
		case len(v) == 0 || r.IntN(4) == 0:
			return append(v, instead[r.IntN(len(instead))])
		case r.IntN(4) == 0:
			return append(v, v[0])
		}
		i := r.IntN(len(v))
		v[i] = mutate(r, v[i])
		return v
	}
	return instead[r.IntN(len(instead))]
}

// A failure names the place and the rule.
func TestMissionWeave_SaysWhere(t *testing.T) {
	files := weavedata.FS(t, "a schema failure names the field and the rule")
	k := ours(t, files)
	text := string(weavedata.Read(t, files, "conformance/vectors/valid/command.json"))
	for _, tt := range []struct{ from, to, pointer, rule, detail string }{
		{`"actionId": "`, `"actionId": "a b`, "/actionId", "format", "uri"},
		{`"actionId"`, `"actionID"`, "/actionID", "additionalProperties", "actionID"},
		{`"algorithm": "Ed25519"`, `"algorithm": "none"`, "/signature/algorithm", "const", `"Ed25519"`},
		{`"kind": "`, `"kind": "x`, "/kind", "anyOf", ""},
	} {
		require.Contains(t, text, tt.from)
		bent := strings.Replace(text, tt.from, tt.to, 1)
		f := fault.From(k.Check("command", schematest.Tree(t, bent)))
		require.NotNil(t, f, tt.to)
		assert.Equal(t, fault.Args{"schema": "command", "pointer": tt.pointer, "rule": tt.rule, "detail": tt.detail}, f.Args)
	}
}

// nothing is allocated for a document that fits.
func TestMissionWeave_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes a sync.Pool forget at random")
	}
	files := weavedata.FS(t, "checking a command allocates nothing")
	k := ours(t, files)
	doc := schematest.Tree(t, string(weavedata.Read(t, files, "cryptography/vectors/signed-documents/valid/command.json")))
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		if k.Check("command", doc) != nil {
			panic("the golden command fits")
		}
	}), 1.0) // the pool may be emptied now and then
}

func BenchmarkCheck(b *testing.B) {
	files := weavedata.FS(b, "the speed of the schema check")
	k := ours(b, files)
	doc := schematest.Tree(b, string(weavedata.Read(b, files, "cryptography/vectors/signed-documents/valid/command.json")))
	b.ReportAllocs()
	for b.Loop() {
		if k.Check("command", doc) != nil {
			b.Fatal()
		}
	}
}
