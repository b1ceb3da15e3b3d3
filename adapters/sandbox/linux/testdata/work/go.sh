# needs: go
# go: its tool chain
mkdir m && cd m
printf 'module example.com/m\n\ngo 1.20\n' >go.mod
cat >main.go <<'G'
package main

import (
	"crypto/sha256"
	"fmt"
	"os/exec"
)

func Double(n int) int { return n * 2 }

func main() {
	out, err := exec.Command("echo", "child").Output()
	fmt.Printf("%d %x %s %v\n", Double(21), sha256.Sum256([]byte("x")), out, err)
}
G
cat >main_test.go <<'G'
package main

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestDouble(t *testing.T) {
	if Double(2) != 4 {
		t.Fatal("no")
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	p := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := 0; i < 100; i++ {
		wg.Add(1)
		go func() { defer wg.Done(); _, _ = os.ReadFile(p) }()
	}
	wg.Wait()
}
G
export GOCACHE="$PWD/../cache" GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local
go build -o app .
./app | grep -q '^42 '
go vet ./...
go test ./... >first
go test ./... >second
grep -q cached second
go run . | grep -q child
test -d "$GOCACHE"
go list -m | grep -q example.com/m
