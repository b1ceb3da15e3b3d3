package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/fake"
	"github.com/agent-mcp/agent-mcp/conformance/evals"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// player plays evaluation tasks: each in a place of its own, through the server's own configuration, apply, policy,
// workspace, journal, audit and model client; only the MCP front is left out.
type player struct {
	url, model string        // a live server; "" = each task's script, over the wire
	root       string        // places are made below
	noReal     string        // why there is no sandbox for tasks that run programs
	limit      time.Duration // of one Task
}

func newPlayer(ctx context.Context, root string) *player {
	p := &player{root: root, limit: 5 * time.Minute}
	box := newSandbox()
	defer func() { _ = box.Close() }()
	rep, err := box.Preflight(ctx)
	switch {
	case err != nil:
		p.noReal = err.Error()
	case rep.Level == sandbox.LevelNone:
		p.noReal = fmt.Sprintf("this host cannot confine processes: %v", rep.Missing)
	}
	return p
}

// play runs one task and judges it. An error means that it could not be run at all.
func (p *player) play(ctx context.Context, t evals.Task) (evals.Score, error) {
	score := evals.Score{Task: t}
	if p.url != "" && t.Scripted {
		score.Skipped = "only for the scripted model"
		return score, nil
	}
	if len(t.Programs) > 0 && p.noReal != "" {
		score.Skipped = p.noReal
		return score, nil
	}
	dir, err := os.MkdirTemp(p.root, "eval")
	if err != nil {
		return score, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return score, err
	}
	r := run{player: p, task: t, dir: dir}
	if len(t.Programs) == 0 {
		r.box = fake.New(fake.Options{})
	} else {
		r.box = newSandbox() // of its own, as every server has: it keeps one server's journal
	}
	defer func() { _ = r.box.Close() }()
	if p.url == "" {
		stop, err := r.script()
		if err != nil {
			return score, err
		}
		defer stop()
	}
	if err := r.lay(ctx); err != nil {
		if score.Skipped = r.skip; r.skip != "" {
			err = nil
		}
		return score, err
	}
	if score.Outcome, err = r.perform(ctx); err != nil {
		return score, err
	}
	score.Input, score.Output = score.Outcome.Counts["input"], score.Outcome.Counts["output"]
	score.Verdict = evals.Judge(t, score.Outcome, p.url == "")
	return score, nil
}

// run is one task being played.
type run struct {
	*player
	task   evals.Task
	dir    string // place: agent.yaml, workspace, outside, state
	box    sandbox.Sandbox
	server *scripted.Server
	before int // requests of earlier Tasks
	skip   string
	known  []string // of programs: path, alias; they differ between hosts
}

func (r *run) script() (func(), error) {
	b, err := fs.ReadFile(r.task.FS(), "model.json")
	if err != nil {
		return nil, err
	}
	s, err := scripted.Parse(strings.NewReader(r.here(string(b))))
	if err != nil {
		return nil, err
	}
	if r.server, err = scripted.NewServer(s); err != nil {
		return nil, err
	}
	return r.server.Close, nil
}

// here fills in where the place is: a model that is told absolute paths uses them.
func (r *run) here(s string) string {
	return strings.ReplaceAll(s, "{{place}}", filepath.ToSlash(r.dir))
}

// lay lays the place out and applies its configuration.
func (r *run) lay(ctx context.Context) error {
	for _, d := range []string{"workspace", "outside", "tmp"} {
		if err := os.Mkdir(filepath.Join(r.dir, d), 0o755); err != nil {
			return err
		}
	}
	for _, d := range []string{"workspace", "outside", "skills", "settings.yaml"} {
		if err := r.copy(d); err != nil {
			return err
		}
	}
	err := os.Rename(filepath.Join(r.dir, "settings.yaml"), filepath.Join(r.dir, "agent.local.yaml"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, m := range r.task.Make {
		if err := r.make(m); err != nil {
			return err
		}
	}
	yaml, err := r.yaml(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.dir, "agent.yaml"), []byte(yaml), 0o600); err != nil {
		return err
	}
	_, err = r.admin().Apply(ctx, service.ApplyRequest{Path: filepath.Join(r.dir, "agent.yaml"), Yes: true})
	return err
}

func (r *run) copy(name string) error {
	return fs.WalkDir(r.task.FS(), name, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(r.dir, path), 0o755)
		}
		b, err := fs.ReadFile(r.task.FS(), path)
		if err != nil {
			return err
		}
		if utf8.Valid(b) {
			b = []byte(r.here(string(b)))
		}
		return os.WriteFile(filepath.Join(r.dir, path), b, 0o644)
	})
}

func (r *run) make(m evals.Made) error {
	path := filepath.Join(r.dir, filepath.FromSlash(m.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if m.Link != "" {
		return os.Symlink(filepath.FromSlash(m.Link), path)
	}
	var b bytes.Buffer
	for i := range m.Times {
		b.WriteString(strings.ReplaceAll(m.Line, "%d", strconv.Itoa(i+1)) + "\n")
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func (r *run) yaml(ctx context.Context) (string, error) {
	url, name, retry := r.url, r.model, "{}"
	if r.server != nil {
		url, name, retry = r.server.URL, "m:latest", "{attempts: 3, backoff: 1ms, max_backoff: 1ms}"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `schema_version: 2
application: {state_dir: ./state, language: %q}
ollama: {base_url: %q, model: %q, retry: %s}
sandbox:
  workspace: ./workspace
`, r.task.Language, url, name, retry)
	if len(r.task.Programs) > 0 {
		b.WriteString("  execution:\n    entries:\n")
		for _, alias := range r.task.Programs {
			path, root := programOf(ctx, alias)
			if path == "" {
				r.skip = "there is no " + alias + " here"
				return "", errors.New(r.skip)
			}
			r.known = append(r.known, path, alias)
			fmt.Fprintf(&b, "      - {alias: %s, path: %q", alias, path)
			if root != "" {
				fmt.Fprintf(&b, ", runtime_root: %q", root)
			}
			b.WriteString("}\n")
		}
	}
	if _, err := os.Stat(filepath.Join(r.dir, "skills")); err == nil {
		b.WriteString("skills: {directories: [./skills]}\n")
	}
	return b.String(), nil
}

// programOf finds what an alias of a task stands for on this machine.
func programOf(ctx context.Context, alias string) (path, root string) {
	if alias != "python" {
		path, err := filepath.EvalSymlinks("/bin/" + alias)
		if err != nil {
			return "", ""
		}
		return path, ""
	}
	return findPython(ctx)
}

// findPython asks the interpreter itself where it lives, since the name on PATH may be a wrapper script.
func findPython(ctx context.Context) (exe, root string) {
	for _, name := range []string{"/usr/bin/python3", "python3", "python"} {
		out, err := exec.CommandContext(ctx, name, "-I", "-c",
			"import os, sys; print(os.path.realpath(sys.executable)); print(os.path.realpath(os.__file__)); print(sys.base_prefix)").Output()
		f := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(f) != 3 {
			continue
		}
		exe, root = f[0], f[2]
		if root == "/usr" || root == "/usr/local" {
			root = filepath.Dir(f[1]) // the version's own library folder is enough
		}
		return exe, root
	}
	return "", ""
}
