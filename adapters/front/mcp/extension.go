package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/mcptask"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// extensionTasks is the name of the Tasks extension in capabilities.
const extensionTasks = "io.modelcontextprotocol/tasks"

// TaskOptions say how MCP Tasks are kept (MCP-2026-07).
type TaskOptions struct {
	Store        mcptask.Store
	Server       string        // this instance, as the Store knows it
	TTL          time.Duration // a finished Task can be asked for so long; default 24 h
	PollInterval time.Duration // how often a client should ask; default 2 s
	MaxKept      int           // finished Tasks kept, the oldest leave first; default 1000
}

func (o TaskOptions) withDefaults() TaskOptions {
	if o.TTL <= 0 {
		o.TTL = 24 * time.Hour
	}
	if o.PollInterval <= 0 {
		o.PollInterval = 2 * time.Second
	}
	if o.MaxKept <= 0 {
		o.MaxKept = 1000
	}
	return o
}

// extension is the Tasks extension (MCP-2026-04..07): it keeps a record of each Task that a client can ask for, from before
// the client hears of it until its time to live is over, and gives each idempotency key to one Task.
type extension struct {
	opt     TaskOptions
	work    work
	catalog text.Catalog
	note    func(trace.Level, string, ...trace.Field)
	now     func() time.Time

	mu    sync.Mutex
	known map[string]*entry
	order []*entry            // by creation
	keys  map[string]*entry   // by idempotency key
	busy  map[string]struct{} // keys whose first request is not answered yet
	freed chan struct{}       // closed and replaced when a key leaves busy, or an entry changes
	open  int                 // unfinished entries of this server
	watch bool                // somebody watches them
}

// entry is one Task. Guarded by extension.mu.
type entry struct {
	mcptask.Head
	inputs  map[string]any // what it asks for
	updated time.Time      // when it became what it is
	stored  bool           // how it ended is in the store, and only there
	result  any            // until then
	fail    *taskError
}

func (e *entry) final() bool { return !e.Ended.IsZero() }

// take makes the entry what was seen.
func (e *entry) take(o outcome, at time.Time) {
	e.Status, e.Message, e.inputs, e.updated, e.result, e.fail = o.status, o.message, o.inputs, at, o.result, o.fail
	if o.final() {
		e.Ended = at
	}
}

// newExtension reads what earlier servers left and settles what they did not finish.
func newExtension(o TaskOptions, w work, catalog text.Catalog, note func(trace.Level, string, ...trace.Field), now func() time.Time) (*extension, error) {
	x := &extension{
		opt: o.withDefaults(), work: w, catalog: catalog, note: note, now: now,
		known: map[string]*entry{}, keys: map[string]*entry{}, busy: map[string]struct{}{}, freed: make(chan struct{}),
	}
	ctx := context.Background()
	heads, err := o.Store.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		e := &entry{Head: h, stored: true, updated: h.Ended}
		if !e.final() {
			e.take(lost(catalog), x.instant())
			e.Server = o.Server
			if err := x.put(ctx, *e); err != nil {
				return nil, err
			}
			e.result, e.fail = nil, nil
		}
		x.add(e)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(ctx)
	return x, nil
}

// instant is now as records hold it.
func (x *extension) instant() time.Time { return x.now().UTC().Truncate(time.Millisecond) }

// add is called with mu held, or before anybody else knows x.
func (x *extension) add(e *entry) {
	x.known[e.ID] = e
	x.order = append(x.order, e)
	if e.Key != "" {
		x.keys[e.Key] = e
	}
}

// put stores an entry as it is.
func (x *extension) put(ctx context.Context, e entry) error {
	r := mcptask.Record{Head: e.Head}
	var err error
	if e.result != nil {
		r.Result, err = json.Marshal(e.result)
	}
	if err == nil && e.fail != nil {
		r.Error, err = json.Marshal(e.fail)
	}
	if err != nil {
		return fault.Wrap(err, fault.CodeInternal)
	}
	return x.opt.Store.Put(ctx, r)
}

// keep makes a Task that was accepted one that clients can ask for. It returns when that is durable.
func (x *extension) keep(ctx context.Context, acc service.Accepted, key, digest string) error {
	e := &entry{Head: mcptask.Head{ID: acc.TaskID, Session: acc.SessionID, Server: x.opt.Server, Text: acc.Text, Created: x.instant(), Key: key, Digest: digest}}
	e.take(outcome{status: statusWorking, message: acc.Summary}, e.Created)
	if err := x.put(context.WithoutCancel(ctx), *e); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.add(e)
	x.open++
	if !x.watch {
		x.watch = true
		go x.watchAll()
	}
	x.expire(context.WithoutCancel(ctx))
	return nil
}

