package broker

import (
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Codes of what keeps a file from being approved by `apply`. All carry alias and path.
const (
	CodeEntryDirectory   fault.Code = "broker.entry_directory"
	CodeEntryNotFile     fault.Code = "broker.entry_not_file"
	CodeEntryNotProgram  fault.Code = "broker.entry_not_program" // no x bit, or neither a program nor a script
	CodeEntryInterpreter fault.Code = "broker.entry_interpreter" // also: interpreter — a script whose "#!" program cannot run, or cannot be told
	CodeEntryOpen        fault.Code = "broker.entry_open"        // also: open — everybody may write the file or a directory above it
	CodeRuntimeRoot      fault.Code = "broker.runtime_root"      // no directory
)

// Approvable collects every reason why an executable must not be approved (PRC-01). Whether a write root covers it is
// policy.Build's to say.
func Approvable(alias string, id image.Identity) []*fault.Error {
	refuse := func(code fault.Code, kv ...any) *fault.Error {
		return fault.New(code, append([]any{"alias", alias, "path", id.Path}, kv...)...)
	}
	switch {
	case id.Directory:
		return []*fault.Error{refuse(CodeEntryDirectory)}
	case !id.Regular:
		return []*fault.Error{refuse(CodeEntryNotFile)}
	}
	var out []*fault.Error
	if !id.Executable || id.Format == image.FormatUnknown || id.Format == "" {
		out = append(out, refuse(CodeEntryNotProgram))
	}
	if id.Format == image.FormatScript && !id.InterpreterFound {
		out = append(out, refuse(CodeEntryInterpreter, "interpreter", id.Interpreter))
	}
	out = append(out, open(refuse, id)...)
	for _, i := range id.Interpreters { // whoever may write one decides what the script does
		out = append(out, open(refuse, i)...)
	}
	return out
}

// Images are a script's interpreters as they are approved.
func Images(id image.Identity) (out []sandbox.Image) {
	for _, i := range id.Interpreters {
		out = append(out, sandbox.Image{Path: i.Path, SHA256: i.SHA256})
	}
	return out
}

// ApprovableRoot collects every reason why a directory must not be a Runtime Root (PRC-03).
func ApprovableRoot(alias string, id image.Identity) []*fault.Error {
	refuse := func(code fault.Code, kv ...any) *fault.Error {
		return fault.New(code, append([]any{"alias", alias, "path", id.Path}, kv...)...)
	}
	if !id.Directory {
		return []*fault.Error{refuse(CodeRuntimeRoot)}
	}
	return open(refuse, id)
}

func open(refuse func(fault.Code, ...any) *fault.Error, id image.Identity) []*fault.Error {
	var out []*fault.Error
	if id.WorldWritable {
		out = append(out, refuse(CodeEntryOpen, "open", id.Path))
	}
	for _, dir := range id.OpenParents {
		out = append(out, refuse(CodeEntryOpen, "open", dir))
	}
	return out
}
