package config

import (
	"path/filepath"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// path reads a path: absolute and clean, "" when absent, empty or bad.
func (s *scope) pathOf(name string) string {
	v, n := s.text(name, "")
	if v == "" {
		return ""
	}
	p, code, arg := expand(v, s.d.dir, s.d.host)
	if code != "" {
		s.d.badPath(code, s.key(name), n, v, arg)
		return ""
	}
	return p
}

func (d *decoder) badPath(code fault.Code, key string, n settings.Node, value, arg string) {
	d.bad(code, key, n, "value", clip(value), "name", arg)
}

// expand makes a written path absolute. code is "" on success; arg names the missing variable.
func expand(text, dir string, host Host) (path string, code fault.Code, arg string) {
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return "", CodeBadPath, ""
		}
	}
	if host.Windows {
		if text, arg = variables(text, host.Env); arg != "" {
			return "", CodeNoVariable, arg
		}
	}
	if strings.HasPrefix(text, "~") {
		rest := text[1:]
		if host.Home == "" || (rest != "" && rest[0] != '/' && rest[0] != filepath.Separator) {
			return "", CodeNoHome, ""
		}
		return filepath.Join(host.Home, rest), "", ""
	}
	if filepath.IsAbs(text) {
		return filepath.Clean(text), "", ""
	}
	return filepath.Join(dir, text), "", ""
}

// variables replaces every %NAME%. missing is the first one that is not set. "%%" and a lone "%" stay.
func variables(text string, env map[string]string) (out, missing string) {
	var b strings.Builder
	for {
		start := strings.IndexByte(text, '%')
		if start < 0 {
			break
		}
		end := strings.IndexByte(text[start+1:], '%')
		if end < 1 {
			b.WriteString(text[:start+1])
			text = text[start+1:]
			continue
		}
		name := text[start+1 : start+1+end]
		value, ok := env[strings.ToUpper(name)]
		if !ok {
			return "", name
		}
		b.WriteString(text[:start] + value)
		text = text[start+end+2:]
	}
	return b.String() + text, ""
}

// stateDir is the default of application.state_dir; "" when the host gives no place.
func stateDir(host Host) string {
	switch {
	case host.Windows && host.LocalAppData != "":
		return filepath.Join(host.LocalAppData, "agent-mcp")
	case !host.Windows && filepath.IsAbs(host.StateHome):
		return filepath.Join(host.StateHome, "agent-mcp")
	case !host.Windows && host.Home != "":
		return filepath.Join(host.Home, ".local", "state", "agent-mcp")
	}
	return ""
}
