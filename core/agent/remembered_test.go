package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// AGT-09: one large argument does not fill the context of every later call; what is kept is still an object.
func TestRemembered_CutsLongArguments(t *testing.T) {
	small := json.RawMessage(`{"path":"a","content":"hi"}`)
	require.Equal(t, string(small), string(remembered(small, 400)))
	big, err := json.Marshal(map[string]any{"path": "a.txt", "content": strings.Repeat("あ line\n", 500_000), "executable": true})
	require.NoError(t, err)
	got := remembered(big, 400)
	require.Less(t, len(got), 2000)
	var back map[string]any
	require.NoError(t, json.Unmarshal(got, &back))
	require.Equal(t, "a.txt", back["path"])
	require.Equal(t, true, back["executable"])
	many, err := json.Marshal(map[string]any{"args": strings.Fields(strings.Repeat("x ", 100_000))})
	require.NoError(t, err)
	require.Contains(t, string(remembered(many, 400)), "left_out")
	require.Equal(t, "{}", string(remembered(json.RawMessage("{broken"), 400)))
	require.True(t, json.Valid(remembered(json.RawMessage(`"`+strings.Repeat("x", 9000)+`"`), 400)))
}
