package windows

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// What is opened for one purpose gives no more than that, and keeps out what must not happen meanwhile.
func TestAccesses(t *testing.T) {
	require.Len(t, accesses, 6)
	for to, a := range accesses {
		assert.Zero(t, a.Want&(fileWriteData|fileAppendData|fileWriteEA|maskWriteOwner|fileDeleteChild), to)
		assert.Equal(t, to == toChange || to == toWalk, a.Want&maskWriteDAC != 0, to)
		assert.Equal(t, to == toDelete, a.Want&(maskDelete|fileWriteAttr) != 0, to)
		assert.Equal(t, to == toHold || to == toRead, a.Share&shareDelete == 0, to)
		assert.Equal(t, to == toRead, a.Share&shareWrite == 0, to)
		assert.NotZero(t, a.Share&shareRead, to)
		assert.NotZero(t, a.Want&maskSynchronize, to)
	}
	assert.Zero(t, accesses[toLook].Want&fileReadData, "to look collides with nobody")
	assert.Zero(t, accesses[toChange].Want&fileReadData)
}

// NET-01..03: the filters of a run, as values.
func TestFilters(t *testing.T) {
	permits := []endpoint{{Address: netip.MustParseAddr("203.0.113.7"), Port: 443}, {Address: netip.MustParseAddr("2001:db8::7"), Port: 8443}}
	all := filters("run", pkg, permits)
	seen, blocked := map[guid]bool{}, map[guid]bool{}
	for _, f := range all {
		assert.False(t, seen[f.Key], "keys are unique")
		seen[f.Key] = true
		assert.Equal(t, pkg, f.Package, "no filter touches another program")
		_, err := parseGUID(string(f.Key))
		require.NoError(t, err)
		if !f.Permit {
			assert.Equal(t, weightBlock, f.Weight)
			assert.False(t, f.Remote.IsValid() || f.Port != 0 || f.TCP, "a block has no exception")
			blocked[f.Layer] = true
			continue
		}
		assert.Greater(t, f.Weight, weightBlock)
		assert.True(t, f.TCP && f.Port != 0 && f.Remote.IsValid())
		assert.Equal(t, f.Remote.Is6(), f.Layer == layerConnect6)
	}
	assert.Len(t, blocked, len(layerNames), "every layer is closed")
	assert.Equal(t, all, filters("run", pkg, permits))
	assert.NotEqual(t, all[0].Key, filters("other", pkg, nil)[0].Key)
	for _, g := range []guid{fieldPackage, fieldAddress, fieldPort, fieldProtocol, sublayer("run"), layerConnect4, layerConnect6, layerAccept4, layerAccept6, layerListen4, layerListen6} {
		_, err := parseGUID(string(g))
		require.NoError(t, err, g)
	}
	assert.EqualValues(t, 6, protocolTCP)
	for _, bad := range []string{"", "x", "C38D57D1-05a7-4c33-904f-7fbceee60e82", "c38d57d1-05a7-4c33-904f-7fbceee60e8", "{c38d57d1-05a7-4c33-904f-7fbceee60e82}"} {
		_, err := parseGUID(bad)
		require.Error(t, err, bad)
	}
}

// DENY-01: no capability opens COM, and the network's only where something is listed.
func TestCapabilities(t *testing.T) {
	for mode, n := range map[sandbox.NetworkMode]int{sandbox.NetworkNone: 2, sandbox.NetworkLocal: 2, sandbox.NetworkRestricted: 4} {
		c := capabilities(mode)
		assert.Len(t, c, n, mode)
		assert.NotContains(t, c, capabilitySID("lpacCom"))
		assert.Equal(t, n == 4, len(c) > 2 && c[2] == sidInternet)
	}
}

// PRC-08, RES-01: neither way out of a job is ever given.
func TestLimits(t *testing.T) {
	l := limitsOf(sandbox.Limits{Processes: 3, MemoryBytes: 5 << 20}, host{})
	assert.Zero(t, l.Flags&(jobBreakaway|jobSilentBreakaway))
	for _, f := range []uint32{jobKillOnClose, jobActiveProcess, jobMemory} {
		assert.NotZero(t, l.Flags&f)
	}
	assert.EqualValues(t, 3, l.Processes)
	assert.EqualValues(t, 5<<20, l.Memory)
	assert.EqualValues(t, 0xff, l.UI)
	for _, e := range []jobEvent{eventProcessLimit, eventEmpty, eventMemory} {
		assert.NotZero(t, e)
	}
	assert.Equal(t, rights.Read|rights.Execute, setOf(maskRead|maskRun))
	assert.Equal(t, maskAll, int(generic(0x1000_0000))&maskAll)
}
