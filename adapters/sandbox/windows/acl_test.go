package windows

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// The identifiers that all plans are made with are those the system derives: these are on public record.
func TestSID_DerivesAsWindowsDoes(t *testing.T) {
	assert.EqualValues(t, "S-1-15-2-466767348-3739614953-2700836392-1801644223-4227750657-1087833535-2488631167", packageSID("Microsoft.WindowsCalculator_8wekyb3d8bbwe"))
	assert.EqualValues(t, "S-1-15-3-1024-1065365936-1281604716-3511738428-1654721687-432734479-3232135806-4053264122-3456934681", capabilitySID("registryRead"))
	assert.NotEqual(t, profileName("S-1-5-21-1-2-3-1001"), profileName("S-1-5-21-1-2-3-1002"), "users of one machine must not share an identifier")
	assert.Regexp(t, `^[a-z0-9.-]{1,64}$`, profileName(testUser))
}

func TestSID_Binary(t *testing.T) {
	for text, want := range map[sid]string{
		"S-1-1-0":      "010100000000000100000000",
		"S-1-5-32-544": "01020000000000052000000020020000",
		"S-1-15-2-1":   "010200000000000f0200000001000000",
		"S-1-0":        "",
		"S-2-5-18":     "", "S-1-5-4294967296": "", "S-1-281474976710656-1": "", "S-1-x-1": "", "": "", sid("S-1-5" + strings.Repeat("-1", 16)): "",
	} {
		b, err := text.marshal()
		if want == "" {
			require.ErrorIs(t, err, errSID, text)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, hex.EncodeToString(b))
		back, n, err := parseSID(append(b, 7))
		require.NoError(t, err)
		assert.Equal(t, text, back)
		assert.Len(t, b, n)
	}
	for _, bad := range []string{"", "01", "0110", "020100000000000100000000", "0102000000000005200000002002"} {
		b, err := hex.DecodeString(bad)
		require.NoError(t, err)
		_, _, err = parseSID(b)
		require.ErrorIs(t, err, errSID, bad)
	}
}

// FS-00, FS-04, FS-06, FS-10: a right is its own bits, and no right deletes but delete.
func TestEntries(t *testing.T) {
	all := func(aces []ace) (m uint32) {
		for _, a := range aces {
			assert.Equal(t, aceAllow, a.Type)
			assert.Zero(t, a.Mask&(fileDeleteChild|maskWriteDAC|maskWriteOwner), a)
			m |= a.Mask
		}
		return m
	}
	for set := rights.Set(1); set <= rights.All; set++ {
		for _, dir := range []bool{true, false} {
			m := all(entries("S-1-15-2-7", set, dir))
			assert.Equal(t, set.Has(rights.Read), m&fileReadData != 0, set)
			assert.Equal(t, set.Has(rights.Write), m&(fileWriteData|fileAppendData) != 0, set)
			assert.Equal(t, set.Has(rights.Execute), m&fileExecute != 0, set)
			assert.Equal(t, set.Has(rights.Delete), m&maskDelete != 0, set)
			assert.Equal(t, set, setOf(m))
		}
	}
	here, below := granted(entries("S-1-15-2-7", rights.All, true))
	assert.Zero(t, here&maskDelete, "the root itself stays")
	assert.NotZero(t, below&maskDelete)
	way, wayBelow := granted(wayThrough("S-1-15-2-7"))
	assert.Zero(t, way&(fileReadData|fileWriteData|fileAppendData|maskDelete))
	assert.Zero(t, wayBelow)
}

func sample() dacl {
	return dacl{Revision: 2, AutoInherited: true, Owner: testUser, Aces: []ace{
		{Type: aceDeny, Mask: 1, SID: sidEveryone},
		{Type: aceAllow, Mask: maskRead, SID: testUser},
		{Type: 9, raw: "\x09\x00\x10\x00callback ace"},
		{Type: aceAllow, Flags: flagInherited | flagFiles | flagDirs, Mask: maskAll, SID: sidAdmins},
		{Type: aceAllow, Flags: flagInherited, Mask: maskRead, SID: "S-1-15-2-9-9"},
	}}
}

