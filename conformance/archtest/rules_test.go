package archtest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/archtest"
)

func full(paths []string) (out []string) {
	for _, p := range paths {
		out = append(out, strings.Replace(p, "~", archtest.Module, 1))
	}
	return out
}

func TestCheckImports_AllowsTheLayersAndNothingElse(t *testing.T) {
	for _, tt := range []struct {
		pkg            string
		imports, tests string
		bad            int
	}{
		{"ports/x", "time ~/ports/fault", "testing", 0},
		{"ports/x", "~/core/policy ~/adapters/clock/fake github.com/x/y", "", 3},
		{"core/x", "fmt net/netip net/url ~/ports/fault ~/core/canon", "testing os math/rand/v2 ~/conformance/golden", 0},
		{"core/x", "os os/exec net net/http math/rand math/rand/v2 crypto/rand log log/slog syscall runtime runtime/debug unsafe embed testing", "", 15},
		{"core/x", "~/adapters/clock/fake ~/app ~/app/engine ~/conformance/golden ~/locales gonum.org/v1/gonum/graph", "~/adapters/clock/fake", 7},
		{"core/taskgraph", "gonum.org/v1/gonum/graph gonum.org/v1/gonum/graph/topo gonum.org/v1/gonum/graph/iterator", "", 0},
		{"core/taskgraph", "gonum.org/v1/gonum/graph/simple gonum.org/v1/gonum/mat github.com/stretchr/testify/assert", "", 3},
		{"adapters/clock/x", "os ~/ports/clock ~/adapters/clock/x/internal/y ~/adapters/internal/hostfile", "~/conformance/clocktest ~/adapters/clock/fake", 0},
		{"adapters/clock/x", "~/adapters/clock/fake ~/core/policy ~/app/engine ~/conformance/golden testing golang.org/x/sys/unix github.com/mark3labs/mcp-go/mcp", "~/core/policy", 8},
		{"adapters/clock/x/internal/kernel", "golang.org/x/sys/unix ~/ports/clock", "", 0},
		{"adapters/clock/kernel", "golang.org/x/sys/unix", "", 1},
		{"adapters/front/mcp/internal/wire", "github.com/mark3labs/mcp-go/mcp", "", 0},
		{"adapters/text/goi18n", "github.com/mark3labs/mcp-go/mcp", "github.com/mark3labs/mcp-go/mcp", 2},
		{"conformance/x", "testing ~/ports/clock ~/conformance/golden github.com/stretchr/testify/require", "", 0},
		{"conformance/x", "~/core/policy ~/adapters/clock/fake ~/app", "", 3},
		{"app/x", "os ~/core/policy ~/ports/clock ~/app/engine ~/app", "~/adapters/clock/fake ~/conformance/golden github.com/stretchr/testify/require", 0},
		{"app/x", "~/adapters/clock/fake ~/locales github.com/mark3labs/mcp-go/mcp", "", 3},
		{"app/cli", "~/app ~/app/engine ~/ports/text", "~/adapters/clock/fake", 0},
		{"app/cli", "~/core/policy ~/adapters/clock/fake", "", 2},
		{"app/wire", "~/core/policy ~/adapters/clock/fake ~/locales ~/app/cli", "", 0},
		{"cmd/agent-mcp", "os ~/app/cli ~/app/wire", "github.com/rogpeppe/go-internal/testscript ~/adapters/model/scripted", 0},
		{"cmd/agent-mcp", "~/app ~/core/policy ~/ports/text", "", 3},
		{"examples/x", "~/core/policy ~/ports/text ~/adapters/model/scripted ~/app/engine github.com/mark3labs/mcp-go/client", "", 0},
		{"examples/x", "~/adapters/internal/hostfile/x golang.org/x/sys/unix C", "", 2}, // the compiler itself refuses internal packages
		{"internal/x", "", "", 1},
		{"adapters/x", "", "", 1},
		{"core", "", "", 1},
		{".", "", "", 1},
	} {
		p := archtest.Package{ImportPath: archtest.Module + "/" + tt.pkg, Imports: full(strings.Fields(tt.imports)), XTestImports: full(strings.Fields(tt.tests))}
		if tt.pkg == "." {
			p.ImportPath = archtest.Module
		}
		got := archtest.CheckImports([]archtest.Package{p})
		assert.Len(t, got, tt.bad, "%s: %v", tt.pkg, got)
		for _, problem := range got {
			assert.Equal(t, tt.pkg, problem.Place)
		}
	}
}

