// Package ollama asks a model through Ollama's Chat API over plain HTTP (spec section 4, OLL-01..14).
//
// It translates one request into one reply. It never retries, logs, judges a reply or changes a request; app/modelcall and
// core/agent do. It follows no redirect, and uses no proxy for an address of this machine. net/http is all it needs: the
// official client takes an end of stream without its end mark for success, loses the status of errors inside a stream,
// refuses arguments sent as a string, and cannot tell an absent count from zero.
package ollama

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// CodeBadURL is the failure of New. args: url, detail
const CodeBadURL fault.Code = "model.bad_url"

// Config says where the server is and how long to wait for it. Zero values are the defaults.
type Config struct {
	BaseURL           string        // "http://127.0.0.1:11434"; http or https, no query
	ConnectTimeout    time.Duration // to the open connection; 5s
	FirstChunkTimeout time.Duration // from the request to the first byte of the reply; the model may have to load; 10m
	IdleTimeout       time.Duration // between two pieces; 2m
	MaxLineBytes      int           // one line of a stream; 32 MiB
	MaxReplyBytes     int           // all text and arguments of a reply together; 64 MiB
}

// Model is a client of one server. Safe for concurrent use.
type Model struct {
	cfg    Config
	base   *url.URL
	client *http.Client
}

var (
	_ model.Model     = (*Model)(nil)
	_ model.Inspector = (*Model)(nil)
)

// New makes a client; it does not connect. CodeBadURL when the address is no http(s) URL with a host.
func New(cfg Config) (*Model, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://127.0.0.1:11434"
	}
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil:
		return nil, fault.New(CodeBadURL, "url", "…", "detail", "it cannot be parsed") // the text may hold a password
	case base.Scheme != "http" && base.Scheme != "https":
		return nil, fault.New(CodeBadURL, "url", base.Redacted(), "detail", "it must begin with http:// or https://")
	case base.Hostname() == "":
		return nil, fault.New(CodeBadURL, "url", base.Redacted(), "detail", "it names no host")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, fault.New(CodeBadURL, "url", base.Redacted(), "detail", "it must have no query and no fragment")
	}
	orDuration(&cfg.ConnectTimeout, 5*time.Second)
	orDuration(&cfg.FirstChunkTimeout, 10*time.Minute)
	orDuration(&cfg.IdleTimeout, 2*time.Minute)
	orInt(&cfg.MaxLineBytes, 32<<20)
	orInt(&cfg.MaxReplyBytes, 64<<20)
	return &Model{cfg: cfg, base: base, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               proxy,
			DialContext:         (&net.Dialer{Timeout: cfg.ConnectTimeout}).DialContext,
			TLSHandshakeTimeout: cfg.ConnectTimeout,
			DisableCompression:  true,
			MaxIdleConns:        2,
			IdleConnTimeout:     30 * time.Second,
		},
	}}, nil
}

// Close gives idle connections back. Calls that run are not disturbed.
func (m *Model) Close() { m.client.CloseIdleConnections() }

func orDuration(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

func orInt(n *int, def int) {
	if *n <= 0 {
		*n = def
	}
}

// proxy is the environment's proxy, but never for this machine: prompts to a local model must not leave it.
func proxy(r *http.Request) (*url.URL, error) {
	if local(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

func local(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if i := strings.IndexByte(host, '%'); i >= 0 {
		host = host[:i]
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// Chat implements model.Model. A Chunk may hold reasoning that a model leaked into its content and that only the whole
// reply tells apart (a closing tag without an opening one): count chunks, show replies.
func (m *Model) Chat(ctx context.Context, req model.Request, onChunk func(model.Chunk)) (model.Reply, error) {
	if err := ctx.Err(); err != nil {
		return model.Reply{}, fault.From(err)
	}
	body, err := encode(req)
	if err != nil {
		return model.Reply{}, err
	}
	call := m.start(ctx)
	defer call.end()
	res, err := call.do(http.MethodPost, "/api/chat", body, req.Model)
	if err != nil {
		return model.Reply{}, err
	}
	defer res.Body.Close() //nolint:errcheck // closing is how a stream is given up
	if f := notStream(res); f != nil {
		return model.Reply{}, f
	}
	return call.read(res.Body, req.Model, onChunk)
}
