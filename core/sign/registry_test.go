package sign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// D5: one wrong binding, used or not, and there is no registry.
func TestNewRegistry_Invariants(t *testing.T) {
	a, b := key(t, "urn:x:a", seedA), key(t, "urn:x:b", seedB)
	pair := func(change func(x, y *sign.Binding)) []sign.Binding {
		x, y := binding(a, sign.Agent), binding(b, sign.Human)
		change(&x, &y)
		return []sign.Binding{x, y}
	}
	entry := func(n uint64, recorded, until, revoked string) sign.Status {
		return sign.Status{Sequence: n, RecordedAt: recorded, ValidUntil: until, RevokedAt: revoked}
	}
	history := func(entries ...sign.Status) []sign.Binding {
		return pair(func(_, y *sign.Binding) { y.History = entries })
	}
	const d1, d2, d3 = "2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z", "2026-07-03T00:00:00Z"
	for _, tt := range []struct {
		name     string
		bindings []sign.Binding
		want     fault.Code
	}{
		{"two keys", pair(func(_, _ *sign.Binding) {}), ""},
		{"the same binding again", append(pair(func(_, _ *sign.Binding) {}), binding(a, sign.Agent)), ""},
		{"again, first validity in another spelling", append(pair(func(_, _ *sign.Binding) {}), func() sign.Binding {
			x := binding(a, sign.Agent)
			x.ValidFrom = "2026-06-30t15:00:00.000z"
			return x
		}()), ""},
		{"none", nil, sign.CodeRegistryForm},
		{"key id", pair(func(_, y *sign.Binding) { y.KeyID = "urn:x:b\n" }), sign.CodeRegistryID},
		{"principal id", pair(func(_, y *sign.Binding) { y.Principal.ID = "urn:x:%GG" }), sign.CodeRegistryID},
		{"principal type", pair(func(_, y *sign.Binding) { y.Principal.Type = "Agent" }), sign.CodeRegistryForm},
		{"algorithm", pair(func(_, y *sign.Binding) { y.Algorithm = "ed25519" }), sign.CodeRegistryForm},
		{"public key", pair(func(_, y *sign.Binding) { y.PublicKey = strings.Repeat("A", 43) }), sign.CodeRegistryKey},
		{"first validity", pair(func(_, y *sign.Binding) { y.ValidFrom = "2026-07-01T00:00:60Z" }), sign.CodeRegistryTime},
		{"no first validity", pair(func(_, y *sign.Binding) { y.ValidFrom = "" }), sign.CodeRegistryTime},
		{"one id for two keys", pair(func(x, y *sign.Binding) { y.KeyID, y.Principal = x.KeyID, x.Principal }), sign.CodeRegistryRebound},
		{"one id for two Principals", pair(func(x, y *sign.Binding) { y.KeyID, y.PublicKey = x.KeyID, x.PublicKey }), sign.CodeRegistryRebound},
		{"another first validity", append(pair(func(_, _ *sign.Binding) {}), func() sign.Binding {
			x := binding(a, sign.Agent)
			x.ValidFrom = d2
			return x
		}()), sign.CodeRegistryRebound},
		{"one key under two ids", pair(func(x, y *sign.Binding) { y.PublicKey, y.Principal = x.PublicKey, x.Principal }), sign.CodeRegistryShared},
		{"one key of two Principals", pair(func(x, y *sign.Binding) { y.PublicKey = x.PublicKey }), sign.CodeRegistryShared},
		{"no history", history(), ""},
		{"shorter and shorter", history(entry(1, d1, d3, ""), entry(2, d1, d2, d2), entry(3, d2, d2, d1), entry(4, d3, "", "")), ""},
		{"not in order", history(entry(2, d2, d2, ""), entry(1, d1, d3, "")), ""},
		{"repeated", history(entry(1, d1, d3, ""), entry(1, "2026-07-01T09:00:00+09:00", d3, "")), ""},
		{"a gap", history(entry(1, d1, d3, ""), entry(3, d2, d2, "")), sign.CodeRegistryHistory},
		{"not from 1", history(entry(2, d1, d3, "")), sign.CodeRegistryHistory},
		{"from 0", history(entry(0, d1, d3, "")), sign.CodeRegistryHistory},
		{"a contradiction", history(entry(1, d1, d3, ""), entry(1, d1, d2, "")), sign.CodeRegistryHistory},
		{"a contradiction by silence", history(entry(1, d1, d3, ""), entry(1, d1, "", "")), sign.CodeRegistryHistory},
		{"back in time", history(entry(1, d2, d3, ""), entry(2, d1, d2, "")), sign.CodeRegistryHistory},
		{"extended", history(entry(1, d1, d2, ""), entry(2, d2, d3, "")), sign.CodeRegistryHistory},
		{"extended by a hair", history(entry(1, d1, d2, ""), entry(2, d2, "2026-07-02T00:00:00.0000000000001Z", "")), sign.CodeRegistryHistory},
		{"extended after a silence", history(entry(1, d1, d2, ""), entry(2, d2, "", d1), entry(3, d3, d3, "")), sign.CodeRegistryHistory},
		{"revocation undone", history(entry(1, d1, "", d1), entry(2, d2, "", d2)), sign.CodeRegistryHistory},
		{"a time of recording", history(entry(1, "", d2, "")), sign.CodeRegistryTime},
		{"a time of ending", history(entry(1, d1, "never", "")), sign.CodeRegistryTime},
		{"a time of revocation", history(entry(1, d1, "", "2026-07-02T00:00:00-00:00")), sign.CodeRegistryTime},
	} {
		r, err := sign.NewRegistry("urn:x:org", tt.bindings)
		assert.Equal(t, tt.want, fault.CodeOf(err), tt.name)
		assert.Equal(t, tt.want == "", r != nil, tt.name)
	}
	_, err := sign.NewRegistry("org", pair(func(_, _ *sign.Binding) {}))
	assert.Equal(t, sign.CodeRegistryID, fault.CodeOf(err))
}

