package config

import (
	"math"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// Sizes in bytes.
const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
	tib = int64(1) << 40
)

func (d *decoder) root(s *scope) (cfg Config) {
	d.version(s)
	cfg.Application = d.application(s.child("application"))
	cfg.MCP = d.mcp(s.child("mcp"))
	cfg.Ollama = d.ollama(s.child("ollama"))
	cfg.Agent = d.agent(s.child("agent"))
	cfg.Skills = d.skills(s.child("skills"))
	cfg.Sandbox = d.sandbox(s.child("sandbox"))
	cfg.Logging = d.logging(s.child("logging"), cfg.Application.StateDir)
	s.done()
	return cfg
}

func (d *decoder) application(s *scope) (a Application) {
	tag, n := s.text("language", "en")
	if !validTag(tag) {
		d.bad(CodeBadTag, s.key("language"), n, "value", clip(tag))
	}
	a.Language = tag
	a.LocalesDir = s.pathOf("locales_dir")
	a.StateDir = s.pathOf("state_dir")
	if written, _ := s.node.Get("state_dir"); a.StateDir == "" && (written.Kind == settings.Null || written.String == "") {
		if a.StateDir = stateDir(d.host); a.StateDir == "" {
			variable := "HOME"
			if d.host.Windows {
				variable = "LOCALAPPDATA"
			}
			at := s.node
			if written.Line > 0 {
				at = written
			}
			d.bad(CodeNoStateHome, s.key("state_dir"), at, "variable", variable)
		}
	}
	s.done()
	return a
}

func (d *decoder) mcp(s *scope) (m MCP) {
	m.Transport = s.choice("transport", TransportStdio, TransportStdio, TransportHTTP)
	h := s.child("http")
	m.HTTP.Listen = d.listen(h)
	path, n := h.text("path", "/mcp")
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?#%\\ {}") || strings.Contains(path, "//") || path != clip(path) {
		d.bad(CodeBadURLPath, h.key("path"), n, "value", clip(path))
	}
	m.HTTP.Path = path
	m.HTTP.MaxBodyBytes = h.size("max_body_bytes", 32*mib, kib, gib)
	h.done()
	t := s.child("tasks")
	m.Tasks.TTL, _ = t.duration("ttl", 24*time.Hour, time.Minute, 720*time.Hour)
	m.Tasks.PollInterval, _ = t.duration("poll_interval", 2*time.Second, 100*time.Millisecond, 5*time.Minute)
	m.Tasks.MaxKept = t.integer("max_kept", 1000, 1, 1_000_000)
	t.done()
	m.MaxQueued = s.integer("max_queued", 64, 0, 10_000)
	s.done()
	return m
}

// listen reads the addresses of the HTTP server: loopback only (MCP-TR-02). `localhost` is refused: what it names is not
// ours to know.
func (d *decoder) listen(h *scope) []string {
	values, nodes := h.texts("listen")
	if given, ok := h.node.Get("listen"); !ok || given.Kind != settings.List {
		return []string{"127.0.0.1:8765", "[::1]:8765"}
	} else if len(given.Items) == 0 {
		d.bad(CodeRequired, h.key("listen"), given)
	}
	for i, v := range values {
		key := h.key("listen") + "[" + strconv.Itoa(i) + "]"
		addr, err := netip.ParseAddrPort(v)
		switch {
		case err != nil && (strings.HasPrefix(v, ":") || strings.HasPrefix(v, "localhost:") || strings.HasPrefix(v, "*:")):
			d.bad(CodeNotLoopback, key, nodes[i], "value", clip(v))
		case err != nil:
			d.bad(CodeBadListen, key, nodes[i], "value", clip(v))
		case addr.Addr() != netip.AddrFrom4([4]byte{127, 0, 0, 1}) && addr.Addr() != netip.IPv6Loopback():
			d.bad(CodeNotLoopback, key, nodes[i], "value", clip(v))
		case slices.Contains(values[:i], v):
			d.bad(CodeSameEndpoint, key, nodes[i], "value", clip(v))
		}
	}
	return values
}

