package toolbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/diagnose"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// maxDenialsShown bounds the denials told after a run.
const maxDenialsShown = 10

// launch runs a Spec and accounts for what came of it: the Audit first, then what the model reads.
func (b *Box) launch(ctx context.Context, j *job, spec sandbox.Spec) error {
	if err := b.record(audit.Process(b.now(), j.ref, j.call.Alias, spec)); err != nil {
		return err
	}
	if spec.Network.Mode != sandbox.NetworkNone {
		if err := b.record(audit.Network(b.now(), j.ref, spec.ID, spec.Network, true)); err != nil {
			return err
		}
	}
	if err := b.remember(ctx, j.ref); err != nil {
		return err
	}
	b.note.due = true
	r, err := b.observe(ctx, j, spec)
	after := context.WithoutCancel(ctx)
	swept, first := b.git.Sweep(after)
	f := fault.From(err)
	note := func(rec audit.Record) {
		if e := b.record(rec); first == nil {
			first = e
		}
	}
	note(audit.ProcessEnd(b.now(), j.ref, spec.ID, r, f))
	if spec.Network.Mode != sandbox.NetworkNone {
		for _, fl := range r.Flows {
			note(audit.Flow(b.now(), j.ref, spec.ID, fl, true))
		}
		note(audit.Network(b.now(), j.ref, spec.ID, spec.Network, false))
	}
	for _, s := range swept {
		note(audit.Denied(b.now(), j.ref, "sandbox", s.From, rights.Write, nil))
	}
	j.result.Refused += len(swept)
	if f == nil {
		b.report(j, spec, r, note)
	}
	j.result.Text += b.told(swept)
	if e := b.survey(after, j); first == nil {
		first = e
	}
	b.note.due = first != nil
	switch {
	case f != nil && denial(f):
		return errors.Join(b.denied(j, spec.Entry.Path, rights.Execute, f), first)
	case f != nil:
		return errors.Join(f, first)
	case r.End == sandbox.EndCancelled:
		return fault.New(fault.CodeCancelled)
	}
	return first
}

// report accounts for a run that took place: what it did, and what it was refused.
func (b *Box) report(j *job, spec sandbox.Spec, r sandbox.Result, note func(audit.Record)) {
	j.result.Effects = append(j.result.Effects, tool.Effect{
		Kind: tool.EffectRan, Path: spec.Entry.Path, Alias: j.call.Alias,
		Exit: r.ExitCode, End: string(r.End),
	})
	r.Denials = diagnose.Merge(r.Denials, b.conclude(spec, r), r.Flows)
	for _, d := range r.Denials {
		note(audit.SandboxDenied(b.now(), j.ref, spec.ID, d))
	}
	j.result.Refused += len(r.Denials)
	j.result.Text = b.outcome(spec, r)
}

// observe runs a Spec and has every flow on record while it happens (LOG-03). A flow that cannot be recorded ends the run.
func (b *Box) observe(ctx context.Context, j *job, spec sandbox.Spec) (sandbox.Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	var failed error
	if spec.Network.Mode != sandbox.NetworkNone {
		spec.OnFlow = func(f sandbox.Flow) {
			err := b.record(audit.Flow(b.now(), j.ref, spec.ID, f, false))
			mu.Lock()
			defer mu.Unlock()
			if err != nil && failed == nil {
				failed = err
				stop()
			}
		}
	}
	r, err := b.Sandbox.Run(ctx, spec)
	mu.Lock()
	defer mu.Unlock()
	if failed != nil {
		return r, failed
	}
	return r, err
}

// conclude is what the program's own words say that it was refused.
func (b *Box) conclude(spec sandbox.Spec, r sandbox.Result) []sandbox.Denial {
	binds := false
	for _, a := range r.Enforced {
		binds = binds || a.Item == sandbox.ItemWrite && strings.Contains(a.Mechanism, "bind")
	}
	return diagnose.Conclude(diagnose.Input{
		Policy: b.Policy.WithProtected(spec.Protect), Dir: spec.Dir, Args: spec.Args,
		End: r.End, ExitCode: r.ExitCode, Stdout: r.Stdout, Stderr: r.Stderr, Binds: binds,
	})
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
			fmt.Fprintf(&out, "denied by policy: %d more; see the audit log\n", len(r.Denials)-i)
			break
		}
		fmt.Fprintf(&out, "denied by policy: %s\n", b.refusal(d))
	}
	shown := 0
	for _, f := range r.Flows {
		words := flowWords(f)
		if words == "" || shown > maxDenialsShown {
			continue
		}
		if shown++; shown > maxDenialsShown {
			words = "more connections failed; see the audit log"
		}
		fmt.Fprintf(&out, "network: %s\n", words)
	}
	return strings.TrimRight(out.String(), "\n")
}
