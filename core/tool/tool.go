// Package tool knows the Internal Tools: their names, schemas, argument rules, the rights each needs and the effects it
// can have (spec sections 4, 5; OLL-10, AGT-05..07). It never runs one: app/toolbox does, after core/policy said yes.
package tool

import (
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Name of an Internal Tool as the model sees it.
type Name string

// The Internal Tools.
const (
	Read   Name = "read_file"
	Search Name = "search_files"
	Tail   Name = "tail_file"
	List   Name = "list_dir"
	Write  Name = "write_file"
	Patch  Name = "patch_file"
	Move   Name = "move_path"
	Remove Name = "remove_file"
	Mkdir  Name = "make_dir"
	Rmdir  Name = "remove_dir"
	Run    Name = "run_process"
)

// Call is a native call whose arguments passed the schema. Fields not used by the tool are zero.
type Call struct {
	ID         string
	Name       Name
	Path       string   // Read…Rmdir; Move: the source
	Dest       string   // Move
	Content    string   // Write
	Executable bool     // Write: make the file executable
	Old, New   string   // Patch: exact text to replace
	All        bool     // Patch: every occurrence
	Pattern    string   // Search: regular expression (RE2)
	Glob       string   // Search: file name pattern, "" = all
	Offset     int64    // Read: first line, from 1
	Limit      int      // Read, Tail: lines; List, Search: entries; 0 = default
	Alias      string   // Run: entry alias, or a path of a Workspace Artifact
	Args       []string // Run: argv[1:]
	Dir        string   // Run: working directory, "" = workspace
	Stdin      string   // Run
	TimeoutSec int      // Run: 0 = the policy's wall clock; never above it
}

// EffectKind is what the Broker observed.
type EffectKind string

// Kinds of observed effects. EffectRead and EffectListed are no side effects.
const (
	EffectRead    EffectKind = "read"
	EffectListed  EffectKind = "listed"
	EffectCreated EffectKind = "created"
	EffectChanged EffectKind = "changed"
	EffectRemoved EffectKind = "removed"
	EffectMoved   EffectKind = "moved"
	EffectMadeDir EffectKind = "made_dir"
	EffectRan     EffectKind = "ran"
)

// Effect is one thing that really happened (AGT-04, AGT-07).
type Effect struct {
	Kind   EffectKind
	Path   string // resolved host path; EffectRan: the executable
	Dest   string // EffectMoved
	SHA256 string // content after EffectCreated/EffectChanged
	Before string // SHA-256 of the content before EffectChanged, EffectRemoved and EffectMoved, where it is known
	Alias  string // EffectRan
	Exit   int    // EffectRan: exit code, -1 when it did not exit by itself
	End    string // EffectRan: how it ended ("exited", "timed_out", …)
	Diff   string // EffectCreated, EffectChanged: what changed, for people (core/report.Diff); no Session keeps it
}

// Mutates reports whether the effect is a side effect.
func (e Effect) Mutates() bool { return e.Kind != EffectRead && e.Kind != EffectListed }

// Seen is how a path was when the Broker looked at it (AGT-04, AGT-07).
type Seen struct {
	Path   string // resolved host path; as it was asked for when it is not Known
	Known  bool   // false: it could not be looked at, or the policy does not let it be read
	Exists bool
	SHA256 string // of a regular file's content, or a mark of its state when it is too large to read; "" for anything else
}

// Result answers one Call.
type Result struct {
	CallID  string
	Name    Name
	Text    string       // what the model reads: bounded, in English, compact
	Fault   *fault.Error // nil when it worked; a process that exits non-zero worked
	Denied  bool         // Fault is a policy denial (AGT-08)
	Effects []Effect
	Refused int      // accesses that the policy refused to this call or its processes
	Obeyed  []Obeyed // files it left that the owner's own tools take commands from
}

// Obeyed is a new or changed file that something else will obey, outside the sandbox (core/trigger).
type Obeyed struct {
	Path string // as shown: relative to the workspace where it lies in it
	Kind trigger.Kind
}
