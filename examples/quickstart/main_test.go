package main

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// E2E-01 with the scripted model: the real binary, a real client, real processes; in English and in Japanese (AT-18).
func TestRun_TheWholeStory(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the whole program")
	}
	for lang, want := range map[string][]string{
		"en": {"(completed)", "critical path", "hash chain verified", "Everything happened as shown."},
		"ja": {"(completed)", "クリティカルパス", "検証済み", "すべて表示のとおりに行われました。"},
	} {
		t.Run(lang, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			var out bytes.Buffer
			say, err := newSpeaker(lang, &out)
			require.NoError(t, err)
			require.NoError(t, run(ctx, say, false, true), out.String())
			for _, w := range want {
				require.Contains(t, out.String(), w)
			}
		})
	}
}

func TestSpeaker_HasEveryTextInBothLanguages(t *testing.T) {
	en, err := newSpeaker("en", nil)
	require.NoError(t, err)
	ja, err := newSpeaker("ja", nil)
	require.NoError(t, err)
	for k := range en.texts {
		require.NotEmpty(t, ja.texts[k], k)
	}
	require.Len(t, ja.texts, len(en.texts))
	_, err = newSpeaker("xx", nil)
	require.Error(t, err)
}
