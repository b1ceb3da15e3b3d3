package linux

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
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
	Level    sandbox.Level // L1 shares the host's namespaces, see shared.go
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
	Scratch   string // level 1: the directory of this run, see scratch_linux.go
	Processes int
	Memory    int64
	Network   networkOrder
	Mounts    int  // descriptors that follow for binds with Passed
	Cgroup    bool // the kernel bounds memory: the helper need not look
}

// marshal writes the order as JSON, which knows no strings but UTF-8: in a path or an argument each byte goes as the
// character of its number.
func (o order) marshal() ([]byte, error) { return json.Marshal(o.mapped(widen)) }

func (o *order) unmarshal(text []byte) error {
	var got order
	if err := json.Unmarshal(text, &got); err != nil {
		return err
	}
	*o = got.mapped(narrow)
	return nil
}

// mapped is a copy with every string that comes from outside passed through f.
func (o order) mapped(f func(string) string) order {
	all := func(in []string) []string {
		out := make([]string, len(in))
		for i, s := range in {
			out[i] = f(s)
		}
		return out
	}
	o.Args, o.Env, o.Dir, o.Tmp = all(o.Args), all(o.Env), f(o.Dir), f(o.Tmp)
	o.Scratch = f(o.Scratch)
	o.Entry.Path, o.Entry.Name = f(o.Entry.Path), f(o.Entry.Name)
	o.Binds, o.Rules = slices.Clone(o.Binds), slices.Clone(o.Rules)
	o.Entry.Interpreters = slices.Clone(o.Entry.Interpreters)
	for i := range o.Entry.Interpreters {
		o.Entry.Interpreters[i].Path = f(o.Entry.Interpreters[i].Path)
	}
	for i := range o.Binds {
		o.Binds[i].Path = f(o.Binds[i].Path)
	}
	for i := range o.Rules {
		o.Rules[i].Path = f(o.Rules[i].Path)
	}
	return o
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func widen(s string) string {
	if ascii(s) {
		return s
	}
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return string(out)
}

func narrow(s string) string {
	if ascii(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return string(out)
}

type entryOrder struct {
	Path, Name   string
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
	Pinned       bool
	Script       bool // starts with #!
	Interpreters []pin
	Content      []byte // of a pinned script that is opened by its name
	ByPath       bool   // a script that nothing inside can change: the interpreter may open it by its real name
}

type kind string

const (
	kindReady     kind = "ready"
	kindListening kind = "listening" // with the descriptors of listeners
	kindStarted   kind = "started"
	kindFailed    kind = "failed"
	kindDone      kind = "done"
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

	Listeners []int            // listening: the endpoint of each descriptor
	Denials   []sandbox.Denial // done
}

func (r reply) fault() *fault.Error {
	f := fault.New(r.Code)
	f.Args = fault.Args{}
	for k, v := range r.Args {
		f.Args[k] = v
	}
	return f
}

// pin names one file as the Broker hashed it: an interpreter of the entry.
type pin struct {
	Path         string
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64
}
