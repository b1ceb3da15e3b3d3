package linux

import (
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// What Broker and helper tell each other, as JSON. The helper trusts the Broker; the Broker trusts the helper as far as
// no program of the tree can reach its socket (PID 1 is not dumpable, its descriptors close on exec).

const helperName = "agent-mcp-sandbox" // argv[0] that makes a binary the helper

// setup is the first message: all that does not depend on the run.
type setup struct {
	Baseline []baseItem
	UID, GID int
	KeepDAC  bool // a root Broker's programs may do in their roots what root may
	ABI      int  // Landlock
	Arch     string
	Poll     time.Duration
}

// order is the second message, in a sealed file.
type order struct {
	Binds     []bind
	Rules     []rule
	Entry     entryOrder
	Args, Env []string
	Dir       string
	Tmp       string
	TmpExec   bool
	Processes int
	Memory    int64
	Mounts    int // descriptors that follow for binds with Passed
}

type entryOrder struct {
	Path, Name   string
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
	Pinned       bool
	Script       bool // starts with #!
	ByPath       bool // a script that nothing inside can change: the interpreter may open it by its real name
}

type kind string

const (
	kindReady   kind = "ready"
	kindStarted kind = "started"
	kindFailed  kind = "failed"
	kindDone    kind = "done"
)

// reply is every message of the helper.
type reply struct {
	Kind   kind
	Step   string // failed: where
	Code   fault.Code
	Args   map[string]string
	Exit   int
	Signal int
	OOM    bool
}

func (r reply) fault() *fault.Error {
	f := fault.New(r.Code)
	f.Args = fault.Args{}
	for k, v := range r.Args {
		f.Args[k] = v
	}
	return f
}
