// Command policy asks the policy engine alone, without a model, a sandbox or a file: which of these would be allowed?
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	p, f := policy.Build(policy.Input{
		Profile:   policy.Development,
		Workspace: "/home/me/project",
		Mounts:    []policy.MountInput{{Name: "build", Path: "/srv/build", Access: policy.AccessWrite}},
		Network:   policy.NetworkInput{Mode: sandbox.NetworkRestricted, Hosts: []string{"api.example.com:443"}},
		Resources: policy.ResourceInput{Profile: "normal"},
		Require:   sandbox.Approximate,
		Denied:    policy.DeniedPlaces(policy.Style{}, "/home/me"),
	})
	if f != nil {
		return f
	}
	words, err := goi18n.New(goi18n.Options{Builtin: locales.FS, Tag: "en"})
	if err != nil {
		return err
	}
	for _, r := range []policy.Request{
		{Op: policy.OpWrite, Path: "/home/me/project/main.go"},
		{Op: policy.OpExecute, Path: "/home/me/project/a.out"},
		{Op: policy.OpWrite, Path: "/home/me/project/.git/hooks/pre-commit"},
		{Op: policy.OpDelete, Path: "/srv/build/old.o"},
		{Op: policy.OpRead, Path: "/home/me/.ssh/id_ed25519"},
		{Op: policy.OpMove, Path: "/home/me/project/out", Dest: "/srv/build/out"},
		{Op: policy.OpConnect, Host: "api.example.com", Port: 443},
		{Op: policy.OpConnect, Host: "169.254.169.254", Port: 80},
	} {
		verdict := "yes"
		if d := p.Decide(r); !d.Allowed {
			verdict = "no."
			for _, reason := range d.Reasons {
				verdict += " " + words.Text(text.Key(reason.Code), reason.Args)
			}
		}
		if _, err := fmt.Fprintf(out, "%-8s %s: %s\n", r.Op, strings.TrimSuffix(r.Path+r.Host+" -> "+r.Dest, " -> "), verdict); err != nil {
			return err
		}
	}
	return nil
}
