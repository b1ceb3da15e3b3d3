package windows

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Run implements sandbox.Sandbox.
func (s *Sandbox) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	if f := s.enter(); f != nil {
		return sandbox.Result{}, f
	}
	defer s.wait.Done()
	if err := ctx.Err(); err != nil {
		return sandbox.Result{}, fault.From(err)
	}
	if f := s.form(spec); f != nil {
		return sandbox.Result{}, f
	}
	report, err := s.Preflight(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	if f := strongEnough(report, spec.Require); f != nil {
		return sandbox.Result{}, f
	}
	if !report.Confines(spec.Network.Mode) {
		return sandbox.Result{}, fault.New(sandbox.CodeNetworkMode, "mode", string(spec.Network.Mode))
	}
	r := &run{s: s, spec: spec, m: &machine{api: s.api}, host: s.known()}
	if f := check(spec, r.host); f != nil {
		return sandbox.Result{}, f
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	result, err := r.perform(ctx)
	if err != nil {
		if s.life.Err() != nil {
			return sandbox.Result{}, fault.Wrap(err, sandbox.CodeClosed)
		}
		return sandbox.Result{}, r.fault(err)
	}
	result.Enforced = report.Abilities
	return result, nil
}

func (s *Sandbox) known() host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host
}

// run is one Spec on its way.
type run struct {
	s     *Sandbox
	m     *machine
	spec  sandbox.Spec
	host  host
	flows []sandbox.Flow
	tmp   string
}

// fault gives an error its code and its path.
func (r *run) fault(err error) *fault.Error {
	var e *stepError
	if errors.As(err, &e) && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotThere)) {
		switch c := e.step.(type) {
		case grant:
			return fault.Wrap(err, sandbox.CodeRootChanged, "path", c.Place.Path)
		case seal:
			return fault.Wrap(err, sandbox.CodeRootChanged, "path", c.Place.Path)
		case pin:
			return fault.Wrap(err, sandbox.CodeRootChanged, "path", c.Place.Path)
		}
	}
	return asFault(err, CodeResource)
}

func (r *run) perform(ctx context.Context) (result sandbox.Result, err error) {
	s := r.s
	if err := s.retry(r.m); err != nil { // what a run before left behind would give this one more than its Spec
		return result, asFault(err, CodeLeft)
	}
	if err := s.claimProfile(ctx); err != nil {
		return result, err
	}
	if err := s.api.MakeScratch(r.host.Scratch); err != nil {
		return result, fault.Wrap(err, CodeResource, "step", "temporary directory "+r.host.Scratch, "detail", err.Error())
	}
	endRights, err := s.rights.use(ctx, s, r.m, rightsKey(r.spec), r.planRights)
	if err != nil {
		return result, err
	}
	defer endRights()
	endNetwork, err := r.useNetwork(ctx)
	if err != nil {
		return result, err
	}
	defer endNetwork()
	r.tmp = winpath.Join(r.host.Scratch, newName())
	own, err := s.apply(ctx, r.m, planRun(r.spec, r.host, r.tmp))
	if err != nil {
		return result, err
	}
	result, err = r.start(ctx)
	left, undo := s.takeBack(r.m, own)
	s.keepLeft(left)
	if err != nil {
		return result, errors.Join(err, undo)
	}
	result.Flows = r.flows // what is left over is retried, and stays in the journal: the run itself is over
	result.Denials = r.denials()
	return result, nil
}

// planRun are the steps of one run alone: its temporary directory, open to the tree, the user and the system.
func planRun(s sandbox.Spec, h host, tmp string) []step {
	set := rights.Read | rights.Write | rights.Delete
	if slices.ContainsFunc(s.Roots, func(r rights.Root) bool { return r.Rights.Has(rights.Write | rights.Execute) }) {
		set |= rights.Execute
	}
	list := dacl{Protected: true, Revision: aclRevision}
	for _, who := range []sid{h.User, sidSystem, sidAdmins} {
		list.Aces = append(list.Aces, ace{Type: aceAllow, Flags: flagFiles | flagDirs, Mask: maskAll, SID: who})
	}
	list.Aces = append(list.Aces, entries(h.Package, set, true)...)
	return []step{{Record: recordOf(journal.KindTree, tmp, detail{}), Do: makeDir{Path: tmp, List: list}}}
}

