package ollama

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/golden"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// recording is one exchange of testdata: a real server's reply as raw bytes on the wire.
type recording struct {
	name    string
	path    string // "/api/chat" unless it says otherwise
	request json.RawMessage
	head    string   // status line and headers with the empty line
	parts   [][]byte // of the body as it was sent, chunk sizes included
	stall   bool
	refused bool
}

type rawRecording struct {
	Name     string
	Request  json.RawMessage
	Response struct {
		Status      int
		Headers     map[string]string
		Head        []string
		Body        *string
		WireBody    *string `json:"wire_body"`
		Wire        string
		Lines       []string
		ContentType string   `json:"content_type"`
		Close       string   // scripted: normal, stall
		Chunks      []string `json:"chunks_base64"`
		Error       string
	}
}

func chunk(b []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b) }

// load reads a testdata file. Entries that hold several exchanges come out as several recordings; what keeps only the tail
// of a body cannot be replayed and is left out.
func load(t testing.TB, file string) []recording {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	require.NoError(t, err)
	defer f.Close() //nolint:errcheck // read only
	var out []recording
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 4<<20)
	for sc.Scan() {
		var many struct {
			Name     string
			Response map[string]json.RawMessage
		}
		require.NoError(t, json.Unmarshal(sc.Bytes(), &many))
		if _, nested := many.Response["0"]; nested {
			for _, k := range []string{"0", "1", "2", "3", "4", "5", "6"} {
				one := many.Response[k]
				line := fmt.Sprintf(`{"name":%q,"response":%s}`, many.Name+"."+k, one)
				if strings.Contains(string(one), `"body":"{`) {
					out = append(out, parse(t, []byte(line)))
				}
			}
			continue
		}
		out = append(out, parse(t, sc.Bytes()))
	}
	require.NoError(t, sc.Err())
	return out
}

func parse(t testing.TB, b []byte) recording {
	t.Helper()
	var r rawRecording
	require.NoError(t, json.Unmarshal(b, &r), "%s", b)
	var req struct {
		Path string
		Body json.RawMessage
	}
	if len(r.Request) > 0 {
		require.NoError(t, json.Unmarshal(r.Request, &req))
	}
	out := recording{name: r.Name, path: "/api/chat", request: r.Request, refused: r.Response.Error != ""}
	if req.Path != "" {
		out.path, out.request = req.Path, req.Body
	}
	rs := r.Response
	head := []string{fmt.Sprintf("HTTP/1.1 %d %s", rs.Status, http.StatusText(rs.Status))}
	switch {
	case rs.Wire != "":
		out.head = rs.Wire
		return out
	case rs.WireBody != nil:
		out.head, out.parts = strings.Join(rs.Head, "\r\n")+"\r\n\r\n", [][]byte{[]byte(*rs.WireBody)}
		return out
	case len(rs.Head) > 0:
		head = rs.Head
	}
	if rs.ContentType != "" {
		head = append(head, "Content-Type: "+rs.ContentType)
	}
	keys := []string{}
	for k := range rs.Headers {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		head = append(head, k+": "+rs.Headers[k])
	}
	chunked := len(rs.Lines) > 0 || len(rs.Chunks) > 0 || rs.Close != "" || rs.Headers["Transfer-Encoding"] == "chunked"
	if chunked && rs.Headers["Transfer-Encoding"] == "" {
		head = append(head, "Transfer-Encoding: chunked")
	}
	out.head = strings.Join(append(head, "Connection: close"), "\r\n") + "\r\n\r\n"
	var bodies [][]byte
	for _, l := range rs.Lines {
		bodies = append(bodies, []byte(l+"\n"))
	}
	for _, c := range rs.Chunks {
		d, err := base64.StdEncoding.DecodeString(c)
		require.NoError(t, err)
		bodies = append(bodies, d)
	}
	if rs.Body != nil && *rs.Body != "" {
		bodies = append(bodies, []byte(*rs.Body))
	}
	for _, b := range bodies {
		if chunked {
			b = chunk(b)
		}
		out.parts = append(out.parts, b)
	}
	out.stall = rs.Close == "stall"
	if chunked && !out.stall {
		out.parts = append(out.parts, []byte("0\r\n\r\n"))
	}
	return out
}

// singly sends the body's bytes in HTTP chunks of one byte each.
func (r recording) singly() recording {
	body, err := io.ReadAll(r.decoded())
	end := []byte("0\r\n\r\n")
	if err != nil || r.stall {
		end = nil
	}
	r.parts = nil
	for _, b := range body {
		r.parts = append(r.parts, chunk([]byte{b}))
	}
	r.parts = append(r.parts, end)
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(r.head), "\r\n"), func(l string) bool {
		l = strings.ToLower(l)
		return strings.HasPrefix(l, "content-length") || strings.HasPrefix(l, "transfer-encoding")
	})
	r.head = strings.Join(append(lines, "Transfer-Encoding: chunked"), "\r\n") + "\r\n\r\n"
	return r
}

// decoded is the body without its transfer encoding.
func (r recording) decoded() io.Reader {
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(r.head+string(slices.Concat(r.parts...)))), nil)
	if err != nil {
		return strings.NewReader("")
	}
	return res.Body
}

