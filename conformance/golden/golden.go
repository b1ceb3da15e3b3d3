// Package golden compares output with files below testdata. A test that prints, plans or renders keeps its expected bytes
// there; they are rewritten when the environment variable AGENT_MCP_UPDATE is 1 (`task update`), never by a flag, so
// that `go test ./...` can update every package at once.
package golden

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// UpdateVariable is the environment variable that makes Equal write instead of compare.
const UpdateVariable = "AGENT_MCP_UPDATE"

// Equal fails the test when got differs from testdata/name, and shows the first line that differs. Line ends compare
// as "\n", so a checkout with other line ends passes.
func Equal(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name))
	if os.Getenv(UpdateVariable) == "1" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatalf("golden: %v", err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatalf("golden: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("golden: %v; run the test with %s=1 to write it", err, UpdateVariable)
	}
	if diff := Diff(want, got); diff != "" {
		t.Errorf("%s differs (run with %s=1 to accept):\n%s", path, UpdateVariable, diff)
	}
}

// Diff describes the first difference of two texts, "" when they are equal but for line ends.
func Diff(want, got []byte) string {
	want, got = unix(want), unix(got)
	if bytes.Equal(want, got) {
		return ""
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := 0; ; i++ {
		switch {
		case i >= len(w):
			return fmt.Sprintf("line %d is too much: %q", i+1, g[i])
		case i >= len(g):
			return fmt.Sprintf("line %d is missing: %q", i+1, w[i])
		case w[i] != g[i]:
			return fmt.Sprintf("line %d\n  want %q\n  got  %q", i+1, w[i], g[i])
		}
	}
}

func unix(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