func TestDACL_RoundTrip(t *testing.T) {
	for _, d := range []dacl{sample(), {Null: true, Revision: 2}, {Protected: true, Revision: 2}, {Revision: 4, Aces: []ace{{Mask: 1, SID: sidEveryone}}}} {
		b, err := d.marshal()
		require.NoError(t, err)
		got, err := parseDescriptor(b)
		require.NoError(t, err)
		got.Owner = d.Owner
		assert.Equal(t, d, got)
	}
	huge := dacl{Revision: 2, Aces: slices.Repeat([]ace{{Mask: 1, SID: sidEveryone}}, 4000)}
	_, err := huge.marshal()
	require.ErrorIs(t, err, errFull)
}

// A descriptor as the system writes it, byte by byte: O:BA D:PAI(A;OICI;FA;;;SY)
func TestDACL_KnownBytes(t *testing.T) {
	b, err := hex.DecodeString("0100049414000000000000000000000024000000" + "01020000000000052000000020020000" + "02001c0001000000" + "00031400ff011f00" + "010100000000000512000000")
	require.NoError(t, err)
	d, err := parseDescriptor(b)
	require.NoError(t, err)
	assert.Equal(t, dacl{
		Protected: true, AutoInherited: true, Revision: 2, Owner: sidAdmins,
		Aces: []ace{{Flags: flagFiles | flagDirs, Mask: maskAll, SID: sidSystem}},
	}, d)
	out, err := d.marshal()
	require.NoError(t, err)
	assert.Equal(t, "0100049500000000000000000000000014000000"+"02001c0001000000"+"00031400ff011f00"+"010100000000000512000000", hex.EncodeToString(out))
}

func TestDACL_Inherit(t *testing.T) {
	const who sid = "S-1-15-2-7"
	mine := ace{Flags: flagFiles | flagDirs, Mask: maskRead, SID: who}
	d := sample()
	out, added := d.with([]ace{mine})
	assert.Equal(t, []ace{mine}, added)
	assert.Equal(t, 3, slices.Index(out.Aces, mine), "behind the explicit ones, before what was inherited")
	_, again := out.with([]ace{mine})
	assert.Empty(t, again, "converged")
	back, changed := out.without([]ace{mine})
	assert.True(t, changed)
	assert.Equal(t, d, back)

	handed := handDown([]ace{mine}, true)
	out, changed = d.inherit(who, handed)
	assert.True(t, changed)
	_, changed = out.inherit(who, handed)
	assert.False(t, changed)
	out, changed = out.inherit(who, nil)
	assert.True(t, changed)
	assert.Equal(t, d, out)
	for _, still := range []dacl{{Null: true}, {Protected: true}} {
		out, changed = still.inherit(who, handed)
		assert.False(t, changed)
		assert.Equal(t, still, out)
	}

	sealed, turned := d.sealed(who)
	assert.True(t, sealed.Protected)
	assert.Len(t, turned, 2)
	open, changed := sealed.unsealed(turned)
	assert.True(t, changed)
	assert.Equal(t, d, open)
}

// MS-DTYP 2.5.3.4.
func TestHandDown(t *testing.T) {
	for _, c := range []struct {
		flags     byte
		dir, file string
	}{
		{0, "-", "-"},
		{flagFiles | flagDirs, "OICIID", "ID"},
		{flagFiles | flagDirs | flagInheritOnly, "OICIID", "ID"},
		{flagDirs, "CIID", "-"},
		{flagFiles, "OIIOID", "ID"},
		{flagFiles | flagOnce, "-", "ID"},
		{flagInherited | flagFiles | flagDirs, "OICIID", "ID"},
	} {
		for dir, want := range map[bool]string{true: c.dir, false: c.file} {
			got := "-"
			if out := handDown([]ace{{Flags: c.flags, Mask: 1, SID: sidEveryone}}, dir); len(out) > 0 {
				got = flagWords(out[0].Flags)
			}
			assert.Equal(t, want, got, "%s dir %v", flagWords(c.flags), dir)
		}
	}
}

func FuzzDescriptor(f *testing.F) {
	b, _ := sample().marshal()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := parseDescriptor(b)
		if err != nil {
			return
		}
		out, err := d.marshal()
		if err != nil {
			return
		}
		again, err := parseDescriptor(out)
		require.NoError(t, err)
		again.Owner = d.Owner
		if d.Null {
			d.Revision = again.Revision
		}
		assert.Equal(t, d, again)
	})
}
