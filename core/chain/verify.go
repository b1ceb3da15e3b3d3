package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Codes of a broken chain. Line numbers count from 1 in what was given to the Verifier.
const (
	CodeBroken  fault.Code = "chain.broken"  // args: line — not a line of a chain at all
	CodeEdited  fault.Code = "chain.edited"  // args: line — its hash does not fit its content
	CodeOrder   fault.Code = "chain.order"   // args: line, want, got — moved, removed or added: not the next sequence number
	CodeLink    fault.Code = "chain.link"    // args: line — the right number, but it follows another line than the one before
	CodeGenesis fault.Code = "chain.genesis" // args: line — the first line is not the start of the chain it names
	CodeHead    fault.Code = "chain.head"    // args: count — the first lines are missing
	CodeTail    fault.Code = "chain.tail"    // args: want, got — it ends before the head that was kept elsewhere
)

// Report is what a Verifier found.
type Report struct {
	Genesis Genesis      // of the first line, when it is there
	Lines   int          // good lines
	First   uint64       // sequence number of the first line, 0 = no line
	Head    Head         // of the last good line
	Pruned  uint64       // lines missing before the first: rotated away, or cut off
	Torn    bool         // the last line is the beginning of a line that was never finished
	Fault   *fault.Error // the first thing that is wrong, nil = nothing
}

// Whole reports whether every line from the genesis on is there and good.
func (r Report) Whole() bool { return r.Fault == nil && !r.Torn && r.Pruned == 0 }

// Verifier checks lines one after the other, with memory for one line only. The zero value is ready.
type Verifier struct {
	report  Report
	pending bool // the last line given was no line; it is torn unless another one follows
	given   int
}

// Line checks the next line (no newline). It keeps nothing of it.
func (v *Verifier) Line(line []byte) {
	v.given++
	if v.report.Fault != nil {
		return
	}
	if v.pending {
		v.fail(fault.New(CodeBroken, "line", v.given-1))
		return
	}
	p, ok := parse(line)
	if !ok {
		if couldBeTorn(line) {
			v.pending = true
		} else {
			v.fail(fault.New(CodeBroken, "line", v.given))
		}
		return
	}
	if f := v.check(p); f != nil {
		v.fail(f)
		return
	}
	v.report.Lines++
	v.report.Head = Head{Seq: p.seq, Hash: p.hash}
}

func (v *Verifier) fail(f *fault.Error) { v.report.Fault, v.pending = f, false }

func (v *Verifier) check(p parsed) *fault.Error {
	first := v.report.Lines == 0
	switch {
	case !p.intact:
		return fault.New(CodeEdited, "line", v.given)
	case (p.seq == 1) != (p.genesis != nil) || p.seq == 0:
		return fault.New(CodeGenesis, "line", v.given)
	case !first && p.seq != v.report.Head.Seq+1:
		return fault.New(CodeOrder, "line", v.given, "want", v.report.Head.Seq+1, "got", p.seq)
	case !first && p.prev != v.report.Head.Hash:
		return fault.New(CodeLink, "line", v.given)
	case p.genesis != nil && p.prev != Begin(*p.genesis).Hash:
		return fault.New(CodeGenesis, "line", v.given)
	}
	if first {
		v.report.First, v.report.Pruned = p.seq, p.seq-1
		if p.genesis != nil {
			v.report.Genesis = *p.genesis
		}
	}
	return nil
}

// Report tells what was found so far.
func (v *Verifier) Report() Report {
	r := v.report
	r.Torn = v.pending
	return r
}

// Strict turns what a Report only mentions into faults: missing first lines (CodeHead), a torn tail (CodeBroken) and, when
// kept is not the zero Head, an end before or beside it (CodeTail).
func (r Report) Strict(kept Head) *fault.Error {
	switch {
	case r.Fault != nil:
		return r.Fault
	case r.Pruned > 0:
		return fault.New(CodeHead, "count", r.Pruned)
	case r.Torn:
		return fault.New(CodeBroken, "line", r.Lines+1)
	case kept.Seq > r.Head.Seq || kept.Seq == r.Head.Seq && kept.Hash != "" && kept.Hash != r.Head.Hash:
		return fault.New(CodeTail, "want", kept.Seq, "got", r.Head.Seq)
	}
	return nil
}

type parsed struct {
	seq        uint64
	prev, hash string
	genesis    *Genesis
	intact     bool // canonical bytes and a hash that fits
}

// parse reads a line; ok is false when it has not the form of one.
func parse(line []byte) (p parsed, ok bool) {
	v, err := canon.Parse(line)
	object, isMap := v.(map[string]any)
	if err != nil || !isMap {
		return p, false
	}
	seq, _ := object[keySeq].(json.Number)
	p.prev, _ = object[keyPrev].(string)
	p.hash, _ = object[keyHash].(string)
	if p.seq, err = strconv.ParseUint(string(seq), 10, 64); err != nil || p.hash == "" {
		return p, false
	}
	if g, has := object[keyGenesis]; has {
		if p.genesis, ok = genesisOf(g); !ok {
			return p, false
		}
	}
	again, err := canon.Append(nil, object)
	if err != nil {
		return p, false
	}
	delete(object, keyHash)
	body, err := canon.Append(nil, object)
	p.intact = err == nil && bytes.Equal(again, line) && digest(body) == p.hash
	return p, true
}

func genesisOf(v any) (*Genesis, bool) {
	m, _ := v.(map[string]any)
	domain, a := m["domain"].(string)
	name, b := m["name"].(string)
	previous, c := m["previous"].(string)
	return &Genesis{Domain: domain, Name: name, Previous: previous}, a && b && c && len(m) == 3
}

// couldBeTorn tells an unfinished line from a damaged one: it is the beginning of a JSON text, or the operating system had
// not yet filled it.
func couldBeTorn(line []byte) bool {
	if len(bytes.Trim(line, "\x00")) == 0 {
		return true
	}
	_, err := canon.Parse(line)
	return line[0] == '{' && errors.Is(err, io.ErrUnexpectedEOF)
}