// newName is short, since some programs do not take long paths, and nobody else's: clocks are too coarse to tell two runs
// apart.
func newName() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// rightsKey tells runs apart that need other entries.
func rightsKey(s sandbox.Spec) string {
	var b strings.Builder
	for _, r := range s.Roots {
		fmt.Fprintf(&b, "%s %s\n", r.Rights, r.Path)
	}
	fmt.Fprintf(&b, "protect %q", s.Protect)
	return b.String()
}

// planRights looks at every path and plans.
func (r *run) planRights() ([]step, *fault.Error) {
	looked := found{}
	for _, path := range subjects(r.spec, r.host) {
		o, err := r.m.look(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fault.Wrap(err, sandbox.CodeRootChanged, "path", path, "detail", err.Error())
		}
		looked[winpath.Fold(path)] = o
	}
	steps, f := planHold(r.spec, r.host, looked)
	if f != nil {
		return nil, f
	}
	return append(steps, step{
		Record: recordOf(journal.KindProfile, r.host.Scratch, detail{Profile: r.host.Profile}), Do: emptyProfile{r.host.Profile},
	}), nil
}

// place judges the working directory.
func (r *run) place() *fault.Error {
	o, err := r.m.look(r.spec.Dir)
	switch {
	case err != nil:
		return fault.Wrap(err, sandbox.CodeRootChanged, "path", r.spec.Dir)
	case !o.Place.Dir || o.Link || winpath.Agree(r.spec.Dir, o.Final) != winpath.None:
		return fault.New(sandbox.CodeRootChanged, "path", r.spec.Dir)
	}
	return nil
}

// look tells what lies at a path. It tries to open the object for a change of its list, and changes nothing.
func (m *machine) look(path string) (o object, err error) {
	h, err := m.Open(path, toChange)
	if errors.Is(err, fs.ErrPermission) {
		o.Fixed = true
		h, err = m.Open(path, toLook)
	}
	if err != nil {
		return o, err
	}
	defer func() { _ = m.Close(h) }()
	s, err := m.Status(h)
	if err != nil {
		return o, err
	}
	at, err := m.Where(h)
	if err != nil {
		return o, err
	}
	form, _, _ := winpath.Of(at.Final)
	o.Place, o.Final, o.Link = place{Path: path, ID: s.ID, Dir: s.Dir}, at.Final, s.Link
	o.Remote, o.FileSystem, o.ACLs = form == winpath.UNC, at.FileSystem, at.ACLs
	o.List, err = m.list(h)
	return o, err
}

// useNetwork resolves what is listed and makes the filters stand.
func (r *run) useNetwork(ctx context.Context) (func(), error) {
	permits := loopback(r.spec.Network.Ports)
	if r.spec.Network.Mode == sandbox.NetworkRestricted {
		own, err := r.s.options.Own()
		if err != nil {
			return nil, fault.Wrap(err, CodeResource, "step", "own addresses", "detail", err.Error())
		}
		permits, r.flows = reachable(r.resolve(ctx), own)
	}
	key := string(r.spec.Network.Mode) + fmt.Sprint(permits)
	return r.s.network.use(ctx, r.s, r.m, key, func() ([]step, *fault.Error) {
		listed, err := r.m.Exempt()
		if err != nil {
			return nil, asFault(&stepError{step: exempt{r.host.Package}, err: err}, CodeResource)
		}
		return planNetwork(r.spec.Network.Mode, newName(), r.host, permits, slices.Contains(listed, r.host.Package)), nil
	})
}

