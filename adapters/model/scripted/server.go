package scripted

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Server is an HTTP face on a free port of the loopback.
type Server struct {
	URL   string // base URL for a client
	Model *Model // what it plays; ask it for Requests

	http *http.Server
	done sync.WaitGroup
}

// NewServer starts a server that plays the script. The caller closes it.
func NewServer(s Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fault.Wrap(err, model.CodeUnreachable, "url", "127.0.0.1:0", "detail", err.Error())
	}
	m := New(s)
	srv := &Server{
		URL: "http://" + l.Addr().String(), Model: m,
		http: &http.Server{Handler: NewHandler(m), ReadHeaderTimeout: 10 * time.Second},
	}
	srv.done.Go(func() {
		if err := srv.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return // the listener broke: clients see a refused connection
		}
	})
	return srv, nil
}

// Close cuts every connection, stalled ones included, and waits for the listener to end.
func (s *Server) Close() {
	_ = s.http.Close() // nothing is pending that a caller could save
	s.done.Wait()
}

// NewHandler speaks Ollama's wire for m.
func NewHandler(m *Model) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/chat", m.serveChat)
	mux.HandleFunc("POST /api/show", m.serveShow)
	mux.HandleFunc("GET /api/ps", m.servePS)
	mux.HandleFunc("GET /api/tags", m.serveTags)
	mux.HandleFunc("GET /api/version", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"version": m.script.Version})
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Ollama is running")) })
	return mux
}

func (m *Model) serveChat(w http.ResponseWriter, r *http.Request) {
	req, stream, err := decodeChat(http.MaxBytesReader(w, r.Body, 256<<20))
	if err != nil {
		var b badRequest
		if !errors.As(err, &b) {
			b = badRequest{400, err.Error()}
		}
		writeJSON(w, b.status, map[string]string{"error": b.text})
		return
	}
	t := m.next(req)
	p := player{m: m, w: w, r: r, stream: stream}
	if !p.play(t, req) {
		m.abandon()
	}
}

// player writes one turn to one connection.
type player struct {
	m      *Model
	w      http.ResponseWriter
	r      *http.Request
	stream bool
}

// play reports whether the client was still there at the end.
func (p player) play(t Turn, req model.Request) bool {
	if wait(p.r.Context(), t.DelayMS) != nil {
		return false
	}
	var f Fault
	if t.Fault != nil {
		f = t.Fault.wire(req.Model)
	}
	switch {
	case f.Status > 0:
		p.status(f)
		return true
	case f.Status < 0 && f.Stall:
		<-p.r.Context().Done()
		return false
	case f.Status < 0:
		panic(http.ErrAbortHandler)
	}
	pieces, calls, done := t.lines(req)
	if !p.stream && t.Fault == nil {
		done.Message.Content, done.Message.Thinking = t.text(), t.Thinking
		if calls != nil {
			done.Message.ToolCalls = calls.Message.ToolCalls
		}
		writeJSON(p.w, http.StatusOK, done)
		return true
	}
	p.w.Header().Set("Content-Type", "application/x-ndjson")
	for i, l := range pieces {
		if i > 0 && wait(p.r.Context(), t.PaceMS) != nil {
			return false
		}
		if !p.line(l) {
			return false
		}
	}
	if t.Fault != nil {
		return p.fail(f)
	}
	if calls != nil && !p.line(*calls) {
		return false
	}
	return p.line(done)
}

// fail ends a stream badly.
func (p player) fail(f Fault) bool {
	switch {
	case f.Stall:
		p.flush()
		<-p.r.Context().Done()
		return false
	case f.Cut:
		p.flush()
		panic(http.ErrAbortHandler)
	case f.Line != "":
		return p.line(map[string]string{"error": f.Line})
	}
	_, err := p.w.Write([]byte(f.Raw))
	return err == nil
}

func (p player) status(f Fault) {
	ct := f.ContentType
	if ct == "" {
		ct = "application/json; charset=utf-8"
	}
	p.w.Header().Set("Content-Type", ct)
	if f.Location != "" {
		p.w.Header().Set("Location", f.Location)
	}
	p.w.WriteHeader(f.Status)
	_, _ = p.w.Write([]byte(f.Body)) // a client that left has no use for it
}

func (p player) line(v any) bool {
	b, err := json.Marshal(v)
	if err != nil { // raw arguments that are no JSON: the stream breaks here, as it would on a real server
		panic(http.ErrAbortHandler)
	}
	if _, err := p.w.Write(append(b, '\n')); err != nil {
		return false
	}
	p.flush()
	return p.r.Context().Err() == nil
}

func (p player) flush() { _ = http.NewResponseController(p.w).Flush() }

func (m *Model) serveShow(w http.ResponseWriter, r *http.Request) {
	var in struct{ Model, Name string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	if in.Model == "" {
		in.Model = in.Name
	}
	if in.Model == "" || !m.knows(in.Model) {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": "model '" + in.Model + "' not found"})
		return
	}
	out := map[string]any{
		"modelfile": "FROM scripted", "capabilities": m.script.Capabilities, "modified_at": createdAt,
		"details":    map[string]any{"format": "gguf", "family": "scripted", "families": []string{"scripted"}},
		"model_info": map[string]any{"general.architecture": "scripted", "scripted.context_length": m.script.ContextLength},
	}
	if strings.HasSuffix(in.Model, ":cloud") {
		out["remote_model"], out["remote_host"] = strings.TrimSuffix(in.Model, ":cloud"), "https://ollama.com:443"
	}
	if m.script.RemoteHost != "" {
		out["remote_model"], out["remote_host"] = in.Model, m.script.RemoteHost
	}
	writeJSON(w, http.StatusOK, out)
}

func (m *Model) servePS(w http.ResponseWriter, _ *http.Request) {
	m.mu.Lock()
	n, name := m.loadedCtx, m.script.Model
	if name == "" && len(m.requests) > 0 {
		name = m.requests[len(m.requests)-1].Model
	}
	m.mu.Unlock()
	models := []map[string]any{}
	if n > 0 {
		models = append(models, map[string]any{
			"name": tagged(name), "model": tagged(name), "context_length": n, "size_vram": 0,
			"expires_at": createdAt,
		})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": models})
}

func (m *Model) serveTags(w http.ResponseWriter, _ *http.Request) {
	models := []map[string]any{}
	if m.script.Model != "" {
		models = append(models, map[string]any{"name": tagged(m.script.Model), "model": tagged(m.script.Model), "modified_at": createdAt})
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": models})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that left has no use for it
}
