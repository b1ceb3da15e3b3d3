// Package admin holds the owner's use cases: Apply replaces the Applied Configuration after one difference and one yes,
// Show reports without changing anything, Load gives a starting server everything it needs or refuses (spec sections 3
// and 8, CFG-01..05). Everything fails closed. No MCP client and no model can reach it (CLI-04); it renders no text.
package admin

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/skill"
	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/keep"
	"github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/settings"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Codes of what the host's facts say against a configuration.
const (
	CodeRefused       fault.Code = "admin.refused"           // args: path, count; Reasons: every problem
	CodeWorkspaceLink fault.Code = "admin.workspace_link"    // args: path, target
	CodeMissing       fault.Code = "admin.missing"           // args: what, path
	CodePathText      fault.Code = "admin.path_text"         // args: what, path — not UTF-8, so it could not be compared later
	CodeNoDirectory   fault.Code = "admin.not_directory"     // args: what, path
	CodeWholeSystem   fault.Code = "admin.whole_filesystem"  // args: what, path
	CodeGroupWritable fault.Code = "admin.group_writable"    // args: alias, path
	CodeRuntimeLink   fault.Code = "admin.runtime_root_link" // args: what, path, target
	CodeLinkWritable  fault.Code = "admin.link_writable"     // args: alias, path, target, root — the agent may write the link that leads to a program
	WarnShared        fault.Code = "admin.shared_place"      // args: what, path, shared — a warning
	CodeDirectory     fault.Code = "admin.config_directory"  // args: path, example — a directory where the configuration should be
	CodeOwnPlace      fault.Code = "admin.own_place"         // args: root, path, denied — our own configuration or state
	CodeLanguage      fault.Code = "admin.language"          // args: place, tag, known — no texts of that language
	CodeLanguageNear  fault.Code = "admin.language_near"     // args: place, tag, known, nearest
	CodeCacheMissing  fault.Code = "admin.cache_missing"     // args: path
	WarnCacheMade     fault.Code = "admin.cache_made"        // args: path — a warning: an approved cache was made again
	WarnUnusedLocal   fault.Code = "admin.unused_local"      // args: path, config, local — a warning
	WarnLevel         fault.Code = "admin.low_level"         // args: level; Reasons: what is missing for more, what is left open — a warning
	WarnNotes         fault.Code = "admin.sandbox_notes"     // Reasons: what this system's sandbox leaves open or takes away — a warning
	WarnHome          fault.Code = "admin.home_directory"    // args: path — a warning
	WarnOpen          fault.Code = "admin.open_place"        // args: what, path, open — a warning
	WarnSelfTaught    fault.Code = "admin.writable_prompt"   // args: path, root — a warning: the agent can write what instructs it
)

// Questions for the approval: of a change, and of the first configuration.
const (
	keyQuestion      text.Key = "apply.question"
	keyQuestionFirst text.Key = "apply.question_first"
)

// Preflighter is the part of ports/sandbox that is needed here.
type Preflighter interface {
	Preflight(ctx context.Context) (sandbox.Report, error)
}

// Deps are the ports and facts of the use cases. Every field but Skills, Prompt and Reports is required.
type Deps struct {
	Source  settings.Source
	Host    config.Host
	Style   policy.Style // how the host writes paths
	Image   image.Identifier
	Sandbox Preflighter
	Asker   consent.Asker
	Clock   clock.Clock

	// Inspect describes an existing directory by its canonical path; its Identity.File tells it from another one that
	// takes its place. The number of its volume is not used: it changes when a machine starts again.
	Keep    keep.Keeper // makes and checks the directory of sandbox.cache
	Inspect func(ctx context.Context, dir string) (workspace.Info, error)
	// Store is the snapshot store of a configuration's state_dir. It makes nothing before Save.
	Store func(cfg config.Config) snapshot.Store
	// Catalog loads the texts of the configuration's language; what is wrong with a locale file refuses start and apply.
	Catalog func(ctx context.Context, cfg config.Config) (text.Catalog, error)
	// Record hands one record to the configuration's Audit Log before what it records is done.
	Record func(ctx context.Context, cfg config.Config, rec audit.Record) error
	// Skills reads the configuration's skills, and Prompt the User System Prompt; what they refuse refuses start and apply.
	// A server works with what was read here (Effective). nil = there are none.
	Skills func(ctx context.Context, cfg config.Config) (all skill.Catalogue, warnings []*fault.Error, err error)
	Prompt func(cfg config.Config) (string, error)
	// Reports is where a configuration's Tasks left their reports, for show. nil = nowhere.
	Reports func(cfg config.Config) report.Store
}

// Service implements service.Administrator. Safe for concurrent use; two applies at once end with one of the two.
type Service struct{ d Deps }

var _ service.Administrator = (*Service)(nil)

// New makes the use cases.
func New(d Deps) *Service { return &Service{d} }

// Language finds the language of a configuration that may be broken otherwise, and its locales directory; both are ""
// when they cannot be told. It is for the messages that refuse the configuration.
func (s *Service) Language(ctx context.Context, path string) (tag, localesDir string) {
	layers, err := s.d.Source.Load(ctx, path)
	if err != nil {
		return "", ""
	}
	if cfg, _, err := config.Build(layers, s.d.Host); err == nil {
		return cfg.Application.Language, cfg.Application.LocalesDir
	}
	tag, _, localesDir = config.Language(layers, s.d.Host)
	return tag, localesDir
}