// planNetwork blocks first and opens the loopback last: an exemption alone would open every port of this machine.
func planNetwork(mode sandbox.NetworkMode, name string, h host, permits []endpoint, exempted bool) []step {
	add := addFilters{Layer: sublayer(name), Filters: filters(name, h.Package, permits)}
	d := detail{Layer: string(add.Layer)}
	for _, f := range add.Filters {
		d.Filters = append(d.Filters, string(f.Key))
	}
	steps := []step{{Record: recordOf(journal.KindFirewall, h.Scratch, d), Do: add}}
	if mode == sandbox.NetworkLocal && !exempted {
		steps = append(steps, step{Record: recordOf(journal.KindExemption, h.Scratch, detail{SID: h.Package}), Do: exempt{h.Package}})
	}
	return steps
}

func (r *run) resolve(ctx context.Context) (out []resolved) {
	for _, text := range r.spec.Network.Hosts {
		host, port, _ := sandbox.SplitEndpoint(text)
		e := resolved{Host: host, Port: port}
		addrs, err := addresses(ctx, r.s.options.Resolver, host)
		if err != nil {
			e.Failed = err.Error()
		}
		e.Addresses = addrs
		out = append(out, e)
	}
	return out
}

// denials tells what could not be given to the tree, or was refused before it started.
func (r *run) denials() (out []sandbox.Denial) {
	for _, path := range r.m.skipped {
		out = append(out, sandbox.Denial{Target: path, Right: "read", Reason: CodeGrant, Times: 1})
	}
	for _, f := range r.flows {
		if f.Verdict == sandbox.FlowDenied {
			out = append(out, sandbox.Denial{Target: fmt.Sprintf("%s:%d", f.Host, f.Port), Right: "network", Reason: f.Reason, Times: 1, Seen: true})
		}
	}
	return out
}

// entry opens the program so that nobody can change, rename or remove it until the handle is closed, and compares its hash
// (PRC-01, PRC-02).
func (r *run) entry() (handle, *fault.Error) {
	path := r.spec.Entry.Path
	if f := storeApp(path); f != nil {
		return 0, f
	}
	if !executable(r.spec.Roots, r.host.Baseline, path) { // the system would start it with the Broker's own rights (FS-10)
		return 0, fault.New(sandbox.CodeEntryFailed, "path", path, "detail", "its root gives no right to execute")
	}
	h, f := r.pinned(path, r.spec.Entry.SHA256)
	if f != nil {
		return 0, f
	}
	return h, nil
}

func (r *run) pinned(path, want string) (handle, *fault.Error) {
	failed := func(err error) *fault.Error {
		return fault.Wrap(err, sandbox.CodeEntryFailed, "path", path, "detail", err.Error())
	}
	h, err := r.m.Open(path, toRead)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fault.Wrap(err, sandbox.CodeEntryMissing, "path", path)
	}
	if err != nil {
		return 0, failed(err)
	}
	f := func() *fault.Error {
		s, err := r.m.Status(h)
		if err != nil {
			return failed(err)
		}
		at, err := r.m.Where(h)
		if err != nil {
			return failed(err)
		}
		if why := program(path, s, at.Final); why != "" {
			return failed(errors.New(why))
		}
		magic, sum, err := digest(r.m.Reader(h))
		switch {
		case err != nil:
			return failed(err)
		case want != "" && sum != want:
			return fault.New(sandbox.CodeEntryChanged, "path", path, "want", want, "got", sum)
		case magic != "MZ":
			return failed(errors.New("it is no program for Windows"))
		}
		return nil
	}()
	if f != nil {
		_ = r.m.Close(h)
		return 0, f
	}
	return h, nil
}

func digest(content io.Reader) (magic, sum string, err error) {
	hash := sha256.New()
	head := make([]byte, 2)
	n, err := io.ReadFull(content, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", "", err
	}
	hash.Write(head[:n])
	if _, err := io.Copy(hash, content); err != nil {
		return "", "", err
	}
	return string(head[:n]), hex.EncodeToString(hash.Sum(nil)), nil
}
