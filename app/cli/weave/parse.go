package weave

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// command is one parsed command line.
type command struct {
	name  string // "verify", "sign", "canon", "conformance", "help", "version"
	file  string // "" or "-" = standard input
	flags map[string]string
	json  bool
}

// takes says which options with a value each command has, and whether it knows --json and a file.
func takes(name string) (flags []string, json, file, ok bool) {
	switch name {
	case "verify":
		return []string{"--registry", "--schemas", "--profile"}, true, true, true
	case "sign":
		return []string{"--key", "--registry", "--schemas", "--profile"}, false, true, true
	case "canon":
		return nil, false, true, true
	case "conformance":
		return []string{"--vectors"}, true, false, true
	}
	return nil, false, false, false
}

// parse reads the whole command line; a command that cannot be meant is refused, never guessed. After `--` a word is a file.
func parse(args []string) (command, error) {
	c := command{flags: map[string]string{}}
	for _, a := range args { // help is help, wherever it stands
		if a == "--" {
			break
		}
		if a == "--help" || a == "--version" {
			return command{name: a[2:]}, nil
		}
	}
	if len(args) == 0 {
		return command{name: "help"}, nil
	}
	c.name = args[0]
	flags, json, file, ok := takes(c.name)
	if !ok {
		return c, fault.New(CodeCommand, "word", c.name)
	}
	rest, onlyFile, files := args[1:], false, 0
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		name, value, joined := strings.Cut(a, "=")
		switch {
		case onlyFile || a == "-" || !strings.HasPrefix(a, "-"):
			if files++; files > 1 || !file {
				return c, fault.New(CodeTooMany, "argument", a)
			}
			c.file = a
		case a == "--":
			onlyFile = true
		case a == "--json" && json:
			c.json = true
		case slices.Contains(flags, name):
			if !joined {
				if i++; i == len(rest) {
					return c, fault.New(CodeValue, "flag", name)
				}
				value = rest[i]
			}
			if value == "" {
				return c, fault.New(CodeValue, "flag", name)
			}
			if c.flags[name] != "" {
				return c, fault.New(CodeTwice, "flag", name)
			}
			c.flags[name] = value
		default:
			return c, fault.New(CodeFlag, "flag", name, "command", c.name)
		}
	}
	return c, nil
}
