package cli

import (
	"strings"
	"unicode"
)

// Columns is how wide every text is at most, on a terminal or not (CLI-03).
const Columns = 80

// Style says what a stream can show.
type Style struct {
	Color bool // ANSI colours
	Box   bool // lines of box-drawing characters
}

// StyleFor decides for a stream: plain unless it is a terminal that is not dumb; NO_COLOR (not empty) takes colours away.
func StyleFor(terminal bool, getenv func(string) string) Style {
	capable := terminal && getenv("TERM") != "dumb"
	return Style{Color: capable && getenv("NO_COLOR") == "", Box: capable}
}

// Colours (SGR).
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

func (s Style) paint(code, text string) string {
	if !s.Color || code == "" || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// wide are the ranges of characters that take two columns (East Asian Wide and Fullwidth, emoji).
func wide(r rune) bool {
	for _, w := range [...][2]rune{
		{0x1100, 0x115f},
		{0x2e80, 0x303e},
		{0x3041, 0x33ff},
		{0x3400, 0x4dbf},
		{0x4e00, 0x9fff},
		{0xa000, 0xa4cf},
		{0xa960, 0xa97f},
		{0xac00, 0xd7a3},
		{0xf900, 0xfaff},
		{0xfe10, 0xfe19},
		{0xfe30, 0xfe6f},
		{0xff01, 0xff60},
		{0xffe0, 0xffe6},
		{0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff},
		{0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd},
	} {
		if r >= w[0] && r <= w[1] {
			return true
		}
	}
	return false
}

// columns a character takes.
func columns(r rune) int {
	switch {
	case r < ' ' || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case wide(r):
		return 2
	}
	return 1
}

// width of a text in columns.
func width(s string) (n int) {
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// pad fills a text with spaces to a width.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-width(s))) }

// noStart are characters that must not begin a line.
const noStart = "、。，．・：；？！ー」』）】〕〉》)],.:;?!"

// wrap breaks a text into lines of at most limit columns: at spaces, between wide characters, and inside a word (behind
// a slash when there is one) only when the word alone is too long. Foreign text (a link's target, a file name) cannot
// drive the terminal, fake a line or reverse what is read: its control characters become U+FFFD.
func wrap(s string, limit int) []string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069) {
			return '�'
		}
		return r
	}, s)
	limit = max(limit, 4)
	var out []string
	line, at := "", 0
	flush := func() {
		out = append(out, strings.TrimRight(line, " "))
		line, at = "", 0
	}
	for _, w := range words(s) {
		n := width(strings.TrimRight(w, " "))
		if at > 0 && at+n > limit {
			flush()
		}
		for n > limit { // a path or hash longer than a line
			cut := prefix(w, limit)
			if slash := strings.LastIndexByte(w[:cut], '/'); slash > cut/2 {
				cut = slash + 1
			}
			line = w[:cut]
			flush()
			w = w[cut:]
			n = width(strings.TrimRight(w, " "))
		}
		line += w
		at += width(w)
	}
	if line != "" || len(out) == 0 {
		flush()
	}
	return out
}

// prefix is the number of bytes of s that fit into limit columns.
func prefix(s string, limit int) int {
	n := 0
	for i, r := range s {
		if n += columns(r); n > limit {
			return i
		}
	}
	return len(s)
}

// words splits a text into pieces that stay whole. Spaces belong to the piece before them; a wide character is a piece
// of its own, with what must not begin a line behind it.
func words(s string) []string {
	var out []string
	start := 0
	runes := []rune(s)
	offset := 0
	for i, r := range runes {
		offset += len(string(r))
		if i+1 == len(runes) {
			break
		}
		next := runes[i+1]
		breaks := (r == ' ' && next != ' ') || ((wide(r) || wide(next)) && next != ' ')
		if breaks && !strings.ContainsRune(noStart, next) && !strings.ContainsRune("「『（【〔〈《(", r) {
			out = append(out, s[start:offset])
			start = offset
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// page collects lines.
type page struct {
	style Style
	b     strings.Builder
}

func (p *page) line(s string) { p.b.WriteString(strings.TrimRight(s, " ") + "\n") }

// title begins a section; note stands at the right end of its line when there is room.
func (p *page) title(name, note string) {
	if p.b.Len() > 0 {
		p.line("")
	}
	head := p.style.paint(bold, name)
	if gap := Columns - width(name) - width(note); note != "" && gap >= 2 {
		head += strings.Repeat(" ", gap) + p.style.paint(dim, note)
	}
	p.line(head)
	if p.style.Box {
		p.line(p.style.paint(dim, strings.Repeat("─", Columns)))
	}
}

// text writes a wrapped paragraph.
func (p *page) text(indent int, first, s, color string) {
	lead := strings.Repeat(" ", indent)
	for i, l := range wrap(s, Columns-indent-width(first)) {
		if i > 0 {
			first = strings.Repeat(" ", width(first))
		}
		p.line(lead + p.style.paint(color, first+l))
	}
}

// pairs writes label and value in two columns.
func (p *page) pairs(indent int, rows [][2]string) {
	label := 0
	for _, r := range rows {
		label = max(label, width(r[0]))
	}
	label = min(label, Columns/3)
	for _, r := range rows {
		for i, l := range wrap(r[1], Columns-indent-label-2) {
			name := r[0]
			if i > 0 {
				name = ""
			}
			p.line(strings.Repeat(" ", indent) + pad(name, label) + "  " + l)
		}
	}
}

// table writes rows in columns under a head; the last column takes what is left and wraps.
func (p *page) table(head []string, rows [][]string) {
	last := len(head) - 1
	widths := make([]int, last)
	for _, r := range append([][]string{head}, rows...) {
		for i := range widths {
			widths[i] = min(max(widths[i], width(r[i])), 24)
		}
	}
	used := 2
	for _, w := range widths {
		used += w + 2
	}
	row := func(cells []string, color string) {
		parts := make([][]string, len(cells))
		lines := 0
		for i, c := range cells {
			limit := Columns - used
			if i < last {
				limit = widths[i]
			}
			parts[i] = wrap(c, limit)
			lines = max(lines, len(parts[i]))
		}
		for l := range lines {
			var b strings.Builder
			b.WriteString("  ")
			for i, part := range parts {
				cell := ""
				if l < len(part) {
					cell = part[l]
				}
				if i < last {
					cell = pad(cell, widths[i]+2)
				}
				b.WriteString(cell)
			}
			p.line(p.style.paint(color, strings.TrimRight(b.String(), " ")))
		}
	}
	row(head, dim)
	for _, r := range rows {
		row(r, "")
	}
}
