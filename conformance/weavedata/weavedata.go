// Package weavedata finds the published schemas and vectors of MissionWeave for tests. They are not part of this repository:
// the environment variable AGENT_MCP_MISSIONWEAVE_DATA names their folder, else it is shared/data/missionweave beside the
// repository. Without them a test is skipped and says what is then not proven.
package weavedata

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Variable names the folder.
const Variable = "AGENT_MCP_MISSIONWEAVE_DATA"

// Dir returns the folder, or skips the test. proves says what the test shows when it runs.
func Dir(t testing.TB, proves string) string {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir != "" {
		if _, err := os.Stat(filepath.Join(dir, "schemas")); err != nil {
			t.Fatalf("%s=%s has no schemas: %v", Variable, dir, err)
		}
		return dir
	}
	if root, ok := module(); ok {
		dir = filepath.Join(root, "..", "shared", "data", "missionweave")
		if _, err := os.Stat(filepath.Join(dir, "schemas")); err == nil {
			return dir
		}
	}
	text := fmt.Sprintf("NOT PROVEN here: %s. The MissionWeave data is absent; set %s to its folder.", proves, Variable)
	_, _ = fmt.Fprintln(os.Stderr, t.Name()+": "+text)
	t.Skip(text)
	return ""
}

// FS is Dir as a file system.
func FS(t testing.TB, proves string) fs.FS {
	t.Helper()
	return os.DirFS(Dir(t, proves))
}

// Read returns one file of it.
func Read(t testing.TB, files fs.FS, name string) []byte {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// module finds the directory of go.mod.
func module() (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}
