package toolbox

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// run starts an approved entry or a Workspace Artifact in the sandbox and waits for the whole tree.
func (b *Box) run(ctx context.Context, j *job) error {
	if b.Sandbox == nil {
		return fault.New(CodeNoSandbox)
	}
	protect, err := b.git.Present(ctx)
	if err != nil {
		return err
	}
	start := broker.Start{Call: j.call, Protect: protect, Environment: b.Environment, OutputBytes: max(b.Limits.ProcessBytes/2, 1)}
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
		Script: id.Format == image.FormatScript, Interpreter: id.Interpreter, Interpreters: broker.Images(id),
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
	f.Interpreter, _, f.Script = image.Shebang(head)
	return f, nil
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
