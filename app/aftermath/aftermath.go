// Package aftermath sweeps after runs that nobody saw end (REC-06, DENY-01, SEC-INV-13): before a process starts, what only the
// Broker's memory knows - which hooks and settings the owner's repositories did not have, and how the tree looked - is written
// down as a Note; when the Broker is killed, the next start reads it, puts aside and names what the run left, as is done after
// an ordinary run, and only then forgets it.
//
// It never looks at a root that is not there or is another directory by now (it says so), and never decides what is obeyed:
// app/gitguard and app/lookout do.
package aftermath

import (
	"bytes"
	"encoding/gob"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/app/lookout"
	"github.com/agent-mcp/agent-mcp/core/audit"
)

// Note is what a sweep has to know.
type Note struct {
	Ref    audit.Ref
	Roots  []Root   // where programs may write
	Absent []string // see gitguard.Guard.Absent
	Watch  lookout.State
}

// Root is one directory, and which one it was: its number in its file system.
type Root struct {
	Path string
	File uint64
}

// end closes a whole Note: one that was cut short is of a run that was never started.
var end = []byte("\nend\n")

// Encode writes a Note. Paths may hold any bytes.
func (n Note) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(n); err != nil {
		return nil, err
	}
	b.Write(end)
	return b.Bytes(), nil
}

// Decode reads a Note; whole is false when it was never finished.
func Decode(data []byte) (n Note, whole bool, err error) {
	data, whole = bytes.CutSuffix(data, end)
	if !whole {
		return Note{}, false, nil
	}
	err = gob.NewDecoder(bytes.NewReader(data)).Decode(&n)
	return n, true, err
}

// Found is what a sweep has to tell.
type Found struct {
	Aside  []gitguard.Aside
	Obeyed []lookout.Found
	Unseen int      // directories and names that were not looked at
	Away   []string // roots that are not there any more, or are other directories
}
