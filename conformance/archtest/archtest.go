// Package archtest keeps the shape of the program: who may import whom, what core may not do, how large a file may be, that
// every port has its suite.
// Its test runs over `go list` for linux and windows, offline, as part of `go test ./...`. The rules are data in
// rules.go; a package that no rule knows fails the test, and the failure says what to do. It never looks at behaviour.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module is the import path of this module.
const Module = "github.com/agent-mcp/agent-mcp"

// Package is what `go list` says of one package.
type Package struct {
	ImportPath   string
	Dir          string
	Imports      []string
	TestImports  []string // of tests inside the package
	XTestImports []string // of tests beside it (package x_test)
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	CgoFiles     []string
}

// Path is the import path below the module, "." for the module itself.
func (p Package) Path() string { return relative(p.ImportPath) }

func relative(importPath string) string {
	if importPath == Module {
		return "."
	}
	return strings.TrimPrefix(importPath, Module+"/")
}

// Problem is one broken rule.
type Problem struct {
	Place string // package, or file:line
	Text  string // what is wrong and what to do
}

func (p Problem) String() string { return p.Place + ": " + p.Text }

// Root finds the directory of go.mod from the working directory upwards.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("archtest: no go.mod above the working directory")
		}
		dir = parent
	}
	return "", err
}

// Load lists the module's packages as they are on one operating system.
func Load(root, goos string) ([]Package, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles,TestGoFiles,XTestGoFiles,CgoFiles", "./...")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0", "GOPROXY=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("archtest: go list for %s: %w: %s", goos, err, stderr.String())
	}
	var packages []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("archtest: go list for %s: %w", goos, err)
		}
		packages = append(packages, p)
	}
}
