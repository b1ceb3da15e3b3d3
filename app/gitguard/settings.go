package gitguard

import (
	"context"
	"path"
	"strings"
)

// What is read of a file at most, in bytes.
const (
	maxConfig  = 256 << 10
	maxPointer = 4096 // of a ".git" or commondir file
)

// settings reads where a configuration takes hooks and more settings from: core.hooksPath (relative to the work tree) and
// include.path (relative to the file), as git-config(1) defines them.
func (w *walk) settings(ctx context.Context, file, dir string) {
	h, err := w.tree.Resolve(ctx, file)
	if err != nil {
		return
	}
	data, err := h.Read(ctx, 0, maxConfig)
	_ = h.Close()
	if err != nil {
		return
	}
	work := dir
	if i := strings.Index(dir+"/", "/.git/"); i >= 0 {
		work = dir[:i]
	}
	section := ""
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "[") {
			section = strings.ToLower(strings.TrimLeft(l, "["))
			if i := strings.IndexByte(l, ']'); i >= 0 {
				l = strings.TrimSpace(l[i+1:])
			}
		}
		key, value, _ := strings.Cut(l, "=")
		value = gitValue(value)
		base := dir
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case value == "":
			continue
		case key == "hookspath" && strings.HasPrefix(section, "core"):
			base = work
		case key == "path" && strings.HasPrefix(section, "include"):
		default:
			continue
		}
		if !path.IsAbs(value) {
			value = join(base, value)
		}
		w.target(ctx, value)
	}
}

// gitValue reads the value of a line as git-config(1) does: without quotes, escapes, and a comment.
func gitValue(line string) string {
	var out strings.Builder
	quoted, length := false, 0
	line = strings.TrimSpace(line)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '"':
			quoted = !quoted
			continue
		case c == '\\' && i+1 < len(line):
			i++
			c = line[i]
		case (c == '#' || c == ';') && !quoted:
			return out.String()[:length]
		}
		out.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			length = out.Len()
		}
	}
	return out.String()[:length]
}

// pointer follows the text of a ".git" or commondir file to the Git directory it names, when that lies in the roots.
func (w *walk) pointer(ctx context.Context, file, dir, prefix string) {
	h, err := w.tree.Resolve(ctx, file)
	if err != nil {
		return
	}
	data, err := h.Read(ctx, 0, maxPointer)
	_ = h.Close()
	text, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	if err != nil || !ok {
		return
	}
	target := strings.TrimSpace(text)
	if !path.IsAbs(target) {
		target = join(dir, target)
	}
	to, err := w.tree.Resolve(ctx, target)
	if err != nil {
		return
	}
	w.enqueue(ctx, visit{to.Info().Path, true})
	_ = to.Close()
}

// separator is the one a canonical path is written with.
func separator(p string) string {
	if len(p) > 2 && p[1] == ':' && p[2] == '\\' {
		return `\`
	}
	return "/"
}

// join appends a name to a canonical directory with that directory's own separator.
func join(dir, name string) string {
	s := separator(dir)
	return strings.TrimSuffix(dir, s) + s + name
}

// split is the reverse of join.
func split(p string) (dir, name string) {
	i := strings.LastIndex(p, separator(p))
	return p[:max(i, 0)], p[i+1:]
}
