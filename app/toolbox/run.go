package toolbox

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// maxDenialsShown bounds the denials told after a run.
const maxDenialsShown = 10

// run starts an approved entry or a Workspace Artifact in the sandbox and waits for the whole tree.
func (b *Box) run(ctx context.Context, j *job) error {
	if b.Sandbox == nil {
		return fault.New(CodeNoSandbox)
	}
	start := broker.Start{Call: j.call, Protect: b.git.Present(ctx), Environment: b.Environment, OutputBytes: max(b.Limits.ProcessBytes/2, 1)}
	if b.Ident != nil {
		start.ID = b.Ident.New()
	}
	if j.call.Dir != "" {
		h, err := b.reachExisting(ctx, j, j.call.Dir, policy.OpList, true)
		if err != nil {
			return err
		}
		start.Dir, start.DirOK = h.Info().Path, h.Info().Mode.IsDir()
		_ = h.Close()
	}
	var err error
	if start.File, err = b.identify(ctx, j, start.Dir); err != nil {
		return err
	}
	spec, _, f := broker.Prepare(b.Policy, start)
	if f != nil {
		if denial(f) {
			return b.denied(j, start.File.Path, rights.Execute, f)
		}
		return f
	}
	return b.launch(ctx, j, spec)
}

// identify finds out what would be started. An alias is its approved path; anything else is a path in the tree, or an
// absolute one outside, which is looked at only to be classified.
func (b *Box) identify(ctx context.Context, j *job, dir string) (broker.File, error) {
	if e, ok := b.Policy.Entry(j.call.Alias); ok {
		return b.look(ctx, e.Path)
	}
	names := []string{j.call.Alias}
	if dir != "" && !path.IsAbs(j.call.Alias) {
		names = append(names, dir+"/"+j.call.Alias)
	}
	outside := false
	for _, name := range names {
		h, err := b.Tree.Resolve(ctx, name)
		if err == nil && h.Info().Exists {
			f, err := artifact(ctx, h)
			_ = h.Close()
			return f, err
		}
		if err == nil {
			_ = h.Close()
		} else if is(err, workspace.CodeOutside) {
			outside = true
		} else if !is(err, workspace.CodeNotFound) {
			return broker.File{}, err
		}
	}
	if path.IsAbs(j.call.Alias) {
		if f, err := b.look(ctx, j.call.Alias); err == nil {
			return f, nil
		}
	}
	if words := strings.Fields(j.call.Alias); len(words) > 1 {
		return broker.File{}, fault.New(CodeCommandLine, "command", words[0], "args", quoted(append(words[1:], j.call.Args...)))
	}
	if strings.Contains(j.call.Alias, "/") && !path.IsAbs(j.call.Alias) && !outside {
		return broker.File{}, b.helpMissing(ctx, j.call.Alias, fault.New(workspace.CodeNotFound, "path", j.call.Alias))
	}
	return broker.File{Path: j.call.Alias}, nil // unknown, or outside: the broker refuses it and names what there is
}

