package sign_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// anything is a Checker that lets objects pass which have no member "forbidden". The real schemas are tested where they are
// read (app/vectors).
type anything struct{}

func (anything) Names() []string { return nil }

func (anything) Check(name string, doc schema.Tree) error {
	if doc.Kind(0) == schema.Object {
		for i := range doc.Len(0) {
			if name, _ := doc.Item(0, i); string(name) == "forbidden" {
				return fault.New(schema.CodeMismatch)
			}
		}
		return nil
	}
	return fault.New(schema.CodeMismatch, "schema", name)
}

const at = "2026-07-15T00:00:00Z"

// seeds of RFC 8032 section 7.1 and one of our own.
const (
	seedA = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
	seedB = "TM0Imyj_ltqdtsNG7BFOD1uKMZ81q6Yk2oz27U-4pvs"
)

func key(t testing.TB, id, seed string) sign.Key {
	t.Helper()
	k, err := sign.NewKey(id, seed)
	require.NoError(t, err)
	return k
}

// binding of a key to an agent, valid in July 2026.
func binding(k sign.Key, kind string) sign.Binding {
	return sign.Binding{
		KeyID: k.ID(), Principal: sign.Principal{Type: kind, ID: "urn:x:" + kind}, Algorithm: sign.Algorithm, PublicKey: k.Public(),
		ValidFrom: "2026-07-01T00:00:00+09:00",
		History:   []sign.Status{{Sequence: 1, RecordedAt: "2026-07-01T00:00:00Z", ValidUntil: "2026-08-01T00:00:00Z"}},
	}
}

func registry(t testing.TB, bindings ...sign.Binding) sign.Keys {
	t.Helper()
	r, err := sign.NewRegistry("urn:x:org", bindings)
	require.NoError(t, err)
	return sign.Keys{Registry: r}
}

// document of a profile, signed by agent, human or service.
func document(p sign.Profile, kind string) map[string]any {
	who := map[string]any{"type": kind, "id": "urn:x:" + kind}
	d := map[string]any{"n": 1.5, "text": "é😀", p.TimeMember(): at, "nested": map[string]any{"signature": "covered"}}
	switch p {
	case sign.Artifact:
		d["producer"] = map[string]any{"agentId": "urn:x:agent"}
	case sign.Approval:
		d["approver"] = who
	case sign.Command:
		d["actor"] = who
	case sign.ContextPackage, sign.Evidence:
		d["generatedBy"] = who
	case sign.Event:
		d["acceptedBy"] = who
	case sign.ExtensionProfile:
		d["approvedBy"] = who
	case sign.GroupSnapshot:
		d["createdBy"] = who
	}
	return d
}

func text(t testing.TB, v any) []byte {
	t.Helper()
	out, err := json.MarshalIndent(v, " ", "\t")
	require.NoError(t, err)
	return out
}

func verdict(err error) string {
	f := sign.FailureOf(err)
	if f == nil {
		return "complete"
	}
	return f.Stage.String() + " " + string(f.Reason.Code)
}

// Section 6.4: signing and verification for all nine profiles.
func TestSign_AllNineProfiles(t *testing.T) {
	v := sign.NewVerifier(anything{}, canon.Limits{})
	require.Len(t, sign.Profiles(), 9)
	for _, p := range sign.Profiles() {
		kind := sign.Agent
		if p == sign.AgentCard {
			kind = sign.Service
		}
		k := key(t, "urn:x:key", seedA)
		keys := registry(t, binding(k, kind), binding(key(t, "urn:x:other", seedB), sign.Human))
		signed, err := v.Sign(p, text(t, document(p, kind)), k)
		require.NoError(t, err, p)
		assert.True(t, canon.IsCanonical(signed), p)
		got, err := v.Verify(p, signed, keys)
		require.NoError(t, err, p)
		unsigned, err := canon.Canonical(text(t, document(p, kind)))
		require.NoError(t, err)
		assert.Equal(t, sign.Verified{
			Profile: p, Organization: "urn:x:org", KeyID: "urn:x:key", Principal: sign.Principal{Type: kind, ID: "urn:x:" + kind},
			Time: at, Hash: sign.Hash(unsigned), Interval: got.Interval,
		}, got)
		again, err := v.Sign(p, signed, k) // replaces the signature by the same one
		require.NoError(t, err, p)
		assert.Equal(t, string(signed), string(again), p)
		// Not for another kind of document, whose time or signer is elsewhere.
		for _, other := range sign.Profiles() {
			if other != p {
				_, err := v.Verify(other, signed, keys)
				if p == sign.ContextPackage || p == sign.Evidence || other == sign.AgentCard {
					continue // the same members: there only the schemas differ
				}
				assert.Contains(t, verdict(err), "schema sign.shape", "%s as %s", p, other)
			}
		}
	}
}

