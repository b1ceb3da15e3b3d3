package toolbox

import (
	"fmt"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// maxTargetShown bounds a target's name in the model's context, in bytes.
const maxTargetShown = 300

// refusal says in words what a process was refused and why, so that the model can act: what it needed, what it has, and from
// which root.
func (b *Box) refusal(d sandbox.Denial) string {
	target := line(d.Target)
	if len(target) > maxTargetShown {
		target = strings.ToValidUTF8(target[:maxTargetShown], "") + "…"
	}
	times := ""
	if d.Times > 1 {
		times = fmt.Sprintf(" (%d times)", d.Times)
	}
	switch d.Right {
	case "network":
		return b.unreachable(target, d) + times
	case "system":
		return target + " is nothing a confined program may ask of the system" + times
	}
	op, ok := map[string]policy.Op{"read": policy.OpRead, "write": policy.OpWrite, "delete": policy.OpDelete, "execute": policy.OpExecute}[d.Right]
	if ok && len(d.Target) <= maxTargetShown {
		ask := policy.Request{Op: op, Path: d.Target}
		if f := b.Policy.Decide(ask).Fault(ask); f != nil {
			return d.Right + ": " + strings.TrimSuffix(b.reasons(f), ".") + times
		}
	}
	if d.Reason == workspace.CodeCrossVolume {
		return d.Right + " " + b.show(target) + ": programs cannot rename or link from one root to another; copy the file, then delete the old one" + times
	}
	return d.Right + " " + b.show(target) + times
}

// unreachable says what the network rules let programs reach instead.
func (b *Box) unreachable(target string, d sandbox.Denial) string {
	n := b.Policy.Network()
	switch n.Mode {
	case sandbox.NetworkLocal:
		return fmt.Sprintf("network %s: only 127.0.0.1 and ::1 at %s can be reached", target, ports(n.Ports))
	case sandbox.NetworkRestricted:
		return fmt.Sprintf("network %s: only %s can be reached", target, strings.Join(first(n.Hosts), ", "))
	}
	if d.Target == "network" {
		return "network: programs have no network"
	}
	return fmt.Sprintf("network %s: programs have no network", target)
}

func ports(list []uint16) string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = fmt.Sprint(p)
	}
	return "port " + strings.Join(first(all), ", ")
}

// first keeps a list short.
func first(list []string) []string {
	if len(list) <= maxNamesShown {
		return list
	}
	return append(list[:maxNamesShown:maxNamesShown], "…")
}

// flowWords says what became of connections that the rules allow; "" when they came about.
func flowWords(f sandbox.Flow) string {
	at := fmt.Sprintf("%s:%d", f.Host, f.Port)
	if strings.Contains(f.Host, ":") {
		at = fmt.Sprintf("[%s]:%d", f.Host, f.Port)
	}
	switch {
	case f.Verdict == sandbox.FlowConnected:
		return ""
	case f.Verdict == sandbox.FlowRefused:
		return at + " refuses connections: nothing listens there"
	case f.Reason == sandbox.CodeAddress:
		return fmt.Sprintf("%s was denied: the name leads to %s, an address of this machine or its network service, which is never reached", at, f.Address)
	case f.Verdict == sandbox.FlowCut:
		return at + " was cut: the run has moved as many bytes as it may"
	case f.Reason == sandbox.CodeFlowLimit:
		return at + " was denied: the run has as many connections as it may"
	case f.Verdict == sandbox.FlowDenied:
		return at + " was denied"
	}
	return at + " does not answer: there is no such name, no route, or no server"
}