func (d *decoder) agent(s *scope) (a Agent) {
	a.UserSystemPrompt = s.pathOf("user_system_prompt")
	a.MaxIterations = s.integer("max_iterations", 128, 1, 10_000)
	a.MaxTasks = s.integer("max_tasks", 32, 1, 1000)
	a.SameFailureLimit = s.integer("same_failure_limit", 5, 1, 100)
	a.MaxReplans = s.integer("max_replans", 3, 0, 100)
	a.SummarizeAt = 0.8
	if v := s.maybeNumber("summarize_at", 0.3, 0.95); v != nil {
		a.SummarizeAt = *v
	}
	o := s.child("tool_output")
	a.ToolOutput = ToolOutput{
		ReadBytes:     o.integer("read_bytes", int(64*kib), int(kib), int(16*mib)),
		SearchMatches: o.integer("search_matches", 200, 1, 100_000),
		TailLines:     o.integer("tail_lines", 400, 1, 100_000),
		ProcessBytes:  o.integer("process_bytes", int(64*kib), int(kib), int(16*mib)),
	}
	o.done()
	e := s.child("edit")
	a.Edit.MemoryBackupBytes = e.size("memory_backup_bytes", 8*mib, 0, gib)
	e.done()
	v := s.child("vision")
	a.Vision.MaxImages = v.integer("max_images", 4, 0, 64)
	a.Vision.MaxImageBytes = v.size("max_image_bytes", 5*mib, 1, 100*mib)
	total := v.maybeInt("max_total_bytes", 1, gib)
	a.Vision.MaxTotalBytes = max(10*mib, a.Vision.MaxImageBytes)
	if total != nil {
		a.Vision.MaxTotalBytes = *total
		if n, _ := v.node.Get("max_total_bytes"); *total < a.Vision.MaxImageBytes {
			d.bad(CodeImageOrder, v.key("max_total_bytes"), n, "value", *total, "min", a.Vision.MaxImageBytes)
		}
	}
	v.done()
	s.done()
	return a
}

func (d *decoder) skills(s *scope) (k Skills) {
	values, nodes := s.texts("directories")
	for i, v := range values {
		key := s.key("directories") + "[" + strconv.Itoa(i) + "]"
		if v == "" {
			d.bad(CodeRequired, key, nodes[i])
			continue
		}
		p, code, arg := expand(v, d.dir, d.host)
		if code != "" {
			d.badPath(code, key, nodes[i], v, arg)
			continue
		}
		k.Directories = append(k.Directories, p)
	}
	s.done()
	return k
}

func (d *decoder) logging(s *scope, state string) (l Logging) {
	l.Level = s.choice("level", "info", "debug", "info", "warn", "error")
	if l.Dir = s.pathOf("dir"); l.Dir == "" && state != "" {
		l.Dir = filepath.Join(state, "logs")
	}
	l.MaxFileBytes = s.size("max_file_bytes", 20*mib, 64*kib, tib)
	l.MaxFiles = s.integer("max_files", 5, 1, 1000)
	l.LLM = s.boolean("llm", true)
	l.HTTP = s.boolean("http", true)
	s.done()
	return l
}

// baseURL checks ollama.base_url and returns it without a trailing slash.
func (d *decoder) baseURL(s *scope) string {
	text, n := s.text("base_url", "http://127.0.0.1:11434")
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" || !validPort(u.Port()) {
		d.bad(CodeBadURL, s.key("base_url"), n, "value", clip(withoutUser(text)))
		return text
	}
	if addr, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !addr.IsLoopback()) {
		d.warn(WarnRemote, s.key("base_url"), n, "url", clip(text))
	}
	return strings.TrimRight(text, "/")
}

// withoutUser keeps a password that somebody wrote into a URL out of messages.
func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return scheme + "://…" + rest[at:]
	}
	return text
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	v, err := strconv.Atoi(port)
	return err == nil && v > 0 && v <= math.MaxUint16
}
