package admission_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/admission"
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// nine lets objects of nine members pass as records; the real schema is tested by app/vectors.
type nine struct{}

func (nine) Names() []string { return nil }

func (nine) Check(name string, doc schema.Tree) error {
	if name == "first-admission-record" && doc.Kind(0) == schema.Object && doc.Len(0) == 9 {
		return nil
	}
	return fault.New(schema.CodeMismatch, "schema", name)
}

var service = sign.Principal{Type: sign.Service, ID: "urn:x:log"}

func verified(t testing.TB) sign.Verified {
	t.Helper()
	from, ok := stamp.Parse("2026-07-01T00:00:00Z")
	require.True(t, ok)
	until, ok := stamp.Parse("2026-08-01T00:00:00Z")
	require.True(t, ok)
	return sign.Verified{
		Profile: sign.Event, Organization: "urn:x:org", KeyID: "urn:x:key", Principal: sign.Principal{Type: sign.Agent, ID: "urn:x:agent"},
		Time: "2026-07-15T00:00:00Z", Hash: sign.Hash([]byte(`{"eventId":1}`)), Interval: sign.Interval{From: from, Until: &until},
	}
}

// context of acceptance: not uppercase Z, and kept as it is written.
func context() admission.Context {
	return admission.Context{RecordID: "urn:x:record", AcceptedAt: "2026-07-15t09:05:00+09:00", AcceptedBy: service}
}

// a new document is admitted by the record that the log returns.
func TestFirst_PreparesAppendsAndFinishes(t *testing.T) {
	j, v := admission.NewJudge(nine{}), verified(t)
	r, prepare, err := j.First(v, admission.Answer{Status: admission.Absent})
	require.NoError(t, err)
	require.True(t, prepare)
	require.Zero(t, r)
	text, err := j.Prepare(v, context())
	require.NoError(t, err)
	assert.Equal(t, `{"acceptedBy":{"id":"urn:x:log","type":"service"},"admissionRecordId":"urn:x:record","documentKind":"event","keyId":"urn:x:key",`+
		`"organizationId":"urn:x:org","principal":{"id":"urn:x:agent","type":"agent"},"protocolVersion":"0.1","signingHash":"`+v.Hash+`","trustedAcceptedAt":"2026-07-15t09:05:00+09:00"}`, string(text))
	want := admission.Record{ID: "urn:x:record", AcceptedAt: "2026-07-15t09:05:00+09:00", AcceptedBy: service}
	for _, status := range []admission.Status{admission.Committed, admission.Existing} {
		r, err = j.Finish(v, admission.Answer{Status: status, Record: text, Service: service})
		require.NoError(t, err)
		assert.Equal(t, want, r)
	}
	again, prepare, err := j.First(v, admission.Answer{Status: admission.Found, Record: text, Service: service})
	require.NoError(t, err)
	assert.False(t, prepare)
	assert.Equal(t, want, again)
	again, err = j.Replay(v, admission.Answer{Status: admission.Found, Record: []byte(" \n" + string(text)), Service: service})
	require.NoError(t, err)
	assert.Equal(t, want, again)
	winner, err := j.Prepare(v, admission.Context{RecordID: "urn:x:other", AcceptedAt: "2026-07-15T00:00:00.5Z", AcceptedBy: service})
	require.NoError(t, err)
	r, err = j.Finish(v, admission.Answer{Status: admission.Existing, Record: winner, Service: service})
	require.NoError(t, err)
	assert.Equal(t, "urn:x:other", r.ID)
}

