//go:build !windows

package file

import (
	"errors"
	"io/fs"
	"syscall"
)

// writable reports who besides the owner may write, by the mode bits.
func writable(m fs.FileMode) (group, world bool) { return m&0o020 != 0, m&0o002 != 0 }

func executable(_ string, m fs.FileMode) bool { return m&0o111 != 0 }

func loops(err error) bool { return errors.Is(err, syscall.ELOOP) }
