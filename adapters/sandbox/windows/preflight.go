package windows

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// leastBuild is Windows 11 (NFR-06).
const leastBuild = 22000

// facts is what preflight found. judge decides from them alone (OBS-01).
type facts struct {
	Self         self
	Filters      trial // of a transaction that adds and deletes a filter
	Profile      trial // of the Application Profile
	Probe        trial // of a confined program
	ConsoleHosts int
	Baseline     []rights.Root
}

// trial is how far something came that was tried for real.
type trial struct {
	Step string // that failed, "" = it worked
	With string
}

func (t trial) failed() bool { return t.Step != "" }

// judge turns facts into a level with every cause against it, each with its remedy as the code's hint. There is one level:
// what is missing is never made up for.
func judge(f facts) (level sandbox.Level, missing []*fault.Error) {
	add := func(code fault.Code, kv ...any) { missing = append(missing, fault.New(code, kv...)) }
	if f.Self.Arch != "amd64" {
		add(sandbox.CodeArchitecture, "arch", f.Self.Arch)
	}
	if f.Self.Build < leastBuild {
		add(CodeOldWindows, "have", f.Self.Build, "want", leastBuild)
	}
	if !f.Self.Admin {
		add(CodeNotAdministrator)
	}
	if f.Self.Filtering != running {
		add(CodeFilterService, "state", f.Self.Filtering)
	}
	if len(missing) > 0 {
		return sandbox.LevelNone, missing // the rest follows from these
	}
	if f.Filters.failed() {
		add(CodeFirewall, "step", f.Filters.Step, "detail", f.Filters.With)
	}
	if f.Profile.failed() {
		add(CodeProfile, "profile", f.Profile.Step, "detail", f.Profile.With)
	}
	if f.Probe.failed() {
		add(CodeProbe, "step", f.Probe.Step, "detail", f.Probe.With)
	}
	if len(missing) > 0 {
		return sandbox.LevelNone, missing
	}
	return sandbox.L3, nil
}

const running = "running"

// abilities is what the one level enforces.
func abilities(level sandbox.Level) []sandbox.Ability {
	how := map[sandbox.Item]string{
		sandbox.ItemRead: "lpac+acl", sandbox.ItemWrite: "lpac+acl", sandbox.ItemExecute: "lpac+acl", sandbox.ItemDelete: "lpac+acl",
		sandbox.ItemNetwork: "wfp+capabilities", sandbox.ItemProcesses: "job", sandbox.ItemMemory: "job", sandbox.ItemWallClock: "job",
		sandbox.ItemKillAll: "job", sandbox.ItemCredentials: "environment+lpac+restricted-token+handle-list", sandbox.ItemEntry: "sha256+share-mode",
	}
	out := make([]sandbox.Ability, 0, len(how))
	for _, item := range sandbox.Items() {
		a := sandbox.Ability{Item: item}
		if level != sandbox.LevelNone {
			a.Strength, a.Mechanism = sandbox.Exact, how[item]
		}
		out = append(out, a)
	}
	return out
}

func notes(level sandbox.Level) (out []*fault.Error) {
	if level == sandbox.LevelNone {
		return nil
	}
	for _, c := range []fault.Code{NoteResolver, NoteFlows, NoteLoopback, NoteAncestors, NotePowerShell} {
		out = append(out, fault.New(c))
	}
	return out
}

func strongEnough(r sandbox.Report, want sandbox.Strength) *fault.Error {
	if r.Level == sandbox.LevelNone {
		return fault.New(sandbox.CodeUnavailable, "detail", r.Platform).With(r.Missing...)
	}
	for _, item := range []sandbox.Item{sandbox.ItemMemory, sandbox.ItemProcesses} {
		if have := r.Ability(item).Strength; have < want {
			return fault.New(sandbox.CodeTooWeak, "item", string(item), "have", have.String(), "want", want.String())
		}
	}
	return nil
}

// Preflight implements sandbox.Sandbox. It tries the real things once, and keeps the answer. The Application Profile it makes
// stays: it belongs to the application, not to a Task (PRF-01).
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
		r, h, err := s.lookAround(ctx)
		if err != nil {
			return sandbox.Report{}, err
		}
		known = &r
		s.mu.Lock()
		h.Scratch = s.options.Scratch
		s.report, s.host = known, h
		s.mu.Unlock()
	}
	out := *known
	out.Abilities, out.Missing, out.Baseline = slices.Clone(out.Abilities), slices.Clone(out.Missing), slices.Clone(out.Baseline)
	out.Notes, out.Networks = slices.Clone(out.Notes), slices.Clone(out.Networks)
	return out, nil
}

func (s *Sandbox) lookAround(ctx context.Context) (sandbox.Report, host, error) {
	if s.api == nil {
		return sandbox.Report{
			Platform: runtime.GOOS, Abilities: abilities(sandbox.LevelNone), Missing: []*fault.Error{platform()},
		}, host{}, nil
	}
	f, h := gather(ctx, &machine{api: s.api})
	if err := ctx.Err(); err != nil {
		return sandbox.Report{}, host{}, fault.From(err) // a trial that was cut short says nothing
	}
	level, missing := judge(f)
	r := sandbox.Report{Platform: "windows", Level: level, Abilities: abilities(level), Missing: missing, Notes: notes(level), Baseline: f.Baseline}
	if level != sandbox.LevelNone {
		r.Networks = []sandbox.NetworkMode{sandbox.NetworkLocal, sandbox.NetworkRestricted}
	}
	return r, h, nil
}

