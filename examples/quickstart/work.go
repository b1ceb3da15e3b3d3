package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// outcome is what the client saw.
type outcome struct {
	taskID, answer string
}

// work connects, asks, and follows the Task to its end.
func work(ctx context.Context, say *speaker, h *home) (*outcome, error) {
	log, err := os.Create(h.dir + "/stderr.log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	c, err := client.NewStdioMCPClientWithOptions(h.binary, os.Environ(), []string{h.config})
	if err != nil {
		return nil, say.problem("problem.start", err)
	}
	defer func() { _ = c.Close() }()
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "quickstart", Version: "1"}
	info, err := c.Initialize(ctx, hello)
	if err != nil {
		return nil, say.problem("problem.start", err)
	}
	say.line("work.connected", "server", info.ServerInfo.Name+" "+info.ServerInfo.Version, "protocol", info.ProtocolVersion)

	key := "request.sh"
	if h.python {
		key = "request.python"
	}
	request := say.text(key)
	say.line("request", "text", request)
	accepted, err := call(ctx, c, "agent_run", map[string]any{"request": request})
	if err != nil {
		return nil, err
	}
	say.block(accepted)
	id := uuid.FindString(accepted)
	o := &outcome{taskID: id}
	last := ""
	for {
		status, err := call(ctx, c, "agent_status", map[string]any{"task_id": id})
		if err != nil {
			return nil, err
		}
		if status != last {
			say.progress(last, status)
			last = status
		}
		if state := final(status); state != "" {
			if state != "completed" {
				return nil, fmt.Errorf("%s", say.text("problem.state", "state", state))
			}
			o.answer = answerOf(status)
			return o, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(150 * time.Millisecond):
		}
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

func call(ctx context.Context, c *client.Client, name string, args map[string]any) (string, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, args
	res, err := c.CallTool(ctx, req)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, part := range res.Content {
		if t, ok := part.(mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	if res.IsError {
		return "", fmt.Errorf("%s: %s", name, b.String())
	}
	return b.String(), nil
}
