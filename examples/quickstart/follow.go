package main

import (
	"fmt"
	"regexp"
	"strings"
)

// The state is always followed by its protocol name in parentheses, whatever the language.
var stateName = regexp.MustCompile(`(?m)^\S.*\((queued|planning|running|completed|failed|cancelled)\)$`)

// final returns the state of a finished Task, "" while it goes on.
func final(status string) string {
	m := stateName.FindStringSubmatch(status)
	if len(m) != 2 || m[1] == "queued" || m[1] == "planning" || m[1] == "running" {
		return ""
	}
	return m[1]
}

// answerOf takes the answer, which is everything after the first empty line, without its heading.
func answerOf(status string) string {
	_, rest, _ := strings.Cut(status, "\n\n")
	_, answer, _ := strings.Cut(rest, "\n")
	return answer
}

// progress prints the lines of a status that are new.
func (s *speaker) progress(before, now string) {
	now, _, _ = strings.Cut(now, "\n\n")
	old := map[string]bool{}
	for l := range strings.Lines(before) {
		old[strings.TrimSpace(l)] = true
	}
	first := before == ""
	for l := range strings.Lines(now) {
		l = strings.TrimRight(l, "\n")
		if old[strings.TrimSpace(l)] || !first && strings.TrimSpace(l) == "" {
			continue
		}
		fmt.Fprintln(s.out, "   "+s.paint("2", "│ ")+l)
	}
}
