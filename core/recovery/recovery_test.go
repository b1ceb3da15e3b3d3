package recovery_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/recovery"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

func abs(name string) string {
	p, err := filepath.Abs(string(filepath.Separator) + filepath.FromSlash(name))
	if err != nil {
		panic(err)
	}
	return p
}

func res(id string, kind journal.Kind, path string) journal.Resource {
	return journal.Resource{ID: id, Kind: kind, Path: path, Task: "t"}
}

func open(r journal.Resource) journal.Record { return journal.Record{Op: journal.OpOpen, Resource: r} }

func closed(r journal.Resource) journal.Record {
	return journal.Record{Op: journal.OpClose, Resource: r}
}

func TestPlan_UndoesWhatIsOpenYoungestFirst(t *testing.T) { // REC-06
	a, b, c := res("a", journal.KindTree, abs("tmp/a")), res("b", journal.KindFile, abs("tmp/a/b")), res("c", journal.KindSocket, abs("tmp/c"))
	b2 := res("b", journal.KindFile, abs("tmp/other"))
	for _, tt := range []struct {
		name    string
		records []journal.Record
		want    []journal.Resource
	}{
		{"nothing", nil, nil},
		{"all closed", []journal.Record{open(a), open(b), closed(b), closed(a)}, nil},
		{"reverse order", []journal.Record{open(a), open(b), open(c)}, []journal.Resource{c, b, a}},
		{"closed in the middle", []journal.Record{open(a), open(b), open(c), closed(b)}, []journal.Resource{c, a}},
		{"opened twice", []journal.Record{open(a), open(b), open(a)}, []journal.Resource{b, a}},
		{"opened again later", []journal.Record{open(a), open(b), closed(a), open(a)}, []journal.Resource{a, b}},
		{"closed twice", []journal.Record{open(a), closed(a), closed(a)}, nil},
		{"closed, never opened", []journal.Record{closed(a), open(b)}, []journal.Resource{b}},
		{"one id, two contents", []journal.Record{open(b), open(b2)}, []journal.Resource{b2, b}},
		{"one close ends both", []journal.Record{open(b), open(b2), closed(b)}, nil},
	} {
		got, f := recovery.Plan(tt.records)
		require.Nil(t, f, tt.name)
		assert.ElementsMatch(t, tt.want, got, tt.name)
		assert.True(t, slices.Equal(tt.want, got), tt.name)
	}
}

// REC-06: what Windows leaves behind is undone too; the detail tells resources apart.
func TestPlan_KeepsTheDetail(t *testing.T) {
	var recs []journal.Record
	var want []journal.Resource
	for _, kind := range []journal.Kind{journal.KindGrant, journal.KindSeal, journal.KindFirewall, journal.KindExemption, journal.KindProfile} {
		for _, detail := range []string{"", "x"} {
			r := res(string(kind)+detail, kind, abs("tmp/x"))
			r.Detail = detail
			recs, want = append(recs, open(r)), append([]journal.Resource{r}, want...)
		}
	}
	drive := res("drive", journal.KindGrant, abs("")) // an entry may stand on a drive itself
	recs, want = append(recs, open(drive)), append([]journal.Resource{drive}, want...)
	got, f := recovery.Plan(recs)
	require.Nil(t, f)
	assert.Equal(t, want, got)
}

func TestPlan_FailsClosedWithEveryReason(t *testing.T) { // REC-07
	good := open(res("a", journal.KindFile, abs("tmp/a")))
	for _, tt := range []struct {
		name string
		bad  journal.Record
		want fault.Code
	}{
		{"unknown kind", open(res("x", "acl", abs("tmp/x"))), journal.CodeUnknown},
		{"no kind", open(res("x", "", abs("tmp/x"))), journal.CodeUnknown},
		{"unknown op", journal.Record{Op: "move", Resource: good.Resource}, recovery.CodeBadRecord},
		{"no id", open(res("", journal.KindFile, abs("tmp/x"))), recovery.CodeBadRecord},
		{"no path", open(res("x", journal.KindFile, "")), recovery.CodeBadPath},
		{"relative", open(res("x", journal.KindTree, "tmp")), recovery.CodeBadPath},
		{"not clean", open(res("x", journal.KindTree, abs("tmp")+string(filepath.Separator)+"..")), recovery.CodeBadPath},
		{"the root", open(res("x", journal.KindTree, abs(""))), recovery.CodeBadPath},
		{"the root sealed", open(res("x", journal.KindSeal, abs(""))), recovery.CodeBadPath},
		{"a relative grant", open(res("x", journal.KindGrant, "tmp")), recovery.CodeBadPath},
	} {
		got, f := recovery.Plan([]journal.Record{good, tt.bad, closed(tt.bad.Resource)})
		require.NotNil(t, f, tt.name)
		assert.Equal(t, tt.want, f.Code, tt.name)
		assert.Nil(t, got, tt.name)
	}
	_, f := recovery.Plan([]journal.Record{open(res("x", "acl", abs("x"))), open(res("y", "wfp", abs("y"))), open(res("z", journal.KindFile, "z"))})
	require.NotNil(t, f)
	assert.Len(t, f.Reasons, 2)
}

// Whatever happened, what Plan lists is exactly what is open, and closing it in that order leaves nothing.
func TestPlan_ClosingThePlanLeavesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var recs []journal.Record
		model := map[string]bool{}
		for range rng.IntN(30) {
			r := res(fmt.Sprint(rng.IntN(6)), journal.KindFile, abs("tmp/f"))
			if rng.IntN(2) == 0 {
				recs, model[r.ID] = append(recs, open(r)), true
			} else {
				recs = append(recs, closed(r))
				delete(model, r.ID)
			}
		}
		got, f := recovery.Plan(recs)
		require.Nil(t, f)
		require.Len(t, got, len(model))
		for i, r := range got {
			require.True(t, model[r.ID])
			recs = append(recs, closed(r))
			rest, f := recovery.Plan(recs)
			require.Nil(t, f)
			require.True(t, slices.Equal(got[i+1:], rest))
		}
	}
}

// What looks for what processes left comes when no process is left.
func TestPlan_NotesComeLast(t *testing.T) {
	note, group, file := res("n", journal.KindNote, abs("tmp/n")), res("g", journal.KindCgroup, abs("tmp/g")), res("f", journal.KindFile, abs("tmp/f"))
	later := res("m", journal.KindNote, abs("tmp/m"))
	plan, f := recovery.Plan([]journal.Record{open(group), open(note), open(file), open(later)})
	require.Nil(t, f)
	assert.Equal(t, []journal.Resource{file, group, later, note}, plan)
}
