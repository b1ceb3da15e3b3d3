package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/adapters/skills/directory"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/osroot"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Codes of the owner's prompt file.
const (
	CodePromptUnreadable fault.Code = "prompt.unreadable" // args: path, detail
	CodePromptTooLarge   fault.Code = "prompt.too_large"  // args: path, limit
	CodePromptEncoding   fault.Code = "prompt.encoding"   // args: path
)

// maxPromptBytes bounds the User System Prompt: it is paid in every call.
const maxPromptBytes = 32 << 10

// userPrompt reads agent.user_system_prompt; "" when none is configured.
func userPrompt(cfg config.Config) (string, error) {
	path := cfg.Agent.UserSystemPrompt
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path) // first: to open a pipe would wait for its writer
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return "", fault.Wrap(err, CodePromptUnreadable, "path", path, "detail", reason(err))
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fault.Wrap(err, CodePromptUnreadable, "path", path, "detail", reason(err))
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxPromptBytes+1))
	switch {
	case err != nil:
		return "", fault.Wrap(err, CodePromptUnreadable, "path", path, "detail", reason(err))
	case len(b) > maxPromptBytes:
		return "", fault.New(CodePromptTooLarge, "path", path, "limit", maxPromptBytes)
	case !utf8.Valid(b) || bytes.ContainsRune(b, 0):
		return "", fault.New(CodePromptEncoding, "path", path)
	}
	return string(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))), nil
}

// reason is the system's own word for a failure, without the path that the text names anyway.
func reason(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// shelf gives the engine the skills that were read at start (SKL-03, SKL-07). Only their resources are read later, on demand.
type shelf struct {
	all    skill.Catalogue
	source *directory.Source
}

func skillSource(cfg config.Config) *directory.Source {
	return directory.New(directory.Config{Directories: cfg.Skills.Directories})
}

func readSkills(ctx context.Context, cfg config.Config) (skill.Catalogue, []*fault.Error, error) {
	files, err := skillSource(cfg).Find(ctx)
	if err != nil {
		return skill.Catalogue{}, nil, err
	}
	return skill.Build(files)
}

// Load implements engine.Skills.
func (s shelf) Load(_ context.Context, names []string) (loaded []prompt.LoadedSkill, failed []string) {
	for _, n := range names {
		k, ok := s.all.Get(n)
		if !ok {
			failed = append(failed, n)
			continue
		}
		loaded = append(loaded, prompt.LoadedSkill{Name: k.Name, Body: k.Body, Resources: slices.Clone(k.File.Resources)})
	}
	return loaded, failed
}

// Resource implements engine.Skills: what was listed at start and nothing else, read through the skill's own root (SKL-06).
func (s shelf) Resource(ctx context.Context, name, rel string) ([]byte, error) {
	k, ok := s.all.Get(name)
	if !ok || !slices.Contains(k.File.Resources, rel) {
		return nil, fault.New(skills.CodeNoResource, "path", rel)
	}
	return s.source.Resource(ctx, k.File, rel)
}

func (s shelf) discovery() (out []prompt.Skill) {
	for _, k := range s.all.All() {
		out = append(out, prompt.Skill{Name: k.Name, Description: k.Description})
	}
	return out
}

// inspectDir describes an existing directory through the workspace adapter, so that its identity is the one that counts.
func inspectDir(ctx context.Context, dir string) (workspace.Info, error) {
	tree, err := osroot.New([]string{dir}, osroot.Options{})
	if err != nil {
		return workspace.Info{}, err
	}
	defer func() { _ = tree.Close() }()
	h, err := tree.Resolve(ctx, dir)
	if err != nil {
		return workspace.Info{}, err
	}
	defer func() { _ = h.Close() }()
	return h.Info(), nil
}
