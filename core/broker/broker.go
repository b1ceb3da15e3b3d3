// Package broker decides whether a process may start and under which sandbox.Spec (spec section 8, PRC-01..09): it
// classifies the executable by its resolved path, checks the approval (alias, resolved path and SHA-256), judges the
// working directory, and builds the Spec from the Effective Sandbox Policy. Everything it needs to know of the host comes in
// as data; it fails closed. Starting is ports/sandbox's, looking at files is ports/image's and ports/workspace's.
package broker

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Class is what an executable is to the Broker.
type Class string

// Classes.
const (
	ApprovedEntry    Class = "approved_entry"     // needs alias, path and hash (PRC-01)
	ApprovedShell    Class = "approved_shell"     // the same; being a shell adds nothing (PRC-06)
	RuntimeComponent Class = "runtime_component"  // below a confirmed Runtime Root (PRC-03)
	Artifact         Class = "workspace_artifact" // in a development workspace (PRC-04)
	External         Class = "external_unknown"   // never started (PRC-05)
	Unapproved       Class = "unapproved_shell"   // a shell that is no entry (PRC-06)
)

// shells are the file names that make an executable a shell (PRC-06), each with what distributions put behind it: a version
// ("bash-5.2", "zsh5", "ksh93u+m") and a kind ("busybox.static", "sh.distrib", "pwsh-preview"). A multi-call program with a
// shell in it is one, whatever applet it is called as.
var shells = regexp.MustCompile(`^(sh|ash|bash|busybox|csh|dash|elvish|fish|hush|ksh|lksh|mksh|nu|oksh|osh|pdksh|posh|rbash|rksh|scsh|tcsh|toybox|xonsh|yash|ysh|zsh|powershell|pwsh)` +
	`([-._]?[0-9]+([-._+][0-9]+)*(u\+m|[a-z])?)?([-._](static|distrib|real|orig|old|bak|extras|minimal|preview|restricted))*$`)

// Shell reports whether a resolved path names a shell: by the file name alone, in either system's way of writing it,
// without case and ".exe". A copy under another name cannot be told, and gains nothing: being a shell adds no capability.
func Shell(path string) bool {
	name := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	if name == "cmd.exe" {
		return true
	}
	return shells.MatchString(strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".com"))
}

// Classify says what the executable at a resolved path is. It is no permission yet.
func Classify(p *policy.Policy, path string) Class {
	for _, e := range p.Entries() {
		switch {
		case e.Path != path:
		case Shell(path):
			return ApprovedShell
		default:
			return ApprovedEntry
		}
	}
	root, set, ok := p.RootOf(path)
	switch {
	case !ok || !set.Has(rights.Execute):
		return External
	case root.Kind != policy.Workspace && root.Kind != policy.ArtifactRoot && root.Kind != policy.RuntimeRoot:
		return External // the OS runtime is for descendants (PRF-01)
	case Shell(path):
		return Unapproved
	case root.Kind == policy.RuntimeRoot:
		return RuntimeComponent
	}
	return Artifact
}

// File is what is known about the file to start, read just before.
type File struct {
	Path        string // resolved, canonical
	SHA256      string // "" for a Workspace Artifact
	Regular     bool
	Executable  bool   // an x bit (Windows: by extension)
	Script      bool   // starts with "#!"
	Interpreter string // a script's interpreter as written

	Interpreters []sandbox.Image // what runs the script, outer first; nil for a Workspace Artifact
}

// Start is one wish to run a process, with its facts.
type Start struct {
	ID          string    // names the run
	Call        tool.Call // Run
	File        File
	Dir         string   // resolved working directory; "" = the workspace
	DirOK       bool     // Dir is an existing directory
	Protect     []string // existing paths that Git's owner relies on (policy.Protected), as found on disk just now
	Environment []string // the host's, "NAME=value"; nearly all of it is dropped (SEC-INV-08)
	OutputBytes int      // kept of each of stdout and stderr
}

