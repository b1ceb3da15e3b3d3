package guard

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	claimEnglish = regexp.MustCompile(`(?i)\bI(?:'ve| have)?(?: now| just| already| successfully)* (?:created|written|wrote|saved|deleted|removed|ran|run|executed|installed|updated|modified|renamed|moved|fixed|added|patched|implemented|tested)\b|\bsuccessfully (?:created|wrote|written|saved|deleted|removed|ran|executed|installed|updated|modified|renamed|moved|fixed)\b`)
	claimOther   = regexp.MustCompile(`(?:作成|保存|削除|実行|変更|修正|更新|移動|追加|生成|実装|インストール|テスト)(?:を)?(?:し|でき|完了し)(?:まし)?た|書き(?:込み|換え)?まし|已(?:经)?(?:创建|写入|保存|删除|运行|执行|修改|更新)`)
)

var (
	passiveEnglish = regexp.MustCompile(`(?i)\b(?:has|have) (?:now |just |already )?been (?:successfully )?(?:created|written|saved|deleted|removed|executed|installed|updated|modified|renamed|moved|fixed|patched)\b`)
	passiveOther   = regexp.MustCompile(`(?:作成|保存|削除|実行|変更|修正|更新|移動|追加|生成|実装|インストール|テスト)され(?:まし)?た|已被(?:创建|写入|保存|删除|运行|执行|修改|更新)`)
)

const claimBytes = 16 << 10

// Claims reports that words say a side effect was made. Only first persons and finished actions count, so that an
// explanation of how something is done is none.
func Claims(report string) bool {
	report = ends(report)
	return claimEnglish.MatchString(report) || claimOther.MatchString(report)
}

// ClaimsPassively reports that words say a side effect was made, but not by whom: it may be a claim, or what was read of
// the doings of others.
func ClaimsPassively(report string) bool {
	report = ends(report)
	return passiveEnglish.MatchString(report) || passiveOther.MatchString(report)
}

// ends is where a claim stands: what is between costs more than it tells.
func ends(report string) string {
	if len(report) > 2*claimBytes {
		return report[:claimBytes] + "\n" + report[len(report)-claimBytes:]
	}
	return report
}

var (
	announceEnglish = regexp.MustCompile(`(?i)^(?:okay|ok|sure|certainly|great|first|next|now|then|to (?:start|begin)(?: with)?)?[\s,.!:]*(?:I will|I'll|I am going to|I'm going to|let me|let's|I need to|I should)\b`)
	announceOther   = regexp.MustCompile(`(?:読み|読み込み|確認し|実行し|作成し|書き|調べ|探し|開始し|始め|行い|見てみ|検索し)ます[。.!！…]*$`)
)

// Announces reports that words only say what comes next: short, in the first person and about the future. What goes on
// after a colon or over several lines is more than that.
func Announces(report string) bool {
	r := strings.TrimSpace(report)
	short := utf8.RuneCountInString(r) <= 300 && strings.Count(r, "\n") < 3
	if i := strings.IndexAny(r, ":："); i >= 0 && i < len(r)-8 {
		return false
	}
	return short && (announceEnglish.MatchString(r) || announceOther.MatchString(r))
}
