package diagnose

import (
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

const (
	rightNetwork    = "network"
	unknownEndpoint = "network" // the target when a program does not say what it could not reach
)

// endpoints are the ways in which programs write what they could not reach; host is the first group, port the second.
var endpoints = []*regexp.Regexp{
	regexp.MustCompile(`://(?:[^/@\s]*@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?`),
	regexp.MustCompile(`(?:dial [a-z]+[0-9]?|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH) (\[[0-9A-Fa-f:.]+\]|[^\s:]+|::1):([0-9]{1,5})\b`),
	regexp.MustCompile(`host='([^']+)', port=([0-9]{1,5})`),
	regexp.MustCompile(`/dev/(?:tcp|udp)/([A-Za-z0-9._:-]+)/([0-9]{1,5})`),
	regexp.MustCompile(`"?\[?([A-Za-z0-9._:-]+)\]?"?(?: \([^)]*\))?,? port:? ([0-9]{1,5})`),
	regexp.MustCompile(`\|?\[([0-9A-Fa-f:.]+)\]\|?:? ?([0-9]{1,5})`),
	regexp.MustCompile(`\|([0-9.]+)\|:([0-9]{1,5})`),
	regexp.MustCompile(`lookup ([A-Za-z0-9._-]+)()`),
	regexp.MustCompile(`([A-Za-z0-9_-][A-Za-z0-9._-]*):([0-9]{1,5})\b`),
	regexp.MustCompile(`(?i)(?:resolve host(?:name| address)?:?|enotfound|eai_again|unknownhostexception:|unknown host:?|connect to(?: host)?) [‘'"]?([A-Za-z0-9._-]+)()`),
	regexp.MustCompile(`Resolving ([A-Za-z0-9._-]+)()`),
}

// schemes give the port that a URL leaves out.
var schemes = map[string]uint16{"https": 443, "http": 80, "ssh": 22, "git": 9418, "ftp": 21}

// network concludes from a connection that did not come about.
func (l *look) network(before []string, line string) {
	host, port := endpointOf(line)
	for i := len(before) - 1; host == "" && i >= 0; i-- {
		host, port = endpointOf(before[i])
	}
	d := sandbox.Denial{Target: unknownEndpoint, Right: rightNetwork, Reason: policy.CodeNetworkUnlist}
	if host != "" {
		d.Target = joinHost(host, port)
	}
	switch n := l.Policy.Network(); n.Mode {
	case sandbox.NetworkLocal, sandbox.NetworkRestricted:
		if host == "" || synthetic(n.Mode, host) || l.listed(n, host, port) {
			return
		}
	default:
		d.Reason = policy.CodeNetworkNone
	}
	l.add(d)
}

// listed reports whether the policy would let a program reach an endpoint; without a port, whether it lists the host at all.
func (l *look) listed(n sandbox.Network, host string, port uint16) bool {
	if port != 0 {
		return l.Policy.Decide(policy.Request{Op: policy.OpConnect, Host: host, Port: port}).Allowed
	}
	if n.Mode == sandbox.NetworkLocal {
		return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
	}
	for _, h := range n.Hosts {
		if name := strings.Trim(h[:max(strings.LastIndexByte(h, ':'), 0)], "[]"); strings.EqualFold(name, host) {
			return true
		}
	}
	return false
}

// synthetic recognises the loopback addresses that stand for listed hosts inside: which host one stands for is not known here.
func synthetic(mode sandbox.NetworkMode, host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && mode == sandbox.NetworkRestricted && a.IsLoopback()
}

func endpointOf(line string) (host string, port uint16) {
	line = line[:min(len(line), maxNetLine)]
	for _, re := range endpoints {
		all := re.FindAllStringSubmatch(line, maxNames)
		if all == nil {
			continue
		}
		m := all[len(all)-1]
		host = strings.TrimSuffix(lower(strings.Trim(m[1], "[]")), ".")
		if n, err := strconv.ParseUint(m[2], 10, 16); err == nil {
			port = uint16(n)
		} else if scheme, ok := schemeOf(line); ok {
			port = schemes[scheme]
		}
		if len(host) > 253 || host == "" || strings.Trim(host, "0123456789") == "" {
			continue // a number alone: "line:12"
		}
		return host, port
	}
	return "", 0
}

func schemeOf(line string) (string, bool) {
	i := strings.Index(line, "://")
	if i < 0 {
		return "", false
	}
	j := i
	for j > 0 && word(line[j-1]) {
		j--
	}
	s := lower(line[j:i])
	_, ok := schemes[s]
	return s, ok
}

// joinHost writes an endpoint as a flow does; a port of 0 is not known.
func joinHost(host string, port uint16) string {
	if port == 0 {
		return host
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprint(host, ":", port)
}
