package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// Build turns layers (base first) into a Config. The error is one fault: CodeMigrate, CodeNewerVersion or CodeInvalid with
// every problem as a reason in the files' order. Warnings are complete also when there is an error. It panics without a
// layer: the caller has none to build from.
func Build(layers []settings.Layer, host Host) (cfg Config, warnings []*fault.Error, err error) {
	if len(layers) == 0 {
		panic("config: Build without a layer")
	}
	base := layers[0].Path
	root := Merge(layers)
	d := &decoder{dir: filepath.Dir(base), host: host}
	if root.Kind != settings.Map {
		d.bad(CodeWantMap, ".", root, "value", show(root))
		return Config{}, nil, d.fail(base, layers)
	}
	if f := client(root); f != nil {
		return Config{}, nil, f
	}
	if f := migration(root, base); f != nil {
		return Config{}, nil, f
	}
	cfg = d.root(&scope{d: d, node: root})
	cfg.Path, cfg.Dir, cfg.Fingerprint = base, d.dir, Fingerprint(layers)
	d.resolveUnknown()
	d.sort(layers)
	for _, w := range d.warnings {
		warnings = append(warnings, w.fault)
	}
	if len(d.problems) > 0 {
		return Config{}, warnings, d.fail(base, layers)
	}
	return cfg, warnings, nil
}

// Language finds the language that the owner asked for with its place, and the directory of more texts, also in a
// configuration that is otherwise refused; "" when they cannot be told. It is for the messages that refuse it.
func Language(layers []settings.Layer, host Host) (tag, at, localesDir string) {
	if len(layers) == 0 {
		return "", "", ""
	}
	app, _ := Merge(layers).Get("application")
	if n, _ := app.Get("language"); n.Kind == settings.String && validTag(n.String) {
		tag, at = n.String, place(n)
	}
	if n, _ := app.Get("locales_dir"); n.Kind == settings.String && n.String != "" {
		localesDir, _, _ = expand(n.String, filepath.Dir(layers[0].Path), host)
	}
	return tag, at, localesDir
}

// NearestTag is the known language tag that an unknown one was probably meant to be, "" when none is near.
func NearestTag(tag string, known []string) string {
	language, _, _ := strings.Cut(tag, "-")
	return nearest(language, known)
}

func (d *decoder) sort(layers []settings.Layer) {
	order := func(file string) int {
		return slices.IndexFunc(layers, func(l settings.Layer) bool { return l.Path == file })
	}
	byPlace := func(a, b problem) int {
		if x := order(a.file) - order(b.file); x != 0 {
			return x
		}
		if a.line != b.line {
			return a.line - b.line
		}
		return a.col - b.col
	}
	slices.SortStableFunc(d.problems, byPlace)
	slices.SortStableFunc(d.warnings, byPlace)
}

func (d *decoder) fail(base string, layers []settings.Layer) error {
	d.sort(layers)
	reasons := make([]*fault.Error, len(d.problems))
	for i, p := range d.problems {
		reasons[i] = p.fault
	}
	return fault.New(CodeInvalid, "path", base, "count", len(reasons)).With(reasons...)
}

// validTag accepts the shape language[-Script][-REGION][-variant…] of BCP 47.
func validTag(tag string) bool {
	parts := strings.Split(tag, "-")
	if !alpha(parts[0], 2, 3) {
		return false
	}
	parts = parts[1:]
	if len(parts) > 0 && alpha(parts[0], 4, 4) {
		parts = parts[1:]
	}
	if len(parts) > 0 && (alpha(parts[0], 2, 2) || (len(parts[0]) == 3 && digits(parts[0]))) {
		parts = parts[1:]
	}
	for _, p := range parts {
		if !alnum(p) || len(p) > 8 || len(p) < 4 || (len(p) == 4 && !digits(p[:1])) {
			return false
		}
	}
	return true
}

func alpha(s string, lo, hi int) bool {
	return len(s) >= lo && len(s) <= hi && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

func digits(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func alnum(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}