// replayer is a TCP server that answers the n-th connection with the recording set last.
type replayer struct {
	url string
	mu  sync.Mutex
	rec recording
	end chan struct{}
}

func newReplayer(t testing.TB) *replayer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &replayer{url: "http://" + l.Addr().String(), end: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() { close(p.end); _ = l.Close(); wg.Wait() })
	return p
}

func (p *replayer) set(r recording) {
	p.mu.Lock()
	p.rec = r
	p.mu.Unlock()
}

func (p *replayer) serve(c net.Conn) {
	defer c.Close() //nolint:errcheck // a test's end
	p.mu.Lock()
	r := p.rec
	p.mu.Unlock()
	rd := bufio.NewReader(c)
	req, err := http.ReadRequest(rd)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, req.Body)
	if r.refused {
		return
	}
	w := bufio.NewWriter(c)
	_, _ = w.WriteString(r.head)
	for _, b := range r.parts {
		_, _ = w.Write(b)
	}
	_ = w.Flush()
	if r.stall {
		<-p.end
	}
}

func client(t testing.TB, cfg Config) *Model {
	t.Helper()
	m, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(m.Close)
	return m
}

// outcome is what a recording came to, on one line.
func outcome(m *Model, r recording) string {
	ctx := context.Background()
	var req struct{ Model string }
	_ = json.Unmarshal(r.request, &req)
	switch r.path {
	case "/api/show":
		i, err := m.Inspect(ctx, req.Model)
		return result(err, fmt.Sprintf("capabilities=%v context=%d remote=%v", i.Capabilities, i.ContextLength, i.Remote))
	case "/api/ps":
		n, err := m.Loaded(ctx, "script-tools")
		return result(err, fmt.Sprintf("loaded=%d", n))
	case "/api/tags":
		l, err := m.List(ctx)
		return result(err, fmt.Sprintf("%v", l))
	case "/api/version":
		v, err := m.Version(ctx)
		return result(err, "version="+v)
	}
	var chunks model.Chunk
	rep, err := m.Chat(ctx, model.Request{Model: req.Model}, func(c model.Chunk) {
		chunks.Content += c.Content
		chunks.Thinking += c.Thinking
		chunks.Calls += c.Calls
	})
	return result(err, describe(rep)) + leak(chunks, rep, err)
}

func describe(r model.Reply) string {
	u := r.Usage
	count := func(n int, ok bool) string {
		if !ok {
			return "-"
		}
		return fmt.Sprint(n)
	}
	s := fmt.Sprintf("%s in=%s out=%s", r.DoneReason, count(u.PromptTokens, u.PromptPresent), count(u.OutputTokens, u.OutputPresent))
	for _, c := range r.Message.ToolCalls {
		s += fmt.Sprintf(" CALL %q(%s)", c.Name, c.Arguments)
	}
	if t := r.Message.Thinking; t != "" {
		s += fmt.Sprintf(" THINK %q", t)
	}
	return s + fmt.Sprintf(" TEXT %q", r.Message.Content)
}

func result(err error, ok string) string {
	if err != nil {
		return fault.From(err).Error()
	}
	return "ok " + ok
}

// leak is empty when the pieces add up to the reply; a call counted twice or text lost shows here.
func leak(c model.Chunk, r model.Reply, err error) string {
	if err != nil {
		return ""
	}
	all := func(a, b string) string { return strings.Join(strings.Fields(a+" "+b), "") }
	strip := strings.NewReplacer(openTag, "", closeTag, "")
	if strip.Replace(all(c.Thinking, c.Content)) != strip.Replace(all(r.Message.Thinking, r.Message.Content)) || c.Calls != len(r.Message.ToolCalls) {
		return fmt.Sprintf(" PIECES DIFFER %+v", c)
	}
	return ""
}

// Every recording of both servers, and every reported fault, gives the result written down in testdata/results-*.txt:
// byte for byte as it was sent, and once more in HTTP chunks of a single byte. (OLL-02, OLL-10, OLL-12..14)
func TestChat_Recordings(t *testing.T) {
	p := newReplayer(t)
	patient, hasty := client(t, Config{BaseURL: p.url}), client(t, Config{BaseURL: p.url, IdleTimeout: 50 * time.Millisecond})
	for _, file := range []string{"recorded-0.24.0", "recorded-0.32.15", "faults"} {
		t.Run(file, func(t *testing.T) {
			var lines []string
			for _, r := range load(t, file+".jsonl") {
				m := patient
				if r.stall {
					m = hasty
				}
				p.set(r)
				got := strings.ReplaceAll(outcome(m, r), p.url, "URL")
				lines = append(lines, r.name+": "+got)
				if r.refused || strings.HasPrefix(r.head, "HTTP/1.1 403 Forbidden\r\nDate") {
					continue
				}
				p.set(r.singly())
				require.Equal(t, got, strings.ReplaceAll(outcome(m, r), p.url, "URL"), "%s byte by byte", r.name)
			}
			golden.Equal(t, "results-"+file+".txt", []byte(strings.Join(lines, "\n")+"\n"))
		})
	}
}
