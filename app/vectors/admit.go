package vectors

import (
	"bytes"

	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/core/admission"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

type answer struct {
	Status, Record       string
	AuthenticatedService principal
}

type admissionEvaluation struct {
	ID, ProfileID, Mode, Document, Registry string
	TrustedContext                          *struct {
		AdmissionRecordID, TrustedAcceptedAt string
		AcceptedBy                           principal
	}
	Lookup answer
	Append *answer
	Expect struct{ Stage, WireCode, Reason, Record string }
}

// admission runs the first-admission and historical-trust evaluations.
func (r *runner) admission(b *Bundle) error {
	var m struct {
		Cryptography struct{ Manifest, ArtifactDigest string }
		Cases        []struct{ Evaluations []admissionEvaluation }
	}
	if err := r.manifest(b, "admission/manifest.json", "admission/manifest", &m); err != nil {
		return err
	}
	if m.Cryptography.ArtifactDigest != r.digest { // "" when that bundle is broken
		return fault.New(CodeDigest, "file", m.Cryptography.Manifest, "want", m.Cryptography.ArtifactDigest, "got", r.digest)
	}
	for _, c := range m.Cases {
		for _, e := range c.Evaluations {
			got, err := r.admissionEvaluation(e)
			if err != nil {
				return err
			}
			b.Evaluations = append(b.Evaluations, got)
		}
	}
	return nil
}

func (r *runner) admissionEvaluation(e admissionEvaluation) (Evaluation, error) {
	out := Evaluation{ID: e.ID, Want: say(e.Expect.Stage, e.Expect.WireCode, e.Expect.Reason)}
	document, err := r.listed(e.Document)
	if err != nil {
		return out, err
	}
	keys, err := r.keys(e.Registry)
	if err != nil {
		return out, err
	}
	v, err := r.verifier.Verify(sign.Profile(e.ProfileID), document, keys)
	if err != nil { // every document of this bundle passes the six stages
		f := sign.FailureOf(err)
		out.Got, out.Reason = say(f.Stage.String(), string(f.Wire())), f.Reason
		return out, nil
	}
	record, appended, err := r.admit(e, v)
	if f := sign.FailureOf(err); f != nil {
		out.Got, out.Reason = say(f.Stage.String(), string(f.Wire()), admission.Reason(f)), f.Reason
		out.OK = out.Got == out.Want && record == (admission.Record{})
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.Got = sign.Complete.String()
	want, err := r.listed(e.Expect.Record)
	if err != nil {
		return out, err
	}
	plain, err := signed.Canon(want)
	if err != nil {
		return out, err
	}
	if appended != nil && !bytes.Equal(appended, plain) {
		out.Reason = fault.New(CodeOther, "what", "candidate", "want", string(plain), "got", string(appended))
		return out, nil
	}
	out.OK = out.Got == out.Want && bytes.Contains(plain, []byte(`"admissionRecordId":"`+record.ID+`"`))
	return out, nil
}

// admit plays the caller of core/admission with the answers that the evaluation prescribes. candidate is what would have been
// appended, nil when nothing was to be.
func (r *runner) admit(e admissionEvaluation, v sign.Verified) (record admission.Record, candidate []byte, err error) {
	lookup, err := r.answer(&e.Lookup)
	if err != nil {
		return record, nil, err
	}
	if e.Mode == "historical-replay" {
		record, err = r.judge.Replay(v, lookup)
		return record, nil, err
	}
	record, prepare, err := r.judge.First(v, lookup)
	if err != nil || !prepare {
		return record, nil, err
	}
	c := e.TrustedContext
	candidate, err = r.judge.Prepare(v, admission.Context{RecordID: c.AdmissionRecordID, AcceptedAt: c.TrustedAcceptedAt, AcceptedBy: c.AcceptedBy.value()})
	if err != nil {
		return record, nil, err
	}
	appended, err := r.answer(e.Append)
	if err != nil {
		return record, nil, err
	}
	record, err = r.judge.Finish(v, appended)
	return record, candidate, err
}

func (r *runner) answer(a *answer) (admission.Answer, error) {
	if a == nil {
		return admission.Answer{}, nil
	}
	out := admission.Answer{Service: a.AuthenticatedService.value(), Status: map[string]admission.Status{
		"found": admission.Found, "authoritative-absence": admission.Absent, "committed": admission.Committed, "existing": admission.Existing,
		"conflict": admission.Conflict, "unauthenticated": admission.Unauthenticated, "integrity-failed": admission.Tampered,
		"unavailable": admission.Unavailable, "indeterminate": admission.Indeterminate,
	}[a.Status]}
	if a.Record == "" {
		return out, nil
	}
	var err error
	out.Record, err = r.listed(a.Record)
	return out, err
}
