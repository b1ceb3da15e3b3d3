// Package admission decides whether a verified document was really accepted when its key was valid: first admission and
// historical trust, MissionWeave section 6.5. It stands above core/sign: only what sign.Verify gave reaches it.
//
// An Organization keeps an Admission Log by (Organization, signing hash). A record there says when a trusted service first
// accepted a document. A key that expires or is revoked later does not spoil what was admitted before, and a
// signer who backdates a document gains nothing.
//
// The package holds no log and asks none. The caller does, in this order:
//
//	historical replay                      first admission
//	1 look the document up in the log      1 look the document up in the log
//	2 Replay                               2 First: a Candidate is to be prepared, or the record found is good
//	                                       3 obtain the trusted context, Prepare
//	                                       4 append the candidate or get the existing record, in one step of the log
//	                                       5 Finish
//
// and tells what the log answered as a typed result; a yes or no of its own never takes its place. Whatever is not
// a plain "found" or "absent" fails closed. Preparing a candidate does nothing else.
package admission

import (
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Codes of failures at stage admission. Each is one of the profile's protected reasons; Reason names it.
const (
	CodeMissing       fault.Code = "admission.record_missing"        // a replay found no record
	CodeBinding       fault.Code = "admission.record_binding"        // args: field — the record is of another document
	CodeInterval      fault.Code = "admission.trusted_time_interval" // args: time, key — accepted when the key was not valid
	CodeTime          fault.Code = "admission.trusted_time"          // args: time — no timestamp
	CodeConflict      fault.Code = "admission.record_conflict"       // the log holds another record under this hash
	CodeSchema        fault.Code = "admission.record_schema"         // the record is no First-Admission Record
	CodeAuthenticity  fault.Code = "admission.log_authentication"    // the log did not authenticate the accepting service
	CodeIntegrity     fault.Code = "admission.append_integrity"      // the log could not show that it only grew
	CodeUnavailable   fault.Code = "admission.log_unavailable"       // the log did not answer
	CodeIndeterminate fault.Code = "admission.log_indeterminate"     // the log could not tell
	CodeCommit        fault.Code = "admission.commit_failed"         // the append did not become durable
	CodeSelfAnchoring fault.Code = "admission.event_self_anchoring"  // a document is given as its own record
)

// Reason is the profile's name of a failure's code, "" for no failure of admission.
func Reason(err error) string {
	f := sign.FailureOf(err)
	if f == nil || f.Stage != sign.Admission {
		return ""
	}
	switch f.Reason.Code {
	case CodeMissing:
		return "record-missing"
	case CodeBinding:
		return "record-binding-mismatch"
	case CodeInterval:
		return "trusted-time-outside-key-interval"
	case CodeTime:
		return "malformed-trusted-time"
	case CodeConflict:
		return "record-conflict"
	case CodeSchema:
		return "record-schema-invalid"
	case CodeAuthenticity:
		return "log-authentication-failed"
	case CodeIntegrity:
		return "append-integrity-not-established"
	case CodeUnavailable:
		return "log-unavailable"
	case CodeIndeterminate:
		return "log-indeterminate"
	case CodeCommit:
		return "commit-failed"
	case CodeSelfAnchoring:
		return "event-self-anchoring"
	}
	return ""
}

func failed(code fault.Code, kv ...any) error {
	return &sign.Failure{Stage: sign.Admission, Reason: fault.New(code, kv...)}
}

// Status is how the log answered. The zero value is no answer and fails closed.
type Status uint8

// Answers to a lookup are Found, Absent or a failure; to an append Committed, Existing, Conflict or a failure.
const (
	NoAnswer        Status = iota
	Found                  // a record is there
	Absent                 // authoritatively: there is none
	Committed              // the candidate is durable
	Existing               // another record was there first; it counts if it is good
	Conflict               // another record is there and does not fit
	Unauthenticated        // the log does not know its writer
	Tampered               // the log could not prove that nothing was rewritten
	Unavailable
	Indeterminate
	NotCommitted // the append failed
)

// Answer of the log.
type Answer struct {
	Status  Status
	Record  []byte         // with Found, Committed and Existing: the record's JSON text
	Service sign.Principal // with a Record: who the log authenticated as the one that accepted it
}

// Context is what a trusted service adds to a document it accepts. Times and ids come from it, never from the document.
type Context struct {
	RecordID   string
	AcceptedAt string // trusted time; any timestamp of the profile, kept as it is written
	AcceptedBy sign.Principal
}

// Record is a First-Admission Record that was checked.
type Record struct {
	ID         string
	AcceptedAt string
	AcceptedBy sign.Principal
}

// Judge checks records. It may be used by several goroutines at once.
type Judge struct{ schemas schema.Checker }

// NewJudge needs the schema "first-admission-record".
func NewJudge(schemas schema.Checker) *Judge { return &Judge{schemas} }

// Replay decides on a document that was admitted before: the log must have its record.
func (j *Judge) Replay(v sign.Verified, lookup Answer) (Record, error) {
	switch lookup.Status {
	case Found:
		return j.record(v, lookup)
	case Absent:
		return Record{}, failed(CodeMissing)
	}
	return Record{}, closed(lookup.Status, false)
}

// First decides on a document that is presented newly. When the log has a record already, it is checked, and there is
// nothing to append. Only when the log knows that there is none is prepare true: then, and not before, trusted
// context may be asked for.
func (j *Judge) First(v sign.Verified, lookup Answer) (r Record, prepare bool, err error) {
	switch lookup.Status {
	case Found:
		r, err = j.record(v, lookup)
		return r, false, err
	case Absent:
		return Record{}, true, nil
	}
	return Record{}, false, closed(lookup.Status, false)
}

// Finish decides on what the log answered to the append. The record that it returned is checked, not the candidate that was
// sent: somebody else may have been first.
func (j *Judge) Finish(v sign.Verified, appended Answer) (Record, error) {
	switch appended.Status {
	case Committed, Existing:
		return j.record(v, appended)
	case Conflict:
		return Record{}, failed(CodeConflict)
	}
	return Record{}, closed(appended.Status, true)
}

// closed is the failure of an answer that gives no record.
func closed(s Status, appending bool) error {
	switch s {
	case Unauthenticated:
		return failed(CodeAuthenticity)
	case Tampered:
		return failed(CodeIntegrity)
	case Unavailable:
		return failed(CodeUnavailable)
	case NotCommitted:
		return failed(CodeCommit)
	case NoAnswer:
		if appending {
			return failed(CodeCommit)
		}
	}
	return failed(CodeIndeterminate)
}

// within checks the trusted time against the key.
func within(v sign.Verified, text string) error {
	at, ok := stamp.Parse(text)
	switch {
	case !ok:
		return failed(CodeTime, "time", text)
	case !v.Interval.Contains(at):
		return failed(CodeInterval, "time", text, "key", v.KeyID)
	}
	return nil
}
