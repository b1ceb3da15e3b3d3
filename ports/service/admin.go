package service

import (
	"context"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/report"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Administrator is what the owner may ask at the command line besides serving. No MCP client and no model reaches it
// (CLI-04).
type Administrator interface {
	// Apply resolves a configuration, checks everything that starting needs, presents one difference, asks, and
	// replaces the Applied Configuration (CLI-02). A refusal or a failure is a fault and keeps the old one.
	Apply(ctx context.Context, req ApplyRequest) (Applied, error)
	// Show is read-only (CLI-03). What is wrong with the host or the snapshot is in the View; only a configuration that
	// cannot be read at all is a fault.
	Show(ctx context.Context, path string) (View, error)
}

// ApplyRequest is one `apply`.
type ApplyRequest struct {
	Path    string
	Yes     bool       // nobody is asked; recorded in the Audit Log
	Present func(View) // called once, before anybody is asked; nil = nobody looks
}

// Outcome of an apply.
type Outcome string

// Outcomes.
const (
	Unchanged      Outcome = "unchanged" // nothing differed; nothing was asked or written
	AppliedChanges Outcome = "applied"
	Declined       Outcome = "declined"
)

// Applied is what an apply did.
type Applied struct {
	Outcome Outcome
	View    View
}

// Standing says how the configuration relates to what was applied.
type Standing string

// Standings.
const (
	NeverApplied Standing = "never_applied"
	Current      Standing = "current"
	Drifted      Standing = "drifted"
	Damaged      Standing = "damaged" // the stored snapshot cannot be read or trusted
	Refused      Standing = "refused" // the desired state itself is refused, see Problems
)

// View is desired, resolved, applied and effective state in one value.
type View struct {
	Config    string // the base file, absolute
	Local     string // the local file, "" = none
	ID        string // configuration id
	StateDir  string
	Language  string
	Transport string
	Endpoints []string // URLs that clients connect to; none over stdio
	Model     string
	Server    string // the model server's URL

	Standing  Standing
	AppliedAt time.Time      // zero = never
	AppliedBy string         // "person" or "--yes"; "" = never
	Changes   []Change       // applied → desired, in a fixed order; everything is added when nothing was applied
	Drift     []*fault.Error // why a start is refused
	Problems  []*fault.Error // why the desired state is refused
	Warnings  []*fault.Error

	Skills     []SkillRow
	Filesystem []FileRow
	Execution  []ExecRow
	Network    NetworkRow
	Resources  ResourceRow
	Host       sandbox.Report

	Tasks []report.Kept // the last ones, the newest first; Show only
}

// FileRow is one line of the filesystem matrix.
type FileRow struct {
	Name    string // "workspace", a mount's name, the cache's name, a runtime root's alias, "system"
	Kind    Item   // ItemWorkspace, ItemMount, ItemCache, ItemRuntimeRoot, ItemSystem
	Written string // as configured, absolute
	Path    string // resolved; "" when it could not be
	Rights  rights.Set
}

// SkillRow is one directory of skills, and the skills found in it.
type SkillRow struct {
	Directory string // as configured, absolute
	Names     []string
}

// ExecRow is one line of the execution matrix.
type ExecRow struct {
	Alias       string
	Written     string
	Path        string
	SHA256      string
	RuntimeRoot string
	Shell       bool
	Approved    bool // the applied snapshot holds exactly this path and hash, and these interpreters

	Interpreters []sandbox.Image // of a script: what runs it, outer first
}

// NetworkRow is the network part.
type NetworkRow struct {
	Mode      sandbox.NetworkMode
	Endpoints []string
}

// ResourceRow is the resource part.
type ResourceRow struct {
	Profile   string
	MemoryMiB int
	Processes int
	Timeout   time.Duration
	Require   sandbox.Strength
}

// Op is what happened to an item.
type Op string

// Ops.
const (
	Added     Op = "added"
	Removed   Op = "removed"
	ChangedOp Op = "changed"
)

// Item is a kind of thing in the difference.
type Item string

// Items in the order of the difference.
const (
	ItemProfile     Item = "profile"
	ItemWorkspace   Item = "workspace"
	ItemMount       Item = "mount"
	ItemEntry       Item = "entry"
	ItemRuntimeRoot Item = "runtime_root"
	ItemNetwork     Item = "network"
	ItemResources   Item = "resources"
	ItemRequire     Item = "require"
	ItemModel       Item = "model"
	ItemListen      Item = "listen"   // where clients connect over HTTP
	ItemSettings    Item = "settings" // the files' text differs in what permits nothing
	ItemCache       Item = "cache"    // what programs keep between Tasks
	ItemSystem      Item = "system"   // what every sandboxed process may use of the system; in no difference
)

// Change is one line of the difference.
type Change struct {
	Op      Op
	Item    Item
	Name    string      // a mount's name, an entry's alias; "" = there is only one
	Before  []Attribute // empty when added
	After   []Attribute // empty when removed
	Meaning Phrase      // plain words for what it means
	Widens  bool        // more is allowed than before
}

// Attribute is one fact of an item. Only those that differ stand in a changed item.
type Attribute struct {
	Name  text.Key // label
	Value string
	Word  text.Key // of what people read instead of Value; "" = Value itself
}

// Phrase is a text to render.
type Phrase struct {
	Key  text.Key
	Args map[string]any
}
