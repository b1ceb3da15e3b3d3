package main

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-mcp/agent-mcp/app/wire"
)

func TestMain(m *testing.M) {
	wire.Helper() // the sandbox starts this binary again
	testscript.Main(m, map[string]func(){"agent-mcp": main})
}

// The whole command line as people meet it: texts, exit codes, files.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			sh, err := filepath.EvalSymlinks("/bin/sh")
			if err != nil {
				return err
			}
			work, err := filepath.EvalSymlinks(e.WorkDir)
			if err != nil {
				return err
			}
			e.Vars = append(e.Vars, "SH="+sh, "REAL="+work, "HOME="+filepath.Join(work, "home"), "XDG_STATE_HOME=", "LC_ALL=C", "LANG=C", "NO_COLOR=")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":   exits,
			"signals": signals,
			"big":     big,
			"hex":     hex,
		},
	})
}

// exits CODE ARG… runs agent-mcp with empty stdin and wants that exit code; stdout and stderr are kept for the next lines.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("agent-mcp", args[1:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("agent-mcp: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// signals NAME CODE CONFIG starts the server, waits until it is ready, sends the signal, and wants the exit code.
func signals(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: signals NAME CODE CONFIG")
	}
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[0]]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	code, text := runUntilReady(ts, args[2], func(p *os.Process) { ts.Check(p.Signal(sig)) })
	if code != want {
		ts.Fatalf("exit code %d after %s, want %d\n%s", code, args[0], want, text)
	}
}

// big FILE BYTES makes a large text file.
func big(ts *testscript.TestScript, neg bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	b := make([]byte, n)
	for i := range b {
		b[i] = "# padding\n"[i%10]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// hex FILE TEXT writes a Go-quoted text, for bytes that no script can hold.
func hex(ts *testscript.TestScript, neg bool, args []string) {
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(s), 0o600))
}

const readyLimit = 20 * time.Second
