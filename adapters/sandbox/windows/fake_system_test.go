package windows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// session is one of the filter engine's.
type session struct {
	dynamic bool
	tx      bool
	undo    []func()
}

func (w *world) OpenEngine(dynamic bool) (h handle, err error) {
	err = w.call("OpenEngine", func() error { h = w.handle(&session{dynamic: dynamic}); return nil })
	return h, err
}

func (w *world) tx(h handle, name string, f func(s *session) error) error {
	return w.call(name, func() error {
		s := w.handles[h].(*session)
		if (name == "Begin") == s.tx {
			return errors.New("transaction")
		}
		return f(s)
	})
}

func (w *world) Begin(h handle) error {
	return w.tx(h, "Begin", func(s *session) error { s.tx, s.undo = true, nil; return nil })
}

func (w *world) Commit(h handle) error {
	return w.tx(h, "Commit", func(s *session) error { s.tx = false; return nil })
}

func (w *world) Abort(h handle) error {
	return w.tx(h, "Abort", func(s *session) error { s.abort(); return nil })
}

func (s *session) abort() {
	for _, f := range slices.Backward(s.undo) {
		f()
	}
	s.tx, s.undo = false, nil
}

func add(all map[guid]*session, s *session, key guid) error {
	if _, ok := all[key]; ok {
		return fs.ErrExist
	}
	owner := s
	if !s.dynamic {
		owner = nil
	}
	all[key] = owner
	s.undo = append(s.undo, func() { delete(all, key) })
	return nil
}

func drop(all map[guid]*session, s *session, key guid) error {
	owner, ok := all[key]
	if !ok {
		return fs.ErrNotExist
	}
	delete(all, key)
	s.undo = append(s.undo, func() { all[key] = owner })
	return nil
}

func (w *world) AddSublayer(h handle, key guid, _ uint16) error {
	return w.tx(h, "AddSublayer", func(s *session) error { return add(w.layers, s, key) })
}

func (w *world) AddFilter(h handle, layer guid, f filter) error {
	return w.tx(h, "AddFilter", func(s *session) error {
		if _, ok := w.layers[layer]; !ok {
			return errors.New("no sublayer")
		}
		return add(w.filters, s, f.Key)
	})
}

func (w *world) DeleteFilter(h handle, key guid) error {
	return w.tx(h, "DeleteFilter", func(s *session) error { return drop(w.filters, s, key) })
}

func (w *world) DeleteSublayer(h handle, key guid) error {
	return w.tx(h, "DeleteSublayer", func(s *session) error { return drop(w.layers, s, key) })
}

func (w *world) CloseEngine(h handle) error { return w.Close(h) }

func (w *world) endSession(s *session) {
	s.abort()
	for _, all := range []map[guid]*session{w.filters, w.layers} {
		maps.DeleteFunc(all, func(_ guid, owner *session) bool { return owner == s })
	}
}

func (w *world) Exempt() (out []sid, err error) {
	err = w.call("Exempt", func() error { out = slices.Clone(w.exempt); return nil })
	return out, err
}

func (w *world) SetExempt(list []sid) error {
	return w.call("SetExempt", func() error { w.exempt = slices.Clone(list); return nil })
}

func (w *world) Self() (s self, err error) {
	err = w.call("Self", func() error { s = w.self; return nil })
	return s, err
}

type claim string

func (w *world) Claim(name string) (h handle, ok bool, err error) {
	err = w.call("Claim", func() error {
		if ok = !w.claims[name]; ok {
			w.claims[name] = true
			h = w.handle(claim(name))
		}
		return nil
	})
	return h, ok, err
}

