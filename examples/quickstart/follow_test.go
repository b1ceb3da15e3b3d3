package main

import "testing"

func TestFinal_ReadsTheStateInEveryLanguage(t *testing.T) {
	for text, want := range map[string]string{
		"Task ID: x\nState: working (running)\n":             "",
		"Task ID: x\nState: finished (completed)\nTokens: 1": "completed",
		"タスク ID: x\n状態: 完了 (completed)\n":                    "completed",
		"タスク ID: x\n状態: 取り消し済み (cancelled)\n":                "cancelled",
	} {
		if got := final(text); got != want {
			t.Errorf("final(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestAnswerOf_TakesWhatFollowsTheHeading(t *testing.T) {
	if got := answerOf("Task ID: x\nState: …\n\nAnswer:\nline 1\n\nline 2\n"); got != "line 1\n\nline 2\n" {
		t.Errorf("answer = %q", got)
	}
}
