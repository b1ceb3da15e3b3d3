//go:build unix

package osroot

import (
	"os"
	"syscall"
)

// identify adds what os.FileInfo keeps to itself.
func identify(info os.FileInfo, m *meta) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		m.links, m.uid, m.gid = uint64(st.Nlink), int(st.Uid), int(st.Gid) //nolint:unconvert // differs by system
		m.id.Volume, m.id.File = uint64(st.Dev), uint64(st.Ino)            //nolint:unconvert // differs by system
	}
}

func systemError(err error) error { return err }

func isSeparator(c byte) bool { return c == '/' }

// validName accepts what a directory entry can be called.
func validName(name string) bool { return len(name) <= maxName }
