package windows

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// guid is written as registries do: "c38d57d1-05a7-4c33-904f-7fbceee60e82".
type guid string

func parseGUID(text string) (guid, error) {
	parts := strings.Split(text, "-")
	for i, n := range []int{8, 4, 4, 4, 12} {
		if len(parts) != 5 || len(parts[i]) != n || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return "", fmt.Errorf("%w: no identifier: %q", errRecord, text)
		}
	}
	return guid(text), nil
}

// nameGUID derives an identifier from a name: version 8 of RFC 9562. Equal names give equal identifiers, so that recovery
// finds what a run of that name has made.
func nameGUID(parts ...string) guid {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return guid(strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"))
}
