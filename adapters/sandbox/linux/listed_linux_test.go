package linux

import (
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// loopbackNames resolves every name to this machine: the guard must refuse that (NET-03).
type loopbackNames struct{}

func (loopbackNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("::1")}, nil
}

// NET-02, NET-03, AT-10, AT-11, SEC-INV-06: a list opens what it lists and nothing else.
func TestSandbox_HoldsAttacksWithAList(t *testing.T) {
	box := New(Options{Resolver: loopbackNames{}})
	defer func() { require.NoError(t, box.Close()) }()
	rows := listedAttacks()
	for _, mode := range []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted} {
		t.Run(string(mode), func(t *testing.T) {
			a := newArena(t)
			listed, err := net.Listen("tcp4", "127.0.0.1:0")
			require.NoError(t, err)
			defer func() { _ = listed.Close() }()
			go func() {
				for {
					c, err := listed.Accept()
					if err != nil {
						return
					}
					_ = c.Close()
				}
			}()
			port := listed.Addr().(*net.TCPAddr).Port
			free, err := net.Listen("tcp4", "127.0.0.1:0")
			require.NoError(t, err)
			knock := free.Addr().String()
			require.NoError(t, free.Close())
			_, door, _ := net.SplitHostPort(knock)
			spec := a.spec(t)
			spec.Network = sandbox.Network{Mode: mode, Connections: 64, Bytes: 1 << 20}
			if mode == sandbox.NetworkLocal {
				spec.Network.Ports = []uint16{uint16(port)}
			} else {
				spec.Network.Hosts = []string{"corpus.example:" + strconv.Itoa(port)}
			}
			spec.Args = []string{"listed"}
			spec.Env = append(spec.Env, "LISTED="+strconv.Itoa(port), "LISTEN="+door, "SELF="+ownAddress())
			done := make(chan struct{})
			opened := 0
			go func() { // whoever answers at that port outside
				defer close(done)
				for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					if c, err := net.DialTimeout("tcp4", knock, time.Second); err == nil {
						opened++
						_ = c.Close()
					}
				}
			}()
			res, err := box.Run(context.Background(), spec)
			require.NoError(t, err)
			<-done
			require.Equal(t, sandbox.EndExited, res.End, "%s %s %s", res.Signal, lastLine(res.Stdout.Head), res.Stderr.Head)
			held := judgeRows(t, rows, res)
			assert.Zero(t, a.knocked.Load(), "nothing reaches what is not listed")
			assert.Zero(t, opened, "nobody outside reaches a program")
			for _, f := range res.Flows {
				assert.EqualValues(t, port, f.Port, "%+v", f)
				if mode == sandbox.NetworkRestricted {
					assert.NotEqual(t, sandbox.FlowConnected, f.Verdict, "a name that leads to this machine: %+v", f)
				}
			}
			t.Logf("%d of %d attempts held in mode %s, as user %d", held, len(rows), mode, os.Getuid())
		})
	}
}

// ownAddress is one of this machine's that others see, or a loopback one.
func ownAddress() string {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if ip, _, err := net.ParseCIDR(a.String()); err == nil && ip.To4() != nil && !ip.IsLoopback() && !strings.Contains(ip.String(), ":") {
			return ip.String()
		}
	}
	return "127.0.0.3"
}

// NET-02, RES-02: the listeners of a long list are the Broker's; they take nothing of the program's memory.
func TestSandbox_ALongListCostsTheProgramNothing(t *testing.T) {
	box := New(Options{NoCgroup: true})
	defer func() { require.NoError(t, box.Close()) }()
	spec := shellSpec(t, host{}.TempDir(t), "i=0; while [ $i -lt 20 ]; do sleep 0.01; i=$((i+1)); done; echo lived")
	spec.Limits.MemoryBytes = 128 << 20
	spec.Network = sandbox.Network{Mode: sandbox.NetworkLocal, Connections: 8, Bytes: 1 << 20}
	for port := range uint16(300) {
		spec.Network.Ports = append(spec.Network.Ports, 20000+port)
	}
	res, err := box.Run(context.Background(), spec)
	require.NoError(t, err)
	assert.Equal(t, sandbox.EndExited, res.End)
	assert.Equal(t, "lived\n", string(res.Stdout.Head))
}