// validity is half open, ended by what comes first, and compared as instants.
func TestInterval_Contains(t *testing.T) {
	at := func(s string) stamp.Instant {
		i, ok := stamp.Parse(s)
		require.True(t, ok)
		return i
	}
	until, revoked := at("2026-07-20T00:00:00Z"), at("2026-07-10T00:00:00Z")
	open := sign.Interval{From: at("2026-07-01T08:00:00+08:00")}
	both := sign.Interval{From: open.From, Until: &until, Revoked: &revoked}
	for text, want := range map[string][2]bool{
		"2026-06-30T23:59:59.9999999999Z": {false, false},
		"2026-07-01T00:00:00Z":            {true, true},
		"2026-07-09T23:59:59.99Z":         {true, true},
		"2026-07-10T00:00:00Z":            {true, false},
		"2026-07-20T00:00:00Z":            {true, false},
	} {
		assert.Equal(t, want, [2]bool{open.Contains(at(text)), both.Contains(at(text))}, text)
	}
}

// a newer registry has all that the older one had.
func TestRegistry_Follow(t *testing.T) {
	a, b := binding(key(t, "urn:x:a", seedA), sign.Agent), binding(key(t, "urn:x:b", seedB), sign.Human)
	old := registry(t, a, b).Registry
	assert.Equal(t, 2, old.Len())
	assert.Equal(t, "urn:x:org", old.Organization())
	longer := b
	longer.History = append(longer.History[:1:1], sign.Status{Sequence: 2, RecordedAt: "2026-07-05T00:00:00Z", RevokedAt: "2026-07-04T00:00:00Z"})
	assert.NoError(t, old.Follow(old))
	assert.NoError(t, old.Follow(registry(t, longer, a).Registry))
	moved := b
	moved.ValidFrom = "2026-07-01T00:00:00Z"
	rewritten := b
	rewritten.History = []sign.Status{{Sequence: 1, RecordedAt: "2026-07-01T00:00:00Z", ValidUntil: "2026-07-31T00:00:00Z"}}
	owner := b
	owner.Principal.ID = "urn:x:somebody"
	shorter := b
	shorter.History = nil
	for name, next := range map[string][]sign.Binding{
		"a key less": {a}, "another first validity": {a, moved}, "another history": {a, rewritten}, "another owner": {a, owner}, "a shorter history": {a, shorter},
	} {
		assert.Equal(t, sign.CodeRegistryDropped, fault.CodeOf(old.Follow(registry(t, next...).Registry)), name)
	}
	assert.Error(t, registry(t, a, longer).Registry.Follow(old))
	foreign, err := sign.NewRegistry("urn:x:other", []sign.Binding{a, b})
	require.NoError(t, err)
	assert.Error(t, old.Follow(foreign))
}

