//go:build unix

package mcp_test

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open.
func openFiles() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 1024
	}
	return int(min(l.Cur, 1<<20))
}
