package win32

import (
	"encoding/binary"
	"unicode/utf16"
)

// fixedEntry is the size of FILE_FULL_DIR_INFO before the name.
const fixedEntry = 68

// names reads the names in a buffer of FILE_FULL_DIR_INFO entries (winbase.h), without "." and "..". A malformed buffer ends
// where it stops making sense.
func names(b []byte) (out []string) {
	for len(b) >= fixedEntry {
		next, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[60:])
		if int64(size) > int64(len(b)-fixedEntry) {
			return out
		}
		wide := make([]uint16, size/2)
		for i := range wide {
			wide[i] = binary.LittleEndian.Uint16(b[fixedEntry+2*i:])
		}
		if name := string(utf16.Decode(wide)); name != "." && name != ".." {
			out = append(out, name)
		}
		if next == 0 || int64(next) >= int64(len(b)) {
			return out
		}
		b = b[next:]
	}
	return out
}
