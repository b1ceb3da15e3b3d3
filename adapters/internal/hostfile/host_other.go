//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package hostfile

import (
	"errors"
	"io/fs"
	"os"
)

const noFollow = 0

func checkOwner(string, fs.FileInfo) error { return nil }

func tighten(*os.File, fs.FileInfo) error { return nil }

// SyncDir does nothing here.
func SyncDir(string) error { return nil }

func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }
