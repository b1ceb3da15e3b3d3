package mem_test

import (
	"io/fs"
	"testing"

	"github.com/agent-mcp/agent-mcp/adapters/image/mem"
	"github.com/agent-mcp/agent-mcp/conformance/imagetest"
)

type host struct{ *mem.Images }

func (host) Root() string { return "/world" }

func (h host) Put(_ testing.TB, path, content string, mode uint32) {
	h.Images.Put(path, content, fs.FileMode(mode))
}
func (h host) Link(_ testing.TB, target, path string)       { h.Images.Link(target, path) }
func (h host) Mkdir(_ testing.TB, path string, mode uint32) { h.Images.Mkdir(path, fs.FileMode(mode)) }

func TestImages_Contract(t *testing.T) {
	m := mem.New()
	imagetest.Run(t, m, host{m})
}
