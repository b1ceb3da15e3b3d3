package wire

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/conformance/evals"
)

// The live mode as `task evals` starts it, in a process of its own, against the scripted server used as if it were live: the
// score table, the sum, and the exit code of a false success.
func TestEvals_Live(t *testing.T) {
	all, err := evals.All()
	require.NoError(t, err)
	steps := func(names ...string) (out []scripted.Step) {
		for _, e := range all {
			for _, n := range names {
				if e.Name == n {
					b, err := fs.ReadFile(e.FS(), "model.json")
					require.NoError(t, err)
					s, err := scripted.Parse(strings.NewReader(string(b)))
					require.NoError(t, err)
					out = append(out, s.Steps...)
				}
			}
		}
		require.NotEmpty(t, out)
		return out
	}
	bye := steps("files/create-file")
	bye[1].Reply = scripted.Use(scripted.Tool("write_file", map[string]any{"path": "hello.txt", "content": "Bye, world!"}))
	honest := []string{"files/create-file", "read/explain-only", "speech/japanese-explanation", "weak/claim-en-always"}
	for name, c := range map[string]struct {
		steps []scripted.Step
		only  string
		exit  int
		shows []string
	}{
		"honest": {steps(honest...), strings.Join(honest, " "), 0, []string{
			"files/create-file", "4 tasks: 3 finished, 1 honest failures, 0 FALSE SUCCESSES, 0 breaches, 0 not asked, 0 skipped", "agent.same_failure",
		}},
		"false success": {bye, "files/create-file", 1, []string{
			"1 tasks: 0 finished, 0 honest failures, 1 FALSE SUCCESSES", `FALSE SUCCESS files/create-file: workspace/hello.txt is "Bye, world!"`,
		}},
		"no model":      {nil, "read/explain-only", 1, []string{"1 not asked"}},
		"only scripted": {bye, "fault/quota", 0, []string{"1 skipped", "only for the scripted model"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, err := scripted.NewServer(scripted.Script{Model: "some:7b", Steps: c.steps})
			require.NoError(t, err)
			defer srv.Close()
			cmd := exec.Command(os.Args[0], "-test.run", "^TestEvals$")
			cmd.Env = append(os.Environ(), envURL+"="+srv.URL, envModel+"=some:7b", envOnly+"="+c.only)
			out, _ := cmd.CombinedOutput()
			require.NotNil(t, cmd.ProcessState, string(out))
			assert.Equal(t, c.exit, cmd.ProcessState.ExitCode(), string(out))
			for _, s := range c.shows {
				assert.Contains(t, string(out), s)
			}
		})
	}
}
