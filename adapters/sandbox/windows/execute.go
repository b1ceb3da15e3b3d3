package windows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// claimWait is the pause between two tries for the profile.
const claimWait = 50 * time.Millisecond

// claimProfile makes this process the only one whose programs run in the profile, until Settle: the entries of one instance
// must not count for another's programs.
func (s *Sandbox) claimProfile(ctx context.Context) error {
	s.claiming.Lock()
	defer s.claiming.Unlock()
	for s.claim == 0 {
		h, ok, err := s.api.Claim(s.known().Profile)
		if err != nil {
			return fault.Wrap(err, CodeResource, "step", "claim", "detail", err.Error())
		}
		if ok {
			s.claim = h
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(claimWait):
		}
	}
	return nil
}

// start runs the program and returns when its whole tree is gone. Everything it opens is closed; the kernel ends the job with
// the last handle.
func (r *run) start(ctx context.Context) (result sandbox.Result, err error) {
	order, f := planStart(r.spec, r.host, r.tmp)
	if f != nil {
		return result, f
	}
	if f := r.place(); f != nil {
		return result, f
	}
	entry, f := r.entry()
	if f != nil {
		return result, f
	}
	defer func() { _ = r.m.Close(entry) }()
	for _, i := range r.spec.Entry.Interpreters {
		h, f := r.pinned(i.Path, i.SHA256)
		if f != nil {
			return result, f
		}
		defer func() { _ = r.m.Close(h) }()
	}
	began := r.s.now()
	std, err := r.m.openStreams(r.spec)
	if err != nil {
		return result, err
	}
	defer std.close() // after the job's: a read ends only when nobody can write any more
	j, err := r.m.newJob(limitsOf(r.spec.Limits, r.host))
	if err != nil {
		return result, err
	}
	defer j.close()
	p, err := r.m.launch(order, j, std)
	if err != nil {
		return result, failedStart(r.spec.Entry.Path, err)
	}
	defer r.m.closeProcess(p)
	std.begin(r.spec.Stdin)
	result.Started = true
	result.End, result.ExitCode, result.Signal, err = j.follow(ctx, p, wallClock(r.spec.Limits.WallClock, r.s.now().Sub(began)))
	if err != nil {
		return sandbox.Result{}, err
	}
	result.Stdout, result.Stderr = std.finish()
	result.Elapsed = r.s.now().Sub(began)
	return result, nil
}

func failedStart(path string, err error) error {
	if f := fault.From(err); f.Code != fault.CodeInternal {
		return f
	}
	return fault.Wrap(err, sandbox.CodeEntryFailed, "path", path, "detail", err.Error())
}

// launch starts a process in a job, suspended, and lets it run only when the system says that it is what was asked for.
func (m *machine) launch(o startOrder, j *job, std *streams) (p process, err error) {
	if o.Token, err = m.RestrictToken(); err != nil {
		return p, fmt.Errorf("restrict token: %w", err)
	}
	defer func() { _ = m.Close(o.Token) }()
	o.Job, o.Std = j.job, std.theirs
	if p, err = m.Start(o); err != nil {
		return p, err
	}
	std.started()
	facts, err := m.Inspect(p)
	if err == nil {
		if why := confined(facts, o); why != "" {
			err = fault.New(CodeNotConfined, "detail", why)
		}
	}
	if err == nil {
		err = m.Resume(p)
	}
	if err != nil {
		err = errors.Join(err, j.end())
		m.closeProcess(p)
	}
	return p, err
}

func (m *machine) closeProcess(p process) {
	_ = m.Close(p.Thread)
	_ = m.Close(p.Process)
}

// job is a tree with its bounds.
type job struct {
	m         *machine
	job, port handle
	events    sync.WaitGroup
}

func (m *machine) newJob(l jobLimits) (j *job, err error) {
	j = &job{m: m}
	if j.job, err = m.CreateJob(); err != nil {
		return nil, fmt.Errorf("create job: %w", err)
	}
	if err = m.LimitJob(j.job, l); err == nil {
		j.port, err = m.WatchJob(j.job)
	}
	if err != nil {
		_ = m.Close(j.job)
		return nil, fmt.Errorf("limit job: %w", err)
	}
	return j, nil
}

func (j *job) close() {
	_ = j.m.Close(j.job)
	_ = j.m.Close(j.port)
}

const (
	eventWait = 100 * time.Millisecond
	emptyWait = 30 * time.Second
)

// follow waits for the program's end, or ends it, and then ends everything it has left behind.
func (j *job) follow(ctx context.Context, p process, limit time.Duration) (end sandbox.End, code int, signal string, err error) {
	waiting, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan exit, 1)
	memory := make(chan struct{}, 1)
	j.events.Go(func() {
		code, err := j.m.Wait(waiting, p)
		ended <- exit{code, err}
	})
	j.events.Go(func() { j.watch(waiting, memory) })
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var e exit
	select {
	case e = <-ended:
		select {
		case <-memory:
			end = sandbox.EndMemory
		default:
		}
	case <-ctx.Done():
		end = sandbox.EndCancelled
	case <-timer.C:
		end = sandbox.EndTimedOut
	case <-memory:
		end = sandbox.EndMemory
	}
	killed := j.end()
	stop()
	j.events.Wait()
	switch {
	case killed != nil:
		return "", 0, "", killed
	case end != "":
		return end, -1, "", nil
	case e.err != nil:
		return "", 0, "", e.err
	}
	if name := crash(e.code); name != "" {
		return sandbox.EndSignaled, -1, name, nil
	}
	return sandbox.EndExited, int(e.code), "", nil
}

