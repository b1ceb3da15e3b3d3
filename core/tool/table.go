package tool

import "github.com/agent-mcp/agent-mcp/ports/rights"

// kind is the type of one argument.
type kind uint8

const (
	text kind = iota // any text
	line             // text that is a path, alias, name: not empty, no NUL
	flag
	number // integer ≥ 0
	list   // list of text
)

func (k kind) String() string {
	switch k {
	case flag:
		return "true or false"
	case number:
		return "a whole number, 0 or more"
	case list:
		return "a list of strings"
	}
	return "a string"
}

// field is one argument of one tool.
type field struct {
	name     string
	kind     kind
	required bool
	about    string // for the model; "" when the name says it
	set      func(*Call, value)
}

// spec is one tool: what the model reads of it and what it needs.
type spec struct {
	name       Name
	about      string
	fields     []field
	path, dest rights.Set // rights on Path and Dest (FS-00, FS-06, FS-07)
	mutates    bool
}

// Field setters, shared by the table.
func setPath(c *Call, v value)    { c.Path = v.text }
func setDest(c *Call, v value)    { c.Dest = v.text }
func setContent(c *Call, v value) { c.Content = v.text }
func setExec(c *Call, v value)    { c.Executable = v.flag }
func setOld(c *Call, v value)     { c.Old = v.text }
func setNew(c *Call, v value)     { c.New = v.text }
func setAll(c *Call, v value)     { c.All = v.flag }
func setPattern(c *Call, v value) { c.Pattern = v.text }
func setGlob(c *Call, v value)    { c.Glob = v.text }
func setOffset(c *Call, v value)  { c.Offset = v.number }
func setLimit(c *Call, v value)   { c.Limit = int(v.number) }
func setAlias(c *Call, v value)   { c.Alias = v.text }
func setArgs(c *Call, v value)    { c.Args = v.list }
func setDir(c *Call, v value)     { c.Dir = v.text }
func setStdin(c *Call, v value)   { c.Stdin = v.text }
func setTimeout(c *Call, v value) { c.TimeoutSec = int(v.number) }

func pathField() field { return field{"path", line, true, "", setPath} }

// table lists the Internal Tools in the order the model sees them. Descriptions are short on purpose: the fixed prompt
// and all schemas together stay under 1,800 tokens.
func table() []spec {
	return []spec{
		{Read, "Read a text file. Long files come in parts; offset continues.", []field{
			pathField(),
			{"offset", number, false, "first line, from 1", setOffset},
			{"limit", number, false, "lines", setLimit},
		}, rights.Read, rights.None, false},
		{Tail, "Read the last lines of a file.", []field{
			pathField(),
			{"limit", number, false, "lines", setLimit},
		}, rights.Read, rights.None, false},
		{List, "List a directory.", []field{
			{"path", line, false, `default "."`, setPath},
			{"limit", number, false, "", setLimit},
		}, rights.Read, rights.None, false},
		{Search, "Search files below a directory for a regular expression (RE2). Gives path:line: text.", []field{
			{"pattern", text, true, "", setPattern},
			{"path", line, false, `default "."`, setPath},
			{"glob", text, false, "file names, e.g. *.py", setGlob},
			{"limit", number, false, "matches", setLimit},
		}, rights.Read, rights.None, false},
		{Write, "Create or overwrite a file with content. Missing directories are made.", []field{
			pathField(),
			{"content", text, true, "the whole new file", setContent},
			{"executable", flag, false, "", setExec},
		}, rights.Write, rights.None, true},
		{Patch, "Replace exact text in a file. old must occur exactly once, unless all is true.", []field{
			pathField(),
			{"old", text, true, "exact text, with its spaces and line breaks", setOld},
			{"new", text, true, "", setNew},
			{"all", flag, false, "", setAll},
		}, rights.Read | rights.Write, rights.None, true},
		{Move, "Rename or move a file or directory. dest must not exist.", []field{
			pathField(),
			{"dest", line, true, "", setDest},
		}, rights.Write, rights.Write, true},
		{Remove, "Delete one file.", []field{pathField()}, rights.Delete, rights.None, true},
		{Mkdir, "Make a directory, with its parents.", []field{pathField()}, rights.Write, rights.None, true},
		{Rmdir, "Delete an empty directory.", []field{pathField()}, rights.Delete, rights.None, true},
		{Run, "Run a program in the sandbox and wait for it. No shell: give args one by one.", []field{
			{"command", line, true, "", setAlias},
			{"args", list, false, "", setArgs},
			{"dir", line, false, "working directory", setDir},
			{"stdin", text, false, "", setStdin},
			{"timeout_seconds", number, false, "", setTimeout},
		}, rights.Execute, rights.None, true},
	}
}

func lookup(name Name) (spec, bool) {
	for _, s := range table() {
		if s.name == name {
			return s, true
		}
	}
	return spec{}, false
}

// Names lists every Internal Tool in the order the model sees them.
func Names() []Name {
	t := table()
	names := make([]Name, len(t))
	for i, s := range t {
		names[i] = s.name
	}
	return names
}

// Needs returns the rights a tool needs on Path and, for Move, on Dest (FS-00, FS-06, FS-07). Run needs Execute on what
// it starts, which core/broker judges. An unknown tool needs every right.
func (n Name) Needs() (path, dest rights.Set) {
	if s, ok := lookup(n); ok {
		return s.path, s.dest
	}
	return rights.All, rights.All
}

// Mutates reports whether a tool can have side effects (AGT-05). An unknown tool can.
func (n Name) Mutates() bool {
	s, ok := lookup(n)
	return !ok || s.mutates
}

// Known reports whether it is an Internal Tool.
func (n Name) Known() bool {
	_, ok := lookup(n)
	return ok
}