func profileDir(name string) string { return `C:\Packages\` + name + `\AC` }

func (w *world) MakeProfile(name string) error {
	return w.call("MakeProfile", func() error {
		if !w.profiles[name] {
			w.profiles[name] = true
			w.dir(profileDir(name) + `\Temp`)
		}
		return nil
	})
}

func (w *world) ProfileSID(name string) (s sid, err error) {
	err = w.call("ProfileSID", func() error { s = packageSID(name); return nil })
	return s, err
}

func (w *world) ProfileDir(who sid) (dir string, err error) {
	err = w.call("ProfileDir", func() error {
		for name := range w.profiles {
			if packageSID(name) == who {
				dir = profileDir(name)
				return nil
			}
		}
		return fs.ErrNotExist
	})
	return dir, err
}

func (w *world) EmptyProfileKey(name string) error {
	return w.call("EmptyProfileKey", func() error { delete(w.keys, name); return nil })
}

func (w *world) Close(h handle) error {
	if h == 0 {
		return nil
	}
	return w.call("Close", func() error { w.closeHandle(h); return nil })
}

func (w *world) closeHandle(h handle) {
	switch v := w.handles[h].(type) {
	case nil:
		panic(fmt.Sprint("handle closed twice: ", h))
	case openNode:
		if v.to == toHold || v.to == toRead {
			v.pins--
		}
	case *session:
		w.endSession(v)
	case claim:
		delete(w.claims, string(v))
	case *fakeJob:
		v.kill()
	}
	delete(w.handles, h)
}

// die is what the kernel does when the process is gone.
func (w *world) die() {
	w.fail, w.calls, w.dead = failure{}, 0, false
	for h := range w.handles {
		w.closeHandle(h)
	}
}

// does is what a started program does, told as its outcome.
type does struct {
	stdout, stderr string
	code           uint32
	hangs          bool // until it is killed
	memory         bool // until the kernel refuses it memory
	facts          func(*tokenFacts)
	kids           int
	refused        error // CreateProcess fails
	effect         func(w *world)
}

type fakeJob struct {
	limits    jobLimits
	now, ever int
	ended     chan struct{}
	once      sync.Once
	events    chan jobEvent
}

func (j *fakeJob) kill() {
	j.now = 0
	j.once.Do(func() { close(j.ended) })
}

func (w *world) CreateJob() (h handle, err error) {
	err = w.call("CreateJob", func() error {
		j := &fakeJob{ended: make(chan struct{}), events: make(chan jobEvent, 10)}
		w.jobs = append(w.jobs, j)
		h = w.handle(j)
		return nil
	})
	return h, err
}

func (w *world) LimitJob(h handle, l jobLimits) error {
	return w.call("LimitJob", func() error { w.handles[h].(*fakeJob).limits = l; return nil })
}

type fakePort struct{ *fakeJob }

func (w *world) WatchJob(h handle) (p handle, err error) {
	err = w.call("WatchJob", func() error { p = w.handle(fakePort{w.handles[h].(*fakeJob)}); return nil })
	return p, err
}

func (w *world) NextEvent(h handle, wait time.Duration) (e jobEvent, ok bool, err error) {
	w.mu.Lock()
	p, here := w.handles[h].(fakePort)
	w.mu.Unlock()
	if !here {
		return 0, false, errors.New("no port")
	}
	select {
	case e = <-p.events:
		return e, true, nil
	case <-p.ended:
		time.Sleep(20 * time.Microsecond)
		return eventEmpty, true, nil
	case <-time.After(min(wait, time.Millisecond)):
		return 0, false, nil
	}
}

func (w *world) TerminateJob(h handle) error {
	return w.call("TerminateJob", func() error { w.handles[h].(*fakeJob).kill(); return nil })
}

func (w *world) JobProcesses(h handle) (now, ever int, err error) {
	err = w.call("JobProcesses", func() error {
		j := w.handles[h].(*fakeJob)
		now, ever = j.now, j.ever
		return nil
	})
	return now, ever, err
}

type fakePipe struct {
	r *io.PipeReader
	w *io.PipeWriter
}

func (w *world) Pipe(bool) (ours, theirs handle, err error) {
	err = w.call("Pipe", func() error {
		r, wr := io.Pipe()
		p := &fakePipe{r, wr}
		ours, theirs = w.handle(p), w.handle(p)
		return nil
	})
	return ours, theirs, err
}

func (w *world) OpenNull() (h handle, err error) {
	err = w.call("OpenNull", func() error { h = w.handle("NUL"); return nil })
	return h, err
}

type fakeStream struct {
	*fakePipe
	w *world
	h handle
}

func (s fakeStream) Read(b []byte) (int, error)  { return s.r.Read(b) }
func (s fakeStream) Write(b []byte) (int, error) { return s.fakePipe.w.Write(b) }
func (s fakeStream) Close() error {
	_, _ = s.r.Close(), s.fakePipe.w.Close()
	return s.w.Close(s.h)
}

func (w *world) Stream(h handle) io.ReadWriteCloser {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fakeStream{w.handles[h].(*fakePipe), w, h}
}

func (w *world) RestrictToken() (h handle, err error) {
	err = w.call("RestrictToken", func() error { h = w.handle("token"); return nil })
	return h, err
}

type fakeProcess struct {
	does
	job   *fakeJob
	order startOrder
	std   [3]*fakePipe
	ended chan struct{}
}

func (w *world) Start(o startOrder) (p process, err error) {
	err = w.call("Start", func() error {
		d := does{code: probeCode}
		if isProbe := strings.HasPrefix(o.CommandLine, "cmd.exe "); isProbe && w.probe != nil {
			d = *w.probe
		} else if !isProbe && w.does != nil {
			d = w.does(w, o)
		}
		if d.refused != nil {
			return d.refused
		}
		j := w.handles[o.Job].(*fakeJob)
		j.now, j.ever = 1+d.kids, j.ever+1+d.kids
		f := &fakeProcess{does: d, job: j, order: o, ended: make(chan struct{})}
		for i, h := range o.Std {
			f.std[i], _ = w.handles[h].(*fakePipe)
		}
		p = process{w.handle(f), w.handle("thread"), o.Job}
		return nil
	})
	return p, err
}

func (w *world) Inspect(p process) (t tokenFacts, err error) {
	err = w.call("Inspect", func() error {
		f := w.handles[p.Process].(*fakeProcess)
		t = tokenFacts{AppContainer: true, Package: f.order.Package, Capabilities: slices.Clone(f.order.Capabilities), LowBox: 2, Low: true, InJob: true}
		if f.facts != nil {
			f.facts(&t)
		}
		return nil
	})
	return t, err
}

func (w *world) Resume(p process) error {
	return w.call("Resume", func() error {
		f := w.handles[p.Process].(*fakeProcess)
		if f.effect != nil {
			f.effect(w)
		}
		go f.live()
		return nil
	})
}

// live is the life of a program: it prints, and ends or is ended.
func (f *fakeProcess) live() {
	if f.std[0] != nil {
		in, _ := io.ReadAll(f.std[0].r)
		f.stdout += string(in)
	}
	for i, text := range []string{f.stdout, f.stderr} {
		if text != "" {
			_, _ = io.WriteString(f.std[i+1].w, text)
		}
	}
	if f.memory {
		f.job.events <- eventMemory
	}
	if f.hangs || f.memory {
		<-f.job.ended
	}
	close(f.ended)
	<-f.job.ended
	for _, p := range f.std[1:] {
		_ = p.w.Close()
	}
}

func (w *world) Wait(ctx context.Context, p process) (uint32, error) {
	w.mu.Lock()
	f := w.handles[p.Process].(*fakeProcess)
	w.mu.Unlock()
	select {
	case <-f.ended:
		return f.code, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
