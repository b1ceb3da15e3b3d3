package windows

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// sid is a security identifier as text: "S-1-5-18".
type sid string

// Well-known identifiers.
const (
	sidEveryone      sid = "S-1-1-0"
	sidSystem        sid = "S-1-5-18"
	sidAdmins        sid = "S-1-5-32-544"
	sidAllPackages   sid = "S-1-15-2-1" // ALL APPLICATION PACKAGES; an LPAC process is not one of them
	sidLowPackages   sid = "S-1-15-2-2" // ALL RESTRICTED APPLICATION PACKAGES; every AppContainer process is one
	sidInternet      sid = "S-1-15-3-1" // capability internetClient
	sidPrivateNet    sid = "S-1-15-3-3" // capability privateNetworkClientServer
	packagePrefix        = "S-1-15-2-"
	capabilityPrefix     = "S-1-15-3-1024-"
)

// packageSID is what DeriveAppContainerSidFromAppContainerName gives: seven words of the SHA-256 of the name in lower case.
func packageSID(profile string) sid {
	return sid(packagePrefix + words(strings.ToLower(profile), 7))
}

// capabilitySID is what DeriveCapabilitySidsFromName gives: the SHA-256 of the name in upper case.
func capabilitySID(name string) sid {
	return sid(capabilityPrefix + words(strings.ToUpper(name), 8))
}

// words hashes ASCII text as UTF-16LE.
func words(text string, n int) string {
	wide := make([]byte, 0, 2*len(text))
	for _, c := range []byte(text) {
		wide = append(wide, c, 0)
	}
	sum := sha256.Sum256(wide)
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.FormatUint(uint64(binary.LittleEndian.Uint32(sum[4*i:])), 10)
	}
	return strings.Join(out, "-")
}

var errSID = errors.New("malformed security identifier")

// marshal gives the binary form (MS-DTYP 2.4.2.2).
func (s sid) marshal() ([]byte, error) {
	parts := strings.Split(string(s), "-")
	if len(parts) < 4 || len(parts) > 3+15 || parts[0] != "S" || parts[1] != "1" {
		return nil, fmt.Errorf("%w: %q", errSID, s)
	}
	authority, err := strconv.ParseUint(parts[2], 10, 48)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", errSID, s)
	}
	b := binary.BigEndian.AppendUint64(nil, authority)
	b[0], b[1] = 1, byte(len(parts)-3)
	for _, p := range parts[3:] {
		v, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%w: %q", errSID, s)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b, nil
}

// parseSID reads a binary identifier from the front of b.
func parseSID(b []byte) (s sid, size int, err error) {
	if len(b) < 8 || b[0] != 1 || b[1] > 15 || len(b) < 8+4*int(b[1]) {
		return "", 0, errSID
	}
	var out strings.Builder
	var wide [8]byte
	copy(wide[2:], b[2:8])
	fmt.Fprintf(&out, "S-1-%d", binary.BigEndian.Uint64(wide[:]))
	for i := range int(b[1]) {
		fmt.Fprintf(&out, "-%d", binary.LittleEndian.Uint32(b[8+4*i:]))
	}
	return sid(out.String()), 8 + 4*int(b[1]), nil
}
