package admission

import (
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// version of the protocol that records name.
const version = "0.1"

// schemaName of a First-Admission Record.
const schemaName = "first-admission-record"

// Prepare makes the record that is to be appended for a document: canonical JSON with the nine members of.
// It appends nothing and implies nothing. It fails when the trusted time is malformed or outside the key's validity, or the
// record would not fit its schema; then nothing may be appended.
func (j *Judge) Prepare(v sign.Verified, c Context) ([]byte, error) {
	if err := within(v, c.AcceptedAt); err != nil {
		return nil, err
	}
	text, err := canon.Append(nil, map[string]any{
		"protocolVersion": version, "admissionRecordId": c.RecordID, "organizationId": v.Organization,
		"documentKind": string(v.Profile), "signingHash": v.Hash, "keyId": v.KeyID, "principal": object(v.Principal),
		"trustedAcceptedAt": c.AcceptedAt, "acceptedBy": object(c.AcceptedBy),
	})
	if err == nil {
		_, err = j.record(v, Answer{Found, text, c.AcceptedBy})
	}
	if err != nil {
		if sign.FailureOf(err) == nil {
			err = &sign.Failure{Stage: sign.Admission, Reason: fault.Wrap(err, CodeSchema)}
		}
		return nil, err
	}
	return text, nil
}

func object(p sign.Principal) map[string]any { return map[string]any{"type": p.Type, "id": p.ID} }

// record checks what the log has: strict JSON, the schema, that every binding is exactly the document's, that the
// service is the one that the log authenticated, and the time.
func (j *Judge) record(v sign.Verified, a Answer) (Record, error) {
	d, err := canon.Read(a.Record, canon.Limits{})
	if err == nil {
		err = d.Model()
	}
	if err != nil {
		return Record{}, &sign.Failure{Stage: sign.Admission, Reason: fault.Wrap(err, CodeSchema)}
	}
	if own, err := d.AppendWithout(nil, "signature"); err == nil && sign.Hash(own) == v.Hash {
		return Record{}, failed(CodeSelfAnchoring)
	}
	if err := j.schemas.Check(schemaName, sign.Tree(d)); err != nil {
		return Record{}, &sign.Failure{Stage: sign.Admission, Reason: fault.Wrap(err, CodeSchema)}
	}
	f := fields{d}
	for _, b := range []struct{ name, want string }{
		{"protocolVersion", version},
		{"organizationId", v.Organization},
		{"documentKind", string(v.Profile)},
		{"signingHash", v.Hash},
		{"keyId", v.KeyID},
	} {
		if f.text(canon.Root, b.name) != b.want {
			return Record{}, failed(CodeBinding, "field", b.name)
		}
	}
	if f.principal("principal") != v.Principal {
		return Record{}, failed(CodeBinding, "field", "principal")
	}
	r := Record{f.text(canon.Root, "admissionRecordId"), f.text(canon.Root, "trustedAcceptedAt"), f.principal("acceptedBy")}
	if r.AcceptedBy != a.Service || a.Service.Type != sign.Service || a.Service.ID == "" {
		return Record{}, failed(CodeAuthenticity)
	}
	if err := within(v, r.AcceptedAt); err != nil {
		return Record{}, err
	}
	return r, nil
}

// fields reads members that the schema has seen; what is not there is "", which fits nothing.
type fields struct{ *canon.Doc }

func (f fields) text(n int, name string) string {
	at, ok := f.Member(n, name)
	if !ok || f.Kind(at) != canon.String {
		return ""
	}
	return string(f.Text(at))
}

func (f fields) principal(name string) sign.Principal {
	at, ok := f.Member(canon.Root, name)
	if !ok {
		return sign.Principal{}
	}
	return sign.Principal{Type: f.text(at, "type"), ID: f.text(at, "id")}
}
