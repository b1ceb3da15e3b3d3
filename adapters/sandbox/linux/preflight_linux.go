package linux

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/filter"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Preflight implements sandbox.Sandbox. It tries the real thing once: a helper that prepares itself. The answer is kept.
func (s *Sandbox) Preflight(ctx context.Context) (sandbox.Report, error) {
	if err := ctx.Err(); err != nil {
		return sandbox.Report{}, fault.From(err)
	}
	if f := s.enter(); f != nil {
		return sandbox.Report{}, f
	}
	defer s.wait.Done()
	s.looking.Lock()
	defer s.looking.Unlock()
	s.mu.Lock()
	known := s.report
	s.mu.Unlock()
	if known == nil {
		found := s.gather()
		level, missing := judge(found)
		known = &sandbox.Report{
			Platform: "linux", Level: level, Abilities: withGroup(abilities(level), found.Group), Missing: missing, Baseline: baselineRoots(s.baseline), Networks: networks(level),
		}
		s.mu.Lock()
		s.report = known
		s.mu.Unlock()
	}
	out := *known
	out.Abilities, out.Missing, out.Baseline = slices.Clone(out.Abilities), slices.Clone(out.Missing), slices.Clone(out.Baseline)
	out.Networks = slices.Clone(out.Networks)
	return out, nil
}

func (s *Sandbox) gather() facts {
	_, noTable := filter.Build(runtime.GOARCH, filter.Options{})
	f := facts{ABI: s.abi, Seccomp: kernel.SeccompNotifies(), Arch: noTable == nil}
	if f.ABI < leastABI || !f.Seccomp || !f.Arch {
		return f
	}
	if plan, why := s.tryGroups(); plan != nil {
		s.groups.use(plan)
		f.Group = plan.mechanism()
		return f
	} else {
		f.NoGroup = why
	}
	c, err := s.readyIn(nil)
	if err == nil {
		s.keep(c)
		return f
	}
	f.FailedStep, f.FailedWith = "clone", err.Error()
	var failed *stepError
	if errors.As(err, &failed) {
		f.FailedStep = failed.step
		f.Detail = asFault(err)
	}
	f.UserNSOff = sysctl("user/max_user_namespaces") == "0" || sysctl("kernel/unprivileged_userns_clone") == "0" && os.Geteuid() != 0
	f.AppArmor = sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1" && os.Geteuid() != 0
	text, _ := os.ReadFile("/proc/self/mountinfo")
	f.MaskedProc = masked(string(text))
	return f
}

// keep stores the trial helper as the spare one.
func (s *Sandbox) keep(c *child) {
	s.mu.Lock()
	if !s.closed && s.spare == nil && !s.options.NoSpare {
		s.spare = make(chan spareChild, 1)
		s.spare <- spareChild{c: c}
		c = nil
	}
	s.mu.Unlock()
	if c != nil {
		c.end()
	}
}

func sysctl(name string) string {
	b, _ := os.ReadFile("/proc/sys/" + name)
	return strings.TrimSpace(string(b))
}

func asFault(err error) *fault.Error {
	var failed *stepError
	if errors.As(err, &failed) {
		return reply{Code: failed.code, Args: failed.args}.fault()
	}
	return fault.Wrap(err, sandbox.CodeUnavailable, "detail", err.Error())
}

// signalName gives "SIGSEGV" for 11.
func signalName(s syscall.Signal) string {
	if int(s) > 0 && int(s) < len(signals) && signals[s] != "" {
		return signals[s]
	}
	return "SIGRT"
}

var signals = [...]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
	10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 16: "SIGSTKFLT", 17: "SIGCHLD",
	18: "SIGCONT", 19: "SIGSTOP", 20: "SIGTSTP", 21: "SIGTTIN", 22: "SIGTTOU", 23: "SIGURG", 24: "SIGXCPU", 25: "SIGXFSZ",
	26: "SIGVTALRM", 27: "SIGPROF", 28: "SIGWINCH", 29: "SIGIO", 30: "SIGPWR", 31: "SIGSYS",
}
