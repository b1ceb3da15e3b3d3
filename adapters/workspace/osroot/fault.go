package osroot

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// errOutside and errChanged are verdicts of the backends.
var (
	errOutside = errors.New("leads out of the roots")
	errChanged = errors.New("is no longer the object that was resolved")
)

// codes maps the system's errors to codes, first match wins.
var codes = []struct {
	err  error
	code fault.Code
}{
	{errOutside, workspace.CodeOutside},
	{errChanged, workspace.CodeChanged},
	{syscall.ENOTEMPTY, workspace.CodeNotEmpty}, // before fs.ErrExist, which it also is
	{syscall.ENOENT, workspace.CodeNotFound},
	{fs.ErrNotExist, workspace.CodeNotFound},
	{syscall.EEXIST, workspace.CodeExists},
	{fs.ErrExist, workspace.CodeExists},
	{syscall.ELOOP, workspace.CodeChanged}, // a symlink where none was a moment ago
	{syscall.ENAMETOOLONG, workspace.CodeBadName},
	{syscall.EILSEQ, workspace.CodeBadName},
	{syscall.EINVAL, workspace.CodeBadName}, // a character this file system has no place for
	{syscall.EISDIR, workspace.CodeIsDirectory},
	{syscall.ENOTDIR, workspace.CodeNotDirectory},
	{syscall.ENXIO, workspace.CodeNotRegular}, // a socket, a fifo without a reader
	{syscall.EXDEV, workspace.CodeCrossVolume},
	{syscall.ENOSPC, workspace.CodeNoSpace},
	{syscall.EDQUOT, workspace.CodeNoSpace},
	{syscall.EFBIG, workspace.CodeNoSpace},
	{syscall.EROFS, workspace.CodeReadOnly},
	{syscall.EACCES, workspace.CodePermission},
	{syscall.EPERM, workspace.CodePermission},
	{fs.ErrPermission, workspace.CodePermission},
}

// coded gives any error its code. Faults pass as they are.
func coded(err error, path string, kv ...any) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return err
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return fault.From(err)
	case errors.Is(err, syscall.ENOSYS): // openat2 came with Linux 5.6
		return fault.Wrap(err, fault.CodeUnsupported, "what", "openat2")
	}
	args := append([]any{"path", path}, kv...)
	err = systemError(err)
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return fault.Wrap(err, c.code, args...)
		}
	}
	return fault.Wrap(err, workspace.CodeFailed, append(args, "detail", err.Error())...)
}

func refuse(code fault.Code, path string) error { return fault.New(code, "path", path) }
