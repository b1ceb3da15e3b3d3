package goi18n_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/conformance/texttest"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

func TestCatalog_Contract(t *testing.T) {
	texttest.Run(t, func(t *testing.T, texts map[string]map[string]string, tag string) (text.Catalog, error) {
		files := fstest.MapFS{}
		for locale, pairs := range texts {
			data, err := json.Marshal(pairs)
			require.NoError(t, err)
			files[locale+".json"] = &fstest.MapFile{Data: data}
		}
		c, err := goi18n.New(goi18n.Options{Builtin: files, Tag: tag})
		if err != nil {
			return nil, err
		}
		return c, nil
	})
}

func builtin() fstest.MapFS {
	return fstest.MapFS{
		"en.json":   {Data: []byte(`{"a.one": "One {x}", "a.two": "Two"}`)},
		"ja.json":   {Data: []byte(`{"a.one": "一 {x}", "a.two": "二"}`)},
		"README.md": {Data: []byte(`not a locale`)},
	}
}

func dropIn(t *testing.T, files map[string]string) goi18n.Dir {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	return goi18n.Dir{Path: dir}
}

// I18N-03, AT-19: a language is added, and a shipped text replaced, without code.
func TestNew_DroppedIn(t *testing.T) {
	dir := dropIn(t, map[string]string{"zh-cn.json": "\ufeff{\"a.one\": \"一个 {x}\"}", "ja.json": `{"a.two": "ふたつ"}`, "notes.txt": "x"})
	c, err := goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{dir}, Tag: "zh-CN"})
	require.NoError(t, err)
	require.Equal(t, "zh-CN", c.Tag())
	require.Equal(t, "一个 5", c.Text("a.one", map[string]any{"x": 5}))
	require.Equal(t, "Two", c.Text("a.two", nil), "what it lacks is English")

	c, err = goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{dir}, Tag: "ja-JP"})
	require.NoError(t, err)
	require.Equal(t, "ja", c.Tag(), "ja-JP is served by ja")
	require.Equal(t, "ふたつ", c.Text("a.two", nil))
	require.Equal(t, "一 1", c.Text("a.one", map[string]any{"x": 1}))
}

// I18N-11, AT-20: a bad file stops the start, whichever language is chosen.
func TestNew_BadFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		file, data string
		code       fault.Code
		args       fault.Args
	}{
		"broken JSON":          {"fr.json", "{\n\"a.one\": oops}", text.CodeBrokenFile, fault.Args{"detail": "line 2: invalid character 'o' looking for beginning of value"}},
		"cut off":              {"fr.json", `{"a.one": "x"`, text.CodeBrokenFile, nil},
		"empty":                {"fr.json", ``, text.CodeBrokenFile, nil},
		"not an object":        {"fr.json", `["a.one"]`, text.CodeBrokenFile, nil},
		"more than one object": {"fr.json", `{} {}`, text.CodeBrokenFile, nil},
		"not UTF-8":            {"fr.json", "{\"a.two\": \"\xff\"}", text.CodeBrokenFile, fault.Args{"detail": "not UTF-8"}},
		"huge":                 {"fr.json", `{"a.two": "` + strings.Repeat("x", 1<<20) + `"}`, text.CodeBrokenFile, nil},
		"unknown key":          {"fr.json", `{"a.tow": "x"}`, text.CodeUnknownKey, fault.Args{"key": "a.tow", "nearest": "a.two"}},
		"key far from all":     {"fr.json", `{"something.else": "x"}`, goi18n.CodePlain, fault.Args{"key": "something.else"}},
		"doubled key":          {"fr.json", `{"a.two": "x", "a.two": "y"}`, goi18n.CodeDuplicate, fault.Args{"key": "a.two"}},
		"number":               {"fr.json", `{"a.two": 2}`, goi18n.CodeNotText, fault.Args{"key": "a.two"}},
		"plural object":        {"fr.json", `{"a.two": {"other": "x"}}`, goi18n.CodeNotText, nil},
		"blank":                {"fr.json", `{"a.two": "  "}`, goi18n.CodeNotText, nil},
		"lost placeholder":     {"fr.json", `{"a.one": "Un"}`, goi18n.CodePlaceholder, fault.Args{"want": "{x}", "got": "-"}},
		"foreign placeholder":  {"fr.json", `{"a.two": "Deux {y}"}`, goi18n.CodePlaceholder, fault.Args{"want": "-", "got": "{y}"}},
		"bad file name":        {"my texts.json", `{}`, goi18n.CodeFileName, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{dropIn(t, map[string]string{tc.file: tc.data})}, Tag: "en"})
			require.Error(t, err)
			f := fault.From(err)
			require.Equal(t, tc.code, f.Code, f.Error())
			require.Contains(t, f.Args["path"], tc.file)
			for k, v := range tc.args {
				require.Equal(t, v, f.Args[k])
			}
		})
	}
}

func TestNew_EveryProblemAtOnce(t *testing.T) {
	dir := dropIn(t, map[string]string{"fr.json": `{"a.tow": "x", "a.one": 1}`, "de.json": `{`})
	_, err := goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{dir}, Tag: "en"})
	f := fault.From(err)
	require.Equal(t, goi18n.CodeInvalid, f.Code)
	require.Len(t, f.Reasons, 3)
	require.Equal(t, text.CodeBrokenFile, f.Reasons[0].Code, "files by name")
}

func TestNew_Directories(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	_, err := goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{{Path: missing, Optional: true}}, Tag: "en"})
	require.NoError(t, err)
	_, err = goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{{Path: missing}}, Tag: "en"})
	require.Equal(t, text.CodeBrokenFile, fault.CodeOf(err))
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = goi18n.New(goi18n.Options{Builtin: builtin(), Dirs: []goi18n.Dir{{Path: file, Optional: true}}, Tag: "en"})
	require.Equal(t, text.CodeBrokenFile, fault.CodeOf(err), "a file where a directory should be is never ignored")
	_, err = goi18n.New(goi18n.Options{Builtin: fstest.MapFS{}, Tag: "en"})
	require.Equal(t, text.CodeBrokenFile, fault.CodeOf(err))
}

func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"a.one": "x {x}"}`))
	f.Add([]byte(`{"a.one": [1,{"b":2}], "a.one": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		files := builtin()
		files["fr.json"] = &fstest.MapFile{Data: data}
		c, err := goi18n.New(goi18n.Options{Builtin: files, Tag: "en"})
		if (c == nil) == (err == nil) {
			t.Fatal("neither a catalogue nor a fault")
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "ja"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkText(b *testing.B) {
	c, err := goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "ja"})
	if err != nil {
		b.Fatal(err)
	}
	args := map[string]any{"path": "p", "detail": "d"}
	for b.Loop() {
		c.Text("config.unreadable", args)
	}
}
