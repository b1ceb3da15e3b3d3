package plan

import "regexp"

var (
	actionTitle = regexp.MustCompile(`(?i)^\W*(please\s+)?(create|write|add|make|build|implement|edit|modify|update|change|fix|delete|remove|rename|move|copy|run|execute|test|install|generate|save|refactor|patch|replace|compile|format)\b`)
	actionWords = regexp.MustCompile(`作成|作る|書く|書き込|書き換|編集|変更|修正|削除|移動|追加|実行|生成|保存|実装|更新|テスト`)
)

// acts reports that a title names an outside action.
func acts(title string) bool { return actionTitle.MatchString(title) || actionWords.MatchString(title) }
