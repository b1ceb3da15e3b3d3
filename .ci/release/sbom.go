package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// The part of CycloneDX 1.6 that says what a program is made of.
type (
	bom struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Hashes     []hash     `json:"hashes,omitempty"`
		Licences   []licence  `json:"licenses"`
		PURL       string     `json:"purl"`
		Properties []property `json:"properties,omitempty"`
	}
	hash       struct{ Alg, Content string }
	licence    map[string]any // {"license": {"id": …}} or {"expression": …}
	property   struct{ Name, Value string }
	dependency struct {
		Ref  string   `json:"ref"`
		Uses []string `json:"dependsOn,omitempty"`
	}
)

// MarshalJSON writes lower-case names.
func (h hash) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"alg": h.Alg, "content": h.Content})
}

// MarshalJSON writes lower-case names.
func (p property) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"name": p.Name, "value": p.Value})
}

func under(expression string) []licence {
	if strings.Contains(expression, " ") {
		return []licence{{"expression": expression}}
	}
	return []licence{{"license": map[string]string{"id": expression}}}
}

// sbom lists what is in the program, from what the program itself records. Equal programs give equal bytes.
func sbom(src source, t target, exe []byte, all []part) ([]byte, error) {
	purl := "pkg:golang/" + module + "@v" + src.version
	b := bom{
		Format: "CycloneDX", Spec: "1.6", Version: 1, Serial: serial(exe),
		Metadata: metadata{
			Timestamp: src.at.Format("2006-01-02T15:04:05Z"),
			Component: component{
				Type: "application", Ref: purl, Name: "agent-mcp", Version: src.version, PURL: purl, Licences: under("Apache-2.0"),
				Hashes:     []hash{{"SHA-256", sum(exe)}},
				Properties: []property{{"agent-mcp:file", t.exe}, {"agent-mcp:goos", t.goos}, {"agent-mcp:goarch", t.goarch}},
			},
		},
	}
	uses := make([]string, 0, len(all))
	for _, p := range all {
		c := component{Type: "library", Name: p.name, Version: p.version, Licences: under(p.spdx)}
		c.PURL = "pkg:golang/" + p.name + "@" + p.version
		if p.sum != "" {
			c.Properties = []property{{"agent-mcp:go.sum", p.sum}}
		}
		c.Ref = c.PURL
		uses = append(uses, c.Ref)
		b.Components = append(b.Components, c)
		b.Dependencies = append(b.Dependencies, dependency{Ref: c.Ref})
	}
	b.Dependencies = append([]dependency{{Ref: purl, Uses: uses}}, b.Dependencies...)
	return indented(b)
}

// serial is the same for the same program: a UUID of version 8 (RFC 9562) out of its digest.
func serial(exe []byte) string {
	s := sha256.Sum256(exe)
	u := s[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func indented(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return []byte(b.String()), err
}
