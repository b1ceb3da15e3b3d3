package toolbox_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// AT-07, NFR-07: what a program says that it was refused is checked, told with the right that is missing, and audited, behind
// what the sandbox saw itself.
func TestLaunch_ReportsWhatWasRefused(t *testing.T) {
	b := setup(t)
	words := "rm: cannot remove '/out/o': Permission denied\nrm: cannot remove '/out/o': Permission denied\ncat: a: Permission denied\n"
	b.result = sandbox.Result{
		End: sandbox.EndExited, ExitCode: 1, Stderr: sandbox.Capture{Head: []byte(words), Total: int64(len(words))},
		Denials: []sandbox.Denial{{Target: "socket AF_UNIX", Right: "system", Reason: sandbox.CodeSystemCall, Times: 1, Seen: true}},
	}
	r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Nil(t, r.Fault)
	assert.True(t, strings.HasSuffix(r.Text, "\ndenied by policy: socket AF_UNIX is nothing a confined program may ask of the system"+
		"\ndenied by policy: delete: /out/o needs delete; mounts.out gives read, write (2 times)"), r.Text)
	denied := b.recorded(audit.KindDenied)
	require.Len(t, denied, 2)
	assert.Equal(t, map[string]any{
		"by": "sandbox", "run": b.runs[0].ID, "path": "socket AF_UNIX", "rights": "system", "codes": []any{"sandbox.system_call"}, "seen": true, "times": 1,
	}, denied[0])
	assert.Equal(t, map[string]any{
		"by": "sandbox", "run": b.runs[0].ID, "path": "/out/o", "rights": "delete", "codes": []any{"policy.no_delete"}, "seen": false, "times": 2,
	}, denied[1])
	b.fail = audit.KindDenied
	assert.Equal(t, "toolbox.audit", code(b.do(tool.Call{Name: tool.Run, Alias: "sh"})))
}

// NET-02, NET-03, LOG-03: flows are on record while they happen, with their sums when they are over, and what the model can act
// on is told.
func TestLaunch_RecordsFlows(t *testing.T) {
	p, f := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: "/w", Entries: []policy.Entry{{Alias: "sh", Path: "/usr/bin/dash", SHA256: sum}},
		Baseline:  []rights.Root{{Path: "/usr", Rights: rights.Read | rights.Execute}},
		Network:   policy.NetworkInput{Mode: sandbox.NetworkRestricted, Hosts: []string{"a.example:443", "b.example:80", "c.example:80", "d.example:80", "e.example:80"}},
		Resources: policy.ResourceInput{Profile: "normal"}, Require: sandbox.Approximate,
	})
	require.Nil(t, f)
	b := setup(t, func(c *toolbox.Config) { c.Policy = p })
	flow := func(host string, port uint16, v sandbox.Verdict, reason, address string) sandbox.Flow {
		return sandbox.Flow{Host: host, Port: port, Address: address, Verdict: v, Reason: fault.Code(reason), Connections: 2, Sent: 10, Received: 20}
	}
	flows := []sandbox.Flow{
		flow("a.example", 443, sandbox.FlowConnected, "", "192.0.2.1"),
		flow("b.example", 80, sandbox.FlowRefused, "", "192.0.2.2"),
		flow("c.example", 80, sandbox.FlowDenied, "sandbox.address", "169.254.169.254"),
		flow("d.example", 80, sandbox.FlowFailed, "sandbox.no_answer", ""),
		flow("e.example", 80, sandbox.FlowCut, "sandbox.flow_limit", "192.0.2.3"),
	}
	during := 0
	b.run = func(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
		for _, f := range flows {
			s.OnFlow(f)
		}
		during = len(b.recorded(audit.KindFlow))
		const words = "curl: (7) Failed to connect to b.example port 80: Connection refused\ncurl: (6) Could not resolve host: x.example\n"
		return sandbox.Result{
			End: sandbox.EndExited, ExitCode: 7, Flows: flows, Stderr: sandbox.Capture{Head: []byte(words), Total: int64(len(words))},
		}, ctx.Err()
	}
	r := b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	require.Nil(t, r.Fault, r.Text)
	assert.Equal(t, 5, during, "recorded while they happen")
	all := b.recorded(audit.KindFlow)
	require.Len(t, all, 10)
	assert.Equal(t, map[string]any{
		"run": b.runs[0].ID, "host": "c.example", "port": 80, "address": "169.254.169.254", "verdict": "denied", "reason": "sandbox.address", "over": false,
	}, all[2])
	assert.Equal(t, map[string]any{
		"run": b.runs[0].ID, "host": "a.example", "port": 443, "address": "192.0.2.1", "verdict": "connected", "over": true,
		"connections": 2, "sent_bytes": int64(10), "received_bytes": int64(20),
	}, all[5])
	_, said, _ := strings.Cut(r.Text, "x.example\n")
	assert.Equal(t, `denied by policy: network x.example: only a.example:443, b.example:80, c.example:80, d.example:80, e.example:80 can be reached
network: b.example:80 refuses connections: nothing listens there
network: c.example:80 was denied: the name leads to 169.254.169.254, an address of this machine or its network service, which is never reached
network: d.example:80 does not answer: there is no such name, no route, or no server
network: e.example:80 was cut: the run has moved as many bytes as it may`, said)

	b.fail = audit.KindFlow
	r = b.do(tool.Call{Name: tool.Run, Alias: "sh"})
	assert.Equal(t, "toolbox.audit", code(r), "what cannot be recorded ends the run")
	b.run = func(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
		s.OnFlow(flows[0])
		<-ctx.Done()
		return sandbox.Result{End: sandbox.EndCancelled, ExitCode: -1}, nil
	}
	assert.Equal(t, "toolbox.audit", code(b.do(tool.Call{Name: tool.Run, Alias: "sh"})))
	b.run = func(context.Context, sandbox.Spec) (sandbox.Result, error) { return sandbox.Result{}, errors.New("x") }
	assert.NotNil(t, b.do(tool.Call{Name: tool.Run, Alias: "sh"}).Fault)
}
