package linux

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/kernel"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/linux/internal/relay"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// run is one Spec on its way.
type run struct {
	s      *Sandbox
	spec   sandbox.Spec
	order  order
	mounts []int // detached trees for a root Broker, in the order of Binds
	pipes  *pipes

	endpoints []relay.Endpoint // of the listeners in the order
	scratch   *scratch         // level 1
}

// newRun looks at everything on the host that the order names.
func (s *Sandbox) newRun(ctx context.Context, spec sandbox.Spec) (*run, *fault.Error) {
	r := &run{s: s, spec: spec}
	entry, f := s.inspect(spec)
	if f != nil {
		return nil, f
	}
	tmp := tmpDir(spec.Roots)
	if s.level == sandbox.L1 {
		return r, r.share(ctx, entry)
	}
	r.order = order{
		Entry: entry, Args: spec.Args, Dir: spec.Dir, Tmp: tmp, TmpExec: tmpExec(spec.Roots),
		Env: environment(spec.Env, tmp), Processes: spec.Limits.Processes, Memory: spec.Limits.MemoryBytes,
		Binds: binds(spec), Rules: rules(spec, s.baseline, tmp),
	}
	r.order.Network, r.endpoints = planNetwork(spec.Network)
	if f := r.lookAll(); f != nil {
		r.close()
		return nil, f
	}
	return r, nil
}

// lookAll looks at every bind, for each helper anew: a mount that one has attached is no use to another.
func (r *run) lookAll() *fault.Error {
	for _, fd := range r.mounts {
		kernel.Close(fd)
	}
	r.mounts = nil
	for i := range r.order.Binds {
		if f := r.look(&r.order.Binds[i]); f != nil {
			return f
		}
	}
	r.order.Mounts = len(r.mounts)
	return nil
}

// look finds out what lies at a bind's path; a root Broker clones it already, with its owners mapped.
func (r *run) look(b *bind) *fault.Error {
	fd, err := b.open(kernel.CurrentRoot)
	if err != nil {
		return fault.Wrap(err, sandbox.CodeRootChanged, "path", b.Path)
	}
	defer kernel.Close(fd)
	id, err := kernel.Stat(fd)
	if err != nil {
		return fault.Wrap(err, sandbox.CodeRootChanged, "path", b.Path)
	}
	b.Dev, b.Ino, b.Dir = id.Dev, id.Ino, id.IsDir()
	if !b.Dir && !id.IsRegular() && !id.IsLink() {
		return fault.New(sandbox.CodeBadSpec, "detail", "neither a directory nor a regular file: "+b.Path)
	}
	if !r.s.who.globalRoot {
		return nil
	}
	tree, err := r.s.cloneMapped(fd, id, b.Attr)
	if err != nil {
		return fault.Wrap(err, sandbox.CodeUnavailable, "detail", "map owners of "+b.Path+": "+err.Error())
	}
	b.Passed = true
	r.mounts = append(r.mounts, tree)
	return nil
}

func (r *run) close() {
	for _, fd := range r.mounts {
		kernel.Close(fd)
	}
	r.mounts = nil
	if r.pipes != nil {
		r.pipes.close()
	}
	r.scratch.remove()
}

// perform hands the order to a helper and waits for the end. A prepared helper may not see what was mounted on the host
// since: where it finds something else than the Broker did, nothing ran, and a fresh one looks again.
func (r *run) perform(ctx context.Context, start time.Time) (sandbox.Result, *fault.Error) {
	c, prepared, err := r.s.take()
	if err != nil && r.s.life.Err() != nil {
		return sandbox.Result{}, fault.Wrap(err, sandbox.CodeClosed)
	}
	if err != nil {
		return sandbox.Result{}, asFault(err)
	}
	result, f := r.attempt(ctx, start, c)
	if f == nil || !prepared || f.Code != sandbox.CodeRootChanged && f.Code != sandbox.CodeEntryMissing && f.Code != sandbox.CodeEntryChanged {
		return result, f
	}
	r.pipes.close()
	if f := r.lookAll(); f != nil {
		return sandbox.Result{}, f
	}
	if c, err = r.s.ready(); err != nil {
		return sandbox.Result{}, asFault(err)
	}
	return r.attempt(ctx, start, c)
}

func (r *run) attempt(ctx context.Context, start time.Time, c *child) (sandbox.Result, *fault.Error) {
	r.pipes = &pipes{}
	if err := r.pipes.open(r.spec, r.s.who); err != nil {
		c.end()
		return sandbox.Result{}, fault.Wrap(err, sandbox.CodeUnavailable, "detail", err.Error())
	}
	r.order.Cgroup = c.cell != nil
	if r.order.Cgroup {
		if err := c.cell.limit(r.spec.Limits.MemoryBytes, mostTasks(r.spec.Limits.Processes)); err != nil {
			c.end()
			return sandbox.Result{}, asFault(groupError(err))
		}
	}
	stop := watchEnd(ctx, r.s.life, r.spec.Limits.WallClock-time.Since(start), c)
	if err := r.send(c); err != nil {
		stop()
		c.end()
		return sandbox.Result{}, fault.Wrap(err, sandbox.CodeUnavailable, "detail", err.Error())
	}
	r.pipes.start(r.spec)
	r.s.prepareSpare()
	last, started, flows, err := r.follow(c)
	why := stop()
	killed := c.cell.killed() // by the kernel for memory; every process is dead by now, or will be by our hand
	if err != nil || last.Kind == kindFailed {
		<-c.gone // nothing answered: the namespace is being torn down
		c.release()
	} else {
		r.s.wait.Add(1)
		go func() { // init has reaped everything; the kernel takes the namespaces down behind our back
			defer r.s.wait.Done()
			<-c.gone
			c.release()
		}()
	}
	result := sandbox.Result{ExitCode: -1, Started: started, Flows: flows, Denials: denials(last.Denials, flows)}
	switch {
	case killed && (why == "" || why == sandbox.EndMemory || err == nil && last.Kind == kindDone):
		result.End = sandbox.EndMemory
	case err == nil && last.Kind == kindDone: // it ended by itself, also when the kill was already on its way
		result.End, result.ExitCode, result.Signal = ending(last)
	case err == nil && last.Kind == kindFailed:
		r.pipes.close()
		return result, last.fault()
	case why != "":
		result.End = why
	default:
		return result, fault.Wrap(err, sandbox.CodeUnavailable, "detail", "the helper died")
	}
	result.Stdout, result.Stderr = r.pipes.finish()
	return result, nil
}

