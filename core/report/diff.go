package report

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of one difference. A larger one is told by its numbers of lines alone.
const (
	maxDiffInput  = 1 << 20 // bytes of both contents together
	maxDiffEdits  = 400     // lines removed and added; the search costs its square
	maxDiffLines  = 300     // shown
	contextLines  = 3
	maxLineRunes  = 400
	noNewlineMark = "\\ no newline at the end"
)

// Diff is what a file was turned into, as a unified difference without its two header lines; "" when nothing that can be
// shown changed. It is bounded whatever the contents are: binary and very large changes are told by their sizes.
func Diff(before, after []byte) string {
	if string(before) == string(after) {
		return ""
	}
	if len(before)+len(after) > maxDiffInput || !textual(before) || !textual(after) {
		return fmt.Sprintf("%d → %d bytes", len(before), len(after))
	}
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	edits, ok := shortest(a[head:len(a)-tail], b[head:len(b)-tail])
	if !ok {
		return fmt.Sprintf("%d → %d lines", len(a), len(b))
	}
	return unified(a, b, head, edits)
}

func textual(data []byte) bool {
	return utf8.Valid(data) && strings.IndexByte(string(data), 0) < 0
}

// split keeps the mark of a missing last newline as a line of its own, so that only its change is a change.
func split(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	s := string(data)
	if !strings.HasSuffix(s, "\n") {
		s += "\n" + noNewlineMark + "\n"
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// edit is one step from a to b: keep, remove or add a line.
type edit byte

const (
	keep   edit = ' '
	remove edit = '-'
	add    edit = '+'
)

// shortest finds a shortest script (Myers, "An O(ND) Difference Algorithm", 1986); ok is false above maxDiffEdits.
func shortest(a, b []string) (script []edit, ok bool) {
	n, m := len(a), len(b)
	limit := min(n+m, maxDiffEdits)
	reach := make([]int, 2*limit+3) // furthest x on each diagonal, diagonal 0 in the middle
	mid := limit + 1
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), reach...))
		for k := -d; k <= d; k += 2 {
			x := reach[mid+k-1] + 1
			if k == -d || k != d && reach[mid+k-1] < reach[mid+k+1] {
				x = reach[mid+k+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			reach[mid+k] = x
			if x >= n && x-k >= m {
				return walkBack(trace, mid, n, m), true
			}
		}
	}
	return nil, false
}

func walkBack(trace [][]int, mid, x, y int) []edit {
	var back []edit
	for d := len(trace) - 1; d >= 0; d-- {
		reach, k := trace[d], x-y
		previous := k - 1
		if k == -d || k != d && reach[mid+k-1] < reach[mid+k+1] {
			previous = k + 1
		}
		px := reach[mid+previous]
		py := px - previous
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py {
			back = append(back, keep)
			x, y = x-1, y-1
		}
		switch {
		case d == 0:
		case previous == k-1:
			back = append(back, remove)
			x--
		default:
			back = append(back, add)
			y--
		}
	}
	for i, j := 0, len(back)-1; i < j; i, j = i+1, j-1 {
		back[i], back[j] = back[j], back[i]
	}
	return back
}

// unified writes hunks with their context. The script starts after head equal lines.
func unified(a, b []string, head int, script []edit) string {
	var out strings.Builder
	shown := 0
	line := func(mark edit, text string) bool {
		if shown == maxDiffLines {
			return false
		}
		shown++
		out.WriteString(string(rune(mark)) + cut(text) + "\n")
		return true
	}
	x, y, last := head, head, -1 // last line of a that was written
	for i := 0; i < len(script); {
		if script[i] == keep {
			i, x, y = i+1, x+1, y+1
			continue
		}
		from := max(x-contextLines, last+1, 0)
		if from > last+1 || last < 0 {
			fmt.Fprintf(&out, "@@ -%d +%d @@\n", from+1, from+1+y-x)
		}
		for ; from < x; from++ {
			line(keep, a[from])
		}
		for i < len(script) && script[i] != keep {
			var whole bool
			if script[i] == remove {
				whole = line(remove, a[x])
				x++
			} else {
				whole = line(add, b[y])
				y++
			}
			if i++; !whole {
				out.WriteString("…\n")
				return out.String()
			}
		}
		last = x - 1
		next := 0 // how far the next change is
		for i+next < len(script) && script[i+next] == keep {
			next++
		}
		if i+next == len(script) || next > 2*contextLines {
			next = min(contextLines, len(a)-x)
		}
		for range next {
			if !line(keep, a[x]) {
				out.WriteString("…\n")
				return out.String()
			}
			x, y, last = x+1, y+1, x
			if i < len(script) {
				i++
			}
		}
	}
	return out.String()
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxLineRunes {
		return s
	}
	return string([]rune(s)[:maxLineRunes]) + "…"
}
