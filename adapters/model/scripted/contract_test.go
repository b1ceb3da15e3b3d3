package scripted_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/modeltest"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

func TestModel_Contract(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, turns ...modeltest.Turn) modeltest.Subject {
		s := scripted.Script{Model: modeltest.Name, Capabilities: []string{"completion", "tools", "thinking", "vision"}}
		for _, turn := range turns {
			r := scripted.Turn{
				Content: turn.Content, Thinking: turn.Thinking, DoneReason: turn.DoneReason,
				PromptTokens: &turn.Prompt, OutputTokens: &turn.Output,
			}
			for _, c := range turn.Calls {
				r.Calls = append(r.Calls, scripted.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
			}
			switch {
			case turn.Stall:
				r.Fault = &scripted.Fault{Stall: true}
			case turn.Fail != "":
				r.Fault = &scripted.Fault{Code: turn.Fail}
			}
			s.Steps = append(s.Steps, scripted.Step{Reply: r})
		}
		m := scripted.New(s)
		return modeltest.Subject{Model: m, Seen: m.Requests}
	})
	modeltest.RunInspector(t, func(*testing.T) model.Inspector {
		return scripted.New(scripted.Script{Model: modeltest.Name, Capabilities: []string{"tools", "vision"}, ContextLength: 8192})
	})
}

func user(text string) model.Request {
	return model.Request{Model: "m", Messages: []model.Message{{Role: model.System, Content: "phase: plan"}, {Role: model.User, Content: text}}}
}

func TestModel_ChoosesTheFirstStepThatMatches(t *testing.T) {
	after := user("x")
	after.Messages = append(after.Messages, model.Message{Role: model.ToolRole, ToolName: "read_file", Content: "hello world"})
	tools := user("x")
	tools.Tools = []model.Tool{{Name: "run_process"}}
	format := user("x")
	format.Format = []byte(`"json"`)
	image := user("x")
	image.Messages[1].Images = [][]byte{{1}}
	cases := map[string]struct {
		when scripted.Match
		yes  model.Request
		no   model.Request
	}{
		"role":     {scripted.Match{Role: model.ToolRole}, after, user("x")},
		"contains": {scripted.Match{Contains: "need"}, user("what I need is"), user("other")},
		"regexp":   {scripted.Match{Regexp: `^\d+$`}, user("123"), user("12 3")},
		"system":   {scripted.Match{System: "phase: plan"}, user("x"), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "phase: plan"}}}},
		"anywhere": {scripted.Match{Anywhere: "hello"}, after, user("x")},
		"tool":     {scripted.Match{Tool: "read_file"}, after, user("read_file")},
		"offered":  {scripted.Match{Offered: "run_process"}, tools, user("x")},
		"tools":    {scripted.Match{Tools: scripted.Yes}, tools, format},
		"no tools": {scripted.Match{Tools: scripted.No}, format, tools},
		"format":   {scripted.Match{Format: scripted.Yes}, format, tools},
		"images":   {scripted.Match{Images: scripted.No}, user("x"), image},
		"request":  {scripted.Match{Request: 1}, user("x"), model.Request{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := scripted.Script{Capabilities: []string{"tools", "vision"}, Steps: []scripted.Step{
				{When: c.when, Times: scripted.Forever, Reply: scripted.Say("yes")}, {Times: scripted.Forever, Reply: scripted.Say("no")},
			}}
			m := scripted.New(s)
			r, err := m.Chat(context.Background(), c.yes, nil)
			require.NoError(t, err)
			assert.Equal(t, "yes", r.Message.Content)
			if c.no.Model != "" {
				r, err = m.Chat(context.Background(), c.no, nil)
				require.NoError(t, err)
				assert.Equal(t, "no", r.Message.Content)
			}
		})
	}
}

