package guard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/guard"
)

// I18N-07
func TestSpeaks(t *testing.T) {
	for _, c := range []struct {
		tag, text string
		want      bool
	}{
		{"ja", "ファイルを作成しました。", true},
		{"ja", "main.go と util.go に追記しました。", true},
		{"ja", "完了", true},
		{"ja", "42", true},
		{"ja", "", true},
		{"ja", "The file was written.", false},
		{"ja", "已经创建了这个文件并且写入了内容", false},
		{"ja-JP", "Done, all is well.", false},
		{"en", "The file is there.", true},
		{"en", "挨拶.txt holds こんにちは.", true},
		{"en", "ファイルを作成しました。", false},
		{"en-GB", "42", true},
		{"zh-CN", "文件已写入。", true},
		{"zh-CN", "It is written.", false},
		{"xx", "anything", true},
		{"", "anything", true},
	} {
		assert.Equal(t, c.want, guard.Speaks(c.tag, c.text), "%s %s", c.tag, c.text)
	}
}
