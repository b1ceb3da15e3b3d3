//go:build !windows

package file

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
)

// writable reports who besides the owner may write, by the mode bits.
func writable(m fs.FileMode) (group, world bool) { return m&0o020 != 0, m&0o002 != 0 }

// foreign reports a file of another user than root and this one. In a user namespace that maps few users, root's own
// files look as if they were nobody's (user_namespaces(7)).
func foreign(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() && (st.Uid != overflowID || allMapped())
}

// otherGroup reports a file of another group than root's and this user's own.
func otherGroup(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Gid != 0 && int(st.Gid) != os.Getegid()
}

// overflowID stands for every user that a user namespace does not map.
const overflowID = 65534

// allMapped: this process knows every user by its own number.
var allMapped = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	return err != nil || strings.Join(strings.Fields(string(text)), " ") == "0 0 4294967295"
})

func executable(_ string, m fs.FileMode) bool { return m&0o111 != 0 }

func loops(err error) bool { return errors.Is(err, syscall.ELOOP) }
