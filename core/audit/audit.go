// Package audit makes the records of the Audit Log (LOG-03): what was asked, started, written, deleted, refused and
// cleaned up, each correlated with its Session, Task, Planner Task and call, chained by core/chain and redacted.
//
// A record never holds an argument's body, an image, Base64 or a credential: sizes and digests stand in their place.
// Records are made by the typed constructors of this package only, so that there is one place to check. The package is
// pure: app keeps the Log value, and hands each line to ports/ledger BEFORE it does what the line records.
package audit

import (
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/chain"
)

// Domain names this kind of chain.
const Domain = "audit"

// Kind of a record.
type Kind string

// Kinds (LOG-03).
const (
	KindStart        Kind = "server.start"
	KindStop         Kind = "server.stop"
	KindApply        Kind = "config.apply"
	KindTask         Kind = "task.state"
	KindTool         Kind = "tool.call"
	KindToolResult   Kind = "tool.result"
	KindEvidence     Kind = "task.evidence"
	KindProcess      Kind = "process.start"
	KindProcessEnd   Kind = "process.end"
	KindWrite        Kind = "file.write"
	KindDelete       Kind = "file.delete"
	KindDenied       Kind = "access.denied"
	KindGuard        Kind = "git.guard"
	KindNetwork      Kind = "network.rule"
	KindFlow         Kind = "network.flow"
	KindTrigger      Kind = "file.trigger"
	KindRecovery     Kind = "recovery"
	KindSandboxProof Kind = "sandbox.enforced"
)

// Ref says what a record belongs to. Empty parts are left out.
type Ref struct {
	Session, Task, PlannerTask, Call string
}

// Record is one fact, already redacted. The zero value is no record.
type Record struct {
	At     time.Time
	Kind   Kind
	Ref    Ref
	fields map[string]any
}

// Fields returns a copy of the record's own values.
func (r Record) Fields() map[string]any {
	out := make(map[string]any, len(r.fields))
	for k, v := range r.fields { // a set: order does not matter here
		out[k] = v
	}
	return out
}

// Log is the end of one Audit Log: a value that grows by Next.
type Log struct{ head chain.Head }

// Begin starts the chain of an instance. previous is the head of the log that it follows, "" when it follows none.
func Begin(instance, previous string) Log {
	return Log{chain.Begin(chain.Genesis{Domain: Domain, Name: strings.ToValidUTF8(instance, "\uFFFD"), Previous: previous})}
}

// Head is what to keep elsewhere, to see later whether the tail was cut off.
func (l Log) Head() chain.Head { return l.head }

// Next returns the record's line (no newline) and the log that ends with it. When the line could not be stored, go on
// with l: the line never existed.
func (l Log) Next(r Record) (line []byte, next Log) {
	object := map[string]any{"at": r.At.UTC().Format(timeForm), "kind": string(r.Kind), "fields": r.fields}
	if r.fields == nil {
		object["fields"] = map[string]any{}
	}
	for _, p := range []struct{ key, value string }{
		{"session", r.Ref.Session}, {"task", r.Ref.Task}, {"planner_task", r.Ref.PlannerTask}, {"call", r.Ref.Call},
	} {
		if p.value != "" {
			object[p.key] = Redact(p.key, p.value)
		}
	}
	line, head, err := l.head.Next(object)
	if err != nil {
		panic("audit: a redacted record is always canonical: " + err.Error())
	}
	return line, Log{head}
}

// timeForm is RFC 3339 with all nine digits: equal length, so lines sort by time.
const timeForm = "2006-01-02T15:04:05.000000000Z"

// Verify checks the lines of one Audit Log: each calls fn for every line in order. The Report names the first line that
// is wrong; Strict turns missing first lines and a torn tail into faults too.
func Verify(each func(fn func(line []byte) bool) error) (chain.Report, error) {
	var v chain.Verifier
	err := each(func(line []byte) bool {
		v.Line(line)
		return v.Report().Fault == nil
	})
	return v.Report(), err
}
