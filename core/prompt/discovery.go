package prompt

import "unicode/utf8"

// leastDescription is what Discovery leaves of a description before it leaves nothing.
const leastDescription = 40

// Discovery shortens the descriptions of skills, the longest first, until all names and descriptions together have at most a Weight
// of limit: what a plan may select from must never crowd out the work (SKL-03). cut is the length that descriptions were
// shortened to, -1 when none had to be. Names always stay.
func Discovery(list []Skill, limit int) (out []Skill, cut int) {
	size := func(most int) (n int) {
		for _, s := range list {
			n += Weight(s.Name) + Weight(start(line(s.Description), most))
		}
		return n
	}
	longest := 0
	for _, s := range list {
		longest = max(longest, utf8.RuneCountInString(line(s.Description)))
	}
	if size(longest) <= limit {
		return list, -1
	}
	low, high := 0, longest // the greatest length that fits lies in [low, high)
	for low+1 < high {
		if mid := (low + high) / 2; size(mid) <= limit {
			low = mid
		} else {
			high = mid
		}
	}
	if cut = low; cut < leastDescription {
		cut = 0
	}
	for _, s := range list {
		if cut == 0 {
			s.Description = ""
		} else {
			s.Description = Short(s.Description, cut)
		}
		out = append(out, s)
	}
	return out, cut
}

// start is the beginning of s, of at most so many runes.
func start(s string, runes int) string {
	for at := range s {
		if runes == 0 {
			return s[:at]
		}
		runes--
	}
	return s
}