func (r *run) send(c *child) error {
	text, err := r.order.marshal()
	if err != nil {
		return err
	}
	f, err := kernel.SealedFile("order", text)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	p := r.pipes
	if err := kernel.Send(c.ctl, []byte("order"), int(f.Fd()), int(p.stdin.Fd()), int(p.stdout.w.Fd()), int(p.stderr.w.Fd())); err != nil {
		return err
	}
	for part := range slices.Chunk(r.mounts, kernel.MaxPassed) {
		if err := kernel.Send(c.ctl, []byte("mounts"), part...); err != nil {
			return err
		}
	}
	return nil
}

// follow reads the helper's messages to the last, and serves the network meanwhile.
func (r *run) follow(c *child) (last reply, started bool, flows []sandbox.Flow, err error) {
	n := r.newNetwork(c)
	for {
		m, err := c.message()
		if n.take(m) {
			continue
		}
		last = m.reply
		if err != nil {
			return last, started, n.close(false), err
		}
		switch last.Kind {
		case kindStarted:
			started = true
		case kindDone, kindFailed:
			return last, started, n.close(last.Kind == kindDone && !last.OOM), nil
		}
	}
}

func ending(r reply) (end sandbox.End, code int, signal string) {
	switch {
	case r.OOM:
		return sandbox.EndMemory, -1, ""
	case r.Signal != 0:
		return sandbox.EndSignaled, -1, signalName(syscall.Signal(r.Signal))
	}
	return sandbox.EndExited, r.Exit, ""
}

// watchEnd kills the helper when the context, the Sandbox or the time ends. The returned function stops watching and
// tells which of them it was.
func watchEnd(ctx, life context.Context, limit time.Duration, c *child) (stop func() sandbox.End) {
	done, result := make(chan struct{}), make(chan sandbox.End, 1)
	timer := time.NewTimer(max(limit, 0))
	go func() {
		defer timer.Stop()
		var why sandbox.End
		select {
		case <-ctx.Done():
			why = sandbox.EndCancelled
		case <-life.Done():
			why = sandbox.EndCancelled
		case <-timer.C:
			why = sandbox.EndTimedOut
		case <-outOfMemory(c, done):
			why = sandbox.EndMemory
		case <-done:
		}
		if why != "" {
			c.kill()
		}
		result <- why
	}()
	var once sync.Once
	return func() sandbox.End {
		once.Do(func() { close(done) })
		return <-result
	}
}

// pipes are the program's three standard streams.
type pipes struct {
	stdin          *os.File // read end for the program
	feed           *os.File
	stdout, stderr stream
	readers        sync.WaitGroup
}

type stream struct {
	r, w *os.File
	kept *sandbox.Collector
}

func (p *pipes) open(spec sandbox.Spec, who identity) (err error) {
	if len(spec.Stdin) == 0 {
		p.stdin, err = os.Open(os.DevNull)
	} else {
		p.stdin, p.feed, err = os.Pipe()
		if err == nil && who.globalRoot {
			err = p.stdin.Chown(who.uid, who.gid)
		}
	}
	for _, s := range []*stream{&p.stdout, &p.stderr} {
		if err == nil {
			s.kept = sandbox.NewCollector(spec.Limits.OutputBytes)
			s.r, s.w, err = os.Pipe()
		}
		if err == nil && who.globalRoot {
			err = s.w.Chown(who.uid, who.gid) // /dev/stdout must open again
		}
	}
	return err
}

// start drops the program's ends and moves bytes until nobody holds them any more.
func (p *pipes) start(spec sandbox.Spec) {
	_ = p.stdin.Close()
	if feed := p.feed; feed != nil {
		p.feed = nil
		p.readers.Add(1)
		go func() {
			defer p.readers.Done()
			_, _ = feed.Write(spec.Stdin) // fails with EPIPE when the tree ends without reading it
			_ = feed.Close()
		}()
	}
	for _, s := range []*stream{&p.stdout, &p.stderr} {
		_ = s.w.Close()
		p.readers.Add(1)
		go func() {
			defer p.readers.Done()
			_, _ = io.CopyBuffer(s.kept, onlyReader{s.r}, make([]byte, 64<<10))
		}()
	}
}

type onlyReader struct{ io.Reader }

func (p *pipes) finish() (stdout, stderr sandbox.Capture) {
	p.readers.Wait()
	stdout, stderr = p.stdout.kept.Capture(), p.stderr.kept.Capture()
	p.close()
	return stdout, stderr
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.stdin, p.feed, p.stdout.r, p.stdout.w, p.stderr.r, p.stderr.w} {
		if f != nil {
			_ = f.Close()
		}
	}
}
