package config

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

func (d *decoder) sandbox(s *scope) (b Sandbox) {
	b.Profile = s.choice("profile", ProfileDevelopment, ProfileReadonly, ProfileDevelopment)
	b.Workspace = s.pathOf("workspace")
	s.requiredPath("workspace")
	b.Mounts = d.mounts(s)
	e := s.child("execution")
	b.Entries = d.entries(e)
	e.done()
	b.Network = d.network(s.child("network"))
	b.Resources = d.resources(s.child("resources"))
	b.Cache = d.cache(s)
	b.Require = sandbox.Approximate
	if s.choice("require", "approximate", "approximate", "exact") == "exact" {
		b.Require = sandbox.Exact
	}
	s.done()
	return b
}

// cache reads the name of the kept directory; it becomes one component of a path.
func (d *decoder) cache(s *scope) string {
	v, n := s.text("cache", "")
	switch {
	case v == "":
		return ""
	case len(v) > 32 || strings.ContainsFunc(v, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }):
		d.bad(CodeBadCache, s.key("cache"), n, "value", clip(v))
		return ""
	case device(v):
		d.bad(CodeReservedName, s.key("cache"), n, "value", v)
		return ""
	}
	return v
}

// reserved are names that mean something else: to us, or to Windows as a device.
func reserved(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	switch name {
	case "workspace", "tmp", "all", "none":
		return true
	}
	return device(name)
}

// device reports a name that Windows takes for a device.
func device(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")) && name[3] >= '1' && name[3] <= '9'
}

// name reads a required short name and returns it with its node; ok is false when it is bad and reported.
func (s *scope) name(key, more string) (string, settings.Node, bool) {
	v, n := s.text(key, "")
	s.required(key)
	switch {
	case strings.TrimSpace(v) == "":
		return v, n, false
	case len(v) > 64 || v[0] == '.' || v[0] == '-' || strings.ContainsFunc(v, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("-_."+more, r)
	}):
		s.d.bad(CodeBadName, s.key(key), n, "value", clip(v))
		return v, n, false
	case reserved(v):
		s.d.bad(CodeReservedName, s.key(key), n, "value", v)
		return v, n, false
	}
	return v, n, true
}

func (d *decoder) mounts(s *scope) (out []Mount) {
	for _, r := range s.records("mounts") {
		m := Mount{Place: place(r.node)}
		name, n, ok := r.name("name", "")
		if i := slices.IndexFunc(out, func(o Mount) bool { return o.Name == name }); ok && i >= 0 {
			d.bad(CodeSameName, r.key("name"), n, "value", name, "first", out[i].Place)
		}
		m.Name = name
		m.Path = r.pathOf("path")
		r.requiredPath("path")
		r.required("access")
		if given, there := r.node.Get("access"); there && given.Kind != settings.Null {
			m.Access = r.choice("access", AccessReadOnly, AccessReadOnly, AccessReadWrite, AccessReadWriteDelete)
		} else {
			r.get("access")
		}
		r.done()
		out = append(out, m)
	}
	return out
}

func (d *decoder) entries(s *scope) (out []Entry) {
	records := s.records("entries")
	for _, r := range records {
		e := Entry{Place: place(r.node)}
		alias, n, ok := r.name("alias", "+")
		if i := slices.IndexFunc(out, func(o Entry) bool { return o.Alias == alias }); ok && i >= 0 {
			d.bad(CodeSameAlias, r.key("alias"), n, "value", alias, "first", out[i].Place)
		}
		e.Alias = alias
		e.Path = r.pathOf("path")
		r.requiredPath("path")
		e.RuntimeRoot = r.pathOf("runtime_root")
		r.done()
		out = append(out, e)
	}
	if len(records) == 0 {
		d.warn(WarnNoEntries, s.key("entries"), s.node)
	}
	return out
}

