package guard

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

var limits = regexp.MustCompile(`(?i)\b(?:never|always|must|only|don['’]?t|do not|may not|can(?:no|['’])t|should(?: not|n['’]t)|shall|not allowed|without|except|unless|avoid|forbidden|prohibited|off[- ]limits|from now on|at (?:most|least)|no more than|as (?:it|they) (?:is|are)|leave\b.{1,60}\balone|keep\b.{1,60}\bunchanged|constraints?|requirements?|rules?)\b` +
	`|しない|せず|しては(?:いけ|なら)|てはだめ|禁止|厳禁|不可|必ず|絶対|常に|だけ|のみ|以外|以内|以上|以下|ないで|ないこと|ないように|そのまま|べき|不要|不得|必须|只能|除外`)

// Constrains reports that a user's words set a limit or a rule that holds beyond the moment: they outlive every summary (SES-06).
func Constrains(words string) bool { return limits.MatchString(words) }

const (
	maxSentence = 400 // runes of a sentence that are kept …
	beforeLimit = 120 // … so many of them before the words that set the limit
)

// Limits are the sentences of words that set a limit or a rule, in their order, each once, each of at most 400 runes around what sets it
// (SES-06). A sentence that ends in a colon brings the list below it. Limits of what it returned, joined by line breaks, are the same.
func Limits(words string) []string {
	var out []string
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	listed := false // the lines below a limit that ends in a colon
	for _, line := range strings.Split(words, "\n") {
		line = strings.TrimSpace(line)
		if listed && (line == "" || item.MatchString(line)) {
			add(around(line))
			continue
		}
		listed = false
		for _, s := range sentences(line) {
			if Constrains(s) {
				add(around(s))
				listed = strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")
			}
		}
	}
	return out
}

// item is a line of a list.
var item = regexp.MustCompile(`^(?:[-*+•・●▪–—]|\(?\d{1,3}[.)、]|\(?[a-zA-Z][.)]\s)`)

// ending is where a sentence ends: a mark before a space, or one that needs none.
var ending = regexp.MustCompile(`[.!?]+["'”’)]*(?:\s+|$)|[。！？]+[」』）]*`)

func sentences(line string) []string {
	var out []string
	from := 0
	for _, at := range ending.FindAllStringIndex(line, -1) {
		if item.MatchString(line) && strings.TrimSpace(line[at[1]:]) != "" && at[1]-from <= 4 {
			continue // the number of a list's line
		}
		out = append(out, strings.TrimSpace(line[from:at[1]]))
		from = at[1]
	}
	if rest := strings.TrimSpace(line[from:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// around cuts what is too long to be a sentence to the part that sets the limit.
func around(s string) string {
	if utf8.RuneCountInString(s) <= maxSentence {
		return s
	}
	r, at := []rune(s), 0
	if m := limits.FindStringIndex(s); m != nil {
		at = utf8.RuneCountInString(s[:m[0]])
	}
	from := max(min(at-beforeLimit, len(r)-maxSentence), 0)
	return strings.TrimSpace(string(r[from : from+maxSentence]))
}
