package linux

import (
	"errors"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// rules opens the places of the Landlock rules inside the private root.
func (h *helper) rules() (rules []kernel.Rule, err error) {
	for _, r := range h.order.Rules {
		fd, err := kernel.OpenPath(kernel.CurrentRoot, r.Path)
		if err != nil && r.Maybe || errors.Is(err, syscall.ENOENT) && r.Path == "/dev/tty" {
			continue // a host without it
		}
		if err != nil {
			return nil, stepCode("rule", err, sandbox.CodeRootChanged, "path", r.Path)
		}
		id, err := kernel.Stat(fd)
		if err != nil {
			return nil, step("rule "+r.Path, err)
		}
		if !id.IsDir() {
			r.Access &= llFile
		}
		rules = append(rules, kernel.Rule{FD: fd, Access: r.Access})
	}
	return rules, nil
}

// confine binds the calling thread, the strictest last.
func (h *helper) confine(rules []kernel.Rule, program []filter.Insn, listeners chan<- int) error {
	keep := -1
	if h.setup.KeepDAC {
		keep = kernel.CapDACOverride
	}
	access, scopes := handled(h.setup.ABI)
	if err := step("no new privileges", kernel.NoNewPrivs()); err != nil {
		return err
	}
	if err := step("keyring", kernel.NewKeyring()); err != nil && !(h.shared() && errors.Is(err, syscall.EPERM)) { // a container's own filter
		return err
	}
	if err := step("landlock", kernel.Restrict(access, scopes, rules)); err != nil {
		return err
	}
	for _, r := range rules {
		kernel.Close(r.FD)
	}
	drop := func() error { return kernel.DropCaps(keep) }
	if h.shared() {
		drop = kernel.DropCapsPlain
	}
	if err := step("capabilities", drop()); err != nil {
		return err
	}
	listener, err := kernel.Filter(program)
	if err != nil {
		return step("seccomp", err)
	}
	listeners <- listener
	return nil
}
