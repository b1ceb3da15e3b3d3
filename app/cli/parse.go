package cli

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Codes of words that earlier versions knew, each with what to do instead (CLI-05). They are reasons of CodeOld.
const (
	oldServe       fault.Code = "usage.old_serve"
	oldCheck       fault.Code = "usage.old_check"
	oldExecutable  fault.Code = "usage.old_executable"
	oldSandbox     fault.Code = "usage.old_sandbox"
	oldConfig      fault.Code = "usage.old_config"
	oldLang        fault.Code = "usage.old_lang"
	oldTransport   fault.Code = "usage.old_transport"
	oldPath        fault.Code = "usage.old_path"
	oldRuntimeRoot fault.Code = "usage.old_runtime_root"
	oldNoRuntime   fault.Code = "usage.old_no_runtime"
	oldFormat      fault.Code = "usage.old_format"
)

// old tells what an earlier version's word is, "" for any other.
func old(word string) fault.Code {
	word, _, _ = strings.Cut(word, "=")
	switch word {
	case "serve":
		return oldServe
	case "check":
		return oldCheck
	case "executable":
		return oldExecutable
	case "sandbox":
		return oldSandbox
	case "--config":
		return oldConfig
	case "--lang":
		return oldLang
	case "--transport":
		return oldTransport
	case "--path":
		return oldPath
	case "--runtime-root":
		return oldRuntimeRoot
	case "--no-runtime":
		return oldNoRuntime
	case "--format":
		return oldFormat
	}
	return ""
}

// command is one parsed command line; path is "" for the default.
type command struct {
	name string // "serve", "apply", "show", "help", "version"
	path string
	yes  bool
}

// parse reads the whole command line; a command that cannot be meant is refused, never guessed. After `--` everything
// is a path.
func parse(args []string) (command, error) {
	cmd := command{name: "serve"}
	if f := migrate(args); f != nil {
		return cmd, f
	}
	paths, onlyPaths := 0, false
	for i, a := range args {
		switch {
		case onlyPaths || !strings.HasPrefix(a, "-"):
			if i == 0 && (a == "apply" || a == "show") {
				cmd.name = a
				continue
			}
			if near := mistyped(a); i == 0 && near != "" {
				return cmd, fault.New(CodeMistyped, "word", a, "command", near)
			}
			if a == "" {
				return cmd, fault.New(CodeEmptyPath)
			}
			if paths++; paths > 1 {
				return cmd, fault.New(CodeTooMany, "argument", a)
			}
			cmd.path = a
		case a == "--":
			onlyPaths = true
		case a == "--help", a == "--version":
			return command{name: a[2:], path: cmd.path}, nil
		case a == "--yes" && cmd.name == "apply":
			cmd.yes = true
		case a == "--yes":
			return cmd, fault.New(CodeYesAlone)
		default:
			return cmd, fault.New(CodeUnknownFlag, "flag", a)
		}
	}
	return cmd, nil
}

// migrate collects every word of an earlier version: commands in the first place, flags anywhere before `--`.
func migrate(args []string) error {
	var words []string
	var reasons []*fault.Error
	for i, a := range args {
		if a == "--" {
			break
		}
		code := old(a)
		if code == "" || (i > 0 && !strings.HasPrefix(a, "-")) {
			continue
		}
		word, _, _ := strings.Cut(a, "=")
		if !slices.Contains(words, word) {
			words, reasons = append(words, word), append(reasons, fault.New(code))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return fault.New(CodeOld, "words", strings.Join(words, ", ")).With(reasons...)
}

// mistyped finds the command that a bare word is one slip away from: a letter more, less, wrong, or two swapped. A file
// of such a name is reached as ./NAME.
func mistyped(word string) string {
	for _, c := range []string{"apply", "show"} {
		if word != c && slip(word, c) {
			return c
		}
	}
	return ""
}

func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch len(b) - len(a) {
	case 1:
		return a[i:] == b[i+1:]
	case 0:
		if i >= len(a) {
			return false
		}
		swapped := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		return swapped || a[i+1:] == b[i+1:]
	}
	return false
}
