package goi18n

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

const (
	english  = "en"
	maxBytes = 1 << 20 // of one locale file
)

// loader collects texts by tag and key, and every problem.
type loader struct {
	texts    map[string]map[string]string
	problems []*fault.Error
}

func (l *loader) bad(code fault.Code, kv ...any) {
	l.problems = append(l.problems, fault.New(code, kv...))
}

// builtin reads the shipped files, English first: it says which keys exist.
func (l *loader) builtin(files fs.FS) {
	l.all(files, "", english+".json")
	if l.texts[english] == nil && len(l.problems) == 0 {
		l.bad(text.CodeBrokenFile, "path", english+".json", "detail", "missing")
	}
}

func (l *loader) dir(d Dir) {
	info, err := os.Stat(d.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.Optional:
		return
	case err != nil:
		l.bad(text.CodeBrokenFile, "path", d.Path, "detail", detail(err))
		return
	case !info.IsDir():
		l.bad(text.CodeBrokenFile, "path", d.Path, "detail", "not a directory")
		return
	}
	l.all(os.DirFS(d.Path), d.Path, "")
}

// all reads every *.json of a directory: the file named first, then the rest by name.
func (l *loader) all(files fs.FS, dir, first string) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		l.bad(text.CodeBrokenFile, "path", dir, "detail", detail(err))
		return
	}
	var names []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".json" {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == first) != (b == first) {
			if a == first {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		path := filepath.Join(dir, name)
		tag, err := language.Parse(strings.TrimSuffix(name, ".json"))
		if err != nil {
			l.bad(CodeFileName, "path", path)
			continue
		}
		pairs, err := read(files, name)
		if err != nil {
			l.bad(text.CodeBrokenFile, "path", path, "detail", detail(err))
			continue
		}
		l.add(tag.String(), path, pairs)
	}
}

func (l *loader) add(tag, path string, pairs []pair) {
	known := l.texts[english]
	if known == nil {
		if tag != english {
			return // reported by builtin
		}
		known = map[string]string{}
		for _, p := range pairs {
			known[p.key], _ = p.value.(string)
		}
		l.texts[english] = known
	}
	if l.texts[tag] == nil {
		l.texts[tag] = map[string]string{}
	}
	seen := map[string]bool{}
	for _, p := range pairs {
		value, isText := p.value.(string)
		want, exists := known[p.key]
		switch {
		case seen[p.key]:
			l.bad(CodeDuplicate, "path", path, "key", p.key)
		case !exists:
			if near := nearest(p.key, known); near != "" {
				l.bad(text.CodeUnknownKey, "path", path, "key", p.key, "nearest", near)
			} else {
				l.bad(CodePlain, "path", path, "key", p.key)
			}
		case !isText || strings.TrimSpace(value) == "":
			l.bad(CodeNotText, "path", path, "key", p.key)
		case !slices.Equal(placeholders(value), placeholders(want)):
			l.bad(CodePlaceholder, "path", path, "key", p.key, "want", braces(placeholders(want)), "got", braces(placeholders(value)))
		default:
			l.texts[tag][p.key] = value
		}
		seen[p.key] = true
	}
}

func braces(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return "{" + strings.Join(names, "} {") + "}"
}

// pair is one member of the JSON object, in the file's order; a map would lose doubled keys.
type pair struct {
	key   string
	value any
}

func read(files fs.FS, name string) ([]pair, error) {
	info, err := fs.Stat(files, name) // first: to open a pipe would wait for its writer
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxBytes:
		return nil, fmt.Errorf("larger than %d bytes", maxBytes)
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8")
	}
	return parse(bytes.TrimPrefix(data, []byte("\ufeff")))
}

func parse(data []byte) ([]pair, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	at := func(err error) error {
		line := 1 + bytes.Count(data[:min(int(dec.InputOffset()), len(data))], []byte("\n"))
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("line %d: %w", line, err)
	}
	open, err := dec.Token()
	if err != nil {
		return nil, at(err)
	}
	if open != json.Delim('{') {
		return nil, at(errors.New("not an object"))
	}
	var out []pair
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, at(err)
		}
		var p pair
		p.key, _ = key.(string)
		if err := dec.Decode(&p.value); err != nil {
			return nil, at(err)
		}
		out = append(out, p)
	}
	if _, err := dec.Token(); err != nil {
		return nil, at(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, at(errors.New("text after the object"))
	}
	return out, nil
}

// detail is a system error without the path, which the message names itself.
func detail(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// nearest returns the known key with the smallest edit distance, "" when none is near enough to be meant.
func nearest(word string, known map[string]string) string {
	best, dist := "", max(2, len(word)/3)+1
	keys := make([]string, 0, len(known))
	for k := range known {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if d := distance(word, k); d < dist {
			best, dist = k, d
		}
	}
	return best
}

func distance(a, b string) int {
	if len(a) > 128 || len(b) > 128 {
		return 1 << 20
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diag, row[j] = row[j], min(row[j]+1, row[j-1]+1, diag+cost)
		}
	}
	return row[len(b)]
}
