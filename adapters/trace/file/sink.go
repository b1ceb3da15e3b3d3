// Package file writes trace events to the log files (ports/trace; LOG-01, LOG-02, LOG-04, OBS-03):
//
//	app.log       lines for people; the same lines go to stderr, never to stdout
//	llm.jsonl     prompts and responses
//	tokens.jsonl  token metrics
//	http.jsonl    the HTTP request log
//
// Files are owner-only and shared by all instances: every write is one call of whole lines to a file opened for
// appending, and one instance at a time rotates. Emit only puts a line into memory; a writer of its own takes it to
// the disk, so a slow disk or a stuck reader of stderr never holds the program up. When memory is full, lines are dropped
// and counted. The package never decides what may be logged; that is the caller's.
package file

import (
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Options of a sink.
type Options struct {
	Dir          string      // made when missing, owner-only
	Level        trace.Level // least level of the app log, in the file and on stderr
	LLM, HTTP    bool        // keep these streams
	MaxFileBytes int64       // a file is rotated before it grows beyond; 0 = 20 MiB
	MaxFiles     int         // files kept of each stream, the present one included; 0 = 5
	Stderr       io.Writer   // nil = none
	// Render turns a fault into the user's language. When a stream cannot be written, stderr says so once, and again
	// after it had worked in between. nil = the developer's text.
	Render func(*fault.Error) string
}

// Defaults of agent.yaml.
const (
	defaultFileBytes = 20 << 20
	defaultFiles     = 5
)

// How long Close waits, so that neither a stuck reader of stderr nor a disk that is gone can hold up the end for ever.
const (
	stderrWait = 2 * time.Second
	filesWait  = 30 * time.Second
)

// Sink takes events. Safe for concurrent use.
type Sink struct {
	opt     Options
	streams map[trace.Stream]*queue // read-only after New
	stderr  *queue
	files   sync.WaitGroup // the writers of files
	screen  sync.WaitGroup // the writer of stderr
}

var _ trace.Sink = (*Sink)(nil)

// New makes the directory, opens the app log to be sure that it can be written, and starts the writers. CodeFailed.
func New(opt Options) (*Sink, error) {
	if opt.MaxFileBytes <= 0 {
		opt.MaxFileBytes = defaultFileBytes
	}
	if opt.MaxFiles <= 0 {
		opt.MaxFiles = defaultFiles
	}
	if err := hostfile.MakeDir(opt.Dir); err != nil {
		return nil, failed(err, opt.Dir)
	}
	s := &Sink{opt: opt, streams: map[trace.Stream]*queue{}}
	if opt.Stderr != nil {
		s.stderr = newQueue(lostText)
	}
	app := s.newLog("app.log")
	if err := app.open(); err != nil {
		return nil, failed(err, app.path)
	}
	s.streams[trace.App] = start(&s.files, newQueue(lostText), app.write, app.close)
	if s.stderr != nil {
		start(&s.screen, s.stderr, func(p []byte) { _, _ = opt.Stderr.Write(p) }, func() {})
	}
	s.streams[trace.Tokens] = s.startLog("tokens.jsonl")
	if opt.LLM {
		s.streams[trace.LLM] = s.startLog("llm.jsonl")
	}
	if opt.HTTP {
		s.streams[trace.HTTP] = s.startLog("http.jsonl")
	}
	return s, nil
}

// Emit formats the event and queues it. It never waits for a disk.
func (s *Sink) Emit(e trace.Event) {
	q := s.streams[e.Stream]
	if q == nil || e.Stream == trace.App && e.Level < s.opt.Level {
		return
	}
	if e.Stream != trace.App {
		q.put(appendJSON(nil, e))
		return
	}
	line := appendText(nil, e)
	q.put(line)
	if s.stderr != nil {
		s.stderr.put(line)
	}
}

// AppLog is the path of the app log, for the ready message (OBS-02).
func (s *Sink) AppLog() string { return filepath.Join(s.opt.Dir, "app.log") }

// Close writes what is queued and ends the writers; events after it are dropped.
func (s *Sink) Close() error {
	for _, q := range s.streams { // a set: order does not matter here
		q.end()
	}
	inTime := await(&s.files, filesWait)
	if s.stderr != nil { // last: a failure of the files may still be told there
		s.stderr.end()
		inTime = await(&s.screen, stderrWait) && inTime
	}
	if !inTime {
		return fault.New(fault.CodeTimeout)
	}
	return nil
}

// await reports whether a group ended within limit.
func await(group *sync.WaitGroup, limit time.Duration) bool {
	ended := make(chan struct{})
	go func() { group.Wait(); close(ended) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ended:
		return true
	case <-timer.C:
		return false
	}
}

func (s *Sink) startLog(name string) *queue {
	l := s.newLog(name)
	return start(&s.files, newQueue(lostJSON), l.write, l.close)
}

func (s *Sink) newLog(name string) *log {
	return &log{path: filepath.Join(s.opt.Dir, name), maxBytes: s.opt.MaxFileBytes, maxFiles: s.opt.MaxFiles, report: s.report}
}

// report queues the text of a failure for stderr.
func (s *Sink) report(f *fault.Error) {
	if s.stderr == nil {
		return
	}
	text := f.Error()
	if s.opt.Render != nil {
		text = s.opt.Render(f)
	}
	s.stderr.put([]byte(text + "\n"))
}

func start(group *sync.WaitGroup, q *queue, write func([]byte), end func()) *queue {
	group.Go(func() {
		defer end()
		q.run(write)
	})
	return q
}

func failed(err error, path string) error {
	return fault.Wrap(err, trace.CodeFailed, "path", path, "detail", err.Error())
}
