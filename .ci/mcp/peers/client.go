package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client lists the tools, gives one request, follows the Task until it is over, and prints what it saw as one JSON object.
func client(request, target string, args []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var transport mcp.Transport = &mcp.CommandTransport{Command: exec.Command(target, args...)}
	if strings.HasPrefix(target, "http") {
		transport = &mcp.StreamableClientTransport{Endpoint: target}
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "official-go", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	var tools []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return err
		}
		tools = append(tools, tool.Name)
	}
	text := func(name string, args map[string]any) (string, bool, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			return "", false, err
		}
		var out strings.Builder
		for _, c := range res.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				out.WriteString(t.Text)
			}
		}
		return out.String(), res.IsError, nil
	}
	accepted, _, err := text("agent_run", map[string]any{"request": request})
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).FindString(accepted)
	over := regexp.MustCompile(`\((completed|failed|cancelled)\)`)
	status := ""
	for ctx.Err() == nil && !over.MatchString(status) {
		time.Sleep(50 * time.Millisecond)
		if status, _, err = text("agent_status", map[string]any{"task_id": id}); err != nil {
			return err
		}
	}
	_, bad, err := text("agent_status", map[string]any{"task_id": 7})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"version": session.InitializeResult().ProtocolVersion, "server": session.InitializeResult().ServerInfo.Name,
		"tools": tools, "accepted": accepted, "status": status, "bad": bad,
	})
}
