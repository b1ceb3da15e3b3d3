package windows

import (
	"fmt"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// objectID finds a file again wherever it is moved on its volume.
type objectID struct {
	Volume uint64
	File   string // 128 bits in hex
}

// place is one file or directory.
type place struct {
	Path string
	ID   objectID
	Dir  bool
}

// call is one thing to do, as plain data; perform.go does it. String is the line that golden tests compare.
type call interface{ fmt.Stringer }

// grant adds entries to an object and hands them down to what exists below. Handed is what the object itself inherits of
// the profile's; anything else of the profile's that came from above is debris and goes.
type grant struct {
	Place  place
	Who    sid
	Aces   []ace
	Handed []ace
	Spread bool     // to what exists below
	Roots  []string // below, whose own entries are judged with them
}

// revoke takes exactly these entries out, and with them what they handed down.
type revoke struct {
	Place place
	Who   sid
	Aces  []ace
}

// seal cuts an object off from what it inherits, so that it keeps what it has and gets Aces alone.
type seal struct {
	Place  place
	Who    sid
	Turned []ace // what was inherited before, as it stands in the list afterwards
	Aces   []ace
}

type unseal struct {
	Place  place
	Who    sid
	Turned []ace
	Aces   []ace
}

// pin holds an object open, so that nobody can rename or remove it meanwhile.
type pin struct{ Place place }

// makeDir makes a directory with a list of its own; it must not exist.
type makeDir struct {
	Path string
	List dacl
}

type removeTree struct{ Path string }

// addFilters opens a dynamic session and adds all filters in one transaction. The session ends with the process.
type addFilters struct {
	Layer   guid // of ours: the sublayer
	Filters []filter
}

type dropFilters struct {
	Layer guid
	Keys  []guid
}

// exempt puts the profile on the machine's list of those that may use the loopback. Others on it stay.
type exempt struct{ Who sid }

type unexempt struct{ Who sid }

// emptyProfile removes what programs have left in the profile's own directory and registry key. Profile stays.
type emptyProfile struct{ Profile string }

func (p place) String() string {
	kind := "file"
	if p.Dir {
		kind = "dir"
	}
	return fmt.Sprintf("%s %s %x:%s", kind, p.Path, p.ID.Volume, strings.TrimLeft(p.ID.File, "0"))
}

func list(aces []ace) string {
	if len(aces) == 0 {
		return "-"
	}
	var b strings.Builder
	for _, a := range aces {
		b.WriteString(a.String())
	}
	return b.String()
}

func (c grant) String() string {
	verb := "acl.grant"
	if c.Spread {
		verb = "acl.grant-tree"
	}
	return fmt.Sprintf("%s %s add %s inherited %s", verb, c.Place, list(c.Aces), list(c.Handed))
}
func (c revoke) String() string { return fmt.Sprintf("acl.revoke %s %s", c.Place, list(c.Aces)) }

func (c seal) String() string {
	return fmt.Sprintf("acl.seal %s keep %s add %s", c.Place, list(c.Turned), list(c.Aces))
}

func (c unseal) String() string {
	return fmt.Sprintf("acl.unseal %s inherit %s drop %s", c.Place, list(c.Turned), list(c.Aces))
}
func (c pin) String() string     { return fmt.Sprintf("file.pin %s", c.Place) }
func (c makeDir) String() string { return fmt.Sprintf("dir.make %s %s", c.Path, list(c.List.Aces)) }

func (c removeTree) String() string { return "dir.remove " + c.Path }

func (c addFilters) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "wfp.begin dynamic %s", c.Layer)
	for _, f := range c.Filters {
		b.WriteString("\n    " + f.String())
	}
	b.WriteString("\n    wfp.commit")
	return b.String()
}

func (c dropFilters) String() string {
	return fmt.Sprintf("wfp.delete %s %d filters", c.Layer, len(c.Keys))
}
func (c exempt) String() string       { return "loopback.exempt " + string(c.Who) }
func (c unexempt) String() string     { return "loopback.revoke " + string(c.Who) }
func (c emptyProfile) String() string { return "profile.empty " + c.Profile }

// step is one call with the record that must be durable before it. Without a record there is nothing that outlives the
// process.
type step struct {
	Record *record
	Do     call
}

// record is what the journal keeps of a step.
type record struct {
	Kind   journal.Kind
	Path   string
	Detail string
}

func (s step) String() string {
	if s.Record == nil {
		return s.Do.String()
	}
	return fmt.Sprintf("journal %s %s %s\n  %s", s.Record.Kind, s.Record.Path, s.Record.Detail, s.Do)
}
