package audit_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

var (
	at  = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	ref = audit.Ref{Session: "s1", Task: "t1", PlannerTask: "p1", Call: "c1"}
)

// everyKind is one record of each kind the spec lists.
func everyKind(secret string) []audit.Record {
	effect := func(k tool.EffectKind) audit.Record {
		r, ok := audit.Effect(at, ref, tool.Effect{Kind: k, Path: "/w/a", SHA256: strings.Repeat("ab", 32)})
		if !ok {
			panic("no record")
		}
		return r
	}
	return []audit.Record{
		audit.Start(at, "i1", "1.0", "/c/agent.yaml", "stdio", 42),
		audit.Enforced(at, sandbox.Report{
			Platform: "fake", Level: sandbox.L2, Abilities: []sandbox.Ability{{Item: sandbox.ItemRead, Strength: sandbox.Exact, Mechanism: "landlock"}},
			Missing: []*fault.Error{fault.New(sandbox.CodeNoCgroup)},
		}),
		audit.Apply(at, "/c/agent.yaml", strings.Repeat("0f", 32), 3, true, true),
		audit.Task(at, ref, service.Queued, service.Planning, ""),
		audit.Tool(at, ref, tool.Call{Name: tool.Write, Path: "/w/a", Content: secret, Old: secret, New: secret, Pattern: secret, Stdin: secret}),
		audit.Tool(at, ref, tool.Call{Name: tool.Run, Alias: "sh", Args: []string{"-c", secret}}),
		audit.ToolResult(at, ref, tool.Result{Name: tool.Write, Text: secret, Denied: true, Fault: fault.New("policy.denied", "detail", secret)}),
		audit.Process(at, ref, "sh", sandbox.Spec{
			ID: "r1", Entry: sandbox.Entry{Path: "/bin/sh", SHA256: strings.Repeat("cd", 32)}, Args: []string{secret},
			Env: []string{"API_KEY=" + secret}, Stdin: []byte(secret), Roots: []rights.Root{{Path: "/w", Rights: rights.Read}}, Network: sandbox.Network{Mode: sandbox.NetworkNone},
		}),
		audit.ProcessEnd(at, ref, "r1", sandbox.Result{End: sandbox.EndExited, ExitCode: 3, Enforced: []sandbox.Ability{{Item: sandbox.ItemCredentials, Strength: sandbox.Exact}}, Stdout: sandbox.Capture{Head: []byte(secret), Total: int64(len(secret))}}, nil),
		audit.ProcessEnd(at, ref, "r1", sandbox.Result{}, fault.New(sandbox.CodeEntryChanged, "path", secret)),
		effect(tool.EffectCreated), effect(tool.EffectRemoved), effect(tool.EffectMoved),
		audit.Evidence(at, ref, []tool.Effect{
			{Kind: tool.EffectCreated, Path: "/w/a", SHA256: strings.Repeat("ab", 32), Diff: secret},
			{Kind: tool.EffectRan, Path: "/bin/sh", Alias: "sh", Exit: 0, End: "exited"},
		}),
		audit.Denied(at, ref, "policy", "/etc/shadow", rights.Read, fault.New("policy.outside", "path", secret).With(fault.New("policy.never"))),
		audit.Guard(at, ref, 3, 200),
		audit.Network(at, ref, "r1", sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{8080}}, true),
		audit.Recovered(at, "i0", journal.Resource{ID: "1", Kind: journal.KindTree, Path: "/var/x", Task: "t0"}, nil),
		audit.Stop(at, "eof", ""),
	}
}

func chainOf(records []audit.Record) [][]byte {
	log := audit.Begin("i1", "")
	var lines [][]byte
	for _, r := range records {
		var line []byte
		line, log = log.Next(r)
		lines = append(lines, line)
	}
	return lines
}

func each(lines [][]byte) func(func([]byte) bool) error {
	return func(fn func([]byte) bool) error {
		for _, l := range lines {
			if !fn(l) {
				break
			}
		}
		return nil
	}
}

func TestLog_EveryKindIsCorrelatedChainedAndVerifiable(t *testing.T) { // LOG-03, NFR-07
	lines := chainOf(everyKind("hello"))
	rep, err := audit.Verify(each(lines))
	require.NoError(t, err)
	assert.True(t, rep.Whole())
	assert.Equal(t, audit.Domain, rep.Genesis.Domain)
	assert.Equal(t, "i1", rep.Genesis.Name)

	kinds := map[string]bool{}
	for i, line := range lines {
		var o map[string]any
		require.NoError(t, json.Unmarshal(line, &o))
		kinds[o["kind"].(string)] = true
		assert.Equal(t, "2026-01-02T03:04:05.000000006Z", o["at"])
		if i >= 3 && i <= 16 {
			assert.Equal(t, []any{"s1", "t1", "p1", "c1"}, []any{o["session"], o["task"], o["planner_task"], o["call"]}, "%s", line)
		}
	}
	assert.Len(t, kinds, 16, "every kind")
	assert.Contains(t, string(bytes.Join(lines, nil)), `"credentials: exact"`, "what was enforced is told whole")
}

func TestLog_SameRecordsGiveSameBytes(t *testing.T) {
	want := chainOf(everyKind("hello"))
	for range 20 {
		require.Equal(t, want, chainOf(everyKind("hello")))
	}
}

