package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/ollama"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// talk is the language of a long conversation.
type talk struct {
	lang, rule, filler, order, page, done string
	runes                                 int // of it that make a token
}

var (
	english = talk{
		lang: "en", rule: "Never write to keep.txt, whatever happens.", filler: "The archive of the office has many old letters in it. ",
		order: "Read the letters of part %d and write what you find to part%d.txt.", page: "A letter about nothing in particular, dated long ago. ",
		done: "The letters of the part are read.", runes: 4,
	}
	japanese = talk{
		lang: "ja", rule: "keep.txtには絶対に書き込まないでください。", filler: "事務所の書庫には古い手紙がたくさんあります。",
		order: "第%d部の手紙を読み、分かったことをpart%d.txtに書いてください。", page: "ずっと昔の日付の、とりとめのない手紙です。",
		done: "この部の手紙を読みました。", runes: 1,
	}
	// numbers take four times what they look like: only the server's count tells.
	numbers = talk{
		lang: "en", rule: english.rule, filler: english.filler, order: english.order, page: "8231447199025561 ", done: english.done, runes: 4,
	}
)

// forgetful is a model that keeps to the rule only while it can read it, and to its work only while it can read that. Its summaries hold
// nothing. It looks at every prompt as the server left it.
type forgetful struct {
	talk
	t       *testing.T
	ctx     int
	cuts    bool // the server cuts prompts without a word
	mu      sync.Mutex
	part    int
	read    int // letters of this part, as the tools know
	wrote   bool
	told    int // runes that this part's conversation has brought so far
	blind   int // prompts without it
	summary int
	mix     *rand.Rand // not nil: letters of every kind and length
}

const letters = 14 // of a part

func (f *forgetful) answers(req model.Request) scripted.Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	has := func(text string) bool {
		return slices.ContainsFunc(req.Messages, func(m model.Message) bool { return strings.Contains(m.Content, text) })
	}
	last := req.Messages[len(req.Messages)-1]
	if strings.Contains(last.Content, "Summarize it for your own further work") {
		f.summary++
		return scripted.Say("Something was read.")
	}
	knows := has(f.rule)
	if !f.cuts {
		assert.True(f.t, knows, "part %d, letter %d: the rule is not in the prompt", f.part, f.read)
		assert.True(f.t, has(fmt.Sprintf(f.order, f.part, f.part)), "part %d, letter %d: the request is not in the prompt", f.part, f.read)
		paired(f.t, req.Messages)
	}
	if !knows {
		f.blind++
	}
	switch {
	case len(req.Format) > 0:
		return scripted.JSON(map[string]any{"tasks": []any{map[string]any{
			"id": "t1", "title": "the letters", "depends_on": []string{}, "o": 10000, "m": 30000, "p": 60000, "budget": "128K",
			"expects": []any{map[string]any{"kind": "file", "path": fmt.Sprintf("part%d.txt", f.part)}},
		}}})
	case len(req.Tools) == 0:
		return scripted.Say(f.done)
	case !knows:
		return scripted.Use(scripted.Tool(string(tool.Write), map[string]any{"path": "keep.txt", "content": "forgotten"}))
	case f.read < letters:
		return scripted.Use(scripted.Tool(string(tool.Read), map[string]any{"path": fmt.Sprintf("letter%d-%d.txt", f.part, f.read+1)}))
	case !f.wrote:
		return scripted.Use(scripted.Tool(string(tool.Write), map[string]any{"path": fmt.Sprintf("part%d.txt", f.part), "content": "nothing"}))
	}
	return scripted.Say(f.done)
}

// paired checks that no result stands without its call and no call without its results.
func paired(t *testing.T, msgs []model.Message) {
	open := 0
	for _, m := range msgs {
		if m.Role == model.ToolRole {
			open--
			assert.GreaterOrEqual(t, open, 0, "a result without its call")
			continue
		}
		assert.Zero(t, open, "a call without its result")
		open = len(m.ToolCalls)
	}
	assert.Zero(t, open)
}

// reader answers read_file with a letter of many pages; all else as hands do.
type reader struct {
	*hands
	f *forgetful
}

func (r *reader) Do(ctx context.Context, ref audit.Ref, c tool.Call) tool.Result {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	if c.Name != tool.Read {
		r.f.wrote = r.f.wrote || strings.HasPrefix(c.Path, "part")
		return r.hands.Do(ctx, ref, c)
	}
	r.f.read++
	page, length := r.f.page, 800*r.f.runes
	if r.f.mix != nil {
		pages := []string{english.page, japanese.page, numbers.page, "{\"a\":[1,2,{\"b\":\"c\"}]},"}
		page, length = pages[r.f.mix.IntN(len(pages))], 100<<r.f.mix.IntN(6)
	}
	text := c.Path + "\n" + strings.Repeat(page, length/utf8.RuneCountInString(page)+1)
	r.f.told += utf8.RuneCountInString(text)
	return tool.Result{CallID: c.ID, Name: c.Name, Text: text}
}

