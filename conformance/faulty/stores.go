package faulty

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/ledger"
	"github.com/agent-mcp/agent-mcp/ports/snapshot"
	"github.com/agent-mcp/agent-mcp/ports/turn"
)

// Journal wraps a journal; calls "journal.append", "journal.replay".
func Journal(inner journal.Journal, s *Script) journal.Journal { return faultyJournal{inner, s} }

type faultyJournal struct {
	journal.Journal
	s *Script
}

func (j faultyJournal) Append(ctx context.Context, rec journal.Record) error {
	return j.s.call(ctx, "journal.append", func() error { return j.Journal.Append(ctx, rec) }, nil)
}

func (j faultyJournal) Replay(ctx context.Context) (recs []journal.Record, err error) {
	err = j.s.call(ctx, "journal.replay", func() (err error) { recs, err = j.Journal.Replay(ctx); return err }, nil)
	return recs, err
}

// Undoer wraps an undoer; call "journal.undo".
func Undoer(inner journal.Undoer, s *Script) journal.Undoer { return faultyUndoer{inner, s} }

type faultyUndoer struct {
	journal.Undoer
	s *Script
}

func (u faultyUndoer) Undo(ctx context.Context, res journal.Resource) error {
	return u.s.call(ctx, "journal.undo", func() error { return u.Undoer.Undo(ctx, res) }, nil)
}

// Ledger wraps a ledger; calls "ledger.append" (Short: half of the line is stored), "ledger.lines".
func Ledger(inner ledger.Ledger, s *Script) ledger.Ledger { return faultyLedger{inner, s} }

type faultyLedger struct {
	ledger.Ledger
	s *Script
}

func (l faultyLedger) Append(ctx context.Context, line []byte) error {
	return l.s.call(ctx, "ledger.append",
		func() error { return l.Ledger.Append(ctx, line) },
		func() error { return l.Ledger.Append(ctx, line[:(len(line)+1)/2]) })
}

func (l faultyLedger) Lines(ctx context.Context, fn func([]byte) bool) error {
	return l.s.call(ctx, "ledger.lines", func() error { return l.Ledger.Lines(ctx, fn) }, nil)
}

// Snapshots wraps a snapshot store; calls "snapshot.load", "snapshot.save".
func Snapshots(inner snapshot.Store, s *Script) snapshot.Store { return faultyStore{inner, s} }

type faultyStore struct {
	snapshot.Store
	s *Script
}

func (f faultyStore) Load(ctx context.Context, id string) (data []byte, err error) {
	err = f.s.call(ctx, "snapshot.load", func() (err error) { data, err = f.Store.Load(ctx, id); return err }, nil)
	return data, err
}

func (f faultyStore) Save(ctx context.Context, id string, data []byte) error {
	return f.s.call(ctx, "snapshot.save", func() error { return f.Store.Save(ctx, id, data) }, nil)
}

// Turn wraps a turn; call "turn.acquire". A turn that was taken but not reported is given back.
func Turn(inner turn.Turn, s *Script) turn.Turn { return faultyTurn{inner, s} }

type faultyTurn struct {
	turn.Turn
	s *Script
}

func (f faultyTurn) Acquire(ctx context.Context, me turn.Holder, onWait func(turn.Holder)) (release func(), err error) {
	err = f.s.call(ctx, "turn.acquire", func() (err error) { release, err = f.Turn.Acquire(ctx, me, onWait); return err }, nil)
	if err != nil && release != nil {
		release()
		release = nil
	}
	return release, err
}
