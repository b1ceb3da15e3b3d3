package main

import (
	"context"
	"net/http"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// about as much text as the product's own answers have
var (
	accepted = "The Task is queued.\nTask ID: 00000000-0000-4000-8000-000000000000\nSession ID: 00000000-0000-4000-8000-000000000001\n" + strings.Repeat("Follow it. ", 10)
	status   = "State: completed (completed)\n" + strings.Repeat("A line of the report about a Task.\n", 20)
)

type runArgs struct {
	Request string `json:"request"`
}

type statusArgs struct {
	TaskID string `json:"task_id"`
}

func goSDK(at string) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare-go-sdk", Version: "1"}, nil)
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "agent_run"}, func(context.Context, *mcp.CallToolRequest, runArgs) (*mcp.CallToolResult, any, error) {
		return text(accepted), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "agent_status"}, func(context.Context, *mcp.CallToolRequest, statusArgs) (*mcp.CallToolResult, any, error) {
		return text(status), nil, nil
	})
	if at == "stdio" {
		return s.Run(context.Background(), &mcp.StdioTransport{})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	return http.ListenAndServe(at, mux)
}

func mcpGo(at string) error {
	s := server.NewMCPServer("bare-mcp-go", "1", server.WithToolCapabilities(false))
	say := func(text string) server.ToolHandlerFunc {
		return func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return mcpgo.NewToolResultText(text), nil
		}
	}
	s.AddTool(mcpgo.NewTool("agent_run", mcpgo.WithString("request", mcpgo.Required())), say(accepted))
	s.AddTool(mcpgo.NewTool("agent_status", mcpgo.WithString("task_id", mcpgo.Required())), say(status))
	if at == "stdio" {
		return server.ServeStdio(s)
	}
	return server.NewStreamableHTTPServer(s, server.WithStateLess(true), server.WithEndpointPath("/mcp")).Start(at)
}
