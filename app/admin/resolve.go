package admin

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/settings"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// prepared is a configuration with everything that the host says about it.
type prepared struct {
	cfg         config.Config
	local       string       // path of the local file, "" = none
	catalog     text.Catalog // nil when its language is one of the problems
	skills      skill.Catalogue
	prompt      string
	report      sandbox.Report
	permissions change.Permissions
	policy      *policy.Policy // nil when there are problems
	cache       kept           // where the cache is kept
	problems    []*fault.Error
	warnings    []*fault.Error
}

// prepare reads and resolves a configuration. The error is for what cannot be read at all; what speaks against using it
// is in problems, all of it.
func (s *Service) prepare(ctx context.Context, path string) (*prepared, error) {
	layers, err := s.load(ctx, path)
	if err != nil {
		return nil, err
	}
	p := &prepared{}
	if p.cfg, p.warnings, err = config.Build(layers, s.d.Host); err != nil {
		return nil, s.withLanguage(ctx, layers, err)
	}
	if len(layers) > 1 {
		p.local = layers[1].Path
	}
	if err := s.texts(ctx, layers, p); err != nil {
		return nil, err
	}
	s.unusedLocal(ctx, p)
	if p.report, err = s.d.Sandbox.Preflight(ctx); err != nil {
		return nil, err
	}
	p.enforcement()
	r := resolver{s: s, p: p}
	if err := r.resolve(ctx, layers); err != nil {
		return nil, err
	}
	s.read(ctx, p)
	if ctx.Err() != nil {
		return nil, fault.From(ctx.Err())
	}
	return p, nil
}

// read keeps the skills and the User System Prompt, or why they cannot be used.
func (s *Service) read(ctx context.Context, p *prepared) {
	if s.d.Skills != nil {
		all, warnings, err := s.d.Skills(ctx, p.cfg)
		p.skills, p.warnings = all, append(p.warnings, warnings...)
		if err != nil {
			p.problems = append(p.problems, fault.From(err))
		}
	}
	if s.d.Prompt != nil {
		words, err := s.d.Prompt(p.cfg)
		if p.prompt = words; err != nil {
			p.problems = append(p.problems, fault.From(err))
		}
	}
}

