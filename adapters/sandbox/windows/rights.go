package windows

import "github.com/agent-mcp/agent-mcp/ports/rights"

// Bits of access masks of files and directories (MS-DTYP 2.4.3, winnt.h).
const (
	fileReadData    uint32 = 0x0001 // list of a directory
	fileWriteData   uint32 = 0x0002 // add a file
	fileAppendData  uint32 = 0x0004 // add a directory
	fileReadEA      uint32 = 0x0008
	fileWriteEA     uint32 = 0x0010
	fileExecute     uint32 = 0x0020 // traverse
	fileDeleteChild uint32 = 0x0040 // never given: it would delete what no right allows
	fileReadAttr    uint32 = 0x0080
	fileWriteAttr   uint32 = 0x0100
	maskDelete      uint32 = 0x0001_0000
	maskReadControl uint32 = 0x0002_0000
	maskWriteDAC    uint32 = 0x0004_0000 // never given
	maskWriteOwner  uint32 = 0x0008_0000 // never given
	maskSynchronize uint32 = 0x0010_0000

	maskRead    = maskReadControl | fileReadData | fileReadAttr | fileReadEA | maskSynchronize                     // FILE_GENERIC_READ
	maskWrite   = maskReadControl | fileWriteData | fileAppendData | fileWriteAttr | fileWriteEA | maskSynchronize // FILE_GENERIC_WRITE
	maskRun     = maskReadControl | fileExecute | fileReadAttr | maskSynchronize                                   // FILE_GENERIC_EXECUTE
	maskAll     = 0x001f_01ff                                                                                      // FILE_ALL_ACCESS
	maskWay     = maskReadControl | fileReadAttr | fileReadEA | fileExecute | maskSynchronize                      // on directories that lead to a root: pass and look at, neither list nor read
	maskChanges = fileWriteData | fileAppendData | fileWriteAttr | fileWriteEA | fileDeleteChild | maskDelete |
		maskWriteDAC | maskWriteOwner
	maskKept = ^maskChanges // of what stays as it is
)

// mask is what a set of rights is on one object. Delete is its own right: write alone neither removes nor renames (FS-04).
func mask(set rights.Set) (m uint32) {
	for right, bits := range map[rights.Set]uint32{rights.Read: maskRead, rights.Write: maskWrite, rights.Execute: maskRun, rights.Delete: maskDelete} {
		if set.Has(right) {
			m |= bits
		}
	}
	return m
}

// entries are what a root gives to the profile. A directory hands its rights down; DELETE is handed down alone, so that the
// root itself stays.
func entries(who sid, set rights.Set, dir bool) (out []ace) {
	if !dir {
		return []ace{{Type: aceAllow, Mask: mask(set), SID: who}}
	}
	out = []ace{{Type: aceAllow, Flags: flagFiles | flagDirs, Mask: mask(set &^ rights.Delete), SID: who}}
	if set.Has(rights.Delete) {
		out = append(out, ace{Type: aceAllow, Flags: flagFiles | flagDirs | flagInheritOnly, Mask: maskDelete, SID: who})
	}
	return out
}

// wayThrough is what a directory above a root gives: it is not handed down.
func wayThrough(who sid) []ace { return []ace{{Type: aceAllow, Mask: maskWay, SID: who}} }

// setOf turns a mask back into rights, for messages: a right counts when all its own bits are there.
func setOf(m uint32) (set rights.Set) {
	for right, bits := range map[rights.Set]uint32{
		rights.Read: fileReadData, rights.Write: fileWriteData, rights.Execute: fileExecute, rights.Delete: maskDelete,
	} {
		if m&bits == bits {
			set |= right
		}
	}
	return set
}

// generic puts generic rights, which entries that are only handed down may hold, into those of files.
func generic(m uint32) uint32 {
	for bit, set := range map[uint32]uint32{0x8000_0000: maskRead, 0x4000_0000: maskWrite, 0x2000_0000: maskRun, 0x1000_0000: maskAll} {
		if m&bit != 0 {
			m |= set
		}
	}
	return m
}
