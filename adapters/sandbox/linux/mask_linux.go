package linux

import (
	"errors"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
)

// mask makes files look empty: what the kernel tells there of the user is not of the sandbox.
func (h *helper) mask(paths ...string) error {
	if err := kernel.MakeFile(h.root, ".empty", ""); err != nil {
		return err
	}
	for _, path := range paths {
		place, err := kernel.OpenPath(h.root, path)
		if errors.Is(err, syscall.ENOENT) {
			continue // a kernel without keys
		}
		kernel.Close(place)
		fd := -1
		if err == nil {
			fd, err = kernel.OpenPath(h.root, "/.empty")
		}
		if err == nil {
			err = h.bind(fd, path, mountAttr{ReadOnly: true, NoExec: true}, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
