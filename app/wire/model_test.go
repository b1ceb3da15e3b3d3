package wire

import (
	"context"
	"encoding/base64"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// A model that runs elsewhere is told of at apply, in show and at every start; once, and also when only its server knows.
func TestModel_ThatRunsElsewhereIsSaidSo(t *testing.T) {
	said := func(t *testing.T, p *place) (atApply, inShow, atStart int) {
		t.Helper()
		count := func(list []*fault.Error) (n int) {
			for _, w := range list {
				if w.Code == config.WarnCloud {
					n++
				}
			}
			return n
		}
		owner := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false)
		applied, err := owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
		require.NoError(t, err)
		shown, err := owner.Show(context.Background(), p.config)
		require.NoError(t, err)
		c := p.serve(context.Background(), t)
		require.NoError(t, c.end())
		return count(applied.View.Warnings), count(shown.Warnings), strings.Count(c.errs.String(), "leave this machine")
	}
	for name, c := range map[string]struct {
		model, host string
		want        [3]int
	}{
		"by its name":   {"x:cloud", "", [3]int{1, 1, 1}},
		"by its tag":    {"gpt-oss:120b-cloud", "", [3]int{1, 1, 1}},
		"by its server": {"mine", "https://ollama.com:443", [3]int{0, 0, 1}},
		"here":          {"my-cloud:7b", "", [3]int{0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := placeWith(t, scripted.Script{RemoteHost: c.host}, `model: "`+c.model+`"`, "")
			a, b, d := said(t, p)
			assert.Equal(t, c.want, [3]int{a, b, d})
		})
	}
}

// CFG-05, OLL-07: another model is a change that only the owner makes: a start refuses it until it is applied, then it is the one
// that is asked, with what the configuration says of it. OLL-05: what the program does not know is passed on.
func TestModel_AnotherOneNeedsApply(t *testing.T) {
	p := placeWith(t, scripted.Script{Steps: []scripted.Step{
		{When: planning, Reply: onePlan(map[string]any{"kind": "none"}), Times: scripted.Forever},
		{Reply: scripted.Say("An apple is a fruit."), Times: scripted.Forever},
	}}, `model: "old:1b", keep_alive: 7m`, "")
	ask := func() (session string) {
		c := p.serve(context.Background(), t)
		accepted := c.tool("agent_run", map[string]any{"request": "what is an apple?"})
		require.Contains(t, c.finish(taskID(accepted)), "(completed)")
		require.NoError(t, c.end())
		_, session, _ = strings.Cut(accepted, "Session ID: ")
		session, _, _ = strings.Cut(session, "\n")
		return session
	}
	old := ask()
	first := len(p.model.Model.Requests())
	p.settings(t, `model: "new:2b", keep_alive: -1, think: false, options: {num_ctx: 8192}, extra_options: {mirostat: 2, num_ctx: 4}`, "")
	owner := Admin(Catalog, p.box, strings.NewReader(""), io.Discard, false)
	_, err := owner.Load(context.Background(), p.config)
	require.Equal(t, change.CodeDrift, fault.CodeOf(err))
	got, err := owner.Apply(context.Background(), service.ApplyRequest{Path: p.config, Yes: true})
	require.NoError(t, err)
	require.Len(t, got.View.Changes, 1)
	require.Equal(t, service.ItemModel, got.View.Changes[0].Item)
	require.NotEqual(t, old, ask())
	for i, r := range p.model.Model.Requests() {
		if i < first {
			require.Equal(t, "old:1b", r.Model)
			require.Equal(t, "7m", r.KeepAlive)
			continue
		}
		require.Equal(t, "new:2b", r.Model)
		require.Equal(t, "-1", r.KeepAlive)
		require.True(t, r.Think.Set)
		require.False(t, r.Think.On)
		require.Equal(t, 8192, *r.Options.NumCtx, "a known option is never an extra one")
		require.EqualValues(t, 2, r.Options.Extra["mirostat"])
	}
	c := p.serve(context.Background(), t)
	r := c.call("tools/call", map[string]any{"name": "agent_run", "arguments": map[string]any{"request": "and a pear?", "session_id": old}})
	require.Equal(t, true, r["isError"], "SES-03: a Session lives as long as its server")
	require.NoError(t, c.end())
}

// OLL-09, AT-06, MCP-RUN-04: what a model can is asked before it is used. One that cannot see is refused with the remedy, and is
// asked nothing; one that can gets the image itself. OBS-04, LOG-02: no image is in any log, record or report.
func TestServe_Images(t *testing.T) {
	png, err := os.ReadFile("../../conformance/evals/testdata/model/vision/red.png")
	require.NoError(t, err)
	image := base64.StdEncoding.EncodeToString(png)
	steps := []scripted.Step{
		{When: scripted.Match{Format: scripted.Yes, Images: scripted.Yes}, Reply: onePlan(map[string]any{"kind": "none"})},
		{When: scripted.Match{Images: scripted.Yes}, Reply: scripted.Say("A red picture.")},
	}
	ask := func(c *client) map[string]any {
		return c.call("tools/call", map[string]any{"name": "agent_run", "arguments": map[string]any{"request": "what is it?", "images": []string{image}}})
	}
	for lang, want := range map[string]string{"en": "choose a model", "ja": "モデル"} {
		p := placeWith(t, scripted.Script{Steps: steps}, "", "application: {language: "+lang+"}")
		c := p.serve(context.Background(), t)
		r := ask(c)
		require.Equal(t, true, r["isError"])
		text := r["content"].([]any)[0].(map[string]any)["text"].(string)
		require.Contains(t, text, "[model.no_vision]")
		require.Contains(t, text, want, "the remedy")
		require.NoError(t, c.end())
		require.Empty(t, p.model.Model.Requests())
	}
	p := placeWith(t, scripted.Script{Capabilities: []string{"completion", "tools", "vision"}, Steps: steps}, "", "logging: {level: debug}")
	c := p.serve(context.Background(), t)
	accepted := ask(c)["content"].([]any)[0].(map[string]any)["text"].(string)
	status := c.finish(taskID(accepted))
	require.Contains(t, status, "A red picture.")
	require.NoError(t, c.end())
	for _, r := range p.model.Model.Requests() {
		require.Equal(t, png, r.Messages[len(r.Messages)-1].Images[0], "as it was sent")
	}
	p.lacks(t, image[:40])
	p.lacks(t, string(png[:24]))
	require.NotContains(t, c.errs.String()+status, image[:40])
}