func TestCheckImports_ANewPackageLearnsWhatToDo(t *testing.T) {
	got := archtest.CheckImports([]archtest.Package{{ImportPath: archtest.Module + "/util"}})
	require.Len(t, got, 1)
	assert.Contains(t, got[0].Text, "rules.go")
}

func TestCheckSystems_APackageMustNotVanish(t *testing.T) {
	a := archtest.Package{ImportPath: archtest.Module + "/adapters/x/y", GoFiles: []string{"doc.go"}}
	assert.Empty(t, archtest.CheckSystems([]archtest.Package{a}, []archtest.Package{a}))
	assert.Len(t, archtest.CheckSystems([]archtest.Package{a}, nil), 1)
	assert.Len(t, archtest.CheckSystems([]archtest.Package{{ImportPath: a.ImportPath}}, []archtest.Package{a}), 1)
}

func TestCheckFile_FindsWhatCoreMustNotDo(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		bad              int
	}{
		{"pure", "core/x/x.go", "package x\nimport (\"fmt\"; \"time\")\nvar d = time.Second\nfunc f() string { return fmt.Sprint(time.Unix(0, 0)) }\n", 0},
		{"clock", "core/x/x.go", "package x\nimport \"time\"\nvar a = time.Now()\nfunc f() { time.Sleep(1); <-time.After(1) }\n", 3},
		{"renamed", "core/x/x.go", "package x\nimport zeit \"time\"\nvar a = zeit.Since\n", 1},
		{"dotted", "core/x/x.go", "package x\nimport . \"time\"\nvar a = Now()\n", 1},
		{"shadow", "core/x/x.go", "package x\nfunc f(time struct{ Now int }) int { return time.Now }\n", 0},
		{"print", "core/x/x.go", "package x\nimport \"fmt\"\nfunc f() { fmt.Println(); fmt.Printf(\"\") }\n", 2},
		{"context", "core/x/x.go", "package x\nimport \"context\"\nvar c = context.Background()\nfunc f(c context.Context) {}\n", 1},
		{"goroutine", "core/x/x.go", "package x\nfunc f() { go f() }\n", 1},
		{"a test may", "core/x/x_test.go", "package x\nimport \"time\"\nvar a = time.Now()\nfunc f() { go f() }\n", 0},
		{"app may", "app/x/x.go", "package x\nimport \"time\"\nvar a = time.Now()\nfunc f() { go f() }\n", 0},
		{"init", "app/x/x.go", "package x\nfunc init() {}\ntype T struct{}\nfunc (T) init() {}\n", 1},
		{"long", "app/x/x.go", "package x\n" + strings.Repeat("\n", 399), 1},
		{"long test", "app/x/x_test.go", "package x\n" + strings.Repeat("\n", 599), 1},
		{"longer than code may be", "app/x/x_test.go", "package x\n" + strings.Repeat("\n", 598), 0},
		{"just short", "app/x/x.go", "package x\n" + strings.Repeat("\n", 398), 0},
		{"long main", "cmd/x/main.go", "package main\n" + strings.Repeat("\n", 30), 1},
		{"short main", "cmd/x/main.go", "package main\n" + strings.Repeat("\n", 29), 0},
		{"broken", "core/x/x.go", "package", 1},
	} {
		got, _ := archtest.CheckFile(tt.path, []byte(tt.text))
		assert.Len(t, got, tt.bad, "%s: %v", tt.name, got)
	}
	_, documented := archtest.CheckFile("core/x/x.go", []byte("// Package x is for that.\npackage x\n"))
	assert.Equal(t, 1, documented)
	_, documented = archtest.CheckFile("core/x/x.go", []byte("// A licence.\n\npackage x\n"))
	assert.Zero(t, documented)
}

func TestCheckSuites_NamesWhatIsMissing(t *testing.T) {
	root := t.TempDir()
	for _, d := range []string{"ports/fault", "ports/lamp", "ports/door", "ports/service", "conformance/doortest", "conformance/fronttest", "adapters/door/oak", "adapters/lamp/mem"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, d), 0o755))
	}
	problems, err := archtest.CheckSuites(root)
	require.NoError(t, err)
	require.Len(t, problems, 2)
	require.Equal(t, "ports/door", problems[0].Place)
	require.Contains(t, problems[0].Text, "twin in memory")
	require.Contains(t, problems[1].Text, "conformance/lamptest")
}