// expire forgets what is over for longer than its time to live, and the oldest that are too many. With mu held.
func (x *extension) expire(ctx context.Context) {
	finished := 0
	for _, e := range x.order {
		if e.final() {
			finished++
		}
	}
	now := x.now()
	x.order = slices.DeleteFunc(x.order, func(e *entry) bool {
		if !e.final() || finished <= x.opt.MaxKept && now.Before(e.Ended.Add(x.opt.TTL)) {
			return false
		}
		finished--
		delete(x.known, e.ID)
		if x.keys[e.Key] == e {
			delete(x.keys, e.Key)
		}
		if err := x.opt.Store.Remove(ctx, e.ID); err != nil {
			x.note(trace.Warn, "mcp.task_remove", trace.F("code", string(fault.CodeOf(err))))
		}
		return true
	})
}

// find returns a Task that can be asked for, as it stands now.
func (x *extension) find(ctx context.Context, id string) (e entry, ok bool) {
	x.mu.Lock()
	p := x.known[id]
	if p == nil {
		x.mu.Unlock()
		return entry{}, false
	}
	if p.final() && !x.now().Before(p.Ended.Add(x.opt.TTL)) {
		x.expire(context.WithoutCancel(ctx))
		x.mu.Unlock()
		return entry{}, false
	}
	if p.final() {
		defer x.mu.Unlock()
		return *p, true
	}
	x.mu.Unlock()
	x.refresh(ctx, p)
	x.mu.Lock()
	defer x.mu.Unlock()
	return *p, true
}

// refresh looks at an unfinished Task. The first final outcome stays for ever.
func (x *extension) refresh(ctx context.Context, e *entry) {
	o, err := x.work.look(ctx, e.ID)
	switch {
	case err == nil:
	case fault.CodeOf(err) == service.CodeUnknownTask: // nobody knows it any more
		o = forgotten(x.catalog)
		x.note(trace.Error, "mcp.task_forgotten")
	default: // it says nothing of the Task; asked again later
		if ctx.Err() == nil {
			x.note(trace.Warn, "mcp.task_look", trace.F("code", string(fault.CodeOf(err))))
		}
		return
	}
	x.mu.Lock()
	if e.final() || o.status == e.Status && o.message == e.Message && len(o.inputs) == len(e.inputs) {
		x.mu.Unlock()
		return
	}
	e.take(o, x.instant())
	if e.final() {
		x.open--
	}
	x.tell()
	now := *e
	x.mu.Unlock()
	if now.final() {
		_ = x.finish(context.WithoutCancel(ctx), e, now) // tried again in settle
	}
}

// finish stores how a Task ended. Until that succeeds it is answered from memory.
func (x *extension) finish(ctx context.Context, e *entry, now entry) error {
	if err := x.put(ctx, now); err != nil {
		x.note(trace.Error, "mcp.task_store", trace.F("code", string(fault.CodeOf(err))))
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	e.stored, e.result, e.fail = true, nil, nil
	return nil
}

// tell wakes those who wait for a change. With mu held.
func (x *extension) tell() {
	close(x.freed)
	x.freed = make(chan struct{})
}

// pause is how long changes are gathered before the Tasks are looked at; idle is how often they are where nobody tells.
const (
	pause = 20 * time.Millisecond
	idle  = time.Second
)

// watchAll looks at the unfinished Tasks at every change, until there are none.
func (x *extension) watchAll() {
	ctx := context.Background()
	for {
		changed := x.work.changed()
		x.mu.Lock()
		if x.open == 0 {
			x.watch = false
			x.mu.Unlock()
			return
		}
		var todo []*entry
		for _, e := range x.order {
			if !e.final() {
				todo = append(todo, e)
			}
		}
		x.mu.Unlock()
		for _, e := range todo {
			x.refresh(ctx, e)
		}
		select {
		case <-changed:
			time.Sleep(pause)
		case <-time.After(idle):
		}
	}
}

// settle records how every Task ended; the work is over. What cannot be stored is returned.
func (x *extension) settle(ctx context.Context) error {
	x.mu.Lock()
	all := slices.Clone(x.order)
	x.mu.Unlock()
	for _, e := range all {
		x.mu.Lock()
		now := *e
		x.mu.Unlock()
		switch {
		case !now.final():
			x.refresh(ctx, e)
		case !now.stored:
			if err := x.finish(ctx, e, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// claim gives an idempotency key to the first request that comes with it. Later ones wait for its answer and get its Task.
// release must be called when no Task is returned.
func (x *extension) claim(ctx context.Context, key, digest string) (earlier *mcptask.Head, release func(), f *fault.Error) {
	for {
		x.mu.Lock()
		x.expire(context.WithoutCancel(ctx))
		if e := x.keys[key]; e != nil {
			head := e.Head
			x.mu.Unlock()
			if head.Digest != digest {
				return nil, nil, fault.New(CodeIdempotency, "task", head.ID)
			}
			return &head, nil, nil
		}
		if _, used := x.busy[key]; !used {
			x.busy[key] = struct{}{}
			x.mu.Unlock()
			return nil, func() {
				x.mu.Lock()
				defer x.mu.Unlock()
				delete(x.busy, key)
				x.tell()
			}, nil
		}
		freed := x.freed
		x.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, nil, fault.From(ctx.Err())
		}
	}
}
