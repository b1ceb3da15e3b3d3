package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/trace/file"
	"github.com/agent-mcp/agent-mcp/conformance/tracetest"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

func TestSink_Contract(t *testing.T) {
	tracetest.Run(t, func(t *testing.T) (trace.Sink, func(trace.Stream) []tracetest.Seen) {
		dir := filepath.Join(t.TempDir(), "logs")
		s, err := file.New(file.Options{Dir: dir, Level: trace.Debug, LLM: true, HTTP: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s, func(want trace.Stream) (out []tracetest.Seen) {
			require.NoError(t, s.Close())
			name, parse := string(want)+".jsonl", fromJSON
			if want == trace.App {
				name, parse = "app.log", fromText
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			for line := range strings.Lines(string(data)) {
				out = append(out, parse(t, line))
			}
			return out
		}
	})
}

func fromJSON(t *testing.T, line string) tracetest.Seen {
	var e struct {
		Name, Session, Task, Call string
		PlannerTask               string `json:"planner_task"`
		Fields                    map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(line), &e), line)
	value, _ := e.Fields["value"].(string)
	return tracetest.Seen{Name: e.Name, Session: e.Session, Task: e.Task, PlannerTask: e.PlannerTask, Call: e.Call, Value: value}
}

func fromText(t *testing.T, line string) tracetest.Seen {
	m := regexp.MustCompile(`^\S+ +\w+ +(\S+)(.*)\n$`).FindStringSubmatch(line)
	require.NotNil(t, m, line)
	named := map[string]string{}
	for f := range strings.FieldsSeq(m[2]) {
		k, v, _ := strings.Cut(f, "=")
		named[k] = v
	}
	return tracetest.Seen{Name: m[1], Session: named["session"], Task: named["task"], PlannerTask: named["planner_task"], Call: named["call"], Value: named["value"]}
}
