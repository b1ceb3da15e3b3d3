package plan

import (
	"path"
	"regexp"
	"strings"
)

var (
	actionTitle = regexp.MustCompile(`(?i)^\W*(please\s+)?(create|write|add|make|build|implement|edit|modify|update|change|fix|delete|remove|rename|move|copy|run|execute|test|install|generate|save|refactor|patch|replace|compile|format)\b`)
	actionWords = regexp.MustCompile(`作成|作る|書く|書き込|書き換|編集|変更|修正|削除|移動|追加|実行|生成|保存|実装|更新|テスト`)
)

// acts reports that a title names an outside action.
func acts(title string) bool { return actionTitle.MatchString(title) || actionWords.MatchString(title) }

var (
	removalTitle = regexp.MustCompile(`(?i)\b(delete|remove|erase|clean|discard|drop)`)
	removalWords = regexp.MustCompile(`削除|消す|消して|片付け|删除|清理`)
	moveTitle    = regexp.MustCompile(`(?i)\b(move|rename)`)
	moveWords    = regexp.MustCompile(`移動|改名|リネーム|名前を変|重命名|移动`)
	deletion     = regexp.MustCompile(`(?i)\b(delete|remove|erase)\b`)
	restoration  = regexp.MustCompile(`(?i)\b(restore|revert|undo|reset|roll(?:s|ed)? back|put back)`)
	restoreWords = regexp.MustCompile(`元に戻|復元|もとに戻|恢复|还原`)
	elsewhere    = regexp.MustCompile(`(?i)\b(from|in|of|inside|within|and|then|but|to)\b|[,;]`) // the object is something else
)

// Clears reports that a title names some removal.
func Clears(title string) bool {
	return removalTitle.MatchString(title) || removalWords.MatchString(title)
}

// Removes reports that a title names the removal of this very path, not of something in it.
func Removes(title, p string) bool {
	base := path.Base(strings.ReplaceAll(p, `\`, "/"))
	before, after, found := strings.Cut(title, base)
	switch at := deletion.FindStringIndex(before); {
	case !found:
		return false
	case at != nil:
		return !elsewhere.MatchString(before[at[1]:])
	}
	return removalWords.MatchString(after) && !strings.HasPrefix(strings.TrimSpace(after), "から")
}

// Restores reports that a title names putting something back as it was.
func Restores(title string) bool {
	return restoration.MatchString(title) || restoreWords.MatchString(title)
}

// Moves reports that a title names a move.
func Moves(title string) bool { return moveTitle.MatchString(title) || moveWords.MatchString(title) }
