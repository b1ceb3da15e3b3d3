package linux

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// swap changes, from outside and again and again, what a pinned path leads to. Good programs print good; evil ones leave a
// file named evil.
type swap struct {
	name, req string
	turn      func(dir string, evil bool) // puts the evil or the good one in place; errors mean that it is tried again
	// window: content that is overwritten in place may begin to run before the change is seen; the run then fails.
	window bool
	interp bool // dir/bin/tool is a pinned interpreter of dir/ro/script
}

func place(dir string, evil bool) string {
	if evil {
		return dir + "/evil-tool"
	}
	return dir + "/good-tool"
}

func copyTo(from, to string, flags int) {
	b, err := os.ReadFile(from)
	if err != nil {
		return
	}
	f, err := os.OpenFile(to, os.O_WRONLY|flags, 0o755)
	if err != nil {
		return
	}
	_, _ = f.Write(b)
	_ = f.Close()
}

func swaps() []swap {
	byRename := func(dir string, evil bool) {
		copyTo(place(dir, evil), dir+"/bin/next", os.O_CREATE|os.O_TRUNC)
		_ = os.Rename(dir+"/bin/next", dir+"/bin/tool")
	}
	inPlace := func(dir string, evil bool) { copyTo(place(dir, evil), dir+"/bin/tool", os.O_TRUNC) }
	ancestor := func(dir string, evil bool) {
		copyTo(place(dir, evil), dir+"/other/tool", os.O_CREATE|os.O_TRUNC)
		_, _, _ = os.Rename(dir+"/bin", dir+"/gone"), os.Rename(dir+"/other", dir+"/bin"), os.Rename(dir+"/gone", dir+"/other")
	}
	exchanged := func(dir string, evil bool) { _ = renameat2(dir+"/bin/tool", dir+"/evil-tool", exchange) }
	link := func(dir string, evil bool) {
		_ = os.Symlink(place(dir, evil), dir+"/bin/next")
		_ = os.Rename(dir+"/bin/next", dir+"/bin/tool")
		if !evil {
			byRename(dir, false)
		}
	}
	return []swap{
		{name: "binary renamed over", req: "PRC-02", turn: byRename},
		{name: "binary exchanged", req: "PRC-02", turn: exchanged},
		{name: "binary overwritten", req: "PRC-02", turn: inPlace, window: true},
		{name: "ancestor of a binary renamed", req: "PRC-02", turn: ancestor},
		{name: "binary made a symlink", req: "FS-03", turn: link},
		{name: "interpreter renamed over", req: "PRC-02", turn: byRename, interp: true, window: true},
		{name: "interpreter exchanged", req: "PRC-02", turn: exchanged, interp: true, window: true},
		{name: "interpreter overwritten", req: "PRC-02", turn: inPlace, interp: true, window: true},
		{name: "interpreter's ancestor renamed", req: "PRC-02", turn: ancestor, interp: true, window: true},
	}
}

// prepare makes the good and the evil program, and the Spec of the good one.
func (s swap) prepare(t *testing.T) (dir string, spec sandbox.Spec) {
	dir = host{}.TempDir(t)
	for _, d := range []string{"bin", "other", "ro", "work"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	good, evil := "/bin/echo", "/usr/bin/touch" // echo evil; touch evil
	if s.interp {
		good = "/bin/sh"
	}
	copyTo(good, dir+"/good-tool", os.O_CREATE)
	copyTo(evil, dir+"/evil-tool", os.O_CREATE)
	copyTo(dir+"/good-tool", dir+"/bin/tool", os.O_CREATE)
	copyTo(dir+"/good-tool", dir+"/other/tool", os.O_CREATE)
	spec = shellSpec(t, dir+"/work", "")
	spec.Args = []string{"evil"}
	spec.Entry = sandbox.Entry{Name: "tool", Path: dir + "/bin/tool", SHA256: host{}.SHA256(t, dir+"/bin/tool")}
	if s.interp {
		require.NoError(t, os.WriteFile(dir+"/ro/script", []byte("#!"+dir+"/bin/tool\necho \"$1\"\n"), 0o755))
		spec.Entry = sandbox.Entry{
			Name: "script", Path: dir + "/ro/script", SHA256: host{}.SHA256(t, dir+"/ro/script"),
			Interpreters: []sandbox.Image{{Path: spec.Entry.Path, SHA256: spec.Entry.SHA256}},
		}
	}
	spec.Roots = append(spec.Roots, rights.Root{Path: dir + "/bin", Rights: rights.Read | rights.Execute}, rights.Root{Path: dir + "/ro", Rights: rights.Read | rights.Execute})
	sortRoots(spec.Roots)
	return dir, spec
}

// A script by its own name is read by its interpreter later, see ByPath: it is not among these.
// PRC-01, PRC-02, FS-03, AT-22: whatever is done to a pinned path between the hash and the start, nothing else runs to an
// answer.
func TestSandbox_HoldsSwaps(t *testing.T) {
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	for _, s := range swaps() {
		t.Run(s.name, func(t *testing.T) {
			dir, spec := s.prepare(t)
			stop, done := make(chan struct{}), sync.WaitGroup{}
			done.Add(1)
			go func() {
				defer done.Done()
				for evil := true; ; evil = !evil {
					select {
					case <-stop:
						return
					default:
						s.turn(dir, evil)
						if !evil {
							time.Sleep(8 * time.Millisecond) // long enough to be hashed
						}
					}
				}
			}()
			ran, refused := 0, 0
			for range 12 {
				res, err := box.Run(context.Background(), spec)
				marker := os.Remove(dir+"/work/evil") == nil
				if err != nil {
					assert.Contains(t, []fault.Code{sandbox.CodeEntryChanged, sandbox.CodeEntryMissing, sandbox.CodeEntryFailed, sandbox.CodeRootChanged}, fault.CodeOf(err))
					assert.False(t, marker && !s.window, "the other file ran: %v", err)
					refused++
					continue
				}
				if res.ExitCode == 0 {
					assert.Equal(t, "evil\n", string(res.Stdout.Head), "%s", res.Stderr.Head) // as echo says it
				}
				assert.False(t, marker, "the other file ran to an answer")
				ran++
			}
			close(stop)
			done.Wait()
			t.Logf("%s %s: ran %d, refused %d", s.req, s.name, ran, refused)
		})
	}
}