func TestLog_AChangedByteInAnyLineIsSeen(t *testing.T) { // LOG-03
	lines := chainOf(everyKind("hello"))
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		i := rng.IntN(len(lines))
		changed := append([][]byte(nil), lines...)
		changed[i] = bytes.Clone(lines[i])
		changed[i][rng.IntN(len(changed[i]))] ^= byte(1 + rng.IntN(255))
		rep, _ := audit.Verify(each(changed))
		require.NotNil(t, rep.Strict(rep.Head), "line %d: %q", i+1, changed[i])
	}
}

func TestRecords_NeverHoldABody(t *testing.T) { // LOG-03, OBS-04
	for _, secret := range []string{"the-body-of-an-argument", "hunter2hunter2", base64.StdEncoding.EncodeToString([]byte("some image bytes, long enough to look like it"))} {
		for _, line := range chainOf(everyKind(secret)) {
			assert.NotContains(t, string(line), secret)
		}
	}
}

func TestRedact_KnowsSecretsByKeyAndByShape(t *testing.T) { // LOG-03
	for _, tt := range []struct {
		key, text string
		kept      bool
	}{
		{"path", "/home/user/Projects/Agent-MCP2/some/very/long/path/with/Many/Components/a.py", true},
		{"glob", "*.py", true},
		{"sha256", strings.Repeat("0123456789abcdef", 4), true},
		{"task", "0b5f9c1e-2f3a-4c5d-8e7f-001122334455", true},
		{"detail", "permission denied: /usr/lib/python3.11/site-packages", true},
		{"detail", "日本語の説明です", true},
		{"basic", "a basic understanding of tokens", true},
		{"password", "x", false},
		{"db_passwd", "x", false},
		{"API-Key", "x", false},
		{"Authorization", "x", false},
		{"cookie", "x", false},
		{"access_token", "x", false},
		{"client.secret", "x", false},
		{"ssh_key", "x", false},
		{"detail", "Authorization: Basic dXNlcjpwYXNz", false},
		{"detail", "curl -H 'authorization: Bearer abcdefgh12345'", false},
		{"detail", "password=hunter2", false},
		{"detail", `{"api_key": "hunter2"}`, false},
		{"detail", "ghp_0123456789abcdefghij", false},
		{"detail", "sk-ant-0123456789abcdefghij", false},
		{"detail", "AKIAIOSFODNN7EXAMPLE", false},
		{"detail", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", false},
		{"detail", "postgres://user:pass@host/db", false},
		{"detail", "https://:token@host/", false},
		{"detail", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc", false},
		{"path", "/w/ghp_0123456789abcdefghij", false},
		{"detail", base64.StdEncoding.EncodeToString([]byte("The quick brown fox jumps over 13 lazy dogs")), false},
		{"detail", "before " + base64.RawURLEncoding.EncodeToString([]byte("The quick brown fox jumps over 13 lazy dogs")) + " after", false},
		{"detail", "data:image/png;base64,AAAA", false},
		{"detail", "iVBORw0KGgoAAAA", false},
		{"detail", "/9j/4AAQ", false},
		{"detail", "\x89PNG\r\n", false},
		{"detail", strings.Repeat("long ", 200), false},
	} {
		got, isText := audit.Redact(tt.key, tt.text).(string)
		assert.Equal(t, tt.kept, isText, "%s=%q", tt.key, tt.text)
		if tt.kept {
			assert.Equal(t, tt.text, got)
		}
	}
	secret := audit.Redact("password", "hunter2").(map[string]any)
	assert.NotContains(t, secret, "sha256", "a short secret could be guessed from its digest")
	assert.Equal(t, 12, audit.Redact("input_tokens", 12))
	assert.NotEqual(t, 1234, audit.Redact("pin", 1234))
}

func TestRedact_IsTotal(t *testing.T) {
	loop := map[string]any{}
	loop["self"] = loop
	many := make([]any, 1000)
	log := audit.Begin("i", "")
	for _, v := range []any{
		nil, loop, many,
		map[string]any{"token": []any{"a"}, "\xff": 1, "\xfe": 2},
		make(chan int),
		struct{ A string }{"x"},
		[]byte("x"), json.RawMessage(`{"a":1}`), at, time.Second, float32(1), 1e300, math.Copysign(0, -1), math.NaN(), "\xff\x00",
	} {
		out := audit.Redact("x", v)
		_, err := json.Marshal(out)
		require.NoError(t, err, "%T", v)
	}
	line, _ := log.Next(audit.Denied(at, ref, "policy", "\xff\x00\n\"", rights.All, nil))
	assert.NotContains(t, string(line), "\n")
	assert.Equal(t, []any{"9007199254740992", 7, "-9007199254740993", "18446744073709551615"}, // RFC 7493 section 2.2: a number would change
		audit.Redact("x", []any{int64(1 << 53), 7, int64(-(1<<53 + 1)), uint64(math.MaxUint64)}))
}

func TestEffect_OnlySideEffectsAreRecords(t *testing.T) {
	for _, k := range []tool.EffectKind{tool.EffectRead, tool.EffectListed, tool.EffectRan, "new"} {
		_, ok := audit.Effect(at, ref, tool.Effect{Kind: k})
		assert.False(t, ok, "%s", k)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add("path", "value")
	f.Fuzz(func(t *testing.T, key, text string) {
		r := audit.Denied(at, audit.Ref{Task: key}, text, text, rights.All, fault.New(fault.Code(text)))
		line, _ := audit.Begin(key, text).Next(r)
		rep, _ := audit.Verify(each([][]byte{line}))
		if !rep.Whole() {
			t.Fatalf("%q: %v", line, rep.Fault)
		}
		_ = audit.Redact(key, text)
	})
}
