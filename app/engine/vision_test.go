package engine_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// blind cannot be asked what it can.
type blind struct{ *scripted.Model }

func (blind) Inspect(context.Context, string) (model.Info, error) {
	return model.Info{}, fault.New(model.CodeUnreachable, "url", "u", "detail", "d")
}

// OLL-09: what the model can is asked before an image is sent, also when its server was silent at the start; a model that cannot
// see, or of which nobody knows, is sent nothing.
func TestEngine_AsksForVisionFirst(t *testing.T) {
	image := []byte("\x89PNG\r\n\x1a\nrest")
	for name, c := range map[string]struct {
		capabilities []string
		blind        bool
		state        service.State
		code         fault.Code
	}{
		"sees":    {[]string{"completion", "tools", "vision"}, false, service.Completed, ""},
		"text":    {[]string{"completion", "tools"}, false, service.Failed, model.CodeNoVision},
		"unknown": {nil, true, service.Failed, model.CodeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			m := scripted.New(scripted.Script{Capabilities: c.capabilities, Steps: []scripted.Step{
				{When: plan, Reply: planOf("none", "")}, {When: act, Reply: scripted.Say("A red pixel.")},
			}})
			w := newWorldWith(t, "en", m, 2)
			w.Inspector = m
			if c.blind {
				w.Inspector = blind{m}
			}
			st := w.run(t, service.RunRequest{Request: "what is it?", Images: [][]byte{image}})
			require.Equal(t, c.state, st.State, st.Text)
			require.Equal(t, string(c.code), st.ErrorCode)
			if c.code != "" {
				require.Empty(t, m.Requests())
				return
			}
			for _, r := range m.Requests() {
				require.True(t, bytes.Equal(image, r.Messages[len(r.Messages)-1].Images[0]))
			}
		})
	}
}

// OLL-09: the sum of all images has a bound of its own.
func TestEngine_BoundsAllImagesTogether(t *testing.T) {
	w := newWorld(t, "en")
	img := append([]byte("\xff\xd8\xff"), make([]byte, 40)...)
	_, err := w.Run(context.Background(), service.RunRequest{Request: "x", Images: [][]byte{img, img, img}})
	require.Equal(t, service.CodeImageTotal, fault.CodeOf(err))
	require.EqualValues(t, 129, fault.From(err).Args["size"])
	for kind, head := range map[string]string{"PNG": "\x89PNG\r\n\x1a\n", "JPEG": "\xff\xd8\xff\xe0", "GIF": "GIF89a", "WebP": "RIFF\x00\x00\x00\x00WEBPVP8 "} {
		st := w.run(t, service.RunRequest{Request: "x", Images: [][]byte{[]byte(head)}})
		require.NotEmpty(t, st.TaskID, "%s is accepted", kind)
	}
	for kind, head := range map[string]string{"BMP": "BM\x00\x00", "SVG": "<svg xmlns='x'>", "RIFF that is a WAVE": "RIFF\x00\x00\x00\x00WAVEfmt ", "cut PNG": "\x89PNG\r\n"} {
		_, err := w.Run(context.Background(), service.RunRequest{Request: "x", Images: [][]byte{[]byte(head)}})
		require.Equal(t, service.CodeImageKind, fault.CodeOf(err), kind)
	}
}
