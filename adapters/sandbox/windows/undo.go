package windows

import (
	"context"
	"errors"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Undoer takes back what a killed Broker left on this system (REC-06, PRF-02): exactly what the record names, wherever the
// file was moved on its volume. It is idempotent.
type Undoer struct{ api api }

var _ journal.Undoer = Undoer{}

// Kinds are those that an Undoer undoes.
func (Undoer) Kinds() []journal.Kind {
	return []journal.Kind{journal.KindGrant, journal.KindSeal, journal.KindFirewall, journal.KindExemption, journal.KindProfile}
}

// Undo implements journal.Undoer for Kinds; others are journal.CodeUnknown. A record that cannot be read, and a thing that
// cannot be taken back, are journal.CodeUndoFailed.
func (u Undoer) Undo(ctx context.Context, res journal.Resource) error {
	known := false
	for _, k := range u.Kinds() {
		known = known || k == res.Kind
	}
	if !known || u.api == nil {
		return fault.New(journal.CodeUnknown, "kind", string(res.Kind), "path", res.Path)
	}
	c, err := undoOf(res.Kind, res.Path, res.Detail)
	if err == nil {
		m := &machine{api: u.api}
		_, err = m.do(ctx, c)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	}
	return fault.Wrap(err, journal.CodeUndoFailed, "path", res.Path, "detail", err.Error())
}