// edit changes a signed document before it is verified.
type edit func(d map[string]any, signature map[string]any)

// each failure has its stage and its code, and the earliest stage counts.
func TestVerify_StopsAtTheFirstStage(t *testing.T) {
	v := sign.NewVerifier(anything{}, canon.Limits{})
	k, other := key(t, "urn:x:key", seedA), key(t, "urn:x:other", seedB)
	keys := registry(t, binding(k, sign.Agent), binding(other, sign.Service))
	signed, err := v.Sign(sign.Command, text(t, document(sign.Command, sign.Agent)), k)
	require.NoError(t, err)
	value := func(s map[string]any) []byte {
		b, err := base64.RawURLEncoding.DecodeString(s["value"].(string))
		require.NoError(t, err)
		return b
	}
	put := func(s map[string]any, b []byte) { s["value"] = base64.RawURLEncoding.EncodeToString(b) }
	both := func(t string) edit {
		return func(d, s map[string]any) { d["issuedAt"], s["createdAt"] = t, t }
	}
	for _, tt := range []struct {
		name string
		edit edit
		want string
	}{
		{"nothing", func(_, _ map[string]any) {}, "complete"},
		{"a forbidden member", func(d, _ map[string]any) { d["forbidden"] = 1 }, "schema schema.mismatch"},
		{"no signature", func(d, _ map[string]any) { delete(d, "signature") }, "schema sign.shape"},
		{"another algorithm", func(_, s map[string]any) { s["algorithm"] = "none" }, "schema sign.shape"},
		{"no value", func(_, s map[string]any) { delete(s, "value") }, "schema sign.shape"},
		{"no signer", func(d, _ map[string]any) { delete(d, "actor") }, "schema sign.shape"},
		{"no time", func(d, _ map[string]any) { delete(d, "issuedAt") }, "schema sign.shape"},
		{"a leap second", both("2026-07-15T00:00:60Z"), "schema sign.shape"},
		{"an offset", both("2026-07-15T09:00:00+09:00"), "signature-envelope sign.time_form"},
		{"lower-case z", both("2026-07-15T00:00:00z"), "signature-envelope sign.time_form"},
		{"the other with an offset", func(_, s map[string]any) { s["createdAt"] = "2026-07-15T09:00:00+09:00" }, "signature-envelope sign.time_form"},
		{"the same instant, another text", func(_, s map[string]any) { s["createdAt"] = "2026-07-15T00:00:00.0Z" }, "signature-envelope sign.time_equal"},
		{"lower-case t in one", func(_, s map[string]any) { s["createdAt"] = "2026-07-15t00:00:00Z" }, "signature-envelope sign.time_equal"},
		{"lower-case t in both", both("2026-07-15t00:00:00Z"), "signature sign.equation"},
		{"padding", func(_, s map[string]any) { s["value"] = s["value"].(string) + "==" }, "signature-envelope sign.signature_text"},
		{"unused bits", func(_, s map[string]any) { s["value"] = s["value"].(string)[:85] + "B" }, "signature-envelope sign.signature_text"},
		{"a line feed", func(_, s map[string]any) { s["value"] = s["value"].(string) + "\n" }, "signature-envelope sign.signature_text"},
		{"63 bytes", func(_, s map[string]any) { put(s, value(s)[:63]) }, "signature-envelope sign.signature_text"},
		{"65 bytes", func(_, s map[string]any) { put(s, append(value(s), 0)) }, "signature-envelope sign.signature_text"},
		{"nothing in value", func(_, s map[string]any) { s["value"] = "" }, "signature-envelope sign.signature_text"},
		{"R off the curve", func(_, s map[string]any) { put(s, append(append([]byte{2}, make([]byte, 31)...), value(s)[32:]...)) }, "signature-envelope sign.signature_r"},
		{"S = 2^256-1", func(_, s map[string]any) { put(s, append(value(s)[:32:32], bytes.Repeat([]byte{0xff}, 32)...)) }, "signature-envelope sign.signature_s"},
		{"an unknown key", func(_, s map[string]any) { s["keyId"] = "urn:x:nobody" }, "key-resolution sign.key_unknown"},
		{"a key id in other letters", func(_, s map[string]any) { s["keyId"] = "URN:x:key" }, "key-resolution sign.key_unknown"},
		{"somebody else's key", func(_, s map[string]any) { s["keyId"] = "urn:x:other" }, "key-resolution sign.key_owner"},
		{"another type", func(d, _ map[string]any) { d["actor"] = map[string]any{"type": "human", "id": "urn:x:agent"} }, "key-resolution sign.key_owner"},
		{"another id", func(d, _ map[string]any) { d["actor"] = map[string]any{"type": "agent", "id": "urn:x:Agent"} }, "key-resolution sign.key_owner"},
		{"before the key", both("2026-06-30T14:59:59.999999999999Z"), "key-resolution sign.key_time"},
		{"when the key ends", both("2026-08-01T00:00:00Z"), "key-resolution sign.key_time"},
		{"just before it ends", both("2026-07-31T23:59:59.9999999999999Z"), "signature sign.equation"},
		{"content", func(d, _ map[string]any) { d["n"] = 1.25 }, "signature sign.equation"},
		{"nested signature", func(d, _ map[string]any) { d["nested"] = map[string]any{"signature": "bent"} }, "signature sign.equation"},
		{"one more member", func(d, _ map[string]any) { d["more"] = nil }, "signature sign.equation"},
		{"another good key", func(d, s map[string]any) {
			d["actor"], s["keyId"] = map[string]any{"type": "service", "id": "urn:x:service"}, "urn:x:other"
		}, "signature sign.equation"},
		{"stages 2 and 6", func(d, _ map[string]any) { d["n"], d["forbidden"] = 2, 1 }, "schema schema.mismatch"},
		{"stages 3 and 4", func(_, s map[string]any) { s["keyId"], s["value"] = "urn:x:nobody", "!" }, "signature-envelope sign.signature_text"},
		{"stages 4 and 6", func(d, s map[string]any) { d["n"], s["keyId"] = 2, "urn:x:nobody" }, "key-resolution sign.key_unknown"},
	} {
		var d map[string]any
		require.NoError(t, json.Unmarshal(signed, &d))
		tt.edit(d, d["signature"].(map[string]any))
		got, err := v.Verify(sign.Command, text(t, d), keys)
		assert.Equal(t, tt.want, verdict(err), tt.name)
		assert.Equal(t, err == nil, got != sign.Verified{}, tt.name)
	}
	for name, tt := range map[string]struct{ from, to, want string }{
		"a number":              {`1.5`, `1e400`, "canonicalization canon.range"},
		"half of a surrogate":   {`"covered"`, `"\ud800"`, "canonicalization canon.surrogate"},
		"stages 4 and 5":        {`"urn:x:agent","type":"agent"},"issuedAt":"` + at + `","n":1.5`, `"urn:x:nobody","type":"agent"},"issuedAt":"` + at + `","n":1e400`, "key-resolution sign.key_owner"},
		"a duplicate":           {`"n":1.5`, `"n":1.5,"\u006e":1.5`, "parse canon.duplicate"},
		"stages 1 and 2":        {`"n":1.5`, `"forbidden":1,"forbidden":1`, "parse canon.duplicate"},
		"a second value":        {`é😀"}`, `é😀"}1`, "parse canon.trailing"},
		"a byte order mark":     {`{"actor"`, "\xef\xbb\xbf" + `{"actor"`, "parse canon.bom"},
		"invalid UTF-8":         {`covered`, "cover\xff", "parse canon.encoding"},
		"the same number":       {`1.5`, `15e-1`, "complete"},
		"the same, more spaced": {`{"actor"`, " \n{\t\"\\u0061ctor\"", "complete"},
	} {
		bent := strings.Replace(string(signed), tt.from, tt.to, 1)
		require.Contains(t, string(signed), tt.from, name)
		got, err := v.Verify(sign.Command, []byte(bent), keys)
		assert.Equal(t, tt.want, verdict(err), name)
		assert.Equal(t, err == nil, got != sign.Verified{}, name)
	}
	_, err = v.Verify("lease", signed, keys)
	assert.Equal(t, "schema sign.profile", verdict(err))
	for _, keys := range []sign.Keys{{}, {Reason: fault.New(sign.CodeRegistryForm, "pointer", "")}} {
		_, err = v.Verify(sign.Command, signed, keys)
		assert.Contains(t, verdict(err), "key-resolution")
		assert.Equal(t, sign.InvalidSignature, sign.FailureOf(err).Wire())
	}
	_, err = v.Verify(sign.Command, []byte(strings.Replace(string(signed), "covered", strings.Repeat("x", 1<<20), 1)), keys)
	assert.Equal(t, "parse canon.too_large", verdict(err))
}

