package sandboxtest

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Harness is what the suite needs of an adapter.
type Harness struct {
	// New makes the adapter; the suite closes it.
	New func(t testing.TB) sandbox.Sandbox
	// Entry is the probe without a hash; EntryRoots let it start.
	Entry      sandbox.Entry
	EntryRoots []rights.Root
	Host       Host
	// Real: programs really run, so that processes, memory, time and signals exist.
	Real bool
	// Network is the host's network. Nil only for an adapter whose report lists no network mode: the network part of the
	// suite runs for each listed mode. Adapters that connect through a resolver and a dialer use an Internet.
	Network Network
	// Suffix ends the names of programs where the system goes by them: ".exe".
	Suffix string
	// Cannot names what the adapter does not give at the level it is tested at; it must deny it instead.
	Cannot []Gap
}

// Network is the world that network local and restricted lead to. Echo servers send back what they get and end when their
// client ends.
type Network interface {
	// Echo starts an echo server at a free port of this machine's loopback, for IPv4 and, when the host has it, IPv6.
	Echo(t testing.TB) (port uint16, v6 bool)
	// Free is a loopback port at which nobody listens.
	Free(t testing.TB) uint16
	// Name makes a name lead to addresses, from the adapter's next look-up on.
	Name(name string, addresses ...netip.Addr)
	// Outside makes an echo server answer at an address that is not this machine's. Other addresses do not answer.
	Outside(t testing.TB, at netip.AddrPort)
	// Dialed lists what the adapter has connected to, or tried to, except on the loopback.
	Dialed() []netip.AddrPort
}

// Gap is something that an adapter denies at some level though the Spec gives it.
type Gap string

// Gaps. In each the suite expects "denied" where it would expect "ok": less than was given, never more. GapFlows is the
// exception: an adapter that has it must tell it in its report's Notes.
const (
	GapAttributes      Gap = "attributes"       // chmod in a root with write
	GapFlows           Gap = "flows"            // connections are neither counted nor reported, and have no caps
	GapLoopback        Gap = "loopback"         // the tree's own loopback
	GapBesideProtected Gap = "beside protected" // making, renaming and removing in the directories on the way to a protected path
)

func (s *suite) cannot(g Gap) bool { return slices.Contains(s.Cannot, g) }

// Host is the world outside the sandbox, where the suite makes files and looks at them afterwards.
type Host interface {
	TempDir(t testing.TB) string // canonical, writable, removed at the end
	Mkdir(t testing.TB, path string)
	Write(t testing.TB, path, content string)
	Program(t testing.TB, path string) // a program that ends with exit code 0
	Read(path string) (content string, ok bool)
	SHA256(t testing.TB, path string) string
}

type suite struct {
	Harness
	box sandbox.Sandbox
}

// Run runs the whole suite.
func Run(t *testing.T, h Harness) {
	s := &suite{Harness: h, box: h.New(t)}
	t.Cleanup(func() { require.NoError(t, s.box.Close()) })
	t.Run("preflight", s.preflight)
	t.Run("spec", s.specs)
	t.Run("rights", s.rights)
	t.Run("nested", s.nested)
	t.Run("protect", s.protect)
	t.Run("entry", s.entry)
	t.Run("streams", s.streams)
	t.Run("environment", s.environment)
	t.Run("network", s.network)
	t.Run("network_local", s.networkLocal)
	t.Run("network_restricted", s.networkRestricted)
	t.Run("require", s.require)
	t.Run("close", s.close)
	if h.Real {
		t.Run("limits", s.limits)
		t.Run("ending", s.ending)
		t.Run("descendants", s.descendants)
		t.Run("nothing_survives", s.nothingSurvives)
	}
}

// spec is a valid Spec whose one workspace root has the given rights and which runs the verbs.
func (s *suite) spec(root string, set rights.Set, verbs ...string) sandbox.Spec {
	return sandbox.Spec{
		ID: "test", Roots: s.roots(rights.Root{Path: root, Rights: set}), Entry: s.Entry, Args: verbs, Dir: root,
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 1 << 30, WallClock: time.Minute, OutputBytes: 64 << 10},
	}
}

// roots adds the probe's roots and sorts.
func (s *suite) roots(more ...rights.Root) []rights.Root {
	all := slices.Concat(more, s.EntryRoots)
	for i := range all {
		for j := i; j > 0 && all[j].Path < all[j-1].Path; j-- {
			all[j], all[j-1] = all[j-1], all[j]
		}
	}
	return all
}

// run runs a Spec that must start, exit with code 0, and report each verb.
func (s *suite) run(t testing.TB, spec sandbox.Spec) map[string]string {
	t.Helper()
	res, err := s.box.Run(context.Background(), spec)
	require.NoError(t, err)
	require.Equal(t, sandbox.EndExited, res.End, "stderr: %s", res.Stderr.Head)
	require.Zero(t, res.ExitCode, "stderr: %s", res.Stderr.Head)
	require.True(t, res.Started)
	return outcomes(res)
}

func outcomes(res sandbox.Result) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(string(res.Stdout.Head)) {
		if verb, result, ok := strings.Cut(strings.TrimSuffix(line, "\n"), arrow); ok {
			out[verb] = result
		}
	}
	return out
}

// program is the path of a program of that name.
func (s *suite) program(dir, name string) string { return filepath.Join(dir, name+s.Suffix) }

// refused runs a Spec that must not start and returns the fault's codes: the first, then its reasons.
func (s *suite) refused(t testing.TB, spec sandbox.Spec) []fault.Code {
	t.Helper()
	res, err := s.box.Run(context.Background(), spec)
	require.Error(t, err)
	require.False(t, res.Started)
	f := fault.From(err)
	codes := []fault.Code{f.Code}
	for _, r := range f.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}