// what ends later does not spoil what was admitted; a document without a record is not admitted.
func TestReplay_NeedsARecordAndItsTime(t *testing.T) {
	j, v := admission.NewJudge(nine{}), verified(t)
	text, err := j.Prepare(v, context())
	require.NoError(t, err)
	revoked, _ := stamp.Parse("2026-07-15T00:05:00.0000000001Z")
	v.Interval.Revoked = &revoked
	_, err = j.Replay(v, admission.Answer{Status: admission.Found, Record: text, Service: service})
	require.NoError(t, err)
	revoked, _ = stamp.Parse("2026-07-15T00:05:00Z")
	v.Interval.Revoked = &revoked
	_, err = j.Replay(v, admission.Answer{Status: admission.Found, Record: text, Service: service})
	assert.Equal(t, "trusted-time-outside-key-interval", admission.Reason(err))
	_, err = j.Replay(v, admission.Answer{Status: admission.Absent})
	assert.Equal(t, "record-missing", admission.Reason(err))
}

// whatever is no plain answer fails closed, with its reason.
func TestAnswers_FailClosed(t *testing.T) {
	j, v := admission.NewJudge(nine{}), verified(t)
	text, err := j.Prepare(v, context())
	require.NoError(t, err)
	for _, tt := range []struct {
		status         admission.Status
		lookup, append string
	}{
		{admission.Unauthenticated, "log-authentication-failed", "log-authentication-failed"},
		{admission.Tampered, "append-integrity-not-established", "append-integrity-not-established"},
		{admission.Unavailable, "log-unavailable", "log-unavailable"},
		{admission.Indeterminate, "log-indeterminate", "log-indeterminate"},
		{admission.NotCommitted, "commit-failed", "commit-failed"},
		{admission.NoAnswer, "log-indeterminate", "commit-failed"},
		{admission.Conflict, "log-indeterminate", "record-conflict"},
		{admission.Committed, "log-indeterminate", ""},
		{admission.Existing, "log-indeterminate", ""},
		{admission.Found, "", "log-indeterminate"},
		{admission.Absent, "record-missing", "log-indeterminate"},
		{admission.Status(99), "log-indeterminate", "log-indeterminate"},
	} {
		a := admission.Answer{Status: tt.status, Record: text, Service: service}
		r, err := j.Replay(v, a)
		assert.Equal(t, tt.lookup, admission.Reason(err), "%d", tt.status)
		assert.Equal(t, tt.lookup == "", r != admission.Record{}, "%d", tt.status)
		if tt.status != admission.Absent {
			_, prepare, err := j.First(v, a)
			assert.Equal(t, tt.lookup, admission.Reason(err), "%d", tt.status)
			assert.False(t, prepare)
		}
		r, err = j.Finish(v, a)
		assert.Equal(t, tt.append, admission.Reason(err), "%d", tt.status)
		assert.Equal(t, tt.append == "", r != admission.Record{}, "%d", tt.status)
	}
	assert.Empty(t, admission.Reason(nil))
	assert.Empty(t, admission.Reason(&sign.Failure{Stage: sign.Signature, Reason: fault.New(sign.CodeEquation)}))
}

