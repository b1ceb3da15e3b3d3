package ollama_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/ollama"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/modeltest"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// The real client passes the port's contract over a real connection.
func TestModel_Contract(t *testing.T) {
	modeltest.Run(t, func(t *testing.T, turns ...modeltest.Turn) modeltest.Subject {
		cfg := ollama.Config{}
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
				if turn.Fail == model.CodeFirstChunk {
					cfg.FirstChunkTimeout = 500 * time.Millisecond
				}
				if turn.Fail == model.CodeIdle {
					cfg.IdleTimeout = 500 * time.Millisecond
				}
			}
			s.Steps = append(s.Steps, scripted.Step{Reply: r})
		}
		srv, m := serve(t, s, cfg)
		return modeltest.Subject{Model: m, Seen: srv.Model.Requests}
	})
	modeltest.RunInspector(t, func(t *testing.T) model.Inspector {
		_, m := serve(t, scripted.Script{Model: modeltest.Name, Capabilities: []string{"tools", "vision"}, ContextLength: 8192}, ollama.Config{})
		return m
	})
}

// serve starts a scripted server and a client of it.
func serve(t *testing.T, s scripted.Script, cfg ollama.Config) (*scripted.Server, *ollama.Model) {
	t.Helper()
	srv, err := scripted.NewServer(s)
	require.NoError(t, err)
	t.Cleanup(srv.Close)
	cfg.BaseURL = srv.URL
	m, err := ollama.New(cfg)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return srv, m
}