// the sender learns one of three codes.
func TestStage_Wire(t *testing.T) {
	want := map[sign.Stage]sign.Wire{
		sign.Parse: sign.ProtocolViolation, sign.Schema: sign.SchemaFailed, sign.Envelope: sign.InvalidSignature, sign.Resolution: sign.InvalidSignature,
		sign.Canonicalization: sign.ProtocolViolation, sign.Signature: sign.InvalidSignature, sign.Admission: sign.InvalidSignature,
	}
	for _, stage := range slices.Sorted(maps.Keys(want)) {
		assert.Equal(t, want[stage], stage.Wire(), stage)
	}
	f := &sign.Failure{Stage: sign.Signature, Reason: fault.New(sign.CodeEquation)}
	assert.ErrorIs(t, fmt.Errorf("x: %w", f), fault.New(sign.CodeEquation))
	assert.Nil(t, sign.FailureOf(nil))
}

// An Agent Card is signed by any service and by nobody else.
func TestVerify_AgentCardsAreSignedByServices(t *testing.T) {
	v := sign.NewVerifier(anything{}, canon.Limits{})
	k := key(t, "urn:x:key", seedA)
	signed, err := v.Sign(sign.AgentCard, text(t, document(sign.AgentCard, "")), k)
	require.NoError(t, err)
	for kind, want := range map[string]string{sign.Service: "complete", sign.Agent: "key-resolution sign.key_owner", sign.Human: "key-resolution sign.key_owner"} {
		_, err := v.Verify(sign.AgentCard, signed, registry(t, binding(k, kind)))
		assert.Equal(t, want, verdict(err), kind)
	}
}

