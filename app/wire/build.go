package wire

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	frontmcp "github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	imagefile "github.com/agent-mcp/agent-mcp/adapters/image/file"
	mcptaskfile "github.com/agent-mcp/agent-mcp/adapters/mcptask/file"
	scratchfile "github.com/agent-mcp/agent-mcp/adapters/scratch/file"
	turnflock "github.com/agent-mcp/agent-mcp/adapters/turn/flock"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/trace"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// undoer removes files and trees of ours: the instances' folders, and temporary files beside what was edited.
func undoer(cfg config.Config) journal.Undoer {
	own := stateDir(cfg, "instances")
	if resolved, err := filepath.EvalSymlinks(own); err == nil {
		own = resolved
	}
	return osroot.NewUndoer(own)
}

// build makes the use cases of a server, and its front.
func (s *server) build(ctx context.Context) (*frontmcp.Server, error) {
	if err := s.work(ctx); err != nil {
		return nil, err
	}
	v, kept := s.eff.Config.Agent.Vision, s.eff.Config.MCP.Tasks
	store, err := mcptaskfile.Open(filepath.Join(stateDir(s.eff.Config, "tasks"), s.eff.ID), s.id)
	if err != nil {
		return nil, err
	}
	s.onClose(store.Close)
	return frontmcp.New(frontmcp.Options{
		Runner: s.engine, Catalog: s.eff.Catalog, Name: name, Version: Version(), OwnerID: "stdio", Trace: s.trace, Ready: s.ready,
		Tasks:  &frontmcp.TaskOptions{Store: store, Server: s.id, TTL: kept.TTL, PollInterval: kept.PollInterval, MaxKept: kept.MaxKept},
		Limits: frontmcp.Limits{Images: v.MaxImages, ImageBytes: int(v.MaxImageBytes), ImagesBytes: int(v.MaxTotalBytes)},
	})
}

// work makes what a front would ask: hands, model, engine.
func (s *server) work(ctx context.Context) error {
	cfg := s.eff.Config
	skills := shelf{s.eff.Skills, skillSource(cfg)}
	hands, err := s.hands()
	if err != nil {
		return err
	}
	client, withRetries, err := brain(cfg.Ollama, s.trace)
	if err != nil {
		return err
	}
	s.onClose(func() error { client.Close(); return nil })
	info, warning, err := look(ctx, client, cfg.Ollama)
	if err != nil {
		return err
	}
	s.engine = engine.New(engineConfig(s.eff.Policy, cfg, s.eff.Prompt, skills), engine.Deps{
		Model: withRetries, Inspector: client, Hands: hands, Skills: skills,
		Turn:  turnflock.New(stateDir(cfg, "turns"), s.eff.ID),
		Me:    turn.Holder{Instance: s.id, PID: os.Getpid()},
		Clock: system.New(), Ident: random.New(), Trace: s.trace, Catalog: s.eff.Catalog, Audit: s.audit,
		Reports: reports(cfg),
	})
	if info != nil {
		s.engine.Know(*info)
	}
	if warning != nil && warning.Code == CodeModelRemote && slices.ContainsFunc(s.eff.Warnings, func(w *fault.Error) bool { return w.Code == config.WarnCloud }) {
		warning = nil // said already, with its place
	}
	s.warn(warning)
	return nil
}

// warn shows what does not stop the start but will be noticed.
func (s *server) warn(more ...*fault.Error) { s.warnings(append(more, s.eff.Warnings...)) }

func (s *server) warnings(all []*fault.Error) {
	for _, w := range all {
		if w == nil {
			continue
		}
		s.say(keyWarning, map[string]any{"message": s.eff.Catalog.Fault(w)})
		s.trace.Emit(trace.Event{At: system.New().Now(), Stream: trace.App, Level: trace.Debug, Name: "server.warning", Fields: []trace.Field{trace.F("code", string(w.Code))}})
	}
}

