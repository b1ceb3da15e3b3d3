// Package toolbox performs Internal Tool calls (spec sections 4, 5, 8; AGT-05..09, FS-00..10, EDT-01, PRC-01..09). Every
// call goes the same way: resolve through ports/workspace, ask core/policy about the RESOLVED path, act through the pinned
// handle, observe, record. Processes go through core/broker and ports/sandbox. It decides nothing that the cores decide,
// never uses a path string twice, and never writes a log: facts go to the Audit.
//
// One Box serves one Task and is used by one goroutine at a time.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/clock"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/ident"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// Limits bound what one result may hold (AGT-09) and what is kept in memory (EDT-01). Zero takes the default.
type Limits struct {
	ReadBytes         int   // of one read, tail or list; default 65,536
	SearchMatches     int   // default 200
	TailLines         int   // default 400
	ProcessBytes      int   // of one process's stdout and stderr together; default 65,536
	MemoryBackupBytes int64 // a larger old content is kept in Scratch while its edit is checked; default 8 MiB
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		value *int
		usual int
	}{{&l.ReadBytes, 64 << 10}, {&l.SearchMatches, 200}, {&l.TailLines, 400}, {&l.ProcessBytes, 64 << 10}} {
		if *d.value <= 0 {
			*d.value = d.usual
		}
	}
	if l.MemoryBackupBytes <= 0 {
		l.MemoryBackupBytes = 8 << 20
	}
	return l
}

// Bounds that are no settings.
const (
	maxEditBytes    = 64 << 20 // a larger file is not edited by a tool
	searchTime      = 10 * time.Second
	searchFiles     = 20_000
	searchBytes     = 64 << 20
	searchFileBytes = 8 << 20
)

// Audit takes the security record (LOG-03). An error means that it could not be stored: then what it records does not
// happen.
type Audit interface {
	Record(r audit.Record) error
}

// Config is what a Box works with. Audit, Scratch, Notes, Images and Sandbox may be nil: nothing is recorded, contents above
// the memory limit are not edited, nothing can be run.
type Config struct {
	Policy      *policy.Policy
	Tree        workspace.Tree // opened on Policy.ToolRoots; the Box does not close it
	Scratch     workspace.Scratch
	Notes       workspace.Scratch // durable, and swept after by recovery (app/aftermath); nil: after a crash nothing is known of a run
	Sandbox     sandbox.Sandbox
	Images      image.Identifier
	Clock       clock.Clock
	Ident       ident.Source
	Audit       Audit
	Limits      Limits
	Environment []string // the host's; nearly all of it is dropped by the broker
}

// Codes of this package. A fault of a lower port keeps its own code.
const (
	CodePattern     fault.Code = "toolbox.pattern"      // args: detail — no regular expression
	CodeGlob        fault.Code = "toolbox.glob"         // args: glob
	CodeNoMatch     fault.Code = "toolbox.no_match"     // args: path — the text to replace is not there
	CodeAmbiguous   fault.Code = "toolbox.ambiguous"    // args: path, count
	CodeBinary      fault.Code = "toolbox.binary"       // args: path — a binary file is not patched
	CodeTooBig      fault.Code = "toolbox.too_big"      // args: path, size, limit
	CodeNoBackup    fault.Code = "toolbox.no_backup"    // args: path — nowhere to keep the old content
	CodeVerify      fault.Code = "toolbox.verify"       // args: path — the file was not what was written; the old content is back
	CodeRestore     fault.Code = "toolbox.restore"      // args: path — the old content could not be put back
	CodeCommandLine fault.Code = "toolbox.command_line" // args: command, args — a whole command line where a program belongs
	CodeNoSandbox   fault.Code = "toolbox.no_sandbox"   // nothing can be run here
	CodeAudit       fault.Code = "toolbox.audit"        // the Audit could not be written, so no more is done
)

// Box performs the calls of one Task.
type Box struct {
	Config
	git    *gitguard.Guard
	watch  *lookout.Lookout
	ready  bool     // git has looked, and the policy knows what it found
	notes  []string // what the guard has to say, told with the next result
	blind  bool     // it was told that the lookout did not see everything
	left   []string // backups that Scratch did not let go of
	note   note
	closed bool
	calls  map[tool.Name]func(context.Context, *job) error
}

// job is one call on its way.
type job struct {
	ref    audit.Ref
	call   tool.Call
	result *tool.Result
}

