package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-mcp/agent-mcp/conformance/weavedata"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"weave": main}) }

// The whole command line as people meet it: texts, exit codes, standard input, both languages.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: setup(""), Cmds: commands()})
}

// The same with the published schemas and vectors in $DATA.
func TestScripts_WithTheData(t *testing.T) {
	data := weavedata.Dir(t, "the program weave verifies, signs and runs the published suite")
	data, err := filepath.Abs(data)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/data", Setup: setup(data), Cmds: commands()})
}

func setup(data string) func(*testscript.Env) error {
	return func(e *testscript.Env) error {
		e.Vars = append(e.Vars, "LC_ALL=C", "LANG=C", "DATA="+data, weavedata.Variable+"=", "VALID="+data+"/cryptography/vectors/signed-documents/valid",
			"INVALID="+data+"/cryptography/vectors/signed-documents/invalid", "KEYS="+data+"/cryptography/keys")
		return nil
	}
}

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"exits": exits,
		"bytes": func(ts *testscript.TestScript, neg bool, args []string) { // bytes FILE GO-STRING
			if neg || len(args) != 2 {
				ts.Fatalf("usage: bytes FILE GO-STRING")
			}
			text, err := strconv.Unquote(`"` + args[1] + `"`)
			ts.Check(err)
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
		},
		"edit": func(ts *testscript.TestScript, neg bool, args []string) { // edit FROM TO OLD NEW
			if neg || len(args) != 4 {
				ts.Fatalf("usage: edit FROM TO OLD NEW")
			}
			old := ts.ReadFile(args[0])
			text := replaceOnce(old, args[2], args[3])
			if text == old {
				ts.Fatalf("%s has no %q", args[0], args[2])
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
		},
	}
}

func replaceOnce(s, old, now string) string {
	for i := 0; i+len(old) <= len(s); i++ {
		if s[i:i+len(old)] == old {
			return s[:i] + now + s[i+len(old):]
		}
	}
	return s
}

// exits CODE ARG… runs weave, with the standard input of the stdin command, and wants that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("weave", args[1:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("weave: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s", fmt.Sprintf("exit code %d, want %d", got, want))
	}
}
