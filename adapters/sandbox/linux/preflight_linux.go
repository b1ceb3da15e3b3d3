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
		s.level = level
		known = &sandbox.Report{
			Platform: "linux", Level: level, Abilities: withGroup(abilities(level), found.Group), Missing: missing, Notes: levelNotes(level), Baseline: baselineRoots(s.baseline), Networks: networks(level),
		}
		s.mu.Lock()
		s.report = known
		s.mu.Unlock()
	}
	out := *known
	out.Abilities, out.Missing, out.Baseline = slices.Clone(out.Abilities), slices.Clone(out.Missing), slices.Clone(out.Baseline)
	out.Notes, out.Networks = slices.Clone(out.Notes), slices.Clone(out.Networks)
	return out, nil
}

func (s *Sandbox) gather() facts {
	_, noTable := filter.Build(runtime.GOARCH, filter.Options{})
	f := facts{Arch: runtime.GOARCH, Table: noTable == nil, ABI: s.abi, Seccomp: kernel.SeccompNotifies(), Root: os.Geteuid() == 0}
	f.Kernel, f.Version = kernel.Release()
	f.LandlockOff = f.ABI == 0 && kernel.LandlockOff()
	if f.ABI < leastABI || !f.Seccomp || !f.Table {
		return f
	}
	if s.most >= sandbox.L3 {
		plan, why := s.tryGroups()
		if plan != nil {
			s.groups.use(plan)
			f.Group = plan.mechanism()
			return f
		}
		f.NoGroup = why
	}
	if f.Full = s.try(sandbox.L2); f.Full.Step == "" {
		return f
	}
	f.MaxUserNS, f.UnprivUserNS = sysctl("user/max_user_namespaces"), sysctl("kernel/unprivileged_userns_clone")
	f.AppArmorUserNS = sysctl("kernel/apparmor_restrict_unprivileged_userns")
	uidMap, _ := os.ReadFile("/proc/self/uid_map")
	f.Nested = !isInitial(string(uidMap))
	text, _ := os.ReadFile("/proc/self/mountinfo")
	f.Masked = masked(string(text))
	profile, _ := os.ReadFile("/proc/self/attr/apparmor/current")
	f.Profile = apparmorProfile(string(profile))
	f.Container = container(exists, os.Getenv)
	if f.ABI >= sharedABI {
		f.Shared = s.try(sandbox.L1)
	}
	return f
}

// try starts a helper of a level, and keeps it as the spare one when it gets ready.
func (s *Sandbox) try(level sandbox.Level) (t trial) {
	if level > s.most {
		return trial{Step: "clone", With: "not tried"}
	}
	s.level = level
	if level == sandbox.L1 {
		s.who = identity{uid: os.Geteuid(), gid: os.Getegid()} // no user namespace gives programs another one
	}
	c, err := s.readyIn(nil)
	if err == nil {
		s.keep(c)
		return t
	}
	t = trial{Step: "clone", With: err.Error()}
	var failed *stepError
	if errors.As(err, &failed) {
		t.Step, t.Detail = failed.step, asFault(err)
	}
	return t
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

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
