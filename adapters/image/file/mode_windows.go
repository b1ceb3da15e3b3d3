package file

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// writable: Windows has no such mode bits; its ACLs are the sandbox adapter's to judge.
func writable(fs.FileMode) (group, world bool) { return false, false }

func foreign(fs.FileInfo) bool { return false }

func otherGroup(fs.FileInfo) bool { return false }

// executable goes by the extensions CreateProcess starts directly.
func executable(path string, _ fs.FileMode) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".exe", ".com":
		return true
	}
	return false
}

func loops(error) bool { return false }
