package skill

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/skills"
)

// Catalogue holds the valid skills of a configuration. The zero value is empty.
type Catalogue struct{ list []Skill } // by name

// Build parses all files. One malformed file or one name used twice fails the whole, with every reason (SKL-02): the
// program does not start, apply does not apply. Warnings harm nothing.
func Build(files []skills.File) (c Catalogue, warnings []*fault.Error, err error) {
	var problems []*fault.Error
	seen := map[string]string{} // name to path
	for _, f := range files {
		s, bad, warn := Parse(f)
		problems = append(problems, bad...)
		warnings = append(warnings, warn...)
		if len(bad) > 0 {
			continue
		}
		if other, dup := seen[s.Name]; dup {
			problems = append(problems, fault.New(CodeDuplicate, "name", s.Name, "path", f.Path, "other", other))
			continue
		}
		seen[s.Name] = f.Path
		c.list = append(c.list, s)
	}
	if len(problems) > 0 {
		return Catalogue{}, warnings, fault.New(CodeInvalid, "count", len(problems)).With(problems...)
	}
	slices.SortFunc(c.list, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return c, warnings, nil
}

// All returns the skills by name. The result is the caller's.
func (c Catalogue) All() []Skill { return slices.Clone(c.list) }

// Names returns the names, sorted.
func (c Catalogue) Names() []string {
	out := make([]string, len(c.list))
	for i, s := range c.list {
		out[i] = s.Name
	}
	return out
}

// Get finds a skill by its exact name.
func (c Catalogue) Get(name string) (Skill, bool) {
	i, ok := slices.BinarySearchFunc(c.list, name, func(s Skill, n string) int { return strings.Compare(s.Name, n) })
	if !ok {
		return Skill{}, false
	}
	return c.list[i], true
}
