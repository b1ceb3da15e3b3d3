package journal_test

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// list is a journal that keeps its records, or fails.
type list struct {
	records []journal.Record
	fail    error
}

func (l *list) Append(ctx context.Context, rec journal.Record) error {
	if err := errors.Join(ctx.Err(), l.fail); err != nil {
		return err
	}
	l.records = append(l.records, rec)
	return nil
}

func (l *list) Replay(context.Context) ([]journal.Record, error) { return l.records, nil }
func (l *list) Close() error                                     { return nil }

// REC-06: an open before, a close after, under one id; a cancelled Task still closes.
func TestGuard_WritesOpenAndClose(t *testing.T) {
	at, n := time.Unix(1, 0), 0
	l := &list{}
	g := journal.NewGuard(l, func() time.Time { return at }, func() string { n++; return strconv.Itoa(n) }, "task")
	ctx, cancel := context.WithCancel(t.Context())
	a, err := g.Open(ctx, journal.KindFile, "/a")
	if err != nil {
		t.Fatal(err)
	}
	b, err := g.Open(ctx, journal.KindTree, "/b")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err = g.Open(ctx, journal.KindFile, "/c"); err == nil {
		t.Error("a cancelled Task opens nothing")
	}
	if err = g.Close(ctx, a); err != nil {
		t.Error("a cancelled Task closes:", err)
	}
	want := []journal.Record{
		{At: at, Op: journal.OpOpen, Resource: journal.Resource{ID: "1", Kind: journal.KindFile, Path: "/a", Task: "task"}},
		{At: at, Op: journal.OpOpen, Resource: journal.Resource{ID: "2", Kind: journal.KindTree, Path: "/b", Task: "task"}},
		{At: at, Op: journal.OpClose, Resource: a},
	}
	if !reflect.DeepEqual(want, l.records) {
		t.Errorf("want %v, got %v", want, l.records)
	}
	if d, err := g.(journal.Detailed).OpenWith(t.Context(), journal.KindGrant, "/d", "ace"); err != nil || d.Detail != "ace" || d != l.records[3].Resource {
		t.Error("the detail is in the record:", d, err)
	}
	l.fail = errors.New("full")
	if _, err = g.Open(t.Context(), journal.KindFile, "/d"); !errors.Is(err, l.fail) {
		t.Error("not recorded, so not to be made:", err)
	}
	if err = g.Close(t.Context(), b); !errors.Is(err, l.fail) {
		t.Error(err)
	}
}
