package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	module  = "github.com/agent-mcp/agent-mcp"
	program = module + "/cmd/agent-mcp"
	stamp   = module + "/app/wire.version"
)

// target is one system that is released for.
type target struct {
	name, goos, goarch string
	platform           string // as .mcpb calls it
	ext                string // of the bundle
	exe                string // name of the program
}

func targets() []target {
	return []target{
		{name: "linux-amd64", goos: "linux", goarch: "amd64", platform: "linux", ext: ".tar.gz", exe: "agent-mcp"},
		{name: "linux-arm64", goos: "linux", goarch: "arm64", platform: "linux", ext: ".tar.gz", exe: "agent-mcp"},
		{name: "win-x64", goos: "windows", goarch: "amd64", platform: "win32", ext: ".zip", exe: "agent-mcp.exe"},
	}
}

func names() (out []string) {
	for _, t := range targets() {
		out = append(out, t.name)
	}
	return out
}

// choose finds targets by name; "" is all of them.
func choose(list string) (out []target, err error) {
	if list == "" {
		return targets(), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return nil, fmt.Errorf("no target %q; there are %s", name, strings.Join(names(), ", "))
		}
		out = append(out, targets()[i])
	}
	return out, nil
}

// top is the folder that a bundle unpacks to. It has no version, so that a newer bundle lands on the older one.
const top = "agent-mcp/"

func (t target) pack(files []file, at time.Time) ([]byte, error) {
	if t.ext == ".zip" {
		return zipped(top, files, at)
	}
	return tarGz(top, files, at)
}

// environment is what decides about the bytes of a build, whatever the machine has set.
func (t target) environment() []string {
	return append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOWORK=off",
		"GOFIPS140=off", "GOFLAGS=-mod=readonly")
}

// build compiles the program: self-contained, without a path of this machine in it.
func build(ctx context.Context, src source, t target, work string) (exe []byte, info *buildinfo.BuildInfo, err error) {
	out := filepath.Join(work, t.name)
	// -buildvcs=false: the version says it, and a copy without .git must give the same bytes
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -X "+stamp+"="+src.version, "-o", out, program)
	c.Env, c.Stdout, c.Stderr = t.environment(), os.Stderr, os.Stderr
	if err := c.Run(); err != nil {
		return nil, nil, fmt.Errorf("go build: %w", err)
	}
	if info, err = buildinfo.ReadFile(out); err != nil {
		return nil, nil, err
	}
	exe, err = os.ReadFile(out)
	return exe, info, err
}