// What Sign refuses it does not sign; a key gives nothing away.
func TestSign_RefusesWhatWouldNotVerify(t *testing.T) {
	v := sign.NewVerifier(anything{}, canon.Limits{Bytes: 4096})
	k := key(t, "urn:x:key", seedA)
	good := string(text(t, document(sign.Command, sign.Agent)))
	for name, tt := range map[string]struct{ text, want string }{
		"no JSON":       {"{", "parse canon.truncated"},
		"no object":     {"[]", "schema sign.shape"},
		"no time":       {"{}", "schema sign.shape"},
		"no signer":     {`{"issuedAt":"` + at + `"}`, "schema sign.shape"},
		"an offset":     {strings.Replace(good, at, "2026-07-15T00:00:00+00:00", 1), "signature-envelope sign.time_form"},
		"no such time":  {strings.Replace(good, at, "2026-02-30T00:00:00Z", 1), "schema sign.shape"},
		"a number":      {strings.Replace(good, "1.5", "1e309", 1), "canonicalization canon.range"},
		"the schema":    {strings.Replace(good, `"n"`, `"forbidden"`, 1), "schema schema.mismatch"},
		"too large now": {strings.Replace(good, "covered", strings.Repeat("x", 3800), 1), "parse canon.too_large"},
	} {
		out, err := v.Sign(sign.Command, []byte(tt.text), k)
		assert.Nil(t, out, name)
		assert.Equal(t, tt.want, verdict(err), name)
	}
	_, err := v.Sign("mission", []byte(good), k)
	assert.Equal(t, "schema sign.profile", verdict(err))
	_, err = v.Sign(sign.Command, []byte(good), sign.Key{})
	assert.Equal(t, "signature-envelope sign.seed", verdict(err))
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "key urn:x:key", fmt.Sprintf(format, k))
	}
	for _, bad := range [][2]string{{"key", seedA}, {"urn:x:k", ""}, {"urn:x:k", seedA + "="}, {"urn:x:k", seedA[:42] + "B"}, {"urn:x:k", seedA[:40]}, {"urn:x:k", "+" + seedA[1:]}} {
		_, err := sign.NewKey(bad[0], bad[1])
		assert.Error(t, err, bad)
		assert.NotContains(t, err.Error(), seedA[:10])
	}
}

func TestDetect(t *testing.T) {
	marks := map[sign.Profile]string{
		sign.AgentCard: "cardVersion", sign.Approval: "approvalId", sign.Artifact: "artifactId", sign.Command: "actionId", sign.ContextPackage: "contextPackageId",
		sign.Event: "eventId", sign.Evidence: "evidenceId", sign.ExtensionProfile: "profileUri", sign.GroupSnapshot: "snapshotId",
	}
	for _, p := range sign.Profiles() {
		d, err := canon.Read([]byte(`{"`+marks[p]+`":1,"x":{"actionId":1}}`), canon.Limits{})
		require.NoError(t, err)
		got, ok := sign.Detect(d)
		assert.Equal(t, p, got)
		assert.True(t, ok)
	}
	for _, text := range []string{`{}`, `[]`, `{"actionId":1,"eventId":2}`, `{"actionId":1,"approvalId":1,"evidenceId":1}`} {
		d, err := canon.Read([]byte(text), canon.Limits{})
		require.NoError(t, err)
		_, ok := sign.Detect(d)
		assert.False(t, ok, text)
	}
}

// A Verifier needs no more memory than this, whatever it verified before.
func TestVerify_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes a sync.Pool forget at random")
	}
	v := sign.NewVerifier(anything{}, canon.Limits{})
	k := key(t, "urn:x:key", seedA)
	keys := registry(t, binding(k, sign.Agent))
	signed, err := v.Sign(sign.Command, text(t, document(sign.Command, sign.Agent)), k)
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(200, func() {
		if _, err := v.Verify(sign.Command, signed, keys); err != nil {
			panic(err)
		}
	}), 5.0)
}