// Bounds of one start. Linux takes at most 128 KiB per argument (MAX_ARG_STRLEN), and a quarter of the stack in all.
const (
	MaxArgument  = 128<<10 - 1
	MaxArguments = 1 << 20
)

// Codes. CodeRefused carries the others as reasons and is a policy denial (AGT-08); the rest of a fault is the caller's
// mistake and may be corrected.
const (
	CodeRefused       fault.Code = "broker.refused"             // args: target
	CodeExternal      fault.Code = "broker.external"            // args: path, known — aliases that may be started
	CodeShell         fault.Code = "broker.shell"               // args: path, known
	CodePathChanged   fault.Code = "broker.path_changed"        // args: alias, want, got
	CodeHashChanged   fault.Code = "broker.hash_changed"        // args: alias, path, want, got
	CodeInterpreter   fault.Code = "broker.interpreter_changed" // args: alias, want, got — what runs the script, as lists of paths and hashes
	CodeByPath        fault.Code = "broker.by_path"             // args: path, alias — an approved entry named by path
	CodeNotFile       fault.Code = "broker.not_file"            // args: path
	CodeNotExecutable fault.Code = "broker.not_executable"      // args: path
	CodeNoInterpreter fault.Code = "broker.no_interpreter"      // args: path
	CodeDirectory     fault.Code = "broker.directory"           // args: path — no directory
	CodeArguments     fault.Code = "broker.arguments"           // args: size, limit
	CodeNoOutput      fault.Code = "broker.no_output"           // a caller's bug: no bound on output
)

// Prepare judges a start and builds its Spec. On a fault the Spec is zero and nothing may run.
func Prepare(p *policy.Policy, s Start) (sandbox.Spec, Class, *fault.Error) {
	class := Classify(p, s.File.Path)
	if reasons := approve(p, s, class); len(reasons) > 0 {
		return sandbox.Spec{}, class, fault.New(CodeRefused, "target", s.Call.Alias).With(reasons...)
	}
	if s.Dir == "" {
		s.Dir, s.DirOK = p.Workspace(), true
	}
	ask := policy.Request{Op: policy.OpList, Path: s.Dir}
	if d := p.Decide(ask); !d.Allowed {
		return sandbox.Spec{}, class, d.Fault(ask)
	}
	roots := p.SandboxRoots()
	if _, ok := sandbox.RootOf(roots, s.Dir); !ok {
		s.DirOK = false // the OS runtime is no place to work in
	}
	if f := usable(s); f != nil {
		return sandbox.Spec{}, class, f
	}
	l := p.Limits()
	spec := sandbox.Spec{
		ID:      s.ID,
		Roots:   roots,
		Protect: protect(p, s.Protect),
		Entry:   sandbox.Entry{Name: argv0(s), Path: s.File.Path, SHA256: s.File.SHA256, Interpreters: slices.Clone(s.File.Interpreters)},
		Args:    slices.Clone(s.Call.Args),
		Dir:     s.Dir,
		Env:     Environment(s.Environment, p.Cache()),
		Stdin:   []byte(s.Call.Stdin),
		Network: p.Network(),
		Limits: sandbox.Limits{
			Processes: l.Processes, MemoryBytes: l.MemoryBytes,
			WallClock: wallClock(l.WallClock, s.Call.TimeoutSec), OutputBytes: s.OutputBytes,
		},
		Require: p.Require(),
	}
	if class == Artifact {
		spec.Entry.Interpreters = nil
		spec.Entry.SHA256 = "" // it changes with every build (PRC-04)
	}
	return spec, class, nil
}

