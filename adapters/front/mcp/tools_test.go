package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// locale is a Catalog over one shipped file; a missing text is a failure.
type locale struct {
	t     *testing.T
	texts map[string]string
}

func shipped(t *testing.T, tag string) locale {
	t.Helper()
	raw, err := os.ReadFile("../../../locales/" + tag + ".json")
	require.NoError(t, err)
	l := locale{t: t}
	require.NoError(t, json.Unmarshal(raw, &l.texts))
	return l
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

func (l locale) Text(key text.Key, args map[string]any) string {
	s, ok := l.texts[string(key)]
	assert.True(l.t, ok, "no text for %s", key)
	for name, v := range args {
		assert.Contains(l.t, s, "{"+name+"}", "%s does not say its %s", key, name)
		raw, err := json.Marshal(v)
		require.NoError(l.t, err)
		s = strings.ReplaceAll(s, "{"+name+"}", strings.Trim(string(raw), `"`))
	}
	assert.NotRegexp(l.t, placeholder, s, "%s asks for more than it is given", key)
	return s
}

func (l locale) Fault(f *fault.Error) string { return l.Text(text.Key(f.Code), f.Args) }
func (l locale) Tag() string                 { return "" }

// NFR-04, AGT-06, I18N-07, and the rules for tool schemas that every client can read.
func TestTools_Listed(t *testing.T) {
	for _, tag := range []string{"en", "ja"} {
		t.Run(tag, func(t *testing.T) {
			o := options(&fronttest.Runner{})
			o.Catalog = shipped(t, tag)
			got := piped(t, o, fronttest.Request("1", "tools/list", fronttest.Meta)+"\n")
			var list struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              json.RawMessage
					OutputSchema             json.RawMessage
				}
			}
			require.NoError(t, json.Unmarshal(fronttest.Decode(t, got[0]).Result, &list))
			require.Len(t, list.Tools, 2)
			for i, want := range []struct {
				name     string
				required string
				props    map[string]string
			}{
				{"agent_run", "request", map[string]string{"request": "string", "session_id": "string", "temperature": "number", "images": "array"}},
				{"agent_status", "task_id", map[string]string{"task_id": "string", "session_id": "string"}},
			} {
				tool := list.Tools[i]
				assert.Equal(t, want.name, tool.Name)
				assert.NotEmpty(t, tool.Title)
				assert.LessOrEqual(t, utf8.RuneCountInString(tool.Description), 1024)
				assert.Nil(t, tool.OutputSchema)
				for _, banned := range []string{"$schema", "oneOf", "anyOf", "allOf", "format", "$ref"} {
					assert.NotContains(t, string(tool.InputSchema), `"`+banned+`":`)
				}
				var s struct {
					Type                 string
					Required             []string
					AdditionalProperties *bool
					Properties           map[string]struct {
						Type, Description string
						Items             *struct{ Type string }
					}
				}
				require.NoError(t, json.Unmarshal(tool.InputSchema, &s))
				assert.Equal(t, "object", s.Type)
				assert.Equal(t, []string{want.required}, s.Required)
				require.NotNil(t, s.AdditionalProperties)
				assert.False(t, *s.AdditionalProperties)
				assert.Len(t, s.Properties, len(want.props))
				for name, typ := range want.props {
					assert.Equal(t, typ, s.Properties[name].Type)
					assert.NotEmpty(t, s.Properties[name].Description)
					assert.Equal(t, typ == "array", s.Properties[name].Items != nil)
				}
			}
			if tag == "ja" {
				assert.Contains(t, list.Tools[0].Description, "エージェント")
			}
		})
	}
}

// Every answer of the exchanges exists in both languages, with the placeholders that it is given.
func TestTexts_InEveryLanguage(t *testing.T) {
	exchanges := fronttest.Exchanges()
	for _, tag := range []string{"en", "ja"} {
		o := options(&fronttest.Runner{})
		o.Catalog = shipped(t, tag)
		for _, x := range exchanges {
			if len(x.Send) < 64<<10 {
				piped(t, o, x.Send)
			}
		}
	}
}

// A dropped-in locale cannot break clients with an endless description.
func TestTools_DescriptionIsCut(t *testing.T) {
	o := options(&fronttest.Runner{})
	o.Catalog = wordy{}
	got := piped(t, o, fronttest.Request("1", "tools/list", "")+"\n")
	assert.Contains(t, got[0], `"description":"`+strings.Repeat("語", 1023)+`…"`)
}

type wordy struct{ fronttest.Catalog }

func (wordy) Text(text.Key, map[string]any) string { return strings.Repeat("語", 5000) }

// MCP-STS-03: 5 MB of output stay bounded, whatever the Runner lets through.
func TestTools_ResultIsCut(t *testing.T) {
	o := options(talker{&fronttest.Runner{}})
	o.Limits.ResultBytes = 1000
	a := fronttest.Decode(t, piped(t, o, fronttest.Call("1", "agent_status", `{"task_id":"`+fronttest.NoTask+`"}`))[0])
	assert.Equal(t, strings.Repeat("語", 333)+"\nmcp.result_cut bytes=4999002", a.Text)
}

// talker is a Runner whose status has no bounds.
type talker struct{ *fronttest.Runner }

func (talker) Status(context.Context, string, string) (service.Status, error) {
	return service.Status{Text: strings.Repeat("語", 5_000_001/3)}, nil
}

// OBS-04: what a client sends is in no event.
func TestTrace_HoldsNoParameters(t *testing.T) {
	const secret = "hunter2hunter2"
	seen := &events{}
	o := options(&fronttest.Runner{})
	o.Trace = seen
	var in []string
	for _, args := range []string{
		`{"request":"` + secret + `"}`, `{"request":" ","session_id":"` + secret + `"}`, `{"` + secret + `":1}`,
		`{"request":"x","session_id":"` + secret + `"}`, `{"request":"x","images":["` + secret + `"]}`, `{"request":"x","temperature":"` + secret + `"}`,
	} {
		in = append(in, fronttest.Call(`1`, "agent_run", args), fronttest.Call(`"`+secret+`"`, secret, args))
	}
	in = append(in, fronttest.Request("1", secret, ""), `{"`+secret+`":1,"`+secret+`":1}`, secret)
	for _, line := range in {
		piped(t, o, line)
	}
	require.NotEmpty(t, seen.named("mcp.refused"))
	require.NotEmpty(t, seen.named("mcp.bad_message"))
	require.Len(t, seen.named("mcp.end"), len(in))
	require.NotEmpty(t, seen.named("mcp.request"))
	for _, e := range seen.all {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		assert.NotContains(t, string(raw), secret, e.Name)
	}
}

func TestNew_NeedsItsParts(t *testing.T) {
	for _, spoil := range []func(*mcp.Options){
		func(o *mcp.Options) { o.Runner = nil }, func(o *mcp.Options) { o.Catalog = nil },
		func(o *mcp.Options) { o.Name = "" }, func(o *mcp.Options) { o.Version = "" },
	} {
		o := options(&fronttest.Runner{})
		spoil(&o)
		assert.Panics(t, func() { _, _ = mcp.New(o) })
	}
}
