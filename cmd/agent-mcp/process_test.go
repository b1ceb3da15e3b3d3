package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// runUntilReady starts the server with an open stdin, calls act once it serves, and waits for its end.
func runUntilReady(ts *testscript.TestScript, config string, act func(*os.Process)) (code int, stderr string) {
	c := exec.Command("agent-mcp", ts.MkAbs(config))
	path, err := exec.LookPath("agent-mcp")
	ts.Check(err)
	c.Path = path
	c.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"), "LC_ALL=C")
	c.Dir = ts.MkAbs(".")
	in, err := c.StdinPipe()
	ts.Check(err)
	errs, err := c.StderrPipe()
	ts.Check(err)
	ts.Check(c.Start())
	lines := bufio.NewReader(errs)
	timer := time.AfterFunc(readyLimit, func() { _ = c.Process.Kill() })
	defer timer.Stop()
	var b strings.Builder
	for !strings.Contains(b.String(), "is ready") {
		line, err := lines.ReadString('\n')
		b.WriteString(line)
		if err != nil {
			break
		}
	}
	act(c.Process)
	rest, _ := io.ReadAll(lines)
	b.Write(rest)
	err = c.Wait()
	_ = in.Close()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), b.String()
	case err != nil:
		ts.Fatalf("wait: %v", err)
	}
	return 0, b.String()
}