// hands opens the workspace once, and gives every Task a toolbox of its own.
func (s *server) hands() (func(context.Context, audit.Ref) (engine.Hands, error), error) {
	cfg, p := s.eff.Config, s.eff.Policy
	guard := journal.NewGuard(s.own.Journal(), system.New().Now, random.New().New, "")
	if box, ok := s.box.(sandbox.Recorder); ok {
		s.onClose(box.Record(guard))
	}
	var roots []string
	for _, r := range p.ToolRoots() {
		roots = append(roots, r.Path)
	}
	tree, err := osroot.New(roots, osroot.Options{Guard: guard})
	if err != nil {
		return nil, err
	}
	s.onClose(tree.Close)
	dir, err := filepath.EvalSymlinks(filepath.Join(stateDir(cfg, "instances"), s.id)) // made by the registry
	if err != nil {
		return nil, err
	}
	scratch, err := scratchfile.New(filepath.Join(dir, "scratch"), guard)
	if err != nil {
		return nil, err
	}
	s.onClose(scratch.Close)
	notes, err := scratchfile.Notes(filepath.Join(dir, "notes"), guard)
	if err != nil {
		return nil, err
	}
	s.onClose(notes.Close)
	keepRuns(s.box, dir, guard)
	out := cfg.Agent.ToolOutput
	base := toolbox.Config{
		Policy: p, Tree: tree, Scratch: scratch, Notes: notes, Sandbox: s.box, Images: imagefile.New(), Clock: system.New(), Ident: random.New(),
		Audit: s.audit, Environment: os.Environ(),
		Limits: toolbox.Limits{
			ReadBytes: out.ReadBytes, SearchMatches: out.SearchMatches, TailLines: out.TailLines, ProcessBytes: out.ProcessBytes,
			MemoryBackupBytes: max(cfg.Agent.Edit.MemoryBackupBytes, 1), // toolbox's zero means its default
		},
	}
	return func(ctx context.Context, _ audit.Ref) (engine.Hands, error) {
		if err := s.recover(ctx, s.registry); err != nil { // of those that died while they had the turn, before what they left is looked at
			return nil, err
		}
		return toolbox.New(base), nil
	}, nil
}

// engineConfig translates the owner's settings into what the engine needs. words is the User System Prompt.
func engineConfig(p *policy.Policy, cfg config.Config, words string, skills shelf) engine.Config {
	a, limits := cfg.Agent, p.Limits()
	run := prompt.Runtime{
		Workspace: p.Workspace(), ReadOnly: cfg.Sandbox.Profile == config.ProfileReadonly,
		Network: string(p.Network().Mode), Endpoints: endpoints(p),
		MemoryMiB: int(limits.MemoryBytes >> 20), Processes: limits.Processes, TimeoutS: int(limits.WallClock / time.Second),
		Language: cfg.Application.Language, Skills: skills.discovery(),
	}
	settings := agent.Settings{
		Model: cfg.Ollama.Model, Think: cfg.Ollama.Think, Options: cfg.Ollama.Options, KeepAlive: cfg.Ollama.KeepAlive,
		MaxIterations: a.MaxIterations, MaxTasks: a.MaxTasks, SameFailureLimit: a.SameFailureLimit, MaxReplans: a.MaxReplans,
		SummarizeAt: a.SummarizeAt, Workspace: p.Workspace(),
	}
	if a.MaxReplans == 0 {
		settings.MaxReplans = -1 // core/agent's zero means its default
	}
	writable := !run.ReadOnly
	for _, r := range p.Roots() {
		if r.Kind != policy.Mount {
			continue
		}
		label := strings.TrimPrefix(r.Name, "mounts.")
		run.Mounts = append(run.Mounts, prompt.Mount{Name: label, Path: r.Path, Access: policy.Words(r.Rights).String()})
		settings.Mounts = append(settings.Mounts, agent.Mount{Name: label, Path: r.Path})
		writable = writable || r.Rights.Has(rights.Write)
	}
	var aliases []string
	for _, e := range p.Entries() {
		aliases = append(aliases, e.Alias)
		run.Entries = append(run.Entries, prompt.Entry{Alias: e.Alias, What: e.Path})
	}
	queued := cfg.MCP.MaxQueued
	if queued == 0 {
		queued = -1 // core/session's zero means its default
	}
	return engine.Config{
		Agent: settings, Layers: prompt.Layers{User: words, Runtime: run},
		Tools: tool.Definitions(tool.Config{
			Aliases: aliases, Artifacts: cfg.Sandbox.Profile == config.ProfileDevelopment, ReadOnly: !writable,
			MaxTimeout: int(limits.WallClock / time.Second),
		}),
		Limits: session.Limits{MaxQueued: queued, KeepFinished: max(cfg.MCP.Tasks.MaxKept, leastKept)},
		Vision: engine.Vision{MaxImages: a.Vision.MaxImages, MaxImageBytes: a.Vision.MaxImageBytes, MaxTotalBytes: a.Vision.MaxTotalBytes},
		LLMLog: cfg.Logging.LLM, ResourceBytes: a.ToolOutput.ReadBytes,
	}
}

func endpoints(p *policy.Policy) (out []string) {
	n := p.Network()
	for _, port := range n.Ports {
		out = append(out, "localhost:"+strconv.Itoa(int(port)))
	}
	return append(out, n.Hosts...)
}

// leastKept is how many finished Tasks stay at hand whatever max_kept says: how one ended is looked at a moment after it did.
const leastKept = 100