func (d *decoder) network(s *scope) (n Network) {
	n.Mode = sandbox.NetworkMode(s.choice("mode", "none", "none", "local", "restricted"))
	items := s.list("endpoints")
	at, _ := s.node.Get("endpoints")
	switch {
	case n.Mode == sandbox.NetworkNone && len(items) > 0:
		d.bad(CodeNeedsNoList, s.key("endpoints"), at)
	case n.Mode != sandbox.NetworkNone && len(items) == 0 && (at.Kind == settings.List || at.Kind == settings.Null):
		if at.Line == 0 {
			at = s.node
		}
		d.bad(CodeNeedsList, s.key("endpoints"), at, "mode", string(n.Mode))
	}
	for i, item := range items {
		key := s.key("endpoints") + "[" + strconv.Itoa(i) + "]"
		switch n.Mode {
		case sandbox.NetworkLocal:
			n.Ports = d.port(n.Ports, key, item)
		case sandbox.NetworkRestricted:
			n.Hosts = d.endpoint(n.Hosts, key, item)
		}
	}
	slices.Sort(n.Ports)
	slices.Sort(n.Hosts)
	s.done()
	return n
}

func (d *decoder) port(have []uint16, key string, n settings.Node) []uint16 {
	if n.Kind != settings.Int || n.Int < 1 || n.Int > 65535 {
		d.bad(CodeBadPort, key, n, "value", show(n))
		return have
	}
	p := uint16(n.Int)
	if slices.Contains(have, p) {
		d.bad(CodeSameEndpoint, key, n, "value", show(n))
		return have
	}
	return append(have, p)
}

// endpoint accepts one host:port: a DNS name or a literal address, never a pattern, a range or a URL (NET-03).
func (d *decoder) endpoint(have []string, key string, n settings.Node) []string {
	text := strings.ToLower(n.String)
	host, port, ok := cutPort(text)
	p, err := strconv.Atoi(port)
	if n.Kind != settings.String || !ok || err != nil || p < 1 || p > 65535 || port != strconv.Itoa(p) {
		d.bad(CodeBadEndpoint, key, n, "value", show(n))
		return have
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err == nil && (addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast()):
		d.bad(CodeBadEndpoint, key, n, "value", show(n))
		return have
	case err == nil && !sandbox.MayReach(addr, nil), host == "localhost", strings.HasSuffix(host, ".localhost"):
		d.bad(CodeLocalHost, key, n, "value", show(n))
		return have
	case err != nil && !validHost(host):
		d.bad(CodeBadEndpoint, key, n, "value", show(n))
		return have
	case slices.Contains(have, text):
		d.bad(CodeSameEndpoint, key, n, "value", show(n))
		return have
	}
	return append(have, text)
}

// cutPort splits host:port; an IPv6 literal stands in brackets, nothing else does.
func cutPort(text string) (host, port string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 {
		return "", "", false
	}
	host, port = text[:i], text[i+1:]
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
		return host, port, strings.Contains(host, ":")
	}
	return host, port, !strings.Contains(host, ":")
}

// validHost accepts a DNS name whose last label is not all digits (that would be a broken address).
func validHost(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, l := range labels {
		if !alnum(strings.ReplaceAll(strings.ReplaceAll(l, "-", ""), "_", "")) || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	return len(host) <= 253 && !digits(labels[len(labels)-1])
}

func (d *decoder) resources(s *scope) (r Resources) {
	r.Profile = s.choice("profile", "normal", "constrained", "normal", "extended")
	switch r.Profile {
	case "constrained":
		r.MemoryMiB, r.Processes, r.Timeout = 1024, 4, 300*time.Second
	case "extended":
		r.MemoryMiB, r.Processes, r.Timeout = 8192, 32, 3600*time.Second
	default:
		r.MemoryMiB, r.Processes, r.Timeout = 4096, 16, 1800*time.Second
	}
	r.MemoryMiB = s.integer("memory_mib", r.MemoryMiB, 1, 16<<20)
	r.Processes = s.integer("processes", r.Processes, 1, 1_000_000)
	r.Timeout, _ = s.duration("timeout", r.Timeout, time.Second, 168*time.Hour)
	s.done()
	return r
}
