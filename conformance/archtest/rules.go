package archtest

import (
	"path"
	"slices"
	"strings"
)

// rule says what packages of one kind may import. Patterns end in "/..." for everything below; {port} and {self} stand
// for adapters/<port> and adapters/<port>/<technology>.
type rule struct {
	kind  string
	match func(pkg string) bool
	ours  []string // of this module
	tests []string // in tests, besides ours
	other bool     // modules of others, as the vendors table says
}

// rules in order; the first that matches counts.
func rules() []rule {
	return []rule{
		{kind: "ports/*", match: below("ports"), ours: []string{"ports/..."}},
		{kind: "core/*", match: below("core"), ours: []string{"ports/...", "core/..."}, tests: []string{"conformance/..."}, other: true},
		{kind: "adapters/internal/*", match: below("adapters/internal"), ours: []string{"adapters/internal/..."}, other: true},
		{
			kind: "adapters/<port>/<technology>", match: adapter, ours: []string{"ports/...", "{self}/...", "adapters/internal/..."},
			tests: []string{"conformance/...", "adapters/...", "locales"}, other: true,
		},
		{kind: "conformance/*", match: below("conformance"), ours: []string{"ports/...", "conformance/..."}, other: true},
		{kind: "app/cli", match: at("app/cli"), ours: []string{"app", "app/...", "ports/..."}, tests: anything()},
		{kind: "app/wire", match: at("app/wire"), ours: anything()},
		{
			kind: "app", match: at("app"),
			ours: []string{"core/...", "ports/...", "app", "app/..."}, tests: anything(),
		},
		{kind: "cmd/*", match: below("cmd"), ours: []string{"app/cli", "app/wire", "app/wire/..."}, tests: anything(), other: true},
		{
			kind: "examples/*", match: at("examples"), ours: []string{"app", "app/...", "core/...", "ports/...", "adapters/...", "locales"},
			tests: anything(), other: true,
		},
		{kind: "locales", match: at("locales"), tests: anything()},
	}
}

func anything() []string {
	return []string{"app", "app/...", "core/...", "ports/...", "adapters/...", "conformance/...", "locales"}
}

// vendors says which packages may import which modules of others. A dependency needs a reason in its adapter's doc
// comment; core gets none but gonum's graph.
func vendors() []vendor {
	return []vendor{
		{"github.com/mark3labs/mcp-go/...", []string{"adapters/front/mcp", "examples/..."}, []string{"cmd/..."}},
		{"github.com/knadh/koanf/...", []string{"adapters/settings/koanf"}, nil},
		{"go.yaml.in/yaml/v3", []string{"adapters/settings/koanf"}, []string{"core/..."}},
		{"github.com/nicksnyder/go-i18n/...", []string{"adapters/text/goi18n"}, nil},
		{"golang.org/x/text/...", []string{"adapters/text/goi18n"}, nil},
		{"gonum.org/v1/gonum/graph", []string{"core/taskgraph"}, nil},
		{"gonum.org/v1/gonum/graph/topo", []string{"core/taskgraph"}, nil},
		{"gonum.org/v1/gonum/graph/iterator", []string{"core/taskgraph"}, nil},
		{"github.com/stretchr/testify/...", []string{"conformance/..."}, []string{"..."}},
		{"github.com/rogpeppe/go-internal/...", nil, []string{"cmd/..."}},
		{"github.com/santhosh-tekuri/jsonschema/v6", nil, []string{"adapters/schema/compiled"}}, // another checker, to differ from
		{"github.com/gowebpki/jcs", nil, []string{"core/canon"}},                                // another RFC 8785, to differ from
	}
}

type vendor struct {
	module string
	users  []string // may import it
	tests  []string // may import it in tests only
}

// raw are the inner packages that hold system calls; only they import x/sys.
func raw(pkg string) bool {
	base := path.Base(pkg)
	return strings.HasPrefix(pkg, "adapters/") && path.Base(path.Dir(pkg)) == "internal" && (base == "kernel" || base == "win32")
}

// bannedInCore are packages whose use would make core impure.
func bannedInCore() []string {
	return []string{
		"os", "os/...", "net", "net/http/...", "net/rpc/...", "net/smtp", "math/rand/...", "crypto/rand", "log/...",
		"syscall/...", "runtime/...", "unsafe", "embed", "testing/...", "plugin", "io/ioutil",
	}
}

// bannedCalls are functions that core must not even name: package → names.
func bannedCalls() map[string][]string {
	return map[string][]string{
		"time":          {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Local", "LoadLocation"},
		"context":       {"Background", "TODO", "WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"},
		"fmt":           {"Print", "Printf", "Println", "Fprint", "Scan", "Scanf", "Scanln"},
		"path/filepath": {"Walk", "WalkDir", "Glob", "EvalSymlinks", "Abs"},
	}
}

func below(dir string) func(string) bool {
	return func(p string) bool { return strings.HasPrefix(p, dir+"/") }
}

func at(dir string) func(string) bool {
	return func(p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }
}

// adapter matches adapters/<port>/<technology> and what lies below it.
func adapter(p string) bool {
	parts := strings.Split(p, "/")
	return len(parts) >= 3 && parts[0] == "adapters"
}

// matches reports whether an import path fits one of the patterns, seen from pkg.
func matches(patterns []string, imp, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if parts := strings.Split(pkg, "/"); len(parts) >= 3 {
			pattern = strings.Replace(pattern, "{self}", strings.Join(parts[:3], "/"), 1)
		}
		if pattern == "..." {
			return true
		}
		if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
			return imp == tree && tree != "app" || strings.HasPrefix(imp, tree+"/")
		}
		return imp == pattern
	})
}
