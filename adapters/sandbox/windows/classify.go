package windows

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
)

// program says why a file is none that CreateProcess starts itself, "" when it may be one. A batch file would start cmd.exe
// with a line of its making, so it is no program here: the shell must be the entry.
func program(path string, s status, final string) string {
	switch {
	case s.Dir:
		return "it is a directory"
	case s.Link:
		return "it is a link"
	case winpath.Agree(path, final) != winpath.None:
		return "it leads elsewhere: " + string(winpath.Agree(path, final))
	}
	switch ext(path) {
	case ".exe", ".com":
		return ""
	case ".bat", ".cmd":
		return "a batch file is no program; approve cmd.exe and give it the file after /c"
	case ".ps1":
		return "a script is no program; approve pwsh.exe and give it the file after -File"
	}
	return "Windows starts only .exe and .com files"
}

// executable reports whether the tree may execute what lies at a path.
func executable(roots, baseline []rights.Root, path string) bool {
	for _, list := range [][]rights.Root{roots, baseline} {
		if r, ok := rootOf(list, path); ok && r.Rights.Has(rights.Execute) {
			return true
		}
	}
	return false
}

func ext(path string) string {
	name := winpath.Base(path)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return strings.ToLower(name[i:])
	}
	return ""
}

// storeApp refuses what was installed from the store: such programs are started by a service, with an identity of their own,
// and never in this AppContainer.
func storeApp(path string) *fault.Error {
	for part := range strings.SplitSeq(path, `\`) {
		if strings.EqualFold(part, "WindowsApps") {
			return fault.New(CodeStoreApp, "path", path)
		}
	}
	return nil
}

// firstLine is a call without the lists below it.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
