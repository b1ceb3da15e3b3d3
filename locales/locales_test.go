package locales_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/locales"
)

// constants finds every constant of type fault.Code or text.Key in the sources: value → where it is declared.
func constants(t *testing.T, root string) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || (strings.HasPrefix(d.Name(), ".") && path != root)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.CONST {
				continue
			}
			for _, spec := range gen.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || !coded(value.Type, file.Name.Name) {
					continue
				}
				for i, expr := range value.Values {
					lit, ok := expr.(*ast.BasicLit)
					where := fmt.Sprintf("%s (%s)", files.Position(value.Pos()), value.Names[i].Name)
					if !ok {
						t.Errorf("%s: write the key as one string literal, so that it can be found", where)
						continue
					}
					text, err := strconv.Unquote(lit.Value)
					require.NoError(t, err)
					found[text] = append(found[text], where)
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	return found
}

// coded reports whether a type is fault.Code or text.Key, also inside those packages.
func coded(expr ast.Expr, pkg string) bool {
	switch e := expr.(type) {
	case *ast.SelectorExpr:
		from, ok := e.X.(*ast.Ident)
		return ok && ((from.Name == "fault" && e.Sel.Name == "Code") || (from.Name == "text" && e.Sel.Name == "Key"))
	case *ast.Ident:
		return (pkg == "fault" && e.Name == "Code") || (pkg == "text" && e.Name == "Key")
	}
	return false
}

func locale(t *testing.T, name string) map[string]string {
	t.Helper()
	data, err := locales.FS.ReadFile(name)
	require.NoError(t, err)
	texts := map[string]string{}
	require.NoError(t, json.Unmarshal(data, &texts), name)
	return texts
}

func shipped(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(locales.FS, "*.json")
	require.NoError(t, err)
	require.Contains(t, names, "en.json")
	require.Contains(t, names, "ja.json")
	return names
}

// I18N-01..03: every code and key has a text in every shipped language, and every text belongs to a code or key.
func TestLocales_Complete(t *testing.T) {
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	_, err = os.Stat(filepath.Join(root, "go.mod"))
	require.NoError(t, err, "the repository's root")
	keys := constants(t, root)
	require.Greater(t, len(keys), 200, "the sources were not found")
	shape := regexp.MustCompile(`^[a-z0-9_]+(\.[a-z0-9_]+)+$`)
	for _, name := range shipped(t) {
		texts := locale(t, name)
		for _, key := range sorted(keys) {
			if texts[key] == "" {
				t.Errorf("%s has no text for %q, declared at %s", name, key, strings.Join(keys[key], ", "))
			}
			if !shape.MatchString(key) {
				t.Errorf("%q is not of the form area.reason, declared at %s", key, strings.Join(keys[key], ", "))
			}
		}
		for _, key := range sorted(texts) {
			_, exact := keys[key]
			_, hint := keys[strings.TrimSuffix(key, ".hint")]
			if !exact && !hint {
				t.Errorf("%s: %q belongs to no constant of type fault.Code or text.Key", name, key)
			}
		}
	}
}

// A code is declared in the one package that owns it.
func TestLocales_OneOwner(t *testing.T) {
	for key, where := range constants(t, "..") {
		if len(where) > 1 {
			t.Errorf("%q is declared %d times: %s", key, len(where), strings.Join(where, ", "))
		}
	}
}

// Every shipped file loads under the rules that dropped-in files obey, placeholders included; none is a copy of English.
func TestLocales_Load(t *testing.T) {
	english := locale(t, "en.json")
	for _, name := range shipped(t) {
		tag := strings.TrimSuffix(name, ".json")
		c, err := goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: tag})
		require.NoError(t, err)
		require.Equal(t, tag, c.Tag())
		texts := locale(t, name)
		if len(texts) != len(english) {
			t.Errorf("%s has %d texts, en.json %d", name, len(texts), len(english))
		}
		if tag == "en" {
			continue
		}
		named := regexp.MustCompile(`\{[a-z0-9_]+\}`)
		for key, text := range texts {
			if text == english[key] && strings.Count(strings.TrimSpace(named.ReplaceAllString(text, "")), " ") > 2 {
				t.Errorf("%s: %s is English", name, key)
			}
		}
	}
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
