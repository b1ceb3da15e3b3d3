package realpath

import (
	"github.com/agent-mcp/agent-mcp/adapters/internal/realpath/internal/win32"
	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
)

// Of opens what lies at an absolute path and gives the system's own name of it. A place on another computer keeps the form
// `\\server\share\…`, which no adapter takes for canonical.
func Of(path string) (string, error) {
	final, err := win32.FinalPath(winpath.Extended(path))
	if err != nil {
		return "", err
	}
	return winpath.FromFinal(final), nil
}
