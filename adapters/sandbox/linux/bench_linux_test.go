package linux

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// BenchmarkSandboxVsBwrap starts `true` in a running Broker and through bubblewrap with all namespaces, in turns, and
// reports the medians' ratio (target ≤ 1.5) and the sandbox's p90 over its median (target ≤ 2).
func BenchmarkSandboxVsBwrap(b *testing.B) {
	for _, c := range []struct {
		name    string
		network sandbox.Network
		options Options
	}{
		{"none", sandbox.Network{Mode: sandbox.NetworkNone}, Options{NoCgroup: true}},
		{"cgroup", sandbox.Network{Mode: sandbox.NetworkNone}, Options{}},                                                                              // target ≤ 2.5; the same as none where there are no control groups
		{"local", sandbox.Network{Mode: sandbox.NetworkLocal, Ports: []uint16{8080, 5432}, Connections: 256, Bytes: 1 << 30}, Options{NoCgroup: true}}, // target ≤ 1.8
	} {
		b.Run(c.name, func(b *testing.B) { againstBwrap(b, c.network, c.options) })
	}
}

func againstBwrap(b *testing.B, network sandbox.Network, options Options) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		b.Skip("no bwrap")
	}
	args := []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
		"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc/ssl", "/etc/ssl", "--proc", "/proc",
		"--dev", "/dev", "--tmpfs", "/tmp", "--bind", b.TempDir(), "/project", "--chdir", "/project", "true",
	}
	box := New(options)
	defer func() { _ = box.Close() }()
	spec := trueSpec(b)
	spec.Network = network
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		if res, err := box.Run(context.Background(), spec); err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
		ours = append(ours, time.Since(start))
		time.Sleep(8 * time.Millisecond) // both start from a quiet machine: the teardown of one is not the other's cost
		start = time.Now()
		if out, err := exec.Command(bwrap, args...).CombinedOutput(); err != nil {
			b.Skipf("bwrap does not work here: %s", out)
		}
		theirs = append(theirs, time.Since(start))
		time.Sleep(8 * time.Millisecond)
	}
	if r, err := box.Preflight(context.Background()); err == nil {
		b.ReportMetric(float64(r.Level), "level")
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	median, p90 := ours[len(ours)/2], ours[len(ours)*9/10]
	b.ReportMetric(float64(median)/float64(theirs[len(theirs)/2]), "ratio")
	b.ReportMetric(float64(p90)/float64(median), "p90/median")
	b.ReportMetric(float64(median.Microseconds()), "us/run")
	b.ReportMetric(float64(theirs[len(theirs)/2].Microseconds()), "us/bwrap")
}

// BenchmarkRun is one run after the other, without a pause.
func BenchmarkRun(b *testing.B) {
	for name, o := range map[string]Options{"spare": {}, "cold": {NoSpare: true}} {
		b.Run(name, func(b *testing.B) {
			box := New(o)
			defer func() { _ = box.Close() }()
			spec := trueSpec(b)
			for b.Loop() {
				if res, err := box.Run(context.Background(), spec); err != nil || res.ExitCode != 0 {
					b.Fatal(res, err)
				}
			}
		})
	}
}

func trueSpec(b *testing.B) sandbox.Spec {
	path := "/usr/bin/true"
	if _, err := os.Stat(path); err != nil {
		b.Skip("no /usr/bin/true")
	}
	dir := host{}.TempDir(b)
	return sandbox.Spec{
		Roots: []rights.Root{{Path: dir, Rights: rights.All}}, Dir: dir, Entry: sandbox.Entry{Name: "true", Path: path, SHA256: host{}.SHA256(b, path)},
		Network: sandbox.Network{Mode: sandbox.NetworkNone},
		Limits:  sandbox.Limits{Processes: 16, MemoryBytes: 1 << 30, WallClock: time.Minute, OutputBytes: 4096},
	}
}

// BenchmarkBuild compiles the same C program inside and outside, in turns, two files at a time, and reports the throughput inside as a share
// of that outside, of the medians (target ≥ 0.95).
func BenchmarkBuild(b *testing.B) {
	if _, err := exec.LookPath("gcc"); err != nil {
		b.Skip("no gcc")
	}
	const script = `ls *.c | xargs -P 2 -n 1 gcc -O1 -c && gcc -o program *.o && ./program && rm -f *.o program`
	fill := func(dir string) {
		for i := range 16 {
			var text strings.Builder
			text.WriteString("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\n#include <errno.h>\n")
			for f := range 120 {
				fmt.Fprintf(&text, "int f%d_%d(int n) { int s = %d; char b[64]; for (int i = 0; i < n; i++) { snprintf(b, sizeof b, \"%%d\", i); s += atoi(b) %% (i + %d); } return s; }\n", i, f, f, f+1)
			}
			if i == 0 {
				text.WriteString("int main(void) { return f0_0(3) < 0; }\n")
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.c", i)), []byte(text.String()), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	for name, o := range map[string]Options{"L2": {NoCgroup: true}, "L3": {}} {
		b.Run(name, func(b *testing.B) {
			box := New(o)
			defer func() { _ = box.Close() }()
			in, out := host{}.TempDir(b), b.TempDir()
			fill(in)
			fill(out)
			spec := shellSpec(b, in, script)
			spec.Limits.WallClock, spec.Limits.Processes, spec.Limits.MemoryBytes = 5*time.Minute, 64, 2<<30
			var inside, outside []time.Duration
			for b.Loop() {
				start := time.Now()
				if res, err := box.Run(context.Background(), spec); err != nil || res.ExitCode != 0 {
					b.Fatalf("%v %d %s", err, res.ExitCode, res.Stderr.Head)
				}
				inside = append(inside, time.Since(start))
				start = time.Now()
				cmd := exec.Command("/bin/sh", "-c", script)
				cmd.Dir = out
				if text, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v %s", err, text)
				}
				outside = append(outside, time.Since(start))
			}
			slices.Sort(inside)
			slices.Sort(outside)
			b.ReportMetric(float64(outside[len(outside)/2])/float64(inside[len(inside)/2]), "throughput")
			b.ReportMetric(float64(inside[len(inside)/2].Milliseconds()), "ms/inside")
			b.ReportMetric(float64(outside[len(outside)/2].Milliseconds()), "ms/outside")
		})
	}
}