// approve collects every reason against starting the file (PRC-01..06, SEC-INV-05).
func approve(p *policy.Policy, s Start, class Class) []*fault.Error {
	entry, named := p.Entry(s.Call.Alias)
	known := strings.Join(aliases(p), ", ")
	if named {
		var reasons []*fault.Error
		if entry.Path != s.File.Path {
			reasons = append(reasons, fault.New(CodePathChanged, "alias", entry.Alias, "want", entry.Path, "got", s.File.Path))
		}
		if entry.SHA256 == "" || entry.SHA256 != s.File.SHA256 {
			reasons = append(reasons, fault.New(CodeHashChanged, "alias", entry.Alias, "path", s.File.Path, "want", entry.SHA256, "got", s.File.SHA256))
		}
		if !slices.Equal(entry.Interpreters, s.File.Interpreters) {
			reasons = append(reasons, fault.New(CodeInterpreter, "alias", entry.Alias, "want", list(entry.Interpreters), "got", list(s.File.Interpreters)))
		}
		return reasons
	}
	switch class {
	case Artifact, RuntimeComponent:
		ask := policy.Request{Op: policy.OpExecute, Path: s.File.Path}
		return p.Decide(ask).Reasons
	case ApprovedEntry, ApprovedShell:
		return []*fault.Error{fault.New(CodeByPath, "path", s.File.Path, "alias", aliasOf(p, s.File.Path))}
	case Unapproved:
		return []*fault.Error{fault.New(CodeShell, "path", s.File.Path, "known", known)}
	}
	return []*fault.Error{fault.New(CodeExternal, "path", s.File.Path, "known", known)}
}

// list writes images for a message.
func list(images []sandbox.Image) string {
	out := make([]string, 0, len(images))
	for _, i := range images {
		out = append(out, i.Path+" "+i.SHA256)
	}
	return strings.Join(out, ", ")
}

// usable finds what would make the start fail anyway, with words better than the kernel's.
func usable(s Start) *fault.Error {
	size := 0
	for _, a := range s.Call.Args {
		size += len(a) + 1
		if len(a) > MaxArgument {
			return fault.New(CodeArguments, "size", len(a), "limit", MaxArgument)
		}
	}
	switch {
	case size > MaxArguments:
		return fault.New(CodeArguments, "size", size, "limit", MaxArguments)
	case !s.DirOK:
		return fault.New(CodeDirectory, "path", s.Dir)
	case !s.File.Regular:
		return fault.New(CodeNotFile, "path", s.File.Path)
	case !s.File.Executable:
		return fault.New(CodeNotExecutable, "path", s.File.Path)
	case s.File.Script && s.File.Interpreter == "":
		return fault.New(CodeNoInterpreter, "path", s.File.Path)
	case s.OutputBytes <= 0:
		return fault.New(CodeNoOutput)
	}
	return nil
}

// multiCall names programs that are many programs in one file and look at their own name to know which.
var multiCall = map[string]bool{"busybox": true, "toybox": true, "coreutils": true, "sbase-box": true, "uutils": true}

// argv0 is the resolved path, since programs find themselves through it: Python takes it for sys.executable and could not
// start itself again otherwise. Only a multi-call program gets the name it was asked for.
func argv0(s Start) string {
	base := s.File.Path[strings.LastIndexAny(s.File.Path, `/\`)+1:]
	if multiCall[base] && s.Call.Alias != "" && !strings.ContainsAny(s.Call.Alias, `/\`) {
		return s.Call.Alias
	}
	return s.File.Path
}

// wallClock is the smaller of the policy's and the call's; a call can only shorten.
func wallClock(most time.Duration, seconds int) time.Duration {
	if seconds > 0 && time.Duration(seconds) < most/time.Second {
		return time.Duration(seconds) * time.Second
	}
	return most
}

// protect keeps what lies where processes may write, sorted, without doubles and without what another one covers.
func protect(p *policy.Policy, found []string) []string {
	all := slices.Clone(found)
	slices.Sort(all)
	all = slices.Compact(all)
	var out []string
	for _, path := range all {
		root, set, ok := p.RootOf(path)
		if ok && root.Path != path && set&(rights.Write|rights.Delete) != 0 {
			out = append(out, path)
		}
	}
	return out
}

func aliases(p *policy.Policy) []string {
	var out []string
	for _, e := range p.Entries() {
		out = append(out, e.Alias)
	}
	return out
}

func aliasOf(p *policy.Policy, path string) string {
	for _, e := range p.Entries() {
		if e.Path == path {
			return e.Alias
		}
	}
	return ""
}
