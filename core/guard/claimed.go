package guard

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	sentence = regexp.MustCompile(`[.!?;]\s|[。！？；\n]`)
	// making is a claim that something is there now, apart from what was only run, changed or removed.
	making   = regexp.MustCompile(`(?i)\b(?:created|written|wrote|saved|added|generated|implemented|made)\b|作成|保存|生成|書き込|書きまし|创建|写入`)
	familiar = regexp.MustCompile(`(?i)^\.(?:txt|md|rst|py|js|mjs|ts|tsx|jsx|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sh|bash|ps1|bat|sql|html?|css|scss|json|jsonl|ya?ml|toml|ini|cfg|conf|csv|tsv|xml|log|tex|svg|png|jpe?g|gif|pdf|patch|diff|lock|mod)$`)
	product  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*\.js$`) // Node.js
)

// Claimed are the files that words say were made, as they are written there, each once. Like Claims it takes only finished actions of
// the speaker; names that may be something else, such as "e.g." or a product, are left out.
func Claimed(report string) (out []string) {
	for _, s := range sentence.Split(ends(report)+"\n", -1) {
		if !making.MatchString(s) || !claimEnglish.MatchString(s) && !claimOther.MatchString(s) {
			continue
		}
		for _, n := range names.FindAllString(s, -1) {
			if familiar.MatchString(path.Ext(n)) && !product.MatchString(n) && !strings.Contains(n, "://") && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return out
}