// a record is of exactly this document.
func TestRecord_Bindings(t *testing.T) {
	j, v := admission.NewJudge(nine{}), verified(t)
	good, err := j.Prepare(v, context())
	require.NoError(t, err)
	for name, tt := range map[string]struct{ from, to, want string }{
		"organization":        {"urn:x:org", "urn:x:Org", "record-binding-mismatch"},
		"kind":                {`"event"`, `"command"`, "record-binding-mismatch"},
		"hash":                {v.Hash, strings.ToUpper(v.Hash), "record-binding-mismatch"},
		"key":                 {"urn:x:key", "urn:x:kez", "record-binding-mismatch"},
		"principal":           {"urn:x:agent", "urn:x:agents", "record-binding-mismatch"},
		"principal type":      {`"type":"agent"`, `"type":"human"`, "record-binding-mismatch"},
		"version":             {`"0.1"`, `"0.2"`, "record-binding-mismatch"},
		"service":             {"urn:x:log", "urn:x:other", "log-authentication-failed"},
		"no service":          {`"type":"service"`, `"type":"agent"`, "log-authentication-failed"},
		"one more member":     {`"keyId"`, `"x":1,"keyId"`, "record-schema-invalid"},
		"a duplicate":         {`"keyId"`, `"key\u0049d":"urn:x:key","keyId"`, "record-schema-invalid"},
		"no JSON":             {`{"acceptedBy"`, `"acceptedBy"`, "record-schema-invalid"},
		"no text":             {`"urn:x:org"`, `["urn:x:org"]`, "record-binding-mismatch"},
		"time":                {"2026-07-15t09:05:00+09:00", "soon", "malformed-trusted-time"},
		"time before the key": {"2026-07-15t09:05:00+09:00", "2026-06-30T23:59:59.9Z", "trusted-time-outside-key-interval"},
		"time at its end":     {"2026-07-15t09:05:00+09:00", "2026-08-01T00:00:00Z", "trusted-time-outside-key-interval"},
	} {
		require.Contains(t, string(good), tt.from, name)
		bent := strings.Replace(string(good), tt.from, tt.to, 1)
		r, err := j.Replay(v, admission.Answer{Status: admission.Found, Record: []byte(bent), Service: service})
		assert.Equal(t, tt.want, admission.Reason(err), name)
		assert.Zero(t, r, name)
		assert.Equal(t, sign.InvalidSignature, sign.FailureOf(err).Wire(), name)
	}
	for _, self := range []string{`{"eventId":1}`, `{"signature":{"value":"x"},"eventId":1.0}`} {
		_, err := j.Replay(v, admission.Answer{Status: admission.Found, Record: []byte(self), Service: service})
		assert.Equal(t, "event-self-anchoring", admission.Reason(err), self)
	}
	_, err = j.Replay(v, admission.Answer{Status: admission.Found, Record: good, Service: sign.Principal{Type: sign.Agent, ID: "urn:x:log"}})
	assert.Equal(t, "log-authentication-failed", admission.Reason(err))
}

// nothing is prepared for a time at which the key was not valid.
func TestPrepare_ChecksTheTrustedTime(t *testing.T) {
	j, v := admission.NewJudge(nine{}), verified(t)
	for at, want := range map[string]string{
		"2026-07-01T00:00:00Z": "", "2026-06-30T23:59:59Z": "trusted-time-outside-key-interval", "2026-08-01T00:00:00Z": "trusted-time-outside-key-interval",
		"": "malformed-trusted-time", "not-a-timestamp": "malformed-trusted-time", "2026-07-15T00:00:60Z": "malformed-trusted-time",
	} {
		text, err := j.Prepare(v, admission.Context{RecordID: "urn:x:record", AcceptedAt: at, AcceptedBy: service})
		assert.Equal(t, want, admission.Reason(err), at)
		assert.Equal(t, want == "", text != nil, at)
	}
	_, err := j.Prepare(v, admission.Context{RecordID: "\xff", AcceptedAt: "2026-07-01T00:00:00Z", AcceptedBy: service})
	assert.Equal(t, "record-schema-invalid", admission.Reason(err))
	_, err = j.Prepare(v, admission.Context{RecordID: "urn:x:record", AcceptedAt: "2026-07-01T00:00:00Z", AcceptedBy: sign.Principal{Type: sign.Human, ID: "urn:x:me"}})
	assert.Equal(t, "log-authentication-failed", admission.Reason(err))
}

// Whatever a log returns: no panic, no record with an error, and no other verdict for another text of the same value.
func FuzzRecord(f *testing.F) {
	j, v := admission.NewJudge(nine{}), verified(f)
	good, err := j.Prepare(v, context())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"eventId":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a := admission.Answer{Status: admission.Found, Record: text, Service: service}
		r, err := j.Replay(v, a)
		if (err == nil) == (r == admission.Record{}) || (err != nil) != (admission.Reason(err) != "") {
			t.Fatalf("%q: %+v with %v", text, r, err)
		}
		form, canonErr := canon.Canonical(text)
		if canonErr != nil || len(text) > 1<<20 {
			return
		}
		a.Record = form
		if again, err2 := j.Replay(v, a); again != r || admission.Reason(err2) != admission.Reason(err) {
			t.Fatalf("%q: %v, canonical %v", text, err, err2)
		}
	})
}