type exit struct {
	code uint32
	err  error
}

// watch reads the port until told to stop. The kernel refuses memory beyond the limit and says so: the tree is ended then, as
// it cannot go on.
func (j *job) watch(ctx context.Context, memory chan<- struct{}) {
	for ctx.Err() == nil {
		e, ok, err := j.m.NextEvent(j.port, eventWait)
		if err != nil {
			return
		}
		if ok && e == eventMemory {
			select {
			case memory <- struct{}{}:
			default:
			}
		}
	}
}

// end kills the whole tree and waits until nothing of it is left.
func (j *job) end() error {
	if err := j.m.TerminateJob(j.job); err != nil {
		return fmt.Errorf("terminate job: %w", err)
	}
	for deadline := time.Now().Add(emptyWait); ; {
		now, _, err := j.m.JobProcesses(j.job)
		if err != nil {
			return fmt.Errorf("job: %w", err)
		}
		if now == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes of the job do not end", now)
		}
		time.Sleep(time.Millisecond)
	}
}

// crashes are exit codes with which the system ends a process (ntstatus.h).
var crashes = map[uint32]string{
	0x80000003: "STATUS_BREAKPOINT", 0xc0000005: "STATUS_ACCESS_VIOLATION", 0xc0000006: "STATUS_IN_PAGE_ERROR", 0xc000001d: "STATUS_ILLEGAL_INSTRUCTION",
	0xc0000094: "STATUS_INTEGER_DIVIDE_BY_ZERO", 0xc00000fd: "STATUS_STACK_OVERFLOW", 0xc0000135: "STATUS_DLL_NOT_FOUND", 0xc0000139: "STATUS_ENTRYPOINT_NOT_FOUND",
	0xc000013a: "STATUS_CONTROL_C_EXIT", 0xc0000142: "STATUS_DLL_INIT_FAILED", 0xc0000374: "STATUS_HEAP_CORRUPTION", 0xc0000409: "STATUS_STACK_BUFFER_OVERRUN",
	0xc0000017: "STATUS_NO_MEMORY", 0xc000012d: "STATUS_COMMITMENT_LIMIT",
}

// crash names an exit code that no program chose; "" for one that it may have.
func crash(code uint32) string {
	if name, ok := crashes[code]; ok {
		return name
	}
	if code>>28 == 0xc && code&0x0fff_0000 == 0 { // an error of the kernel's own facility
		return fmt.Sprintf("STATUS_%#x", code)
	}
	return ""
}

// streams are the three pipes of a program.
type streams struct {
	m      *machine
	theirs [3]handle
	ours   [3]io.ReadWriteCloser
	kept   [2]*sandbox.Collector
	moving sync.WaitGroup
}

func (m *machine) openStreams(s sandbox.Spec) (out *streams, err error) {
	out = &streams{m: m, kept: [2]*sandbox.Collector{sandbox.NewCollector(s.Limits.OutputBytes), sandbox.NewCollector(s.Limits.OutputBytes)}}
	for i := range out.theirs {
		var ours handle
		switch {
		case i == 0 && len(s.Stdin) == 0:
			out.theirs[i], err = m.OpenNull()
		default:
			ours, out.theirs[i], err = m.Pipe(i == 0)
		}
		if err != nil {
			out.close()
			return nil, fmt.Errorf("pipe: %w", err)
		}
		if ours != 0 {
			out.ours[i] = m.Stream(ours)
		}
	}
	return out, nil
}

// started drops the program's ends, so that its end is seen.
func (s *streams) started() {
	for i, h := range s.theirs {
		if h != 0 {
			_ = s.m.Close(h)
			s.theirs[i] = 0
		}
	}
}

func (s *streams) begin(stdin []byte) {
	if in := s.ours[0]; in != nil {
		s.ours[0] = nil
		s.moving.Go(func() {
			_, _ = in.Write(stdin) // fails when the tree ends without reading it
			_ = in.Close()
		})
	}
	for i, kept := range s.kept {
		out := s.ours[i+1]
		s.moving.Go(func() { _, _ = io.CopyBuffer(kept, onlyReader{out}, make([]byte, 64<<10)) })
	}
}

type onlyReader struct{ io.Reader }

// finish waits until nobody holds the pipes any more: the tree is gone.
func (s *streams) finish() (stdout, stderr sandbox.Capture) {
	s.moving.Wait()
	return s.kept[0].Capture(), s.kept[1].Capture()
}

func (s *streams) close() {
	s.started()
	for i, o := range s.ours {
		if o != nil {
			_ = o.Close()
			s.ours[i] = nil
		}
	}
	s.moving.Wait()
}

// addresses of a name, or the address itself.
func addresses(ctx context.Context, r Resolver, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	return r.LookupNetIP(ctx, "ip", host)
}
