package mcp_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/conformance/fronttest"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// AT-01 with mcp-go's own client, in both eras.
func TestServeStdio_RealClient(t *testing.T) {
	for version, opts := range map[string][]client.ClientOption{
		sdk.ProtocolVersion20260728: nil,
		sdk.ProtocolVersion20251125: {client.WithProtocolVersion(sdk.ProtocolVersion20251125)},
		sdk.ProtocolVersion20241105: {client.WithProtocolVersion(sdk.ProtocolVersion20241105)},
	} {
		t.Run(version, func(t *testing.T) {
			r := &fronttest.Runner{}
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			done := make(chan struct{})
			go func() {
				defer close(done)
				end, err := serverOf(options(r)).ServeStdio(context.Background(), inR, outW)
				assert.NoError(t, err)
				assert.Equal(t, mcp.EndInput, end)
				_ = outW.Close()
			}()
			c := client.NewClient(transport.NewIO(outR, inW, io.NopCloser(strings.NewReader(""))), opts...)
			work(t, c, r, version)
			require.NoError(t, c.Close())
			_ = inW.Close()
			<-done
			assert.Equal(t, []string{owner}, r.Released())
		})
	}
}

func work(t *testing.T, c *client.Client, r *fronttest.Runner, version string) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, c.Start(ctx))
	var hello sdk.InitializeRequest
	hello.Params.ClientInfo = sdk.Implementation{Name: "test", Version: "1"}
	got, err := c.Initialize(ctx, hello)
	require.NoError(t, err)
	assert.Equal(t, version, got.ProtocolVersion)
	assert.Equal(t, "agent-mcp", got.ServerInfo.Name)
	assert.NotNil(t, got.Capabilities.Tools)
	assert.Nil(t, got.Capabilities.Tasks)
	assert.Empty(t, got.Capabilities.Extensions)

	tools, err := c.ListTools(ctx, sdk.ListToolsRequest{})
	require.NoError(t, err)
	require.Len(t, tools.Tools, 2)
	assert.Equal(t, "agent_run", tools.Tools[0].Name)
	assert.Equal(t, "agent_status", tools.Tools[1].Name)

	text := func(tool string, args map[string]any) string {
		var call sdk.CallToolRequest
		call.Params.Name, call.Params.Arguments = tool, args
		res, err := c.CallTool(ctx, call)
		require.NoError(t, err)
		require.Len(t, res.Content, 1)
		content, ok := res.Content[0].(sdk.TextContent)
		require.True(t, ok)
		return content.Text
	}
	accepted := text("agent_run", map[string]any{"request": "build it", "temperature": 0.5, "images": []string{fronttest.Image}})
	req := r.Requests()[0]
	assert.Equal(t, "build it", req.Request)
	assert.InDelta(t, 0.5, *req.Temperature, 0)
	assert.Len(t, req.Images, 1)
	id := strings.TrimPrefix(strings.Split(accepted, "\n")[0], "Task ID: ")
	r.Set(id, service.Completed, "built")
	assert.Contains(t, text("agent_status", map[string]any{"task_id": id}), "built")
	assert.Contains(t, text("agent_status", map[string]any{"task_id": "x"}), string(service.CodeBadTaskID))
}
