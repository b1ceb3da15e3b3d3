package tool

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Config is what the definitions tell the model about this installation.
type Config struct {
	Aliases    []string // entries the owner approved, in the order shown; empty: only Workspace Artifacts can be run
	Artifacts  bool     // Workspace Artifacts may be run (development profile, PRC-04)
	ReadOnly   bool     // nothing may be written (readonly profile without writable mounts): mutating file tools are left out
	MaxTimeout int      // seconds one process may run; 0 = not told
}

// maxAliasesShown bounds the description; more are still accepted.
const maxAliasesShown = 12

type property struct {
	Type        string    `json:"type"`
	Description string    `json:"description,omitempty"`
	Items       *property `json:"items,omitempty"`
}

// Definitions returns the native tool definitions (OLL-10) for this configuration, in a fixed order and with equal bytes
// for equal input. Run is left out when there is nothing it could start.
func Definitions(c Config) []model.Tool {
	var out []model.Tool
	for _, s := range table() {
		if c.ReadOnly && s.mutates && s.name != Run || s.name == Run && len(c.Aliases) == 0 && !c.Artifacts {
			continue
		}
		out = append(out, model.Tool{Name: string(s.name), Description: s.about, Schema: schema(s, c)})
	}
	return out
}

// schema writes the object by hand where order matters: properties keep the order of the table.
func schema(s spec, c Config) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, f := range s.fields {
		if i > 0 {
			b.WriteByte(',')
		}
		p := property{Description: f.about}
		switch f.kind {
		case flag:
			p.Type = "boolean"
		case number:
			p.Type = "integer"
		case list:
			p.Type, p.Items = "array", &property{Type: "string"}
		default:
			p.Type = "string"
		}
		if s.name == Run {
			p.Description = runAbout(f, c)
		}
		fmt.Fprintf(&b, "%s:%s", quote(f.name), compact(p))
		if f.required {
			required = append(required, f.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":` + compact(required))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}

func runAbout(f field, c Config) string {
	switch f.name {
	case "command":
		names := c.Aliases
		more := ""
		if len(names) > maxAliasesShown {
			names, more = names[:maxAliasesShown], ", …"
		}
		about := strings.Join(names, ", ") + more
		if c.Artifacts {
			if about != "" {
				about += ", or "
			}
			about += "the path of an executable file in the workspace"
		}
		return "one of: " + about
	case "timeout_seconds":
		if c.MaxTimeout > 0 {
			return fmt.Sprintf("at most %d", c.MaxTimeout)
		}
	}
	return f.about
}

func quote(s string) string { return compact(s) }

// compact marshals without HTML escaping: what the model reads should be plain.
func compact(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("tool: definitions always marshal: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
