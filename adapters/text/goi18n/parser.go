package goi18n

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n/template"
)

// parser knows one construct: {name}, name being [a-z][a-z0-9_]*. Every other brace is text. It keeps what it parsed.
type parser struct{ text parsed }

var _ template.Parser = (*parser)(nil)

// Cacheable: the Catalog caches what was parsed.
func (*parser) Cacheable() bool { return false }

// Parse never fails.
func (p *parser) Parse(src, _, _ string) (template.ParsedTemplate, error) {
	p.text = split(src)
	return p.text, nil
}

// parsed alternates: text, name, text, name, … text.
type parsed []string

func split(src string) parsed {
	var out parsed
	done := 0
	for i := 0; i < len(src); i++ {
		if src[i] != '{' {
			continue
		}
		end := strings.IndexByte(src[i:], '}')
		if end < 0 {
			break
		}
		if name := src[i+1 : i+end]; isName(name) {
			out = append(out, src[done:i], name)
			i += end
			done = i + 1
		}
	}
	return append(out, src[done:])
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (i == 0 || (c != '_' && (c < '0' || c > '9'))) {
			return false
		}
	}
	return s != ""
}

// placeholders returns the names in a text, sorted, each once.
func placeholders(s string) []string {
	if !strings.Contains(s, "{") {
		return nil
	}
	var out []string
	p := split(s)
	for i := 1; i < len(p); i += 2 {
		out = append(out, p[i])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Execute is what go-i18n asks for; the Catalog fills texts itself.
func (p parsed) Execute(any) (string, error) { return "", nil }

// fill fills the placeholders. One without a value stays as it is written, so that the mistake can be seen.
func (p parsed) fill(args map[string]any) string {
	var b strings.Builder
	for i, part := range p {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		v, ok := args[part]
		if !ok {
			b.WriteString("{" + part + "}")
			continue
		}
		b.WriteString(value(v))
	}
	return b.String()
}

// value renders an argument. Control characters and direction overrides of foreign text (a file name, a server's answer)
// must not reach a terminal: they become U+FFFD.
func value(v any) string {
	switch v := v.(type) {
	case string:
		return clean(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return clean(fmt.Sprint(v))
}

func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '�'
		}
		return r
	}, s)
}
