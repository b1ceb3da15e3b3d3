package admin

import (
	"context"
	"maps"
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// What is denied because this program lives by it (SEC-INV-02).
const (
	ownState         = policy.State
	ownConfiguration = "configuration"
)

// keyOf is the configuration key of what the policy calls a root: people look for it in their file.
func keyOf(root string) string {
	switch head, _, _ := strings.Cut(root, "."); head {
	case "workspace", "mounts", "cache":
		return "sandbox." + root
	case "entries":
		return "sandbox.execution." + root
	}
	return root
}

// inWords is a refusal of the policy with configuration keys in it. A root over our own files has another remedy than one
// over the host's secrets.
func inWords(f *fault.Error) *fault.Error {
	c := *f
	c.Args = maps.Clone(f.Args)
	for _, name := range []string{"root", "other"} {
		if root, ok := c.Args[name].(string); ok {
			c.Args[name] = keyOf(root)
		}
	}
	if what := c.Args["what"]; c.Code == policy.CodeRootDenied && (what == ownState || what == ownConfiguration) {
		c.Code = CodeOwnPlace
	}
	return &c
}

// load reads the layers; a directory where a file was meant gets its own words.
func (s *Service) load(ctx context.Context, path string) ([]settings.Layer, error) {
	layers, err := s.d.Source.Load(ctx, path)
	if codeIs(err, settings.CodeUnreadable) {
		dir, _ := fault.From(err).Args["path"].(string) // resolved
		if id, e := s.d.Image.Identify(ctx, dir); e == nil && id.Directory {
			return nil, fault.Wrap(err, CodeDirectory, "path", dir, "example", filepath.Join(path, "agent.yaml"))
		}
	}
	return layers, err
}

// texts loads the catalogue. A language without texts is one problem among the others; a broken locale file is told
// alone, since nothing can be rendered with it.
func (s *Service) texts(ctx context.Context, layers []settings.Layer, p *prepared) (err error) {
	p.catalog, err = s.d.Catalog(ctx, p.cfg)
	if f := s.language(layers, err); f != nil {
		p.catalog, p.problems = nil, append(p.problems, f)
		return nil
	}
	return err
}

// withLanguage adds an unknown language to the problems of a configuration that is refused anyway.
func (s *Service) withLanguage(ctx context.Context, layers []settings.Layer, refused error) error {
	tag, _, dir := config.Language(layers, s.d.Host)
	f := fault.From(refused)
	if tag == "" || f.Code != config.CodeInvalid {
		return refused
	}
	_, err := s.d.Catalog(ctx, config.Config{Application: config.Application{Language: tag, LocalesDir: dir}})
	more := s.language(layers, err)
	if more == nil {
		return refused
	}
	f = f.With(more)
	f.Args = maps.Clone(f.Args)
	f.Args["count"] = len(f.Reasons)
	return f
}

// language is the problem with a place that an unknown language is, nil for any other error.
func (s *Service) language(layers []settings.Layer, err error) *fault.Error {
	if !codeIs(err, text.CodeUnknownLocale) {
		return nil
	}
	tag, place, _ := config.Language(layers, s.d.Host)
	known, _ := fault.From(err).Args["known"].(string)
	args := []any{"place", place, "tag", tag, "known", known}
	if near := config.NearestTag(tag, strings.Split(known, ", ")); near != "" {
		return fault.New(CodeLanguageNear, append(args, "nearest", near)...)
	}
	return fault.New(CodeLanguage, args...)
}

// unusedLocal warns of an agent.local.yaml beside a configuration of another name: it looks as if it were used.
func (s *Service) unusedLocal(ctx context.Context, p *prepared) {
	const name = "agent.local.yaml"
	base := filepath.Base(p.cfg.Path)
	path := filepath.Join(p.cfg.Dir, name)
	if base == "agent.yaml" || base == name {
		return
	}
	if _, err := s.d.Image.Identify(ctx, path); err != nil {
		return
	}
	ext := filepath.Ext(base)
	p.warnings = append(p.warnings, fault.New(WarnUnusedLocal, "path", path, "config", base, "local", strings.TrimSuffix(base, ext)+".local"+ext))
}
