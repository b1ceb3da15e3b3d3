package wire

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/model/ollama"
	"github.com/agent-mcp/agent-mcp/app/modelcall"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// CodeModelSilent is a warning: the model server did not answer in time. args: url, limit
const CodeModelSilent fault.Code = "server.model_silent"

// CodeModelRemote is a warning: the server says that the model runs on another machine, though its name does not. args: model
const CodeModelRemote fault.Code = "server.model_remote"

// lookLimit bounds the look at the model server before serving: a server that is slow to answer is no reason to start late.
const lookLimit = 2 * time.Second

// brain builds the model client with its retries.
func brain(cfg config.Ollama, sink trace.Sink) (*ollama.Model, model.Model, error) {
	client, err := ollama.New(ollama.Config{
		BaseURL: cfg.BaseURL, ConnectTimeout: cfg.ConnectTimeout,
		FirstChunkTimeout: cfg.FirstChunkTimeout, IdleTimeout: cfg.IdleTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	return client, modelcall.New(client, system.New(), modelcall.Config{
		Retries: cfg.Retry.Attempts, Backoff: cfg.Retry.Backoff, MaxBackoff: cfg.Retry.MaxBackoff,
		Jitter: rand.Float64, Trace: sink,
	}), nil
}

// look asks the server about the model before serving. A model that cannot call tools can never do the work: that refuses
// the start. A server that does not answer yet, or a model that is not pulled yet, is a warning: the owner may start it
// later, and until then a Task fails with the same words.
func look(ctx context.Context, client *ollama.Model, cfg config.Ollama) (info *model.Info, warning *fault.Error, err error) {
	name := cfg.Model
	limited, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	got, err := client.Inspect(limited, name)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, fault.From(ctx.Err())
	case err != nil && limited.Err() != nil:
		return nil, fault.Wrap(err, CodeModelSilent, "url", cfg.BaseURL, "limit", lookLimit), nil
	case err != nil:
		return nil, fault.From(err), nil
	}
	if len(got.Capabilities) > 0 && !got.Has("tools") { // an old server does not say
		return nil, nil, fault.New(model.CodeNoTools, "model", name)
	}
	if got.Remote {
		warning = fault.New(CodeModelRemote, "model", name)
	}
	return &got, warning, nil
}
