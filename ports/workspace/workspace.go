// Package workspace is the port to the files the Internal Tools may touch. Every operation goes through a pinned handle:
// a path is resolved once, component by component, without leaving the roots (FS-02, FS-03), then judged by the policy
// on its RESOLVED form, then used through the handle, so that nothing can be swapped in between.
package workspace

import (
	"context"
	"io/fs"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Tree is a set of roots, opened and pinned when it was made. Implementations are safe for concurrent use.
type Tree interface {
	// Resolve walks path (absolute, or relative to the first root) through every symlink and ".." and returns a handle
	// on what it names. The last component may be missing (Info().Exists is false); a missing parent is CodeNotFound.
	// A path that leaves all roots is CodeOutside, a symlink cycle CodeCycle, a name the system cannot hold CodeBadName
	// (NUL, too long, invalid). The walk reads nothing outside the roots. The caller must Close the handle.
	Resolve(ctx context.Context, path string) (Handle, error)
	Close() error
}

// EntryResolver is a Tree that can also name a symlink itself, for removing or moving it. Every Tree of ours is one.
type EntryResolver interface {
	// ResolveEntry is Resolve, except that a symlink as the last component is not followed: the handle is on the link
	// (Mode has fs.ModeSymlink), which Remove unlinks and MoveTo moves. A trailing slash still follows it.
	ResolveEntry(ctx context.Context, path string) (Handle, error)
}

// Reclaimer is a Handle on a directory whose mode may have been taken from its owner: by a program that ran as the same user. It is
// for clean-up after such a program, never for what the owner keeps closed.
type Reclaimer interface {
	// Reclaim gives the owner of the directory every right on it; other bits stay. CodeNotDirectory, CodePermission.
	Reclaim(ctx context.Context) error
}

// Handle is one resolved place: its parent directory is pinned, and so is the object itself when it exists.
type Handle interface {
	Info() Info
	Reader
	Writer
	Remover
	Close() error
}

// Reader needs the read right.
type Reader interface {
	// Read returns up to limit bytes from offset (negative: counted from the end). CodeIsDirectory, CodeNotRegular.
	Read(ctx context.Context, offset int64, limit int) ([]byte, error)
	// List returns up to limit entries sorted by name, and the total number. CodeNotDirectory.
	List(ctx context.Context, limit int) (entries []Info, total int, err error)
}

// Writer needs the write right; MoveTo needs it on both sides (FS-07).
type Writer interface {
	// Replace makes the file's content data, atomically: readers see the old or the new bytes, never a mixture (EDT-01).
	// The mode of an existing file is kept, a new one is 0644 less umask, executable when exec is true. want is the
	// content the caller believes is there; when it is not nil and the identity differs → CodeChanged, nothing written.
	Replace(ctx context.Context, data []byte, exec bool, want *Identity) (Info, error)
	// Mkdir makes one directory. CodeExists.
	Mkdir(ctx context.Context) (Info, error)
	// MoveTo renames onto a handle of the same Tree whose place must be free (CodeExists), on the same volume (CodeCrossVolume).
	MoveTo(ctx context.Context, dest Handle) (Info, error)
}

// Remover needs the delete right.
type Remover interface {
	// Remove unlinks a file or a symlink, never a directory (CodeIsDirectory).
	Remove(ctx context.Context) error
	// Rmdir removes an empty directory (CodeNotEmpty, CodeNotDirectory).
	Rmdir(ctx context.Context) error
}

// Identity tells one state of one file from every other.
type Identity struct {
	Volume, File       uint64
	Size               int64
	ModifiedAt, Change time.Time // Change: inode change time where the system has one
}

// Info describes a place.
type Info struct {
	Path     string // resolved, absolute, canonical: what the policy judges
	Root     string // the root it lies in
	Name     string
	Exists   bool
	Mode     fs.FileMode
	Links    uint64
	Identity Identity
}

// Codes. All carry the argument path.
const (
	CodeOutside      fault.Code = "workspace.outside"
	CodeNotFound     fault.Code = "workspace.not_found"
	CodeExists       fault.Code = "workspace.exists"
	CodeCycle        fault.Code = "workspace.cycle"
	CodeBadName      fault.Code = "workspace.bad_name"
	CodeIsDirectory  fault.Code = "workspace.is_directory"
	CodeNotDirectory fault.Code = "workspace.not_directory"
	CodeNotRegular   fault.Code = "workspace.not_regular" // device, fifo, socket
	CodeNotEmpty     fault.Code = "workspace.not_empty"
	CodeChanged      fault.Code = "workspace.changed"      // it is no longer what it was
	CodeCrossVolume  fault.Code = "workspace.cross_volume" // also: dest
	CodeNoSpace      fault.Code = "workspace.no_space"
	CodeReadOnly     fault.Code = "workspace.read_only" // the file system refuses
	CodePermission   fault.Code = "workspace.permission"
	CodeRootInvalid  fault.Code = "workspace.root_invalid" // a root is missing, a symlink or no directory
	CodeFailed       fault.Code = "workspace.failed"       // also: detail
)
