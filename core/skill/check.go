package skill

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// checker turns entries into a Skill.
type checker struct {
	*parser
	dir      string
	warnings []*fault.Error
}

func (c *checker) fill(s *Skill, entries []entry) {
	lines := map[string]int{}
	for _, e := range entries {
		if _, dup := lines[e.key]; dup {
			c.fail(CodeDuplicateKey, e.line, "key", e.key)
			continue
		}
		lines[e.key] = e.line
		switch e.key {
		case "name":
			s.Name = c.text(e)
		case "description":
			s.Description = c.text(e)
		case "license":
			s.License = c.text(e)
		case "compatibility":
			s.Compatibility = c.text(e)
		case "allowed-tools":
			s.AllowedTools = c.text(e)
		case "metadata":
			s.Metadata = c.metadata(e)
		default:
			c.warnings = append(c.warnings, fault.New(CodeUnknownKey, "path", c.path, "line", e.line, "key", e.key))
		}
	}
	if len(c.problems) > 0 { // what a broken line meant is not known: say nothing about what seems to be missing
		return
	}
	if at, ok := lines["name"]; !ok || s.Name == "" {
		c.fail(CodeMissingKey, max(at, 1), "key", "name")
	} else if !ValidName(s.Name) {
		c.fail(CodeBadName, at, "name", clip(s.Name))
	} else if s.Name != c.dir {
		c.fail(CodeNameDiffers, at, "name", s.Name, "dir", c.dir)
	}
	if at, ok := lines["description"]; !ok || s.Description == "" {
		c.fail(CodeMissingKey, max(at, 1), "key", "description")
	} else {
		c.limit("description", s.Description, at, MaxDescription)
	}
	c.limit("compatibility", s.Compatibility, lines["compatibility"], MaxCompatibility)
}

func (c *checker) limit(key, value string, line, most int) {
	if n := utf8.RuneCountInString(value); n > most {
		c.fail(CodeTooLong, line, "key", key, "length", n, "limit", most)
	}
}

// text is a scalar; a list or map is none.
func (c *checker) text(e entry) string {
	if e.nested {
		c.fail(CodeNotAText, e.line, "key", e.key)
	}
	return e.value
}

// metadata is a map of texts, one level deep.
func (c *checker) metadata(e entry) map[string]string {
	if !e.nested {
		if e.value != "" && e.value != "{}" {
			c.fail(CodeBadMetadata, e.line)
		}
		return nil
	}
	out := map[string]string{}
	for _, child := range e.children {
		if child.nested {
			c.fail(CodeBadMetadata, child.line)
		}
		if _, dup := out[child.key]; dup {
			c.fail(CodeDuplicateKey, child.line, "key", child.key)
		}
		out[child.key] = child.value
	}
	return out
}

// ValidName reports whether a name is one of the standard (SKL-01): 1–64 lower-case letters, digits and hyphens, no hyphen
// at either end, no two together.
func ValidName(s string) bool {
	if len(s) == 0 || len(s) > MaxName || s[0] == '-' || s[len(s)-1] == '-' || strings.Contains(s, "--") {
		return false
	}
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return true
}

func clip(s string) string {
	if r := []rune(s); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return s
}
