package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// home is the scratch installation: binary, configuration, workspace, state.
type home struct {
	dir, binary, config, workspace, state string
	python                                bool
	lang                                  string
}

// prepare builds the product and writes a configuration a person could have written.
func prepare(ctx context.Context, say *speaker, scratch string, b *brain) (*home, error) {
	h := &home{
		dir: scratch, binary: filepath.Join(scratch, "agent-mcp"), config: filepath.Join(scratch, "agent.yaml"),
		workspace: filepath.Join(scratch, "workspace"), state: filepath.Join(scratch, "state"), lang: say.lang,
	}
	say.line("setup.building")
	build := exec.CommandContext(ctx, "go", "build", "-o", h.binary, "github.com/agent-mcp/agent-mcp/cmd/agent-mcp")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, say.problem("problem.build", err)
	}
	if err := os.Mkdir(h.workspace, 0o755); err != nil {
		return nil, err
	}
	entries, names := h.entries(ctx)
	if !h.python {
		say.line("setup.nopython")
	}
	yaml := fmt.Sprintf(`schema_version: 2
application: {language: %s, state_dir: %q}
ollama:
  base_url: %q
  model: %q
sandbox:
  profile: development
  workspace: ./workspace
  execution:
    entries:
%s  network: {mode: none}
  resources: {profile: constrained, processes: 16}
`, say.lang, h.state, b.url, b.model, entries)
	if err := os.WriteFile(h.config, []byte(yaml), 0o600); err != nil {
		return nil, err
	}
	say.block(yaml)
	say.line("setup.workspace", "path", h.workspace)
	say.line("setup.entries", "entries", strings.Join(names, ", "))
	return h, nil
}

// entries lists the executables to allow: the shell, and Python where there is one.
func (h *home) entries(ctx context.Context) (yaml string, names []string) {
	var b strings.Builder
	add := func(alias, path, root string) {
		fmt.Fprintf(&b, "      - {alias: %s, path: %q", alias, path)
		if root != "" {
			fmt.Fprintf(&b, ", runtime_root: %q", root)
		}
		b.WriteString("}\n")
		names = append(names, alias+" = "+path)
	}
	if exe, root := findPython(ctx); exe != "" {
		h.python = true
		add("python", exe, root)
	}
	if sh, err := filepath.EvalSymlinks("/bin/sh"); err == nil {
		add("sh", sh, "")
	}
	return b.String(), names
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

// command runs agent-mcp itself and shows what it prints.
func (h *home) command(ctx context.Context, out io.Writer, args ...string) error {
	c := exec.CommandContext(ctx, h.binary, args...)
	c.Stdout, c.Stderr = out, out
	return c.Run()
}
