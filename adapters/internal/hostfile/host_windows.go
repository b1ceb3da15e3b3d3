package hostfile

import (
	"io/fs"
	"os"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile/internal/win32"
)

const noFollow = 0

// checkOwner trusts the ACL that the user's profile directory hands down.
func checkOwner(string, fs.FileInfo) error { return nil }

func tighten(*os.File, fs.FileInfo) error { return nil }

// SyncDir does nothing: NTFS journals its directories.
func SyncDir(string) error { return nil }

func tryLock(f *os.File) (bool, error) { return win32.TryLock(f.Fd()) }
