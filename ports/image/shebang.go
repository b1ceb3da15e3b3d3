package image

import (
	"bytes"
	"path"
	"strings"
)

// SearchPath is where `#!/usr/bin/env NAME` finds NAME: the PATH of every sandboxed program.
const SearchPath = "/usr/local/bin:/usr/bin:/bin"

// maxInterpreters is how often Linux follows a "#!" to another script (execve(2)), and one env for each.
const maxInterpreters = 5

// Shebang takes a script's first line apart as Linux does (execve(2)): the interpreter, and all that follows as one argument.
// ok is false when head is no script; the interpreter is "" when the line names none.
func Shebang(head []byte) (interpreter, argument string, ok bool) {
	if !bytes.HasPrefix(head, []byte("#!")) {
		return "", "", false
	}
	line, _, _ := bytes.Cut(head[2:], []byte("\n"))
	line, _, _ = bytes.Cut(line, []byte{0})
	text := strings.Trim(string(line), " \t\r")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], strings.Trim(text[i:], " \t"), true
	}
	return text, "", true
}

// envProgram is what `env` starts when a script's first line gives it argument, "" when that cannot be told: options and
// assignments are followed only as far as -S with a plain name.
func envProgram(argument string) string {
	name := argument
	if rest, ok := strings.CutPrefix(argument, "-S"); ok {
		if name = ""; len(strings.Fields(rest)) > 0 {
			name = strings.Fields(rest)[0]
		}
	}
	if name == "" || name[0] == '-' || strings.ContainsAny(name, "= \t'\"\\$#") {
		return ""
	}
	return name
}

// Interpreters follows a script's first line to the last program that runs it, outer first: nested scripts, and through
// env to the program it names. look identifies one file; its error is CodeMissing for one that is not there. found is false
// when the chain ends in nothing that can run, or cannot be told; out then holds what was found before. Any other error of look
// is returned.
func Interpreters(script Identity, look func(path string) (Identity, error)) (out []Identity, found bool, err error) {
	for range maxInterpreters {
		id, ok, err := program(script.Interpreter, look)
		if !ok || err != nil {
			return out, false, err
		}
		out = append(out, id)
		if path.Base(script.Interpreter) == "env" {
			if id, ok, err = named(envProgram(script.InterpreterArgument), look); !ok || err != nil {
				return out, false, err
			}
			out = append(out, id)
		}
		if id.Format != FormatScript {
			return out, id.Format != FormatUnknown, nil
		}
		script = id
	}
	return out, false, nil
}

func named(name string, look func(string) (Identity, error)) (Identity, bool, error) {
	if name == "" || strings.Contains(name, "/") {
		return program(name, look)
	}
	for dir := range strings.SplitSeq(SearchPath, ":") {
		id, ok, err := program(dir+"/"+name, look)
		if ok || err != nil {
			return id, ok, err
		}
	}
	return Identity{}, false, nil
}

func program(name string, look func(string) (Identity, error)) (Identity, bool, error) {
	if !path.IsAbs(name) {
		return Identity{}, false, nil
	}
	id, err := look(name)
	if missing(err) {
		return Identity{}, false, nil
	}
	return id, err == nil && id.Regular && id.Executable, err
}