func TestModel_StepsAreUsedUpAndMayBeFunctions(t *testing.T) {
	m := scripted.New(scripted.Script{Steps: []scripted.Step{
		{Name: "twice", Times: 2, Do: func(r model.Request) scripted.Turn { return scripted.Say("you said " + r.Messages[1].Content) }},
		{Name: "never", When: scripted.Match{Contains: "nobody says this"}, Reply: scripted.Say("")},
	}})
	for _, word := range []string{"a", "b"} {
		r, err := m.Chat(context.Background(), user(word), nil)
		require.NoError(t, err)
		assert.Equal(t, "you said "+word, r.Message.Content)
	}
	_, err := m.Chat(context.Background(), user("c"), nil)
	assert.Equal(t, model.CodeBadRequest, fault.CodeOf(err), "an exhausted script is never retried")
	assert.ErrorContains(t, err, "user: c")
	assert.Equal(t, []string{"never"}, m.Left())
	assert.Len(t, m.Requests(), 3)
}

// What Ollama refuses before the model sees it, the script refuses too.
func TestModel_RefusesWhatTheServerWould(t *testing.T) {
	long := user(strings.Repeat("word ", 4000))
	no := false
	long.Truncate = &no
	think := user("x")
	think.Think = model.Think{Set: true, On: true}
	tools := user("x")
	tools.Tools = []model.Tool{{Name: "a"}}
	image := user("x")
	image.Messages[1].Images = [][]byte{{1}}
	other := user("x")
	other.Model = "other"
	for want, req := range map[fault.Code]model.Request{
		model.CodeContextOverflow: long, model.CodeNoThinking: think, model.CodeNoTools: tools,
		model.CodeNoVision: image, model.CodeNotFound: other,
	} {
		m := scripted.New(scripted.Script{
			Model: "m", Capabilities: []string{"completion"}, ContextLength: 4096,
			Steps: []scripted.Step{{Reply: scripted.Say("no")}},
		})
		_, err := m.Chat(context.Background(), req, nil)
		assert.Equal(t, want, fault.CodeOf(err))
	}
}

func TestParse(t *testing.T) {
	s, err := scripted.Parse(strings.NewReader(`{"model": "m", "capabilities": ["tools"], "steps": [
		{"when": {"format": true, "tools": false}, "reply": {"json": {"tasks": []}}},
		{"when": {"tool": "run_process", "contains": "FAIL"}, "times": -1, "reply": {"calls": [{"name": "patch_file", "arguments": {"path": "a"}}], "delay_ms": 1}},
		{"reply": {"fault": {"code": "model.busy"}}}]}`))
	require.NoError(t, err)
	m := scripted.New(s)
	req := user("plan")
	req.Format = []byte(`{"type":"object"}`)
	r, err := m.Chat(context.Background(), req, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"tasks":[]}`, r.Message.Content)
	_, err = m.Chat(context.Background(), user("x"), nil)
	assert.Equal(t, model.CodeBusy, fault.CodeOf(err))

	for name, bad := range map[string]string{
		"unknown key": `{"steps":[{"wen":{}}]}`, "trailing": `{"steps":[]} {}`, "pattern": `{"steps":[{"when":{"regexp":"("}}]}`,
		"type": `{"steps":{}}`, "empty": ``, "tri": `{"steps":[{"when":{"tools":"yes"}}]}`,
	} {
		_, err := scripted.Parse(strings.NewReader(bad))
		assert.Equal(t, scripted.CodeBadScript, fault.CodeOf(err), name)
	}
}

func TestServer_ClosesAlsoWhenStalled(t *testing.T) {
	s, err := scripted.NewServer(scripted.Script{Steps: []scripted.Step{{Reply: scripted.Turn{Content: "x", Fault: &scripted.Fault{Stall: true}}}}})
	require.NoError(t, err)
	res, err := http.Post(s.URL+"/api/chat", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
	require.NoError(t, err)
	s.Close()
	require.NoError(t, res.Body.Close())
}
