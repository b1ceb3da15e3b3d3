// Command embed runs a Task from Go code: files in memory, a fake sandbox, a scripted model. Swap any of them for your own.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/adapters/sandbox/fake"
	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/adapters/workspace/mem"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/app/toolbox"
	"github.com/agent-mcp/agent-mcp/core/agent"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	files, clk, ids := mem.New("/project"), system.New(), random.New()
	box := fake.New(fake.Options{Programs: map[string]fake.Program{"greet": func(_ context.Context, m *fake.Machine) int {
		_, _ = fmt.Fprintf(m.Stdout(), "hello %v\n", m.Args())
		return 0
	}}})
	rules, bad := policy.Build(policy.Input{
		Profile: policy.Development, Workspace: "/project", Require: sandbox.Approximate,
		Network: policy.NetworkInput{Mode: sandbox.NetworkNone}, Resources: policy.ResourceInput{Profile: "normal"},
	})
	cat, err := goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "en"})
	if bad != nil {
		return bad
	}
	if err != nil {
		return err
	}
	eng := engine.New(engine.Config{Agent: agent.Settings{Model: "any", Workspace: "/project"}, Tools: tool.Definitions(tool.Config{Artifacts: true})},
		engine.Deps{
			Model: scripted.New(story()), Clock: clk, Ident: ids, Catalog: cat,
			Hands: func(context.Context, audit.Ref) (engine.Hands, error) {
				return toolbox.New(toolbox.Config{Policy: rules, Tree: files, Sandbox: box, Clock: clk, Ident: ids}), nil
			},
		})
	task, err := eng.Run(ctx, service.RunRequest{Request: "Write a program that greets me, and run it."})
	if err != nil {
		return err
	}
	done, err := eng.Wait(ctx, task.TaskID)
	_, _ = fmt.Fprintf(out, "%s\nfiles: %v\nprocesses: %d\n", done.Text, files.Snapshot(), len(box.Specs()))
	return err
}
