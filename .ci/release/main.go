// Command release makes what people install, below dist/release: for each target a bundle and an .mcpb for one-click
// installation, server.json for the public MCP registry, and SHA256SUMS (issue: release bundles; spec: CFG-06, E2E-01,
// E2E-02). `task release` runs it, from the root of the repository:
//
//	go run ./.ci/release [-version 1.2.3] [-time 2026-01-31T12:00:00Z] [-out dist/release] [-targets linux-amd64,win-x64]
//
// Equal sources, version, time and Go give equal bytes, wherever and whenever it runs. Without -version it is what git says
// (v1.2.3 → 1.2.3, anything else a pre-release that names the commit), without -time SOURCE_DATE_EPOCH, else the commit's.
//
// It ships defaults alone: no name in a bundle is one that a user edits or adds (see owned), so unpacking a newer bundle over
// an older one keeps agent.local.yaml, prompts, skills and the workspace. It refuses to make a bundle with a module whose
// licence it does not know.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(command()) }

func command() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var o options
	flag.StringVar(&o.version, "version", "", "version, without a v (default: from git)")
	flag.StringVar(&o.time, "time", "", "time of every file, RFC 3339 (default: $SOURCE_DATE_EPOCH, else the commit's)")
	flag.StringVar(&o.out, "out", filepath.Join("dist", "release"), "directory that is emptied and filled")
	flag.StringVar(&o.targets, "targets", "", "targets, separated by commas (default: "+strings.Join(names(), ",")+")")
	flag.Parse()
	if err := release(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		return 1
	}
	return 0
}

type options struct{ version, time, out, targets string }

// release makes everything, in the working directory's module.
func release(ctx context.Context, o options) error {
	if err := atRoot("."); err != nil {
		return err
	}
	src, err := describe(ctx, o.version, o.time, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	chosen, err := choose(o.targets)
	if err != nil {
		return err
	}
	if err := empty(o.out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "agent-mcp-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	made := map[string][]byte{}
	var oneClick []published
	for _, t := range chosen {
		fmt.Println("building", t.name, src.version)
		files, err := contents(ctx, src, t, work)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		bundle, err := t.pack(files, src.at)
		if err != nil {
			return err
		}
		made[artifact(src.version, t.name)+t.ext] = bundle
		click, err := mcpb(files, src, t)
		if err != nil {
			return err
		}
		name := artifact(src.version, t.name) + ".mcpb"
		made[name] = click
		oneClick = append(oneClick, published{name: name, sha256: sum(click)})
	}
	server, err := serverJSON(src, oneClick)
	if err != nil {
		return err
	}
	made["server.json"] = server
	return write(o.out, made)
}

// write stores the artifacts and SHA256SUMS, in the form that `sha256sum -c` reads.
func write(dir string, made map[string][]byte) error {
	var sums strings.Builder
	for _, name := range sorted(made) {
		if err := os.WriteFile(filepath.Join(dir, name), made[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum(made[name]), name)
		fmt.Printf("%s (%d KiB)\n", filepath.Join(dir, name), len(made[name])>>10)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// empty makes dir, or removes what an earlier release left in it. A directory with anything else is refused.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		known := strings.HasPrefix(e.Name(), "agent-mcp-") || e.Name() == "SHA256SUMS" || e.Name() == "server.json"
		if e.IsDir() || !known {
			return fmt.Errorf("%s holds %s, which no release made: choose another directory", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func atRoot(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(b), "module "+module+"\n") {
		return fmt.Errorf("run it in the root of %s", module)
	}
	return nil
}

func artifact(version, target string) string { return "agent-mcp-" + version + "-" + target }

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// source is what is released.
type source struct {
	version string    // semantic, without a v
	at      time.Time // UTC, whole seconds
}
