package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/conformance/weavedata"
)

func TestMain(m *testing.M) {
	if os.Getenv("VERIFY_EXAMPLE") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile("main.go")
	require.NoError(t, err)
	assert.Less(t, strings.Count(string(text), "\n"), 30, "the example promises to be short")
	data := weavedata.Dir(t, "the example for embedders verifies a published document")
	run := func(document string) (string, error) {
		cmd := exec.Command(os.Args[0], data, data+"/cryptography/keys/registry-valid.json", data+"/cryptography/vectors/signed-documents/"+document)
		cmd.Env = append(os.Environ(), "VERIFY_EXAMPLE=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("valid/command.json")
	require.NoError(t, err, out)
	assert.Equal(t, "agent urn:missionweaveprotocol:agent:crypto-vector-coordinator signed it at 2026-07-15T00:00:00Z sha256:6655c5d67ae3ecc19a4ed04bda7f1372aeaafc7adf939a77715de96ef2100695\n", out)
	out, err = run("invalid/command-payload-tamper.json")
	assert.Error(t, err)
	assert.Contains(t, out, "not verified: signature sign.equation")
	out, err = run("invalid/nothing.json")
	assert.Error(t, err)
	assert.Contains(t, out, "not verified: parse canon.truncated")
}
