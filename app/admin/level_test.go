package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// OBS-01, CLI-02: the owner approves a host of level 1 knowing what is missing and what it leaves open, and start says it.
func TestLevel1_IsWarnedOf(t *testing.T) {
	w := newWorld(t)
	w.report.Level = sandbox.L1
	w.report.Missing = []*fault.Error{fault.New(sandbox.CodeNoUserNS)}
	w.report.Notes = []*fault.Error{fault.New("sandbox.note_metadata")}
	warned := func(list []*fault.Error) {
		t.Helper()
		for _, f := range list {
			if f.Code == admin.WarnLevel {
				require.Equal(t, []fault.Code{sandbox.CodeNoUserNS, "sandbox.note_metadata"}, codes(f))
				return
			}
		}
		t.Fatal("no warning")
	}
	shown := false
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true, Present: func(v service.View) {
		shown = true
		warned(v.Warnings)
	}})
	require.NoError(t, err)
	require.True(t, shown)
	eff, err := w.load()
	require.NoError(t, err)
	warned(eff.Warnings)
	w.report.Level = sandbox.L2
	eff, err = w.load()
	require.NoError(t, err)
	for _, f := range eff.Warnings {
		require.NotEqual(t, admin.WarnLevel, f.Code)
	}
}

// CLI-02: what the sandbox of a system leaves open at its best level is told too.
func TestNotes_AreWarnedOf(t *testing.T) {
	w := newWorld(t)
	w.apply()
	w.report.Level = sandbox.L3
	w.report.Notes = []*fault.Error{fault.New("sandbox.note_resolver")}
	eff, err := w.load()
	require.NoError(t, err)
	var told []fault.Code
	for _, f := range eff.Warnings {
		if f.Code == admin.WarnNotes {
			told = codes(f)
		}
	}
	require.Equal(t, []fault.Code{"sandbox.note_resolver"}, told)
}
