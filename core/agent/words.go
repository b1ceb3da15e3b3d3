package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// clean takes thinking out of words: everything up to the last closing mark, and an opening one that never closes
// (OLL-14).
func clean(s string) string {
	if i := strings.LastIndex(s, "</think>"); i >= 0 {
		s = s[i+len("</think>"):]
	}
	if i := strings.Index(s, "<think>"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// Marks of a call that a model printed instead of making it.
var callMarks = regexp.MustCompile(`(?i)<tool_call>|<function_call>|<function=|<invoke\s+name=|<tool\s+name=|\[TOOL_CALLS?\]|<\|python_tag\|>|<\|tool_call`)

// textCall recognises a call printed as text: marks of the known chat templates, JSON with a call's shape (bare, fenced or
// in a list), or an offered tool's name used like a function at the start of a line. It is never run.
func textCall(s string, tools []model.Tool) bool {
	if callMarks.MatchString(s) {
		return true
	}
	offered := map[string]bool{}
	for _, t := range tools {
		offered[t.Name] = true
	}
	for l := range strings.Lines(s) {
		name, rest, ok := strings.Cut(strings.Trim(l, " \t`\n"), "(")
		if ok && offered[name] && strings.HasSuffix(strings.TrimRight(rest, "; "), ")") {
			return true
		}
	}
	whole := strings.TrimSpace(s)
	if looksLikeCall(whole, offered, true) {
		return true
	}
	parts := strings.Split(s, "```")
	for i := 1; i < len(parts); i += 2 {
		if _, body, ok := strings.Cut(parts[i], "\n"); ok && looksLikeCall(body, offered, false) {
			return true
		}
	}
	if i := strings.IndexAny(s, "{"); i > 0 && i < len(s) {
		return looksLikeCall(s[i:], offered, false)
	}
	return false
}

// looksLikeCall reads s as JSON. An unknown name counts only when nothing else is in the reply.
func looksLikeCall(s string, offered map[string]bool, alone bool) bool {
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	if d.Decode(&v) != nil {
		return false
	}
	return callShaped(v, offered, alone && !d.More())
}

func callShaped(v any, offered map[string]bool, alone bool) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0 && callShaped(v[0], offered, alone)
	case map[string]any:
		for _, k := range []string{"tool_calls", "function", "tool_call", "function_call"} {
			switch inner := v[k].(type) {
			case map[string]any, []any:
				return callShaped(inner, offered, alone)
			case string:
				v = map[string]any{"name": inner, "arguments": firstOf(v, "arguments", "parameters", "args", "input")}
			}
		}
		name, _ := firstOf(v, "name", "tool", "tool_name", "action").(string)
		args := firstOf(v, "arguments", "parameters", "args", "input", "action_input")
		_, object := args.(map[string]any)
		_, text := args.(string)
		return name != "" && (offered[name] || alone && (object || text))
	}
	return false
}

func firstOf(v map[string]any, names ...string) any {
	x, _ := pick(v, names...)
	return x
}

var (
	actionTitle = regexp.MustCompile(`(?i)^\W*(please\s+)?(create|write|add|make|build|implement|edit|modify|update|change|fix|delete|remove|rename|move|copy|run|execute|test|install|generate|save|refactor|patch|replace|compile|format)\b`)
	actionWords = regexp.MustCompile(`作成|作る|書く|書き込|書き換|編集|変更|修正|削除|移動|追加|実行|生成|保存|実装|更新|テスト`)

	claimEnglish = regexp.MustCompile(`(?i)\bI(?:'ve| have)?(?: now| just| already| successfully)* (?:created|written|wrote|saved|deleted|removed|ran|run|executed|installed|updated|modified|renamed|moved|fixed|added|patched|implemented|tested)\b|\b(?:has|have) (?:now |just |already )?been (?:successfully )?(?:created|written|saved|deleted|removed|executed|installed|updated|modified|renamed|moved|fixed|patched)\b|\bsuccessfully (?:created|wrote|written|saved|deleted|removed|ran|executed|installed|updated|modified|renamed|moved|fixed)\b`)
	claimOther   = regexp.MustCompile(`(?:作成|保存|削除|実行|変更|修正|更新|移動|追加|生成|実装|インストール|テスト)(?:を)?(?:し|され|でき|完了し)(?:まし)?た|書き(?:込み|換え)?まし|已(?:经)?(?:创建|写入|保存|删除|运行|执行|修改|更新)`)
)

// acts reports that a title names an outside action.
func acts(title string) bool { return actionTitle.MatchString(title) || actionWords.MatchString(title) }

const claimBytes = 16 << 10

// claims reports that words say a side effect was made. Only first persons and finished actions count, so that an
// explanation of how something is done is none.
func claims(report string) bool {
	if len(report) > 2*claimBytes { // a claim stands at the start or at the end; what is between costs more than it tells
		report = report[:claimBytes] + "\n" + report[len(report)-claimBytes:]
	}
	return claimEnglish.MatchString(report) || claimOther.MatchString(report)
}

var (
	announceEnglish = regexp.MustCompile(`(?i)^(?:okay|ok|sure|certainly|great|first|next|now|then|to (?:start|begin)(?: with)?)?[\s,.!:]*(?:I will|I'll|I am going to|I'm going to|let me|let's|I need to|I should)\b`)
	announceOther   = regexp.MustCompile(`(?:読み|読み込み|確認し|実行し|作成し|書き|調べ|探し|開始し|始め|行い|見てみ|検索し)ます[。.!！…]*$`)
)

// announces reports that words only say what comes next: short, in the first person and about the future. What goes on
// after a colon or over several lines is more than that.
func announces(report string) bool {
	r := strings.TrimSpace(report)
	short := utf8.RuneCountInString(r) <= 300 && strings.Count(r, "\n") < 3
	if i := strings.IndexAny(r, ":："); i >= 0 && i < len(r)-8 {
		return false
	}
	return short && (announceEnglish.MatchString(r) || announceOther.MatchString(r))
}
