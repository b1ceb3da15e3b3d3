package engine

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/trigger"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Texts of what the owner should know of a Task besides its answer.
const (
	keyRefused    text.Key = "status.refused"     // count
	keyObeyed     text.Key = "status.obeyed"      // count
	keyObeyedFile text.Key = "status.obeyed_file" // path, what
	keyObeyedMore text.Key = "status.obeyed_more" // count

	keyByGit         text.Key = "obeyed.git"
	keyByEnvironment text.Key = "obeyed.environment"
	keyByEditor      text.Key = "obeyed.editor"
	keyByDebugger    text.Key = "obeyed.debugger"
	keyByContainer   text.Key = "obeyed.container"
	keyByHooks       text.Key = "obeyed.hooks"
	keyByPackages    text.Key = "obeyed.packages"
	keyByBuild       text.Key = "obeyed.build"
	keyByPython      text.Key = "obeyed.python"
	keyByAutomation  text.Key = "obeyed.automation"
	keyByDesktop     text.Key = "obeyed.desktop"
	keyByHidden      text.Key = "obeyed.hidden"
)

const (
	maxObeyedShown = 20
	maxPathRunes   = 200
)

// obeyedKeys say what takes commands from a file (core/trigger).
var obeyedKeys = map[string]text.Key{
	string(trigger.Git):         keyByGit,
	string(trigger.Environment): keyByEnvironment,
	string(trigger.Editor):      keyByEditor,
	string(trigger.Debugger):    keyByDebugger,
	string(trigger.Container):   keyByContainer,
	string(trigger.Hooks):       keyByHooks,
	string(trigger.Packages):    keyByPackages,
	string(trigger.Build):       keyByBuild,
	string(trigger.Python):      keyByPython,
	string(trigger.Automation):  keyByAutomation,
	string(trigger.Desktop):     keyByDesktop,
	string(trigger.Hidden):      keyByHidden,
}

// notices tells how much was refused (what it was is in the Audit Log: no sandbox details here), and which files of the
// workspace the user must look at before running programs of their own there.
func notices(cat text.Catalog, v view) string {
	var b strings.Builder
	if v.refused > 0 {
		b.WriteString(cat.Text(keyRefused, map[string]any{"count": v.refused}) + "\n")
	}
	if len(v.obeyed) == 0 {
		return b.String()
	}
	b.WriteString(cat.Text(keyObeyed, map[string]any{"count": len(v.obeyed) + v.more}) + "\n")
	shown := v.obeyed[:min(len(v.obeyed), maxObeyedShown)]
	for _, o := range shown {
		b.WriteString(obeyedLine(cat, o) + "\n")
	}
	if n := len(v.obeyed) + v.more - len(shown); n > 0 {
		b.WriteString(cat.Text(keyObeyedMore, map[string]any{"count": n}) + "\n")
	}
	return b.String()
}

func obeyedLine(cat text.Catalog, o session.Obeyed) string {
	return cat.Text(keyObeyedFile, map[string]any{"path": cutRunes(guard.Plain(o.Path), maxPathRunes), "what": cat.Text(obeyedKeys[o.Kind], nil)})
}
