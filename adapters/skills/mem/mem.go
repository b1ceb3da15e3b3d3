// Package mem holds Agent Skills in memory (ports/skills), for programs that embed the agent and for tests. It knows no
// file system, so nothing can lead out of a skill.
package mem

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// Source is a fixed set of files.
type Source struct{ files map[string][]byte }

var _ skills.Source = (*Source)(nil)

// New makes a source of files by path: "<name>/SKILL.md", "<name>/references/x.md". The map is copied.
func New(files map[string]string) *Source {
	s := &Source{files: map[string][]byte{}}
	for p, text := range files {
		s.files[path.Clean(p)] = []byte(text)
	}
	return s
}

// Find implements skills.Source. Everything has the root "mem".
func (s *Source) Find(ctx context.Context) ([]skills.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	var out []skills.File
	for _, p := range s.paths() {
		dir, name, _ := strings.Cut(p, "/")
		if name != "SKILL.md" {
			continue
		}
		f := skills.File{Root: "mem", Dir: dir, Path: "mem/" + p, Data: bytes.Clone(s.files[p])}
		for _, r := range s.paths() {
			if rel, own := strings.CutPrefix(r, dir+"/"); own && resource(rel) {
				f.Resources = append(f.Resources, rel)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

// Resource implements skills.Source.
func (s *Source) Resource(ctx context.Context, f skills.File, rel string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	if data, ok := s.files[f.Dir+"/"+rel]; ok && resource(rel) {
		return bytes.Clone(data), nil
	}
	return nil, fault.New(skills.CodeNoResource, "path", rel)
}

func (s *Source) paths() []string {
	out := make([]string, 0, len(s.files))
	for p := range s.files {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func resource(rel string) bool {
	top, _, below := strings.Cut(rel, "/")
	return below && rel == path.Clean(rel) && slices.Contains([]string{"assets", "references", "scripts"}, top)
}
