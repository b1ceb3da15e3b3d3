package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// decoder collects problems while the sections are read.
type decoder struct {
	dir      string
	host     Host
	problems []problem
	warnings []problem
	unknown  []unknown
	paths    []string // every known key path, in the order of reading: for suggestions
}

type problem struct {
	fault     *fault.Error
	file      string
	line, col int
}

type unknown struct {
	scope *scope
	field settings.Field
	file  string
}

// scope is one map of the schema being read.
type scope struct {
	d    *decoder
	node settings.Node // Map, or the zero Node when absent
	path string        // "" for the root
	keys []string      // known keys, in the order of reading

	broken bool // something else stands where the map should be, which is reported: its keys are not missing
}

func place(n settings.Node) string { return fmt.Sprintf("%s:%d", filepath.Base(n.File), n.Line) }

func (d *decoder) report(to *[]problem, code fault.Code, key string, n settings.Node, kv ...any) {
	kv = append([]any{"key", key, "place", place(n)}, kv...)
	*to = append(*to, problem{fault.New(code, kv...), n.File, n.Line, n.Column})
}

func (d *decoder) bad(code fault.Code, key string, n settings.Node, kv ...any) {
	d.report(&d.problems, code, key, n, kv...)
}

func (d *decoder) warn(code fault.Code, key string, n settings.Node, kv ...any) {
	d.report(&d.warnings, code, key, n, kv...)
}

// show renders a value for a message: short, on one line.
func show(n settings.Node) string {
	switch n.Kind {
	case settings.Null:
		return "null"
	case settings.Bool:
		return fmt.Sprint(n.Bool)
	case settings.List:
		return "[…]"
	case settings.Map:
		return "{…}"
	}
	return clip(n.String)
}

// clip shortens text for a message and takes control characters out of it.
func clip(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '�'
		}
		return r
	}, text)
	if r := []rune(clean); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return clean
}

func (s *scope) key(name string) string {
	if s.path == "" {
		return name
	}
	return s.path + "." + name
}

// get returns a known key's node; ok is false when it is absent or null, which both mean the default.
func (s *scope) get(name string) (n settings.Node, ok bool) {
	s.keys = append(s.keys, name)
	s.d.paths = append(s.d.paths, s.key(name))
	n, ok = s.node.Get(name)
	return n, ok && n.Kind != settings.Null
}

// child opens a nested map.
func (s *scope) child(name string) *scope {
	n, ok := s.get(name)
	broken := s.broken
	if ok && n.Kind != settings.Map {
		s.d.bad(CodeWantMap, s.key(name), n, "value", show(n))
		ok, broken = false, true
	}
	if !ok {
		n = settings.Node{File: s.node.File, Line: s.node.Line}
	}
	return &scope{d: s.d, node: n, path: s.key(name), broken: broken}
}

// done notes the keys that nobody asked for. It is called once, after the last known key.
func (s *scope) done() {
	for _, f := range s.node.Fields {
		if !slices.Contains(s.keys, f.Key) {
			s.d.unknown = append(s.d.unknown, unknown{s, f, f.Value.File})
		}
	}
}

// resolveUnknown reports the unknown keys, each with the nearest key of its own map, or else with the place in the
// schema where a key of that name belongs.
func (d *decoder) resolveUnknown() {
	for _, u := range d.unknown {
		at := settings.Node{File: u.file, Line: u.field.Line, Column: u.field.Column}
		key := u.scope.key(clip(u.field.Key))
		if key == keyServers {
			d.bad(CodeClient, key, at)
			continue
		}
		near := nearest(u.field.Key, u.scope.keys)
		if near != "" {
			near = u.scope.key(near)
		}
		for _, p := range d.paths {
			if last := p[strings.LastIndexByte(p, '.')+1:]; near == "" && last == strings.ToLower(u.field.Key) {
				near = p
			}
		}
		if near == "" {
			d.bad(CodeUnknownPlain, key, at)
			continue
		}
		d.bad(CodeUnknownKey, key, at, "nearest", near)
	}
}

func (s *scope) text(name, def string) (string, settings.Node) {
	n, ok := s.get(name)
	if !ok {
		return def, n
	}
	if n.Kind != settings.String {
		s.d.bad(CodeWantText, s.key(name), n, "value", show(n))
		return def, settings.Node{}
	}
	return n.String, n
}

func (s *scope) choice(name, def string, choices ...string) string {
	v, n := s.text(name, def)
	if !slices.Contains(choices, v) {
		s.d.bad(CodeChoice, s.key(name), n, "value", clip(v), "choices", strings.Join(choices, ", "))
		return def
	}
	return v
}

func (s *scope) boolean(name string, def bool) bool {
	n, ok := s.get(name)
	if !ok {
		return def
	}
	if n.Kind != settings.Bool {
		s.d.bad(CodeWantBool, s.key(name), n, "value", show(n))
		return def
	}
	return n.Bool
}

// maybeInt returns nil when the key is absent, or when it is bad and reported.
func (s *scope) maybeInt(name string, lo, hi int64) *int64 {
	n, ok := s.get(name)
	if !ok {
		return nil
	}
	return s.intOf(name, n, lo, hi)
}