// New makes a Box. Nothing is touched yet.
func New(c Config) *Box {
	c.Limits = c.Limits.withDefaults()
	b := &Box{Config: c, git: gitguard.New(c.Tree, c.Policy, gitguard.Bounds{}), watch: lookout.New(c.Tree, c.Policy, lookout.Bounds{})}
	b.git.Watch(b.watch.Before)
	b.calls = map[tool.Name]func(context.Context, *job) error{
		tool.Read: b.read, tool.Tail: b.tail, tool.List: b.list, tool.Search: b.search,
		tool.Write: b.write, tool.Patch: b.patch, tool.Move: b.move, tool.Remove: b.remove,
		tool.Mkdir: b.mkdir, tool.Rmdir: b.rmdir, tool.Run: b.run,
	}
	return b
}

// Do performs one call, judged by the policy first. Failures are in the Result; its Effects are what was observed, also
// when the call failed half way.
func (b *Box) Do(ctx context.Context, ref audit.Ref, call tool.Call) tool.Result {
	r := tool.Result{CallID: call.ID, Name: call.Name}
	err := b.record(audit.Tool(b.now(), ref, call))
	if err == nil {
		err = b.perform(ctx, &job{ref, call, &r})
	}
	if err != nil {
		b.fail(&r, err)
	}
	b.tell(&r)
	if err := b.record(audit.ToolResult(b.now(), ref, r)); err != nil && r.Fault == nil {
		b.fail(&r, err)
	}
	return r
}

func (b *Box) perform(ctx context.Context, j *job) error {
	do, ok := b.calls[j.call.Name]
	if !ok || b.closed {
		return fault.New(fault.CodeUnsupported, "what", string(j.call.Name))
	}
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	if j.call.Name.Mutates() {
		if err := b.guard(ctx, j); err != nil {
			return err
		}
	}
	return do(ctx, j)
}

// guard protects Git's hooks and settings, once per Task and before anything is changed or run.
// What it did, and what it could not see, is recorded and told with the first result.
func (b *Box) guard(ctx context.Context, j *job) error {
	if b.ready {
		return nil
	}
	found, err := b.git.Find(ctx)
	if err != nil {
		return err
	}
	for _, p := range found.Refused {
		why := fault.New(gitguard.CodeRedirected, "path", b.show(p))
		if err := b.record(audit.Denied(b.now(), j.ref, "gitguard", p, rights.Write, why)); err != nil {
			return err
		}
		to, err := b.git.PutAside(ctx, p)
		b.notes = append(b.notes, b.redirected(p, to, err))
	}
	if found, err = b.git.Find(ctx); err != nil {
		return err
	}
	if found.Unseen > 0 {
		if err := b.record(audit.Guard(b.now(), j.ref, len(found.Protect), found.Unseen)); err != nil {
			return err
		}
		b.notes = append(b.notes, fmt.Sprintf(unseenWords, found.Unseen))
	}
	b.Policy = b.Policy.WithProtected(found.Protect)
	b.ready = true
	return nil
}

// tell adds to a result what the guard has to say.
func (b *Box) tell(r *tool.Result) {
	for i, n := range b.notes {
		if i == maxDenialsShown {
			n = fmt.Sprintf("and %d more of this kind; see the audit log", len(b.notes)-i)
		}
		r.Text = strings.TrimPrefix(r.Text+"\n"+n, "\n")
		if i == maxDenialsShown {
			break
		}
	}
	b.notes = nil
}

// Close drops the backups that are still there, and lets the Sandbox take back what the Task's runs have shared (PRF-02). The
// Tree is the caller's.
func (b *Box) Close() error {
	b.closed = true
	err := errors.Join(b.dropLeft(context.Background()), b.forget(context.Background()))
	if s, ok := b.Sandbox.(sandbox.Settler); ok {
		err = errors.Join(err, s.Settle(context.Background()))
	}
	return err
}

func (b *Box) now() time.Time {
	if b.Clock == nil {
		return time.Time{}
	}
	return b.Clock.Now()
}

func (b *Box) record(r audit.Record) error {
	if b.Audit == nil {
		return nil
	}
	if err := b.Audit.Record(r); err != nil {
		return fault.Wrap(err, CodeAudit)
	}
	return nil
}

// effect notes what was observed, in the result and in the Audit.
func (b *Box) effect(j *job, e tool.Effect) error {
	j.result.Effects = append(j.result.Effects, e)
	if r, ok := audit.Effect(b.now(), j.ref, e); ok {
		if err := b.record(r); err != nil {
			return err
		}
	}
	return b.wrote(j, e)
}

// fail turns an error into the Result's fault and words.
func (b *Box) fail(r *tool.Result, err error) {
	r.Fault = fault.From(err)
	if r.Denied = denial(r.Fault); r.Denied {
		r.Refused++
	}
	text := b.explain(r.Fault) + instead(r.Name, r.Fault.Code)
	if r.Text != "" {
		text = r.Text + "\n" + text
	}
	r.Text = text
}

// is reports a fault's code anywhere in err.
func is(err error, code fault.Code) bool { return errors.Is(err, fault.New(code)) }
