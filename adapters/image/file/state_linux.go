package file

import (
	"io/fs"
	"syscall"
)

// stateOf reads a file's state from stat(2); ok is false when the system gave none.
func stateOf(info fs.FileInfo) (s state, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return state{}, false
	}
	return state{
		dev: uint64(st.Dev), ino: st.Ino, size: st.Size, //nolint:unconvert // the type differs between architectures
		modified: st.Mtim.Nano(), inode: st.Ctim.Nano(),
	}, true
}
