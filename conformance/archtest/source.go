package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of size, in lines.
const (
	maxFileLines = 400
	maxTestLines = 600 // tables of cases are long and simple
	maxMainLines = 30
)

// CheckSource parses every Go file below root, whatever its build tags.
func CheckSource(root string) ([]Problem, error) {
	var out []Problem
	docs := map[string]int{} // packages with Go files → number of package comments
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		problems, documented := CheckFile(rel, text)
		out = append(out, problems...)
		if !strings.HasSuffix(rel, "_test.go") {
			docs[filepath.ToSlash(filepath.Dir(rel))] += documented
		}
		return nil
	})
	for pkg, n := range docs { // sorted by the caller
		if n != 1 {
			out = append(out, Problem{pkg, fmt.Sprintf("has %d package comments; one says what the package is for, what it never does, which section of the specification it follows", n)})
		}
	}
	slices.SortFunc(out, func(a, b Problem) int { return strings.Compare(a.String(), b.String()) })
	return out, err
}

// CheckFile checks one file; documented is 1 when it has the package comment. path is below the root, with slashes.
func CheckFile(path string, text []byte) (out []Problem, documented int) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return []Problem{{path, err.Error()}}, 0
	}
	if f.Doc != nil {
		documented = 1
	}
	lines, limit := strings.Count(string(text), "\n"), maxFileLines
	if strings.HasSuffix(path, "_test.go") {
		limit = maxTestLines
	}
	switch {
	case lines >= limit && !ast.IsGenerated(f):
		out = append(out, Problem{path, fmt.Sprintf("has %d lines; split it by reason to change below %d", lines, limit)})
	case strings.HasPrefix(path, "cmd/") && filepath.Base(path) == "main.go" && lines > maxMainLines:
		out = append(out, Problem{path, fmt.Sprintf("has %d lines; main is at most %d, the rest is app/cli and app/wire", lines, maxMainLines)})
	}
	if strings.HasSuffix(path, "_test.go") {
		return out, documented
	}
	at := func(n ast.Node, text string) { out = append(out, Problem{files.Position(n.Pos()).String(), text}) }
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			at(fn, "no init function: nothing happens because a package is imported; do it in app/wire")
		}
	}
	if strings.HasPrefix(path, "core/") {
		checkPure(f, at)
	}
	return out, documented
}

// checkPure finds goroutines and banned functions in a file of core.
func checkPure(f *ast.File, at func(ast.Node, string)) {
	names := map[string]string{} // local name → import path
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		if _, watched := bannedCalls()[path]; watched && name == "." {
			at(imp, "no dot import of "+path)
		}
		names[name] = path
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			at(n, "core starts no goroutine; return an effect and let app do it")
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if ok && slices.Contains(bannedCalls()[names[x.Name]], n.Sel.Name) {
				at(n, fmt.Sprintf("core does not use %s.%s; take the value as an argument", names[x.Name], n.Sel.Name))
			}
		}
		return true
	})
}

// CheckTop looks at what lies in the module's root.
func CheckTop(root string) ([]Problem, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	dirs := []string{"core", "ports", "adapters", "app", "cmd", "locales", "examples", "conformance", "bin", "dist"} // the last two are ignored by git
	files := []string{"go.mod", "go.sum", "Taskfile.yml", "LICENSE", "README.md"}
	var out []Problem
	for _, e := range entries {
		name := e.Name()
		known := files
		if e.IsDir() {
			known = dirs
		}
		built := !e.IsDir() && slices.Contains([]string{".test", ".out", ".prof"}, filepath.Ext(name))
		if !strings.HasPrefix(name, ".") && !slices.Contains(known, name) && !built {
			out = append(out, Problem{name, "does not belong into the root; it holds " + strings.Join(append(dirs[:8:8], files...), ", ") + " and dot-files"})
		}
	}
	return out, nil
}