// skillRows names the skills of every configured directory.
func (p *prepared) skillRows() (rows []service.SkillRow) {
	for _, dir := range p.cfg.Skills.Directories {
		row := service.SkillRow{Directory: dir}
		for _, k := range p.skills.All() {
			if k.File.Root == dir {
				row.Names = append(row.Names, k.Name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// enforcement compares what the host gives with what the configuration accepts at least.
func (p *prepared) enforcement() {
	if p.report.Level == sandbox.L1 {
		p.warnings = append(p.warnings, fault.New(WarnLevel, "level", "L1").With(p.report.Missing...).With(p.report.Notes...))
	}
	if p.report.Level == sandbox.LevelNone {
		p.problems = append(p.problems, fault.New(sandbox.CodeUnavailable, "detail", p.report.Platform).With(p.report.Missing...))
		return
	}
	if p.report.Level > sandbox.L1 && len(p.report.Notes) > 0 {
		p.warnings = append(p.warnings, fault.New(WarnNotes).With(p.report.Notes...))
	}
	if mode := p.cfg.Sandbox.Network.Mode; !p.report.Confines(mode) {
		p.problems = append(p.problems, fault.New(sandbox.CodeNetworkMode, "mode", mode.Word()))
	}
	for _, item := range []sandbox.Item{sandbox.ItemMemory, sandbox.ItemProcesses} {
		if have := p.report.Ability(item).Strength; have < p.cfg.Sandbox.Require {
			p.problems = append(p.problems, fault.New(sandbox.CodeTooWeak, "item", item.Word(), "have", have.Word(), "want", p.cfg.Sandbox.Require.Word()).With(p.report.Missing...))
		}
	}
}

// resolver fills permissions and policy (Sandbox Environment Resolution).
type resolver struct {
	s  *Service
	p  *prepared
	in policy.Input

	links []entryLink // met on the way to entries, their interpreters and runtime roots
}

func (r *resolver) problem(code fault.Code, kv ...any) {
	r.p.problems = append(r.p.problems, fault.New(code, kv...))
}

func (r *resolver) resolve(ctx context.Context, layers []settings.Layer) error {
	box := r.p.cfg.Sandbox
	before := len(r.p.problems)
	r.in = policy.Input{
		Profile: policy.Profile(box.Profile), Baseline: r.p.report.Baseline, Require: box.Require, Style: r.s.d.Style,
		Network: policy.NetworkInput{Mode: box.Network.Mode, Hosts: box.Network.Hosts},
		Resources: policy.ResourceInput{
			Profile: box.Resources.Profile, MemoryMiB: &box.Resources.MemoryMiB, Processes: &box.Resources.Processes, Timeout: &box.Resources.Timeout,
		},
	}
	net := change.Network{Mode: string(box.Network.Mode), Endpoints: slices.Clone(box.Network.Hosts)}
	for _, port := range box.Network.Ports {
		r.in.Network.Ports = append(r.in.Network.Ports, int(port))
		net.Endpoints = append(net.Endpoints, strconv.Itoa(int(port)))
	}
	r.p.permissions = change.Permissions{
		Profile: box.Profile, Network: net, Require: box.Require.String(),
		Resources: change.Resources{
			Profile: box.Resources.Profile, MemoryMiB: box.Resources.MemoryMiB,
			Processes: box.Resources.Processes, TimeoutSeconds: int(box.Resources.Timeout.Seconds()),
		},
		Model: change.Model{Name: r.p.cfg.Ollama.Model, Server: r.p.cfg.Ollama.BaseURL},
	}
	r.p.permissions.Listen = r.p.cfg.MCP.Endpoints()
	for _, step := range []func(context.Context) error{r.workspace, r.mounts, r.cache, r.entries} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	r.denied(ctx, layers)
	if r.in.Workspace == "" {
		return nil // a policy without one would only say so again
	}
	// What could be resolved is judged also when other paths could not, so that everything is said at once.
	pol, refused := policy.Build(r.in)
	r.linksApart(pol)
	if refused != nil {
		for _, f := range refused.Reasons {
			r.p.problems = append(r.p.problems, inWords(f))
		}
		if len(refused.Reasons) == 0 {
			r.p.problems = append(r.p.problems, refused)
		}
	}
	if len(r.p.problems) > before {
		return nil
	}
	r.p.policy = pol
	r.selfTaught(ctx)
	return nil
}

// identify resolves a path; ok is false when the problem is noted. The error is only a cancelled context.
func (r *resolver) identify(ctx context.Context, what, path string) (id image.Identity, ok bool, err error) {
	id, err = r.s.d.Image.Identify(ctx, path)
	switch code := fault.CodeOf(err); {
	case err == nil && !utf8.ValidString(id.Path):
		r.problem(CodePathText, "what", what, "path", id.Path)
	case err == nil:
		return id, true, nil
	case ctx.Err() != nil:
		return id, false, fault.From(ctx.Err())
	case code == image.CodeMissing:
		r.problem(CodeMissing, "what", what, "path", path)
	default:
		r.p.problems = append(r.p.problems, fault.From(err))
	}
	return id, false, nil
}

// directory resolves a root that must be a directory, and notes what speaks against it.
func (r *resolver) directory(ctx context.Context, what, path string) (id image.Identity, ok bool, err error) {
	if id, ok, err = r.identify(ctx, what, path); !ok {
		return id, false, err
	}
	switch {
	case !id.Directory:
		r.problem(CodeNoDirectory, "what", what, "path", path)
		return id, false, nil
	case filepath.Dir(id.Path) == id.Path:
		r.problem(CodeWholeSystem, "what", what, "path", path)
		return id, false, nil
	}
	open := slices.Clone(id.OpenParents)
	if id.WorldWritable {
		open = append(open, id.Path)
	}
	if len(open) > 0 {
		r.p.warnings = append(r.p.warnings, fault.New(WarnOpen, "what", what, "path", path, "open", strings.Join(open, ", ")))
	}
	return id, true, nil
}

func (r *resolver) workspace(ctx context.Context) error {
	path := r.p.cfg.Sandbox.Workspace
	r.p.permissions.Workspace = change.Place{Written: path}
	id, ok, err := r.directory(ctx, keyOf("workspace"), path)
	if !ok {
		return err
	}
	// A symlink above the workspace is resolved and shown; the workspace itself must not be one: it would be the link
	// that was approved, not the directory.
	if parent, err := r.s.d.Image.Identify(ctx, filepath.Dir(path)); err == nil && filepath.Join(parent.Path, filepath.Base(path)) != id.Path {
		r.problem(CodeWorkspaceLink, "path", path, "target", id.Path)
		return nil
	}
	info, err := r.s.d.Inspect(ctx, id.Path)
	if err != nil {
		if ctx.Err() != nil {
			return fault.From(ctx.Err())
		}
		r.p.problems = append(r.p.problems, fault.From(err))
		return nil
	}
	if home := r.s.d.Host.Home; home != "" && r.canonical(ctx, home) == id.Path {
		r.p.warnings = append(r.p.warnings, fault.New(WarnHome, "path", path))
	}
	r.p.permissions.Workspace = change.Place{Written: path, Path: id.Path, Identity: strconv.FormatUint(info.Identity.File, 10)}
	r.in.Workspace = id.Path
	return nil
}

func (r *resolver) mounts(ctx context.Context) error {
	for _, m := range r.p.cfg.Sandbox.Mounts {
		id, ok, err := r.directory(ctx, keyOf("mounts."+m.Name), m.Path)
		if err != nil {
			return err
		}
		out := change.Mount{Name: m.Name, Place: change.Place{Written: m.Path}, Access: m.Access}
		if ok {
			out.Place.Path = id.Path
			r.in.Mounts = append(r.in.Mounts, policy.MountInput{Name: m.Name, Path: id.Path, Access: policy.Access(m.Access)})
		}
		r.p.permissions.Mounts = append(r.p.permissions.Mounts, out)
	}
	return nil
}

func (r *resolver) entries(ctx context.Context) error {
	for _, e := range r.p.cfg.Sandbox.Entries {
		out, before := change.Entry{Alias: e.Alias, Place: change.Place{Written: e.Path}}, len(r.p.problems)
		id, ok, err := r.identify(ctx, keyOf("entries."+e.Alias), e.Path)
		if err != nil {
			return err
		}
		in := policy.Entry{Alias: e.Alias}
		if ok {
			r.p.problems = append(r.p.problems, broker.Approvable(e.Alias, id)...)
			for _, f := range append([]image.Identity{id}, id.Interpreters...) {
				r.others(e.Alias, f)
			}
			out.Place.Path, out.SHA256, out.Shell, out.Interpreters = id.Path, id.SHA256, broker.Shell(id.Path), broker.Images(id)
			in.Path, in.SHA256, in.Interpreters = id.Path, id.SHA256, out.Interpreters
		}
		if e.RuntimeRoot != "" {
			out.RuntimeRoot = change.Place{Written: e.RuntimeRoot}
			root, ok, err := r.identify(ctx, keyOf("entries."+e.Alias+".runtime_root"), e.RuntimeRoot)
			if err != nil {
				return err
			}
			if ok {
				out.RuntimeRoot.Path, in.RuntimeRoot = root.Path, root.Path
				r.p.problems = append(r.p.problems, broker.ApprovableRoot(e.Alias, root)...)
				r.runtimeRoot(ctx, e, root)
			}
		}
		if len(r.p.problems) == before {
			r.in.Entries = append(r.in.Entries, in)
		}
		r.p.permissions.Entries = append(r.p.permissions.Entries, out)
	}
	return nil
}

// denied adds the places that no root may touch: DENY-01, and what this program lives by (SEC-INV-02).
func (r *resolver) denied(ctx context.Context, layers []settings.Layer) {
	var homes []string
	if home := r.s.d.Host.Home; home != "" {
		homes = append(homes, r.canonical(ctx, home))
	}
	r.in.Denied = policy.DeniedPlaces(r.s.d.Style, homes...)
	own := func(path, what string) {
		r.in.Denied = append(r.in.Denied, policy.Denied{Path: r.canonical(ctx, path), What: what})
	}
	own(r.p.cfg.Application.StateDir, ownState)
	own(r.p.cfg.Logging.Dir, ownState)
	for _, l := range layers {
		own(l.Path, ownConfiguration)
	}
	if r.p.cfg.Application.LocalesDir != "" {
		own(r.p.cfg.Application.LocalesDir, ownConfiguration)
	}
}

// canonical resolves as much of a path as exists; the rest is joined as it is written.
func (r *resolver) canonical(ctx context.Context, path string) string {
	rest := ""
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		if id, err := r.s.d.Image.Identify(ctx, dir); err == nil {
			return filepath.Join(id.Path, rest)
		}
		if filepath.Dir(dir) == dir {
			return filepath.Clean(path)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// selfTaught warns when the agent may write its own instructions: SKILL.md files or the user's system prompt.
func (r *resolver) selfTaught(ctx context.Context) {
	paths := slices.Clone(r.p.cfg.Skills.Directories)
	if p := r.p.cfg.Agent.UserSystemPrompt; p != "" {
		paths = append(paths, p)
	}
	for _, path := range paths {
		d := r.p.policy.Decide(policy.Request{Op: policy.OpWrite, Path: r.canonical(ctx, path)})
		if root, _, _ := r.p.policy.RootOf(r.canonical(ctx, path)); d.Allowed {
			r.p.warnings = append(r.p.warnings, fault.New(WarnSelfTaught, "path", path, "root", keyOf(root.Name)))
		} else if r.in.Cache != "" && sandbox.Under(r.canonical(ctx, path), r.in.Cache) {
			r.p.warnings = append(r.p.warnings, fault.New(WarnSelfTaught, "path", path, "root", keyOf("cache")))
		}
	}
}

// codeIs tells one code among others.
func codeIs(err error, code fault.Code) bool { return errors.Is(err, fault.New(code)) }
