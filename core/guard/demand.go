package guard

import (
	"regexp"
	"slices"
	"strings"
)

// A file's name as requests write it, and what may stand between a verb and its object.
const (
	fileName = `[\p{L}\p{N}_\-./\\{}~#№]*[\p{L}\p{N}_\-]\.[A-Za-z][A-Za-z0-9]{0,7}`
	article  = `(?:(?:a|an|the|my|our|new|empty|small|short|simple|text|python|shell|file|files|script|module|called|named)\s+)*`
	quote    = "[\"'`“「『]?"
)

var (
	names     = regexp.MustCompile(fileName)
	clause    = regexp.MustCompile(`[.;!?,:]\s+|[。、；！？，\n]|\s+(?:and|then)\s+`)
	polite    = regexp.MustCompile(`(?i)^[\s>*"#-]*(?:(?:please|now|first|next|also|then|finally|can you|could you|would you|will you|you should|you must|I want you to|I need you to)[\s,]+)*`)
	negated   = regexp.MustCompile(`(?i)\b(?:don't|do not|never|without|no need)\b|ないで|しなくて|不要|请勿`)
	makesFile = regexp.MustCompile(`(?i)^(?:create|write|make|add|save|generate)\s+` + article + quote + fileName)
	intoFile  = regexp.MustCompile(`(?i)^(?:write|save|put|add|append|copy|insert|store|collect|export|generate|create|make)\b.*\b(?:to|into|as)\s+` + article + quote + fileName)
	changes   = regexp.MustCompile(`(?i)^(?:edit|modify|update|change|fix|patch|refactor|delete|remove|rename|move|overwrite|replace|run|execute)\b.*` + fileName)
	runs      = regexp.MustCompile(`(?i)^(?:run|execute)\s+(?:the |all |my |our |its |every )*(?:unit |program|script|test|suite)`)
	makesDir  = regexp.MustCompile(`(?i)^(?:create|make|delete|remove|rename)\s+(?:a |an |the |new |empty )*(?:directory|folder)\b`)
	japanese  = regexp.MustCompile(fileName + `["'」』]?\s*(?:を(?:新規)?(?:に)?(?:作成|作って|作り|削除|消して|変更|修正|編集|更新|実行|置換|リネーム|移動)|(?:に|へ)[^、。]{0,60}(?:書いて|書き込|書き出|追加|保存|出力))`)
	aboutIt   = regexp.MustCompile(fileName + `["'」』]?\s*に(?:ついて|関し|書かれ|書いてある|ある)`)
	chinese   = regexp.MustCompile(`(?:创建|新建|写入|编写|修改|删除|运行|执行|重命名)(?:一个|文件|名为|\s)*["“「]?` + fileName)
)

// Demands reports that a request orders a change or a run: an imperative with a file, a directory or a program as its
// object. It is sure rather than complete: "Write a summary of notes.txt" and "How do I create a.txt?" are none, and of what
// is one, words alone are never the answer (AGT-07).
func Demands(request string) bool {
	return slices.ContainsFunc(clauses(request), demands)
}

func demands(c string) bool {
	if negated.MatchString(c) {
		return false
	}
	return makesFile.MatchString(c) || intoFile.MatchString(c) || changes.MatchString(c) || runs.MatchString(c) || makesDir.MatchString(c) ||
		japanese.MatchString(c) && !aboutIt.MatchString(c) || chinese.MatchString(c)
}

// Demanded are the base names of files in the clauses of a request that order something, in their order, each once.
func Demanded(request string) (out []string) {
	for _, c := range clauses(request) {
		if !demands(c) {
			continue
		}
		for _, n := range names.FindAllString(c, -1) {
			n = n[strings.LastIndexAny(n, `/\`)+1:]
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

var (
	// source begins what a file is made from or filled with.
	source = regexp.MustCompile(`(?i)\b(?:from|using|based|with|like|that|which|whose|of|for|about|containing|where)\b|[(:]`)
	target = regexp.MustCompile(`(?i).*\b(?:to|into|as)\s+`)
)

// Made are the base names of the files that a request orders to be made or written, not those it is to be made from.
func Made(request string) (out []string) {
	add := func(text string) {
		for _, n := range names.FindAllString(text, -1) {
			if n = n[strings.LastIndexAny(n, `/\`)+1:]; !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	for _, c := range clauses(request) {
		switch {
		case negated.MatchString(c):
		case makesFile.MatchString(c):
			for _, part := range strings.Split(c, " and ") {
				if at := source.FindStringIndex(part); at != nil {
					part = part[:at[0]]
				}
				add(part)
			}
		case intoFile.MatchString(c):
			first, _, _ := strings.Cut(c, " and ")
			if at := target.FindStringIndex(first); at != nil {
				add(names.FindString(first[at[1]:]))
			}
		}
	}
	return out
}

// Names are the file names in a text, with their directories, each once.
func Names(text string) (out []string) {
	if len(text) > 2*claimBytes {
		text = text[:claimBytes]
	}
	for _, n := range names.FindAllString(text, -1) {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// clauses cuts a request where a new order may begin. An object that goes on after "and" stays with its verb: "Create a.txt
// and b.txt".
func clauses(request string) (out []string) {
	if len(request) > 2*claimBytes {
		request = request[:claimBytes]
	}
	for _, c := range clause.Split(request, -1) {
		c = strings.TrimSpace(polite.ReplaceAllString(c, ""))
		if n := len(out) - 1; n >= 0 && names.MatchString(c) && !verb.MatchString(c) && demands(out[n]) {
			out[n] += " and " + c
			continue
		}
		if c != "" {
			out = append(out, c)
		}
	}
	return out
}

// verb tells that a clause begins with a word that is no name: an order or a question of its own.
var verb = regexp.MustCompile(`(?i)^(?:[a-z]+\b[^.]|[^\x00-\x7f])`)
