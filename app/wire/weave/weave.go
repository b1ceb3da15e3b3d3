// Package weave is the composition root of the program weave: the command line, the schema checker and the texts. It is apart
// from the agent's, so that a program that verifies documents carries neither a sandbox nor a model client. It holds no rule
// of its own.
package weave

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/consent/terminal"
	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/adapters/text/goi18n"
	cli "github.com/agent-mcp/agent-mcp/app/cli/weave"
	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/locales"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Main is the whole program and returns its exit code.
func Main() int {
	signal.Ignore(syscall.SIGPIPE) // a reader that had enough is an ordinary end
	return cli.Main(os.Args[1:], cli.Deps{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		StdoutTerminal: terminal.IsTerminal(os.Stdout), StdinTerminal: terminal.IsTerminal(os.Stdin),
		Getenv: os.Getenv, Version: version(), Catalog: catalog,
		Compiler: compiled.New(signed.Formats()),
		Open:     func(path string) (io.ReadCloser, error) { return os.Open(path) },
		Dir:      os.DirFS,
		Shared:   shared,
	})
}

// shared is whether others can read a file. Windows does not say so in a mode.
func shared(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return strings.TrimPrefix(info.Main.Version, "v")
}

// catalog gives the texts of a language, English when there are none. Locale files beside the program come before the
// built-in ones; broken ones are not used.
func catalog(tag string) text.Catalog {
	opts := goi18n.Options{Builtin: locales.FS, Tag: tag}
	if exe, err := os.Executable(); err == nil {
		opts.Dirs = []goi18n.Dir{{Path: filepath.Join(filepath.Dir(exe), "locales"), Optional: true}}
	}
	for _, try := range []goi18n.Options{opts, {Builtin: locales.FS, Tag: tag}, {Builtin: locales.FS, Tag: "en"}} {
		if c, err := goi18n.New(try); err == nil {
			return c
		}
	}
	panic("weave: the built-in texts are broken")
}