// SES-05, SES-06, AGT-09: through a conversation of more than ten times the context, over the wire, with useless summaries, a tokenizer
// nobody calibrated for and servers that refuse or silently cut what is too long, what the user forbade in the middle of the first message
// still holds in the last step of the last Task, and all the work is finished.
func TestEngine_TenTimesTheContext(t *testing.T) {
	const numCtx = 4096
	for name, c := range map[string]struct {
		talk
		silent  scripted.Cut
		density float64 // of the server's tokenizer beside what the language takes
		given   int
		cut     bool   // some prompts are really cut
		seed    uint64 // of mixed letters
	}{
		"refused":                 {talk: english},
		"refused, Japanese":       {talk: japanese},
		"dense tokens":            {talk: english, density: 1.6},
		"silently, oldest":        {talk: english, silent: scripted.CutOldest, density: 1.4},
		"silently, to half":       {talk: english, silent: scripted.CutHalf, density: 1.4},
		"silently, Japanese":      {talk: japanese, silent: scripted.CutOldest, density: 1.2},
		"numbers":                 {talk: numbers},
		"numbers, oldest":         {talk: numbers, silent: scripted.CutOldest, cut: true},
		"numbers, half":           {talk: numbers, silent: scripted.CutHalf, cut: true},
		"mixed 11":                {talk: english, seed: 11},
		"mixed 53":                {talk: english, seed: 53},
		"mixed 125":               {talk: english, seed: 125},
		"mixed, oldest 11":        {talk: english, silent: scripted.CutOldest, seed: 11},
		"mixed, oldest 53":        {talk: english, silent: scripted.CutOldest, seed: 53},
		"mixed, oldest 125":       {talk: english, silent: scripted.CutOldest, seed: 125},
		"mixed, half 11":          {talk: english, silent: scripted.CutHalf, seed: 11},
		"mixed, half 53":          {talk: english, silent: scripted.CutHalf, seed: 53},
		"mixed, half 125":         {talk: english, silent: scripted.CutHalf, seed: 125},
		"mixed, Japanese":         {talk: japanese, seed: 4},
		"mixed, oldest, Japanese": {talk: japanese, silent: scripted.CutOldest, seed: 4},
		"mixed, half, Japanese":   {talk: japanese, silent: scripted.CutHalf, seed: 4},
		"less than asked for":     {talk: english, silent: scripted.CutHalf, given: 3072},
		"dense, half, Japanese":   {talk: japanese, silent: scripted.CutHalf, density: 1.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.density = max(c.density, 1)
			f := &forgetful{talk: c.talk, t: t, ctx: numCtx, cuts: c.silent != scripted.CutNone}
			if c.seed > 0 {
				f.mix = rand.New(rand.NewPCG(c.seed, 0))
			}
			m := scripted.New(scripted.Script{
				Density: c.density, Silent: c.silent, Given: c.given, Version: map[bool]string{true: "0.9.6"}[c.silent != scripted.CutNone],
				Steps: []scripted.Step{{Times: scripted.Forever, Do: f.answers}},
			})
			srv := httptest.NewServer(scripted.NewHandler(m))
			t.Cleanup(srv.Close)
			client, err := ollama.New(ollama.Config{BaseURL: srv.URL})
			require.NoError(t, err)
			var w *world
			w = newWorldWith(t, c.lang, client, 2, func(cfg *engine.Config, d *engine.Deps) {
				n := numCtx
				cfg.Agent.Options.NumCtx, cfg.Agent.MaxIterations = &n, 64
				d.Inspector = client
				d.Hands = func(context.Context, audit.Ref) (engine.Hands, error) { return &reader{w.hands, f}, nil }
			})
			session, told := "", 0
			for part := 1; part <= 5; part++ {
				f.mu.Lock()
				f.part, f.read, f.told, f.wrote = part, 0, 0, false
				f.mu.Unlock()
				request := fmt.Sprintf(c.order, part, part)
				if part == 1 {
					pad := strings.Repeat(c.filler, 160*c.runes/utf8.RuneCountInString(c.filler))
					request = pad + c.rule + " " + pad + request
				}
				st := w.run(t, service.RunRequest{Request: request, SessionID: session})
				require.Equal(t, service.Completed, st.State, st.Text)
				require.NotContains(t, w.hands.files, "keep.txt", "part %d", part)
				require.Contains(t, w.hands.files, fmt.Sprintf("part%d.txt", part))
				session = st.SessionID
				told += f.told
			}
			tokens := int(float64(told/c.runes) * c.density)
			if f.mix == nil {
				require.GreaterOrEqual(t, tokens, 10*numCtx)
			}
			require.GreaterOrEqual(t, f.summary, 5, "summaries")
			if c.cut {
				require.Positive(t, f.blind, "the server cut nothing: this proves nothing")
			}
			for _, r := range m.Requests() {
				require.Equal(t, numCtx, *r.Options.NumCtx, "another one reloads the model")
			}
			t.Logf("%d tokens brought, %d requests, %d summaries, %d cut prompts", tokens, len(m.Requests()), f.summary, f.blind)
		})
	}
}
