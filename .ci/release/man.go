package main

import (
	"fmt"
	"strings"
	"time"
)

// heads are the headings of a manual page.
type heads struct{ name, synopsis, description, options, status string }

func headings(lang string) heads {
	if lang == "ja" {
		return heads{"名前", "書式", "説明", "オプション", "終了コード"}
	}
	return heads{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS"}
}

// man turns what `agent-mcp --help` prints into a manual page: the first line is the name, indented lines are the synopsis, a
// paragraph that starts with -- is an option, the last one is the exit codes, the rest is the description. Nothing else is
// said in it, so it cannot drift; a help text of another shape is a mistake.
func man(help, lang, version string, at time.Time) ([]byte, error) {
	paragraphs := strings.Split(strings.TrimSpace(help), "\n\n")
	name, purpose, ok := strings.Cut(paragraphs[0], ": ")
	if !ok || len(paragraphs) < 4 || !strings.HasPrefix(paragraphs[1], "  ") {
		return nil, fmt.Errorf("the help text (%s) has another shape; teach man about it", lang)
	}
	h := headings(lang)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH AGENT-MCP 1 %s \"agent-mcp %s\"\n", at.Format(time.DateOnly), version)
	fmt.Fprintf(&b, ".SH %s\n%s \\- %s\n", h.name, roff(name), roff(purpose))
	fmt.Fprintf(&b, ".SH %s\n", h.synopsis)
	for line := range strings.Lines(paragraphs[1]) {
		usage, what, _ := strings.Cut(strings.TrimSpace(line), "   ")
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(usage), roff(strings.TrimSpace(what)))
	}
	last := len(paragraphs) - 1
	fmt.Fprintf(&b, ".SH %s\n", h.description)
	var options strings.Builder
	for i, p := range paragraphs[2:last] {
		if strings.HasPrefix(p, "--") {
			flag, what, _ := strings.Cut(p, "  ")
			fmt.Fprintf(&options, ".TP\n.B %s\n%s\n", roff(flag), roff(strings.TrimSpace(what)))
			continue
		}
		if i > 0 {
			b.WriteString(".PP\n")
		}
		b.WriteString(roff(p) + "\n")
	}
	if options.Len() > 0 {
		fmt.Fprintf(&b, ".SH %s\n%s", h.options, options.String())
	}
	fmt.Fprintf(&b, ".SH %s\n%s\n", h.status, roff(paragraphs[last]))
	return []byte(b.String()), nil
}

// roff escapes text: nothing in it is a request, hyphens can be searched for.
func roff(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
