package linux

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// arena is what the corpus attacks: roots with different rights beside each other, a directory that is no root, and
// listeners outside.
type arena struct {
	base, all, ro, nx, nd, out string
	env                        []string
	knocked                    atomic.Int32 // connections and datagrams that reached a listener
}

func newArena(t *testing.T) *arena {
	a := &arena{base: host{}.TempDir(t)}
	for _, d := range []struct {
		to   *string
		name string
	}{{&a.all, "all"}, {&a.ro, "ro"}, {&a.nx, "nx"}, {&a.nd, "nd"}, {&a.out, "out"}} {
		p := filepath.Join(a.base, d.name)
		*d.to = p
		require.NoError(t, os.Mkdir(p, 0o755))
		for _, f := range []string{"f", "over", "secret"} {
			host{}.Write(t, filepath.Join(p, f), "original")
		}
		_ = syscall.Setxattr(filepath.Join(p, "f"), "user.kept", []byte("kept"), 0)
		require.NoError(t, os.Mkdir(filepath.Join(p, "d"), 0o755))
		host{}.Program(t, filepath.Join(p, "prog"))
		host{}.Program(t, filepath.Join(p, "prog2"))
		if b, err := os.ReadFile("/usr/bin/true"); err == nil {
			require.NoError(t, os.WriteFile(filepath.Join(p, "true"), b, 0o755))
		}
	}
	require.NoError(t, os.MkdirAll(a.all+"/kept/hooks", 0o755))
	host{}.Program(t, a.all+"/kept/hooks/pre")
	host{}.Write(t, a.all+"/kept/config", "original")
	require.NoError(t, os.Symlink(a.out+"/secret", a.all+"/owners-link"))
	require.NoError(t, os.MkdirAll(a.out+"/.ssh", 0o700))
	for _, f := range []string{".ssh/id_ed25519", ".netrc"} {
		host{}.Write(t, filepath.Join(a.out, f), "corpus-secret")
	}
	host{}.Write(t, a.out+"/.git-credentials", "https://user:corpus-secret@corpus.example\n")
	a.env = []string{
		"RO=" + a.ro, "NX=" + a.nx, "ND=" + a.nd, "OUT=" + a.out, "OWNERHOME=" + a.out, "BROKER=" + strconv.Itoa(os.Getpid()),
	}
	a.listen(t)
	return a
}

// listen opens everything a program might want to reach.
func (a *arena) listen(t *testing.T) {
	abstract := "agent-mcp-corpus-" + strconv.Itoa(os.Getpid())
	a.env = append(a.env, "ABSTRACT="+abstract)
	for _, l := range []struct{ network, address, env string }{
		{"tcp4", "127.0.0.1:0", "TCP4"}, {"tcp6", "[::1]:0", "TCP6"}, {"unix", a.all + "/agent.sock", ""}, {"unixpacket", a.all + "/packet.sock", ""}, {"unix", a.out + "/agent.sock", ""}, {"unix", "@" + abstract, ""},
	} {
		ln, err := net.Listen(l.network, l.address)
		if err != nil {
			t.Logf("no listener on %s: %v", l.address, err)
			continue
		}
		t.Cleanup(func() { _ = ln.Close() })
		if tcp, ok := ln.Addr().(*net.TCPAddr); ok {
			a.env = append(a.env, l.env+"="+strconv.Itoa(tcp.Port))
			if pc, err := net.ListenPacket(strings.Replace(l.network, "tcp", "udp", 1), tcp.String()); err == nil {
				t.Cleanup(func() { _ = pc.Close() })
				go func() {
					for b := make([]byte, 64); ; a.knocked.Add(1) {
						if _, _, err := pc.ReadFrom(b); err != nil {
							return
						}
					}
				}()
			}
		}
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				a.knocked.Add(1)
				_ = c.Close()
			}
		}()
	}
}

func (a *arena) spec(t *testing.T) sandbox.Spec {
	entry, roots := probe(t)
	entry.Name = attackName
	roots = append(roots,
		rights.Root{Path: a.all, Rights: rights.All}, rights.Root{Path: a.ro, Rights: rights.Read | rights.Execute},
		rights.Root{Path: a.nx, Rights: rights.All &^ rights.Execute}, rights.Root{Path: a.nd, Rights: rights.Read | rights.Write})
	sortRoots(roots)
	return sandbox.Spec{
		Roots: roots, Entry: entry, Dir: a.all, Env: a.env,
		Protect: []string{a.all + "/kept/config", a.all + "/kept/hooks"},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 12, MemoryBytes: 1 << 30, WallClock: 2 * time.Minute, OutputBytes: 1 << 20},
	}
}

// unharmed says what of the things that must stay is not as it was.
func (a *arena) unharmed(t *testing.T, before map[string]string) {
	assert.Equal(t, before, a.look(t), "what the attacks must not change")
	assert.Zero(t, a.knocked.Load(), "nothing reaches a listener outside")
}

// look lists what no attack may change: content, mode, times and names.
func (a *arena) look(t *testing.T) map[string]string {
	seen := map[string]string{}
	for _, d := range []string{a.ro, a.out, a.all + "/kept/hooks", a.all + "/kept/config", a.nd + "/f", a.nd + "/d", "/etc/passwd"} {
		require.NoError(t, filepath.WalkDir(d, func(path string, e os.DirEntry, err error) error {
			require.NoError(t, err)
			info, err := e.Info()
			require.NoError(t, err)
			text, _ := host{}.Read(path)
			if e.IsDir() {
				text = ""
			}
			seen[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Nlink, " ", text)
			return nil
		}))
	}
	return seen
}

// SEC-INV-01, DENY-01, PRC-08, NET-01, RES-01: code that wants out does not get out. Every row of the corpus.
func TestSandbox_HoldsAttacks(t *testing.T) {
	t.Setenv("CORPUS_TOKEN", "corpus-secret") // the Broker's own
	a := newArena(t)
	leak, err := syscall.Open(a.out+"/secret", syscall.O_RDWR, 0) // a descriptor that the Broker forgot to close on exec
	require.NoError(t, err)
	defer func() { _ = syscall.Close(leak) }()
	before := a.look(t)
	box := New(Options{})
	defer func() { require.NoError(t, box.Close()) }()
	res, err := box.Run(context.Background(), a.spec(t))
	require.NoError(t, err)
	require.Equal(t, sandbox.EndExited, res.End, "%s %s %s", res.Signal, lastLine(res.Stdout.Head), res.Stderr.Head)
	rows := tables()
	held := judgeRows(t, rows, res)
	a.unharmed(t, before)
	assert.GreaterOrEqual(t, len(rows), leastRows, "the corpus shrank")
	t.Logf("%d of %d attempts held, as user %d", held, len(rows), os.Getuid())
}

// judgeRows holds what the attacker printed against the rows, and counts those that held.
func judgeRows(t *testing.T, rows []attack, res sandbox.Result) (held int) {
	got := map[string]string{}
	for line := range strings.Lines(string(res.Stdout.Head)) {
		name, result, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		got[name] = result
	}
	names := map[string]bool{}
	for _, row := range rows {
		assert.False(t, names[row.name], "two rows are called %s", row.name)
		names[row.name] = true
		if assert.True(t, row.holds(got[row.name]), "%s %s: got %q, want %q", row.req, row.name, got[row.name], row.want) {
			held++
		}
	}
	return held
}

func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}

func sortRoots(roots []rights.Root) {
	slices.SortFunc(roots, func(a, b rights.Root) int { return strings.Compare(a.Path, b.Path) })
}
