// Package recovery reads a dead instance's journal and says what must be undone, and in which order (REC-06, REC-07,
// PRF-02). It never touches a thing itself: app hands the list to the journal.Undoer of each kind.
package recovery

import (
	"path/filepath"
	"slices"
	"strconv"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// Codes beside those of ports/journal.
const (
	CodeBadPath   fault.Code = "recovery.bad_path"   // args: path — empty, relative, not clean or a file system's root
	CodeBadRecord fault.Code = "recovery.bad_record" // args: detail — no id, or an operation nobody knows
)

// Plan returns the resources that were opened and not closed, the youngest first, so that what lies inside something is
// undone before it, and notes after all else: what they have looked for must have no process left that makes more of it.
//
//   - An id that was opened again after its close is open again, at its new place in the order.
//   - Opened twice with equal content is one resource. With other content it is two: nothing is lost.
//   - A close without an open is nothing: its open may have been in a journal that was already cleaned.
//
// It fails closed (REC-07): an unknown kind or operation, or a path that must never be removed, anywhere in the journal
// yields a fault with every reason, and no list.
func Plan(records []journal.Record) ([]journal.Resource, *fault.Error) {
	var open []journal.Resource
	var reasons []*fault.Error
	for i, rec := range records {
		if f := check(rec, i); f != nil {
			reasons = append(reasons, f)
			continue
		}
		switch res := rec.Resource; rec.Op {
		case journal.OpOpen:
			if !slices.Contains(open, res) {
				open = append(open, res)
			}
		case journal.OpClose:
			open = slices.DeleteFunc(open, func(o journal.Resource) bool { return o.ID == res.ID })
		}
	}
	if len(reasons) > 0 {
		return nil, reasons[0].With(reasons[1:]...)
	}
	slices.Reverse(open)
	slices.SortStableFunc(open, func(a, b journal.Resource) int { return last(a) - last(b) })
	return open, nil
}

// check looks at one record. A close needs only its id: its kind and path are not used.
func check(rec journal.Record, index int) *fault.Error {
	line := "record " + strconv.Itoa(index+1)
	switch {
	case rec.Op != journal.OpOpen && rec.Op != journal.OpClose:
		return fault.New(CodeBadRecord, "detail", line+": operation "+strconv.Quote(string(rec.Op)))
	case rec.Resource.ID == "":
		return fault.New(CodeBadRecord, "detail", line+": no id")
	case rec.Op == journal.OpClose:
		return nil
	case !known(rec.Resource.Kind):
		return fault.New(journal.CodeUnknown, "kind", string(rec.Resource.Kind), "path", rec.Resource.Path)
	case !removable(rec.Resource):
		return fault.New(CodeBadPath, "path", rec.Resource.Path)
	}
	return nil
}

func last(r journal.Resource) int {
	if r.Kind == journal.KindNote {
		return 1
	}
	return 0
}

func known(k journal.Kind) bool {
	switch k {
	case journal.KindFile, journal.KindTree, journal.KindSocket, journal.KindCgroup, journal.KindNote,
		journal.KindGrant, journal.KindSeal, journal.KindFirewall, journal.KindExemption, journal.KindProfile:
		return true
	}
	return false
}

// removable judges the path. Entries of ours may be taken out of any place; everything else removes what is there.
func removable(res journal.Resource) bool {
	path := res.Path
	return filepath.IsAbs(path) && filepath.Clean(path) == path && (res.Kind == journal.KindGrant || filepath.Dir(path) != path)
}
