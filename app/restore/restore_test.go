package restore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	instancemem "github.com/agent-mcp/agent-mcp/adapters/instance/mem"
	journalmem "github.com/agent-mcp/agent-mcp/adapters/journal/mem"
	ledgermem "github.com/agent-mcp/agent-mcp/adapters/ledger/mem"
	"github.com/agent-mcp/agent-mcp/app/auditor"
	"github.com/agent-mcp/agent-mcp/app/restore"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// undoer remembers what it removed and fails the paths it is told to.
type undoer struct {
	gone []string
	fail map[string]bool
}

func (u *undoer) Undo(_ context.Context, r journal.Resource) error {
	if u.fail[r.Path] {
		return fault.New(journal.CodeUndoFailed, "path", r.Path, "detail", "test")
	}
	u.gone = append(u.gone, r.Path)
	return nil
}

func crashed(t *testing.T, reg instance.Registry, paths ...string) {
	t.Helper()
	own, err := reg.Own(context.Background(), "dead-1")
	require.NoError(t, err)
	for _, p := range paths {
		require.NoError(t, own.Journal().Append(context.Background(), journal.Record{
			At: time.Unix(1, 0), Op: journal.OpOpen, Resource: journal.Resource{ID: p, Kind: journal.KindFile, Path: p},
		}))
	}
	require.NoError(t, own.Close())
}

func deps(reg instance.Registry, u *undoer) restore.Deps {
	return restore.Deps{
		Registry: reg, Undo: map[journal.Kind]journal.Undoer{journal.KindFile: u}, Clock: system.New(),
		Audit: auditor.New(ledgermem.New(), "test", ""),
	}
}

// REC-06, AT-13: what a dead instance left is undone, the youngest first, and is forgotten then.
func TestRun_UndoesWhatTheDeadLeft(t *testing.T) {
	reg := instancemem.New(func() journal.Journal { return journalmem.New() })
	crashed(t, reg, "/a", "/b")
	u := &undoer{}
	n, err := restore.Run(context.Background(), deps(reg, u))
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{"/b", "/a"}, u.gone)
	n, err = restore.Run(context.Background(), deps(reg, u))
	require.NoError(t, err)
	require.Zero(t, n)
}

// REC-07: a failure is a fault, the rest is still undone, and the next start tries only what is left.
func TestRun_FailsClosedAndTriesAgain(t *testing.T) {
	reg := instancemem.New(func() journal.Journal { return journalmem.New() })
	crashed(t, reg, "/a", "/b")
	u := &undoer{fail: map[string]bool{"/b": true}}
	_, err := restore.Run(context.Background(), deps(reg, u))
	require.Error(t, err)
	require.True(t, errors.Is(err, fault.New(instance.CodeRecovery)))
	require.Equal(t, []string{"/a"}, u.gone)
	u.fail = nil
	n, err := restore.Run(context.Background(), deps(reg, u))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{"/a", "/b"}, u.gone)
}

// REC-07: a kind that this host cannot undo stops the start.
func TestRun_RefusesWhatNobodyCanUndo(t *testing.T) {
	reg := instancemem.New(func() journal.Journal { return journalmem.New() })
	crashed(t, reg, "/a")
	d := deps(reg, &undoer{})
	d.Undo = nil
	_, err := restore.Run(context.Background(), d)
	require.Error(t, err)
}

// SEC-INV-11: what cannot be recorded is not forgotten.
func TestRun_StopsWhenTheAuditCannotBeWritten(t *testing.T) {
	reg := instancemem.New(func() journal.Journal { return journalmem.New() })
	crashed(t, reg, "/a")
	l := ledgermem.New()
	require.NoError(t, l.Close())
	d := deps(reg, &undoer{})
	d.Audit = auditor.New(l, "test", "")
	_, err := restore.Run(context.Background(), d)
	require.Error(t, err)
}
