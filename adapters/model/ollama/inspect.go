package ollama

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Inspect implements model.Inspector from /api/show.
func (m *Model) Inspect(ctx context.Context, name string) (model.Info, error) {
	var out struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
		RemoteModel  string                     `json:"remote_model"`
		RemoteHost   string                     `json:"remote_host"`
	}
	body, err := json.Marshal(map[string]string{"model": name})
	if err != nil {
		return model.Info{}, fault.From(err)
	}
	if err := m.ask(ctx, http.MethodPost, "/api/show", body, name, &out); err != nil {
		return model.Info{}, err
	}
	info := model.Info{
		Name: name, Capabilities: out.Capabilities,
		Remote: out.RemoteModel != "" || out.RemoteHost != "" || cloudName(name),
	}
	var arch string
	if json.Unmarshal(out.Info["general.architecture"], &arch) == nil {
		var n float64
		if json.Unmarshal(out.Info[arch+".context_length"], &n) == nil && n > 0 && n < 1<<40 {
			info.ContextLength = int(n)
		}
	}
	if version, err := m.Version(ctx); err == nil { // a server that hides it is taken for an old one
		info.Refuses = refuses(version)
	}
	return info, nil
}

// refuses reports that a server of this version refuses a prompt that is too long when truncate is false: from 0.13 on for certain.
// A version that is no release ("0.0.0" of a build of one's own) says nothing.
func refuses(version string) bool {
	var major, minor int
	if n, _ := fmt.Sscanf(strings.TrimPrefix(version, "v"), "%d.%d", &major, &minor); n < 2 {
		return false
	}
	return major > 0 || minor >= 13
}

// Loaded implements model.Inspector from /api/ps.
func (m *Model) Loaded(ctx context.Context, name string) (int, error) {
	var out struct {
		Models []struct {
			Name          string `json:"name"`
			Model         string `json:"model"`
			ContextLength int    `json:"context_length"`
		} `json:"models"`
	}
	if err := m.ask(ctx, http.MethodGet, "/api/ps", nil, name, &out); err != nil {
		return 0, err
	}
	for _, l := range out.Models {
		if same(l.Name, name) || same(l.Model, name) {
			return max(l.ContextLength, 0), nil
		}
	}
	return 0, nil
}

// Version returns the server's version, to tell which one answers.
func (m *Model) Version(ctx context.Context) (string, error) {
	var out struct {
		Version string `json:"version"`
	}
	if err := m.ask(ctx, http.MethodGet, "/api/version", nil, "", &out); err != nil {
		return "", err
	}
	return out.Version, nil
}

// List returns the names of the pulled models, sorted.
func (m *Model) List(ctx context.Context) ([]string, error) {
	var out struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := m.ask(ctx, http.MethodGet, "/api/tags", nil, "", &out); err != nil {
		return nil, err
	}
	var names []string
	for _, l := range out.Models {
		names = append(names, l.Name)
	}
	slices.Sort(names)
	return names, nil
}

// ask does one exchange whose reply is a single JSON value.
func (m *Model) ask(ctx context.Context, method, path string, body []byte, name string, out any) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	call := m.start(ctx)
	defer call.end()
	res, err := call.do(method, path, body, name)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end below
	text, err := io.ReadAll(io.LimitReader(moving{res.Body, call}, int64(m.cfg.MaxLineBytes)))
	if err != nil {
		return call.broken(fault.Wrap(err, model.CodeIncomplete))
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fault.Wrap(err, model.CodeProtocol, "detail", detail(text))
	}
	return nil
}

// same compares model names the way the server does: without case, ":latest" understood.
func same(a, b string) bool { return strings.EqualFold(tagged(a), tagged(b)) }

func tagged(name string) string {
	if i := strings.LastIndexByte(name, '/'); !strings.Contains(name[i+1:], ":") {
		return name + ":latest"
	}
	return name
}

// cloudName tells names that the local server sends on to another machine: by their tag, as core/config does.
func cloudName(name string) bool {
	_, tag, _ := strings.Cut(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ":")
	return tag == "cloud" || strings.HasSuffix(tag, "-cloud")
}
