package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/tool"
)

// AGT-04: the evidence is what remains, not what was done.
func TestProof(t *testing.T) {
	effect := func(words string) tool.Effect { // "KIND PATH [SHA] [BEFORE]"
		f := append(strings.Fields(words), "", "", "")
		e := tool.Effect{Kind: tool.EffectKind(f[0]), Path: f[1], SHA256: f[2], Before: f[3]}
		switch e.Kind {
		case tool.EffectMoved:
			e.Dest, e.SHA256 = f[2], ""
		case tool.EffectRan:
			e.Alias, e.SHA256 = f[1], ""
			e.Exit = len(f[2])
		}
		return e
	}
	for all, want := range map[string]string{
		"created a 1":                                    "created a 1",
		"created a 1; changed a 2 1":                     "created a 2",
		"created a 1; removed a":                         "",
		"changed a 2 1; changed a 1 2":                   "",
		"changed a 2 1; changed a 3 2":                   "changed a 3",
		"changed a 2 1; removed a":                       "removed a",
		"removed a - 1; created a 2":                     "changed a 2",
		"removed a - 1; created a 1":                     "",
		"moved a b":                                      "moved a b",
		"moved a b; moved b a":                           "",
		"moved a b; moved b c":                           "moved a c",
		"moved a b; removed b":                           "removed a",
		"created a 1; moved a b":                         "created b 1",
		"read a; listed b; created c 1":                  "created c 1",
		"ran sh; created a 1; ran sh x; ran py; ran sh":  "created a 1; ran py; ran sh",
		"made_dir d; created d/a 1; removed d/a; ran sh": "made_dir d; ran sh",
	} {
		var effects []tool.Effect
		for _, s := range strings.Split(all, "; ") {
			effects = append(effects, effect(s))
		}
		var got []string
		for _, e := range proof(effects) {
			got = append(got, strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", e.Kind, e.Path, e.SHA256, e.Dest)), " ")))
		}
		require.Equal(t, want, strings.Join(got, "; "), all)
	}
}
