package audit

import (
	"strconv"
	"time"

	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// record makes a record whose every field is redacted by key and by shape. Empty strings and nil are left out.
func record(at time.Time, kind Kind, ref Ref, kv ...any) Record {
	r := Record{At: at, Kind: kind, Ref: ref, fields: make(map[string]any, len(kv)/2)}
	for i := 0; i < len(kv); i += 2 {
		key := kv[i].(string)
		switch v := kv[i+1]; v {
		case nil, "":
		default:
			r.fields[key] = Redact(key, v)
		}
	}
	return r
}

// Start is the first record of a server's log.
func Start(at time.Time, instance, version, config, transport string, pid int) Record {
	return record(at, KindStart, Ref{}, "instance", instance, "version", version, "config", config, "transport", transport, "pid", pid)
}

// Stop is its last. why is a word: "eof", "signal", "error".
func Stop(at time.Time, why string, code fault.Code) Record {
	return record(at, KindStop, Ref{}, "why", why, "code", string(code))
}

// Apply records that an Applied Configuration was replaced or the change declined (CLI-02). yes tells that nobody was
// asked.
func Apply(at time.Time, config, fingerprint string, changes int, yes, accepted bool) Record {
	return record(at, KindApply, Ref{}, "config", config, "sha256", fingerprint, "changes", changes, "yes", yes, "accepted", accepted)
}

// Task records one step of a Task's life; from is "" for a new Task. code is the last error's.
func Task(at time.Time, ref Ref, from, to service.State, code fault.Code) Record {
	return record(at, KindTask, ref, "from", string(from), "to", string(to), "code", string(code))
}

// Tool records an Internal Tool call before it is judged: names, paths and sizes, no bodies.
func Tool(at time.Time, ref Ref, c tool.Call) Record {
	kv := []any{"tool", string(c.Name), "path", c.Path, "dest", c.Dest, "alias", c.Alias, "dir", c.Dir, "glob", c.Glob}
	for _, body := range []struct{ key, text string }{
		{"content", c.Content}, {"old", c.Old}, {"new", c.New}, {"pattern", c.Pattern}, {"stdin", c.Stdin},
	} {
		if body.text != "" {
			kv = append(kv, body.key+"_bytes", len(body.text))
		}
	}
	if c.Content != "" {
		kv = append(kv, "content_sha256", digestOf("", c.Content)["sha256"])
	}
	if c.Name == tool.Run {
		kv = append(kv, "args", len(c.Args), "args_bytes", total(c.Args))
	}
	if c.Offset != 0 || c.Limit != 0 {
		kv = append(kv, "offset", c.Offset, "limit", c.Limit)
	}
	if c.Executable || c.All {
		kv = append(kv, "executable", c.Executable, "all", c.All)
	}
	return record(at, KindTool, ref, kv...)
}

// ToolResult records how a call ended. The result's text is not kept.
func ToolResult(at time.Time, ref Ref, r tool.Result) Record {
	code := ""
	if r.Fault != nil {
		code = string(r.Fault.Code)
	}
	return record(at, KindToolResult, ref, "tool", string(r.Name), "ok", r.Fault == nil, "denied", r.Denied, "code", code,
		"text_bytes", len(r.Text), "effects", len(r.Effects))
}

// Process records a start, before it happens: the executable and its hash, how many arguments, which rights and limits.
func Process(at time.Time, ref Ref, alias string, s sandbox.Spec) Record {
	roots := make([]any, len(s.Roots))
	for i, r := range s.Roots {
		roots[i] = map[string]any{"path": r.Path, "rights": r.Rights.String()}
	}
	return record(at, KindProcess, ref, "run", s.ID, "alias", alias, "path", s.Entry.Path, "sha256", s.Entry.SHA256,
		"args", len(s.Args), "args_bytes", total(s.Args), "dir", s.Dir, "env", len(s.Env), "stdin_bytes", len(s.Stdin),
		"roots", roots, "network", string(s.Network.Mode), "processes", s.Limits.Processes,
		"memory_bytes", s.Limits.MemoryBytes, "wall_clock", s.Limits.WallClock)
}

// ProcessEnd records how it ended and what was really enforced. f is set when nothing ran.
func ProcessEnd(at time.Time, ref Ref, run string, r sandbox.Result, f *fault.Error) Record {
	if f != nil {
		return record(at, KindProcessEnd, ref, "run", run, "started", false, "code", string(f.Code))
	}
	return record(at, KindProcessEnd, ref, "run", run, "started", r.Started, "end", string(r.End), "exit_code", r.ExitCode,
		"signal", r.Signal, "elapsed", r.Elapsed, "stdout_bytes", r.Stdout.Total, "stderr_bytes", r.Stderr.Total,
		"denials", len(r.Denials), "enforced", abilities(r.Enforced))
}

// Effect records a side effect that was observed: a write, a delete, or both for a move. EffectRead, EffectListed and
// EffectRan give no record (a process has its own two); ok is then false.
func Effect(at time.Time, ref Ref, e tool.Effect) (r Record, ok bool) {
	kind := KindWrite
	switch e.Kind {
	case tool.EffectRemoved:
		kind = KindDelete
	case tool.EffectCreated, tool.EffectChanged, tool.EffectMadeDir, tool.EffectMoved:
	default:
		return Record{}, false
	}
	return record(at, kind, ref, "effect", string(e.Kind), "path", e.Path, "dest", e.Dest, "sha256", e.SHA256), true
}

// Evidence records what a completed Planner Task is believed for (AGT-04): what was observed of files and programs, as it stands,
// also what no single call tells, such as a file that a program made.
func Evidence(at time.Time, ref Ref, effects []tool.Effect) Record {
	list := make([]any, len(effects))
	for i, e := range effects {
		one := map[string]any{"effect": string(e.Kind), "path": e.Path}
		for _, f := range []struct{ key, value string }{{"dest", e.Dest}, {"sha256", e.SHA256}, {"alias", e.Alias}, {"end", e.End}} {
			if f.value != "" {
				one[f.key] = f.value
			}
		}
		if e.Kind == tool.EffectRan {
			one["exit_code"] = e.Exit
		}
		list[i] = one
	}
	return record(at, KindEvidence, ref, "effects", list)
}

// Denied records a refusal, by the policy or by the operating system, with the code of every reason.
func Denied(at time.Time, ref Ref, by, target string, want rights.Set, f *fault.Error) Record {
	var codes []string
	if f != nil {
		codes = append(codes, string(f.Code))
		for _, r := range f.Reasons {
			codes = append(codes, string(r.Code))
		}
	}
	return record(at, KindDenied, ref, "by", by, "path", target, "rights", want.String(), "codes", codes)
}

// SandboxDenied records one access that a process was refused (AT-07, NFR-07): what, which right, why, how often; seen tells
// what the enforcing mechanism saw from what was concluded from the program's output.
func SandboxDenied(at time.Time, ref Ref, run string, d sandbox.Denial) Record {
	var codes []string
	if d.Reason != "" {
		codes = []string{string(d.Reason)}
	}
	return record(at, KindDenied, ref, "by", "sandbox", "run", run, "path", d.Target, "rights", d.Right, "codes", codes,
		"seen", d.Seen, "times", d.Times)
}

// Flow records what became of a run's connections to one endpoint (NET-02, NET-03): when the first one gets its verdict, and
// once more with the sums when the run is over. It holds no content.
func Flow(at time.Time, ref Ref, run string, f sandbox.Flow, over bool) Record {
	kv := []any{
		"run", run, "host", f.Host, "port", int(f.Port), "address", f.Address, "verdict", string(f.Verdict),
		"reason", string(f.Reason), "over", over,
	}
	if over {
		kv = append(kv, "connections", f.Connections, "sent_bytes", f.Sent, "received_bytes", f.Received)
	}
	return record(at, KindFlow, ref, kv...)
}

// Trigger records a new or changed file that the owner's own tools take commands from (core/trigger); what names the settings that
// are obeyed, where it is not the whole file.
func Trigger(at time.Time, ref Ref, kind, path string, what []string, fresh bool) Record {
	return record(at, KindTrigger, ref, "obeyed_by", kind, "path", path, "settings", what, "new", fresh)
}

// Guard records that Git's hooks and settings were looked for without seeing everything: how many places are protected, and how
// many directories or names were left out.
func Guard(at time.Time, ref Ref, protected, unseen int) Record {
	return record(at, KindGuard, ref, "protected", protected, "unseen", unseen)
}

// Network records the network rule a run gets, or its removal.
func Network(at time.Time, ref Ref, run string, n sandbox.Network, added bool) Record {
	list := make([]string, 0, len(n.Ports)+len(n.Hosts))
	for _, p := range n.Ports {
		list = append(list, "loopback:"+strconv.Itoa(int(p)))
	}
	return record(at, KindNetwork, ref, "run", run, "mode", string(n.Mode), "endpoints", append(list, n.Hosts...), "added", added)
}

// Recovered records one resource of a dead instance that was undone, or why it was not.
func Recovered(at time.Time, instance string, res journal.Resource, f *fault.Error) Record {
	code := ""
	if f != nil {
		code = string(f.Code)
	}
	return record(at, KindRecovery, Ref{Task: res.Task}, "instance", instance, "resource", string(res.Kind), "path", res.Path,
		"undone", f == nil, "code", code)
}

// Enforced records what this host enforces, once at start.
func Enforced(at time.Time, rep sandbox.Report) Record {
	missing := make([]string, len(rep.Missing))
	for i, m := range rep.Missing {
		missing[i] = string(m.Code)
	}
	return record(at, KindSandboxProof, Ref{}, "platform", rep.Platform, "level", int(rep.Level), "enforced", abilities(rep.Abilities), "missing", missing)
}

// abilities writes what was enforced as a list: "credentials" as a key would be redacted as a secret.
func abilities(list []sandbox.Ability) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = string(a.Item) + ": " + a.Strength.String()
		if a.Mechanism != "" {
			out[i] += ", " + a.Mechanism
		}
	}
	return out
}

func total(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}
