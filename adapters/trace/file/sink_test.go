package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func event(s trace.Stream, l trace.Level, name string, fields ...trace.Field) trace.Event {
	return trace.Event{At: at, Stream: s, Level: l, Name: name, Session: "s1", Task: "t1", Fields: fields}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

// buffer is a writer that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestSink_EachStreamHasItsFile(t *testing.T) { // LOG-01, LOG-02, LOG-04, OBS-03
	dir := filepath.Join(t.TempDir(), "logs")
	var stderr buffer
	s, err := New(Options{Dir: dir, Level: trace.Info, LLM: true, HTTP: true, Stderr: &stderr})
	require.NoError(t, err)
	s.Emit(event(trace.App, trace.Debug, "too.fine"))
	s.Emit(event(trace.App, trace.Warn, "task.state", trace.F("to", "running"), trace.F("why", "two words\n\x1b[31m"), trace.F("text", "日本語")))
	s.Emit(event(trace.LLM, trace.Debug, "model.reply", trace.F("text", "<b>&"), trace.F("elapsed", 1500*time.Microsecond)))
	s.Emit(event(trace.Tokens, trace.Info, "tokens", trace.F("input", 12), trace.F("bad", math.NaN()), trace.F("when", at)))
	s.Emit(event(trace.HTTP, trace.Info, "http.request", trace.F("status", 200)))
	s.Emit(event("other", trace.Info, "nowhere"))
	require.NoError(t, s.Close())
	s.Emit(event(trace.App, trace.Error, "after.the.end"))

	line := "2026-01-02T03:04:05.678Z warn  task.state session=s1 task=t1 to=running why=\"two words\\n\\x1b[31m\" text=日本語\n"
	assert.Equal(t, line, read(t, s.AppLog()))
	assert.Equal(t, line, stderr.String(), "the same lines go to stderr")
	assert.Equal(t, `{"at":"2026-01-02T03:04:05.678Z","level":"debug","name":"model.reply","session":"s1","task":"t1","fields":{"text":"<b>&","elapsed_ms":1.5}}`+"\n",
		read(t, filepath.Join(dir, "llm.jsonl")))
	assert.Equal(t, `{"at":"2026-01-02T03:04:05.678Z","level":"info","name":"tokens","session":"s1","task":"t1","fields":{"input":12,"bad":"NaN","when":"2026-01-02T03:04:05.678Z"}}`+"\n",
		read(t, filepath.Join(dir, "tokens.jsonl")))
	assert.True(t, json.Valid([]byte(read(t, filepath.Join(dir, "http.jsonl")))))
	if runtime.GOOS != "windows" {
		for _, name := range []string{"app.log", "llm.jsonl", "tokens.jsonl", "http.jsonl"} {
			info, err := os.Stat(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.EqualValues(t, 0o600, info.Mode().Perm())
		}
		info, err := os.Stat(dir)
		require.NoError(t, err)
		assert.EqualValues(t, 0o700, info.Mode().Perm())
	}
}

func TestSink_StreamsCanBeSwitchedOff(t *testing.T) {
	dir := t.TempDir()
	s, err := New(Options{Dir: dir})
	require.NoError(t, err)
	s.Emit(event(trace.LLM, trace.Info, "x"))
	s.Emit(event(trace.HTTP, trace.Info, "x"))
	require.NoError(t, s.Close())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// Several instances in one directory: no line is lost in rotation, none is mixed with another.
func TestSink_InstancesShareTheFilesThroughRotation(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	const instances, lines = 4, 100
	for i := range instances {
		wg.Go(func() {
			s, err := New(Options{Dir: dir, MaxFileBytes: 2000, MaxFiles: 1000})
			if !assert.NoError(t, err) {
				return
			}
			for n := range lines {
				s.Emit(event(trace.Tokens, trace.Info, "tokens", trace.F("id", fmt.Sprintf("%d-%d", i, n))))
				runtime.Gosched()
			}
			assert.NoError(t, s.Close())
		})
	}
	wg.Wait()
	files, err := filepath.Glob(filepath.Join(dir, "tokens.jsonl*"))
	require.NoError(t, err)
	assert.Greater(t, len(files), 1, "it rotated; how often depends on how many lines a write takes at once")
	seen := map[string]bool{}
	for _, f := range files {
		for line := range strings.Lines(read(t, f)) {
			var o struct{ Fields struct{ ID string } }
			require.NoError(t, json.Unmarshal([]byte(line), &o), "%q", line)
			assert.False(t, seen[o.Fields.ID])
			seen[o.Fields.ID] = true
		}
	}
	assert.Equal(t, instances*lines, len(seen))
}

func TestSink_KeepsMaxFiles(t *testing.T) {
	for _, keep := range []int{1, 3} {
		dir := t.TempDir()
		l := &log{path: filepath.Join(dir, "app.log"), maxBytes: 10, maxFiles: keep}
		for n := range 20 {
			l.write(fmt.Appendf(nil, "line %04d\n", n))
		}
		l.write([]byte("longer than a whole file may be\n"))
		l.close()
		files, err := filepath.Glob(filepath.Join(dir, "app.log*"))
		require.NoError(t, err)
		assert.Len(t, files, keep)
		assert.Equal(t, "longer than a whole file may be\n", read(t, filepath.Join(dir, "app.log")))
	}
}

func TestSink_AFileThatWasTakenAwayIsMadeAgain(t *testing.T) {
	l := &log{path: filepath.Join(t.TempDir(), "app.log"), maxBytes: 1000, maxFiles: 2}
	l.write([]byte("one\n"))
	require.NoError(t, os.Remove(l.path))
	l.write([]byte("two\n"))
	l.close()
	assert.Equal(t, "two\n", read(t, l.path))
}

func TestSink_AFailureIsSaidOnceAndNeverFailsTheCaller(t *testing.T) {
	dir := t.TempDir()
	var reports []*fault.Error
	l := &log{path: filepath.Join(dir, "app.log"), maxBytes: 1000, maxFiles: 2, report: func(f *fault.Error) { reports = append(reports, f) }}
	l.write([]byte("one\n"))
	require.NoError(t, os.Remove(l.path))
	require.NoError(t, os.Mkdir(l.path, 0o700)) // now nobody can write there
	for range 3 {
		l.write([]byte("lost\n"))
	}
	require.Len(t, reports, 1)
	assert.Equal(t, trace.CodeFailed, reports[0].Code)
	require.NoError(t, os.Remove(l.path))
	l.write([]byte("two\n"))
	require.NoError(t, os.Remove(l.path))
	require.NoError(t, os.Mkdir(l.path, 0o700))
	l.write([]byte("lost\n"))
	assert.Len(t, reports, 2, "it had worked in between")
	l.close()

	var stderr buffer
	s, err := New(Options{Dir: dir + "/other", Stderr: &stderr, Render: func(f *fault.Error) string { return "sorry: " + string(f.Code) }})
	require.NoError(t, err)
	s.report(reports[0])
	require.NoError(t, s.Close())
	assert.Equal(t, "sorry: trace.failed\n", stderr.String())
}

// stuck is a reader of stderr that has stopped reading.
type stuck struct{ free chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.free; return len(p), nil }

func TestEmit_AStuckStderrHoldsNobodyUp(t *testing.T) {
	dir := t.TempDir()
	w := stuck{make(chan struct{})}
	s, err := New(Options{Dir: dir, Stderr: w})
	require.NoError(t, err)
	long := strings.Repeat("x", 1000)
	for range 2 * queueBytes / 1000 {
		s.Emit(event(trace.App, trace.Info, "line", trace.F("text", long)))
	}
	s.stderr.mu.Lock()
	assert.LessOrEqual(t, len(s.stderr.pending), queueBytes)
	assert.Positive(t, s.stderr.dropped)
	s.stderr.mu.Unlock()
	close(w.free)
	_ = s.Close()
}

func TestQueue_DroppedLinesAreCounted(t *testing.T) {
	q := newQueue(lostText)
	q.put(bytes.Repeat([]byte("x"), queueBytes))
	q.put([]byte("one\n"))
	q.put([]byte("two\n"))
	q.end()
	var out bytes.Buffer
	q.run(func(p []byte) { out.Write(p) })
	assert.True(t, strings.HasSuffix(out.String(), "xtrace.dropped count=2\n"))
}

func TestNew_RefusesADirectoryItCannotUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	for _, bad := range []string{path, filepath.Join(path, "below")} {
		_, err := New(Options{Dir: bad, Stderr: io.Discard})
		assert.Equal(t, trace.CodeFailed, fault.CodeOf(err))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "app.log"), 0o700))
	_, err := New(Options{Dir: dir})
	var f *fault.Error
	require.True(t, errors.As(err, &f))
	assert.Equal(t, trace.CodeFailed, f.Code)
}

func BenchmarkEmit(b *testing.B) {
	s, err := New(Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	e := event(trace.Tokens, trace.Info, "tokens", trace.F("input", 12), trace.F("output", 34))
	for b.Loop() {
		s.Emit(e)
	}
}
