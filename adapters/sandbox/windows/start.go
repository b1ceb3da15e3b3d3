package windows

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// This file says how a process is started and bounded, as plain data (PRC-07, PRC-08, RES-01).

// Flags of a job's basic limits (winnt.h). Neither breakaway flag is ever set, so that no process can leave.
const (
	jobActiveProcess     uint32 = 0x0008
	jobMemory            uint32 = 0x0200
	jobDieOnException    uint32 = 0x0400
	jobBreakaway         uint32 = 0x0800 // never
	jobSilentBreakaway   uint32 = 0x1000 // never
	jobKillOnClose       uint32 = 0x2000
	uiAll                uint32 = 0x00ff // handles, clipboard both ways, system parameters, display, atoms, desktop, shutdown
	createSuspended      uint32 = 0x0000_0004
	createUnicode        uint32 = 0x0000_0400
	createExtended       uint32 = 0x0008_0000
	createNoWindow       uint32 = 0x0800_0000
	packagesOptOut       uint32 = 1 // PROCESS_CREATION_ALL_APPLICATION_PACKAGES_OPT_OUT: LPAC
	mitigateNoExtensions uint64 = 1 << 32
	mitigateNoRemote     uint64 = 1 << 52

	maxProcesses = 1<<31 - 1
)

// jobLimits bound a job.
type jobLimits struct {
	Flags     uint32
	Processes uint32
	Memory    uint64 // bytes of the whole job
	UI        uint32
}

// limitsOf are the limits of one run. A console may cost a process of its own, which the program did not ask for.
func limitsOf(l sandbox.Limits, h host) jobLimits {
	return jobLimits{
		Flags:     jobActiveProcess | jobMemory | jobDieOnException | jobKillOnClose,
		Processes: uint32(min(l.Processes+h.ConsoleHosts, maxProcesses)), Memory: uint64(l.MemoryBytes), UI: uiAll,
	}
}

func (l jobLimits) String() string {
	return fmt.Sprintf("job.limit flags %#x processes %d memory %d ui %#x", l.Flags, l.Processes, l.Memory, l.UI)
}

// jobEvent is a message of a completion port.
type jobEvent uint32

// Events (winnt.h, JOB_OBJECT_MSG_…).
const (
	eventProcessLimit jobEvent = 3
	eventEmpty        jobEvent = 4
	eventMemory       jobEvent = 10
)

// startOrder is all that CreateProcess is told.
type startOrder struct {
	Token        handle
	Application  string
	CommandLine  string
	Dir          string
	Env          []string
	Flags        uint32
	Package      sid
	Capabilities []sid
	OptOut       uint32
	Mitigation   uint64
	Job          handle
	Std          [3]handle // the only handles that are inherited
}

// longestDir is what CreateProcess takes as a working directory, in UTF-16 units; longest plain paths of programs.
const (
	longestDir  = 258
	longestPath = 259
)

// planStart writes the order without its handles.
func planStart(s sandbox.Spec, h host, tmp string) (startOrder, *fault.Error) {
	line, f := commandLine(s.Entry.Path, s.Entry.Name, s.Args)
	if f != nil {
		return startOrder{}, f
	}
	if n := utf16Len(s.Dir); n > longestDir {
		return startOrder{}, fault.New(sandbox.CodeEntryFailed, "path", s.Dir, "detail", "the working directory's path is longer than Windows can start a program in")
	}
	app := s.Entry.Path
	if utf16Len(app) > longestPath {
		app = winpath.Extended(app)
	}
	return startOrder{
		Application: app, CommandLine: line, Dir: s.Dir, Env: environment(s.Env, h, tmp),
		Flags:   createSuspended | createUnicode | createExtended | createNoWindow,
		Package: h.Package, Capabilities: capabilities(s.Network.Mode), OptOut: packagesOptOut, Mitigation: mitigateNoExtensions | mitigateNoRemote,
	}, nil
}

func (o startOrder) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "token.restrict no-privileges no-administrators\n")
	fmt.Fprintf(&b, "process.create %s flags %#x\n", o.Application, o.Flags)
	fmt.Fprintf(&b, "    line %s\n    dir %s\n", o.CommandLine, o.Dir)
	for _, kv := range o.Env {
		fmt.Fprintf(&b, "    env %s\n", kv)
	}
	fmt.Fprintf(&b, "    attribute 0x20009 security capabilities %s %v\n", o.Package, o.Capabilities)
	fmt.Fprintf(&b, "    attribute 0x2000f all application packages policy %d\n", o.OptOut)
	fmt.Fprintf(&b, "    attribute 0x20002 handle list stdin stdout stderr\n")
	fmt.Fprintf(&b, "    attribute 0x2000d job list job\n")
	fmt.Fprintf(&b, "    attribute 0x20007 mitigation policy %#x", o.Mitigation)
	return b.String()
}

// tokenFacts is what a started process's token really is.
type tokenFacts struct {
	AppContainer bool
	Package      sid
	Capabilities []sid
	LowBox       uint32 // what an object grants that gives 1 to all packages and 2 to restricted ones
	Low          bool   // integrity
	Admin        bool   // the administrators' group counts
	InJob        bool
}

// confined says why a process must not run, "" when it may: nothing is taken on trust that the system can be asked (PRC-08).
func confined(t tokenFacts, o startOrder) string {
	want, have := slices.Clone(o.Capabilities), slices.Clone(t.Capabilities)
	slices.Sort(want)
	slices.Sort(have)
	switch {
	case !t.AppContainer:
		return "it is in no AppContainer"
	case t.Package != o.Package:
		return "it is in the AppContainer " + string(t.Package)
	case t.LowBox != 2:
		return "it is no less privileged AppContainer"
	case !slices.Equal(want, have):
		return fmt.Sprintf("it has the capabilities %v", have)
	case !t.Low:
		return "its integrity is not low"
	case t.Admin:
		return "it has administrators' rights"
	case !t.InJob:
		return "it is not in its job"
	}
	return ""
}

// wallClock is what is left of a limit.
func wallClock(limit, used time.Duration) time.Duration { return max(limit-used, 0) }