// quoted writes arguments as the list that a model should have given.
func quoted(args []string) string {
	out := make([]string, 0, len(args))
	for _, a := range args {
		out = append(out, strconv.Quote(a))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// look reads an executable outside the workspace through ports/image.
func (b *Box) look(ctx context.Context, p string) (broker.File, error) {
	if b.Images == nil {
		return broker.File{}, fault.New(CodeNoSandbox)
	}
	id, err := b.Images.Identify(ctx, p)
	if err != nil {
		return broker.File{}, err
	}
	return broker.File{
		Path: id.Path, SHA256: id.SHA256, Regular: id.Regular, Executable: id.Executable,
		Script: id.Format == image.FormatScript, Interpreter: id.Interpreter,
	}, nil
}

// artifact describes a file of the tree through its handle.
func artifact(ctx context.Context, h workspace.Handle) (broker.File, error) {
	info := h.Info()
	f := broker.File{Path: info.Path, Regular: info.Mode.IsRegular(), Executable: info.Mode&0o111 != 0}
	if !f.Regular {
		return f, nil
	}
	head, err := h.Read(ctx, 0, 256)
	if err != nil {
		return f, err
	}
	if text, ok := strings.CutPrefix(string(head), "#!"); ok {
		f.Script = true
		line, _, _ := strings.Cut(text, "\n")
		if words := strings.Fields(line); len(words) > 0 {
			f.Interpreter = words[0]
		}
	}
	return f, nil
}

func (b *Box) launch(ctx context.Context, j *job, spec sandbox.Spec) error {
	if err := b.record(audit.Process(b.now(), j.ref, j.call.Alias, spec)); err != nil {
		return err
	}
	if spec.Network.Mode != sandbox.NetworkNone {
		if err := b.record(audit.Network(b.now(), j.ref, spec.ID, spec.Network, true)); err != nil {
			return err
		}
	}
	r, err := b.Sandbox.Run(ctx, spec)
	swept, unswept := b.git.Sweep(context.WithoutCancel(ctx))
	f := fault.From(err)
	recorded := b.record(audit.ProcessEnd(b.now(), j.ref, spec.ID, r, f))
	if spec.Network.Mode != sandbox.NetworkNone {
		if e := b.record(audit.Network(b.now(), j.ref, spec.ID, spec.Network, false)); recorded == nil {
			recorded = e
		}
	}
	if f != nil {
		if denial(f) {
			return b.denied(j, spec.Entry.Path, rights.Execute, f)
		}
		return f
	}
	j.result.Effects = append(j.result.Effects, tool.Effect{
		Kind: tool.EffectRan, Path: spec.Entry.Path, Alias: j.call.Alias,
		Exit: r.ExitCode, End: string(r.End),
	})
	for _, d := range r.Denials {
		if e := b.record(audit.Denied(b.now(), j.ref, "sandbox", d.Target, wanted(d.Right), nil)); recorded == nil {
			recorded = e
		}
	}
	if recorded == nil {
		recorded = unswept
	}
	for _, s := range swept {
		if e := b.record(audit.Denied(b.now(), j.ref, "sandbox", s.From, rights.Write, nil)); recorded == nil {
			recorded = e
		}
	}
	j.result.Text = b.outcome(spec, r) + b.told(swept)
	if r.End == sandbox.EndCancelled {
		return fault.New(fault.CodeCancelled)
	}
	return recorded
}

func wanted(word string) rights.Set {
	switch word {
	case "read":
		return rights.Read
	case "write":
		return rights.Write
	case "execute":
		return rights.Execute
	case "delete":
		return rights.Delete
	}
	return rights.None
}

// outcome says in words how a run ended, what it printed, and what was refused.
func (b *Box) outcome(spec sandbox.Spec, r sandbox.Result) string {
	var out strings.Builder
	took := r.Elapsed.Round(10 * time.Millisecond)
	switch r.End {
	case sandbox.EndExited:
		fmt.Fprintf(&out, "exit code %d (%s)\n", r.ExitCode, took)
	case sandbox.EndSignaled:
		fmt.Fprintf(&out, "killed by %s (%s)\n", r.Signal, took)
	case sandbox.EndTimedOut:
		fmt.Fprintf(&out, "stopped: it did not end within %s; everything it started was stopped too\n", spec.Limits.WallClock)
	case sandbox.EndMemory:
		fmt.Fprintf(&out, "stopped: it used more than %d MiB of memory\n", spec.Limits.MemoryBytes>>20)
	default:
		fmt.Fprintf(&out, "stopped: %s\n", r.End)
	}
	b.capture(&out, "stdout", r.Stdout)
	b.capture(&out, "stderr", r.Stderr)
	if r.Stdout.Total+r.Stderr.Total == 0 {
		out.WriteString("(no output)\n")
	}
	for i, d := range r.Denials {
		if i == maxDenialsShown {
			fmt.Fprintf(&out, "denied: %d more\n", len(r.Denials)-i)
			break
		}
		fmt.Fprintf(&out, "denied by policy: %s %s\n", d.Right, b.show(d.Target))
	}
	return strings.TrimRight(out.String(), "\n")
}

// capture writes one stream: head, a mark of what is left out, tail.
func (b *Box) capture(out *strings.Builder, name string, c sandbox.Capture) {
	if c.Total == 0 {
		return
	}
	fmt.Fprintf(out, "%s:\n", name)
	half := max(b.Limits.ProcessBytes/4, 1)
	head, tail := c.Head, c.Tail
	if len(tail) == 0 && len(head) > 2*half {
		head, tail = head[:half], head[len(head)-half:]
	}
	out.WriteString(clean(head))
	if left := c.Total - int64(len(head)+len(tail)); left > 0 {
		fmt.Fprintf(out, "\n[%d bytes left out; to see them, let the program write to a file and read that]\n", left)
	}
	out.WriteString(clean(tail))
	if s := out.String(); s[len(s)-1] != '\n' {
		out.WriteByte('\n')
	}
}
