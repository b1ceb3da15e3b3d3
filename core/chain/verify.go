package chain

import (
	"bytes"
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

	reader canon.Reader
	again  []byte
}

// maxDepth bounds nesting of a line.
const maxDepth = 200

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
	p, ok := v.parse(line)
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
func (v *Verifier) parse(line []byte) (p parsed, ok bool) {
	d, err := v.reader.Read(line, canon.Limits{Bytes: len(line), Depth: maxDepth, Nodes: len(line)})
	if err != nil || d.Model() != nil {
		return p, false
	}
	seq, has := text(d, canon.Root, keySeq, canon.Number)
	if !has {
		return p, false
	}
	p.prev, _ = text(d, canon.Root, keyPrev, canon.String)
	p.hash, _ = text(d, canon.Root, keyHash, canon.String)
	if p.seq, err = strconv.ParseUint(seq, 10, 64); err != nil || p.hash == "" {
		return p, false
	}
	if g, has := d.Member(canon.Root, keyGenesis); has {
		if p.genesis, ok = genesisOf(d, g); !ok {
			return p, false
		}
	}
	if v.again, err = d.Append(v.again[:0]); err != nil {
		return p, false
	}
	intact := bytes.Equal(v.again, line)
	v.again, err = d.AppendWithout(v.again[:0], keyHash)
	p.intact = err == nil && intact && digest(v.again) == p.hash
	return p, true
}

// text of a member that is of this kind.
func text(d *canon.Doc, n int, name string, kind canon.Kind) (string, bool) {
	m, ok := d.Member(n, name)
	if !ok || d.Kind(m) != kind {
		return "", false
	}
	return string(d.Text(m)), true
}

func genesisOf(d *canon.Doc, n int) (*Genesis, bool) {
	domain, a := text(d, n, "domain", canon.String)
	name, b := text(d, n, "name", canon.String)
	previous, c := text(d, n, "previous", canon.String)
	return &Genesis{Domain: domain, Name: name, Previous: previous}, a && b && c && d.Len(n) == 3
}

// couldBeTorn tells an unfinished line from a damaged one: it is the beginning of a JSON text, or the operating system had
// not yet filled it.
func couldBeTorn(line []byte) bool {
	if len(bytes.Trim(line, "\x00")) == 0 {
		return true
	}
	_, err := canon.Read(line, canon.Limits{Bytes: len(line), Depth: maxDepth, Nodes: len(line)})
	return line[0] == '{' && errors.Is(err, io.ErrUnexpectedEOF)
}