// profileName is the Application Profile of one user. The identifier of a profile depends on its name alone, so that a name
// without the user would be one identifier for all users of the machine.
func profileName(user sid) string {
	sum := nameGUID("profile", string(user))
	return "agent-mcp." + strings.ReplaceAll(string(sum), "-", "")[:16]
}

func gather(ctx context.Context, m *machine) (f facts, h host) {
	var err error
	if f.Self, err = m.Self(); err != nil {
		f.Self.Filtering = err.Error()
		return f, h
	}
	name := profileName(f.Self.User)
	h = host{
		Profile: name, Package: packageSID(name), User: f.Self.User, SystemRoot: f.Self.SystemRoot,
		Processors: strconv.Itoa(max(f.Self.Processors, 1)),
	}
	f.Baseline = m.baseline(f.Self)
	h.Baseline = f.Baseline
	if level, _ := judge(f); level == sandbox.LevelNone {
		return f, h
	}
	f.Filters = tryFilters(m, h)
	if f.Profile = tryProfile(m, h); !f.Profile.failed() {
		f.Probe, f.ConsoleHosts = tryProbe(ctx, m, h)
		h.ConsoleHosts = f.ConsoleHosts
	}
	return f, h
}

// tryFilters adds a filter and deletes it again, in transactions of a dynamic session.
func tryFilters(m *machine, h host) trial {
	name := "preflight " + newName()
	add := addFilters{Layer: sublayer(name), Filters: filters(name, h.Package, nil)[:1]}
	held, err := m.addFilters(add)
	if err != nil {
		return trial{"add", err.Error()}
	}
	engine := held[0]
	err = m.transaction(engine, func() error {
		return errors.Join(m.DeleteFilter(engine, add.Filters[0].Key), m.DeleteSublayer(engine, add.Layer))
	})
	if err = errors.Join(err, m.CloseEngine(engine)); err != nil {
		return trial{"delete", err.Error()}
	}
	return trial{}
}

// tryProfile makes the profile where it is missing, and compares its identifier with the one all plans are made with.
func tryProfile(m *machine, h host) trial {
	if err := m.MakeProfile(h.Profile); err != nil {
		return trial{h.Profile, err.Error()}
	}
	got, err := m.ProfileSID(h.Profile)
	if err == nil && got != h.Package {
		err = errors.New("its identifier is " + string(got) + ", not " + string(h.Package))
	}
	if err != nil {
		return trial{h.Profile, err.Error()}
	}
	return trial{}
}

const (
	probeCode  = 37
	probeLimit = 30 * time.Second
)

// tryProbe starts the system's own shell confined, with the null device at both ends, and counts what its console costs.
func tryProbe(ctx context.Context, m *machine, h host) (t trial, consoleHosts int) {
	system := winpath.Join(h.SystemRoot, "System32")
	spec := sandbox.Spec{
		Entry: sandbox.Entry{Path: winpath.Join(system, "cmd.exe"), Name: "cmd.exe"}, Dir: system,
		Args: []string{"/c", "exit " + strconv.Itoa(probeCode) + " <nul >nul"}, Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits: sandbox.Limits{Processes: 4, MemoryBytes: 256 << 20, WallClock: probeLimit, OutputBytes: 4 << 10},
	}
	order, f := planStart(spec, h, system)
	if f != nil {
		return trial{"plan", f.Error()}, 0
	}
	std, err := m.openStreams(spec)
	if err != nil {
		return trial{"pipe", err.Error()}, 0
	}
	defer std.close() // after the job's
	j, err := m.newJob(limitsOf(spec.Limits, h))
	if err != nil {
		return trial{"job", err.Error()}, 0
	}
	defer j.close()
	p, err := m.launch(order, j, std)
	if err != nil {
		return trial{"start", err.Error()}, 0
	}
	defer m.closeProcess(p)
	std.begin(nil)
	end, code, signal, err := j.follow(ctx, p, probeLimit)
	if err != nil {
		return trial{"wait", err.Error()}, 0
	}
	_, stderr := std.finish()
	_, ever, err := m.JobProcesses(j.job)
	switch {
	case err != nil:
		return trial{"count", err.Error()}, 0
	case end != sandbox.EndExited || code != probeCode:
		return trial{"run", strings.TrimSpace(string(end) + " " + signal + " " + strconv.Itoa(code) + " " + string(stderr.Head))}, 0
	}
	return trial{}, max(ever-1, 0)
}

// baseline is what the system itself lets every restricted AppContainer read and run (PRF-01). It is measured, not assumed.
func (m *machine) baseline(s self) (out []rights.Root) {
	paths := append([]string{s.SystemRoot, winpath.Join(s.SystemRoot, "System32"), winpath.Join(s.SystemRoot, "SysWOW64")}, s.ProgramFiles...)
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		o, err := m.look(path)
		if err != nil || winpath.Canonical(path) != winpath.None || !o.Place.Dir || winpath.Agree(path, o.Final) != winpath.None {
			continue
		}
		_, below := granted(slices.Concat(o.List.of(sidLowPackages, false), o.List.of(sidLowPackages, true)))
		const want = fileReadData | fileExecute
		if _, covered := rootOf(out, path); !covered && generic(below)&want == want {
			out = append(out, rights.Root{Path: path, Rights: rights.Read | rights.Execute})
		}
	}
	return out
}