// D5: the JSON form has these members and no others.
func TestReadRegistry_Form(t *testing.T) {
	good := `{"organizationId":"urn:x:org","bindings":[{"keyId":"urn:x:a","principal":{"type":"agent","id":"urn:x:agent"},"algorithm":"Ed25519",` +
		`"publicKey":"` + key(t, "urn:x:a", seedA).Public() + `","validFrom":"2026-07-01T00:00:00Z","validityHistory":[{"sequence":1,"recordedAt":"2026-07-01T00:00:00Z","validUntil":"2026-08-01T00:00:00Z"}]}]}`
	r, err := sign.ReadRegistry([]byte(good), canon.Limits{})
	require.NoError(t, err)
	assert.Equal(t, 1, r.Len())
	for name, tt := range map[string]struct{ from, to, want string }{
		"no organization":     {`"organizationId":"urn:x:org",`, ``, "sign.registry_form"},
		"more":                {`"organizationId"`, `"revision":1,"organizationId"`, "sign.registry_form"},
		"a binding with more": {`"keyId"`, `"note":"","keyId"`, "sign.registry_form"},
		"a binding with less": {`"algorithm":"Ed25519",`, ``, "sign.registry_form"},
		"principal":           {`{"type":"agent","id":"urn:x:agent"}`, `"urn:x:agent"`, "sign.registry_form"},
		"history":             {`"validityHistory":[`, `"validityHistory":{},"x":[`, "sign.registry_form"},
		"sequence":            {`"sequence":1`, `"sequence":1.5`, "sign.registry_form"},
		"sequence 0":          {`"sequence":1`, `"sequence":0`, "sign.registry_form"},
		"sequence text":       {`"sequence":1`, `"sequence":"1"`, "sign.registry_form"},
		"sequence too large":  {`"sequence":1`, `"sequence":9007199254740992`, "sign.registry_form"},
		"null":                {`"2026-08-01T00:00:00Z"`, `null`, "sign.registry_form"},
		"empty time":          {`"2026-08-01T00:00:00Z"`, `""`, "sign.registry_time"},
		"duplicate":           {`"keyId"`, `"keyId":"urn:x:b","keyId"`, "canon.duplicate"},
		"trailing":            {`]}]}`, `]}]} 1`, "canon.trailing"},
		"surrogate":           {`urn:x:org`, `\ud800`, "canon.surrogate"},
		"no list":             {`"bindings":[`, `"bindings":{"a":[`, "canon."},
	} {
		require.Contains(t, good, tt.from, name)
		_, err := sign.ReadRegistry([]byte(strings.Replace(good, tt.from, tt.to, 1)), canon.Limits{})
		assert.ErrorContains(t, err, tt.want, name)
	}
	for spelling, ok := range map[string]bool{`1.0`: true, `1e0`: true, `10e-1`: true, `-1`: false} {
		_, err := sign.ReadRegistry([]byte(strings.Replace(good, `"sequence":1`, `"sequence":`+spelling, 1)), canon.Limits{})
		assert.Equal(t, ok, err == nil, spelling)
	}
	for _, text := range []string{`[]`, `null`, `{"organizationId":1,"bindings":[]}`, `{"organizationId":"urn:x:o","bindings":{}}`, `{"organizationId":"urn:x:o","bindings":[]}`, `{"organizationId":"urn:x:o","bindings":[1]}`} {
		require.True(t, json.Valid([]byte(text)))
		_, err := sign.ReadRegistry([]byte(text), canon.Limits{})
		assert.Equal(t, sign.CodeRegistryForm, fault.CodeOf(err), text)
	}
}