func (s *scope) intOf(name string, n settings.Node, lo, hi int64) *int64 {
	if n.Kind != settings.Int {
		if n.Kind == settings.Float && !strings.ContainsAny(n.String, ".nNiI") { // an integer beyond 64 bits
			s.d.bad(CodeRange, s.key(name), n, "value", show(n), "min", lo, "max", hi)
			return nil
		}
		s.d.bad(CodeWantInteger, s.key(name), n, "value", show(n))
		return nil
	}
	if n.Int < lo || n.Int > hi {
		s.d.bad(CodeRange, s.key(name), n, "value", n.Int, "min", lo, "max", hi)
		return nil
	}
	return &n.Int
}

func (s *scope) size(name string, def, lo, hi int64) int64 {
	if v := s.maybeInt(name, lo, hi); v != nil {
		return *v
	}
	return def
}

func (s *scope) integer(name string, def, lo, hi int) int {
	return int(s.size(name, int64(def), int64(lo), int64(hi)))
}

// maybeNumber accepts integers too; NaN is out of every range.
func (s *scope) maybeNumber(name string, lo, hi float64) *float64 {
	n, ok := s.get(name)
	if !ok {
		return nil
	}
	v := n.Float
	switch n.Kind {
	case settings.Int:
		v = float64(n.Int)
	case settings.Float:
	default:
		s.d.bad(CodeWantNumber, s.key(name), n, "value", show(n))
		return nil
	}
	if !(v >= lo && v <= hi) {
		s.d.bad(CodeRange, s.key(name), n, "value", show(n), "min", lo, "max", hi)
		return nil
	}
	return &v
}

func (s *scope) duration(name string, def, lo, hi time.Duration) (time.Duration, settings.Node) {
	n, ok := s.get(name)
	if !ok {
		return def, n
	}
	if n.Kind != settings.String {
		s.d.bad(CodeWantDuration, s.key(name), n, "value", show(n))
		return def, settings.Node{}
	}
	v, err := time.ParseDuration(n.String)
	if err != nil {
		s.d.bad(CodeWantDuration, s.key(name), n, "value", show(n))
		return def, settings.Node{}
	}
	if v < lo || v > hi {
		s.d.bad(CodeRange, s.key(name), n, "value", show(n), "min", short(lo), "max", short(hi))
		return def, settings.Node{}
	}
	return v, n
}

// short writes a duration as a person would: 5m, not 5m0s.
func short(v time.Duration) string {
	t := v.String()
	if strings.HasSuffix(t, "m0s") {
		t = strings.TrimSuffix(t, "0s")
	}
	if strings.HasSuffix(t, "h0m") {
		t = strings.TrimSuffix(t, "0m")
	}
	return t
}

// maxItems bounds every list: nobody writes more by hand, and every later step may be quadratic.
const maxItems = 256

// list returns the items; nil when absent or bad.
func (s *scope) list(name string) []settings.Node {
	n, ok := s.get(name)
	if !ok {
		return nil
	}
	if n.Kind != settings.List {
		s.d.bad(CodeWantList, s.key(name), n, "value", show(n))
		return nil
	}
	if len(n.Items) > maxItems {
		s.d.bad(CodeOverflow, s.key(name), n, "count", len(n.Items), "max", maxItems)
		return n.Items[:maxItems]
	}
	return n.Items
}

// texts returns the strings of a list, each with its node; what is no string is reported and left out.
func (s *scope) texts(name string) (values []string, nodes []settings.Node) {
	for i, n := range s.list(name) {
		if n.Kind != settings.String {
			s.d.bad(CodeWantText, fmt.Sprintf("%s[%d]", s.key(name), i), n, "value", show(n))
			continue
		}
		values, nodes = append(values, n.String), append(nodes, n)
	}
	return values, nodes
}

// records opens every item of a list as a map.
func (s *scope) records(name string) []*scope {
	var out []*scope
	for i, n := range s.list(name) {
		key := fmt.Sprintf("%s[%d]", s.key(name), i)
		if n.Kind != settings.Map {
			s.d.bad(CodeWantMap, key, n, "value", show(n))
			continue
		}
		out = append(out, &scope{d: s.d, node: n, path: key})
	}
	return out
}

// requiredPath is required for a path, where a null may be a bare ~ that was meant as the home directory.
func (s *scope) requiredPath(name string) {
	if n, ok := s.node.Get(name); ok && n.Kind == settings.Null {
		s.d.bad(CodeNull, s.key(name), n)
		return
	}
	s.required(name)
}

// required reports a missing key. A value that is there but bad has been reported already.
func (s *scope) required(name string) {
	if s.broken {
		return
	}
	if n, ok := s.node.Get(name); !ok || n.Kind == settings.Null || (n.Kind == settings.String && strings.TrimSpace(n.String) == "") {
		at := s.node
		if ok {
			at = n
		}
		s.d.bad(CodeRequired, s.key(name), at)
	}
}
