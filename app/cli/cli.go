// Package cli is the command line: words to use cases, values to text, faults to exit codes (spec section 3). It decides
// nothing about permissions, never overrides a YAML value, and knows neither core nor adapters; app/wire hands it what
// it calls.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// DefaultConfig is the file beside the executable that is used when no path is given (CLI-01).
const DefaultConfig = "agent.yaml"

// Deps are what the command line calls. All fields are required.
type Deps struct {
	Stdout, Stderr                 io.Writer
	StdoutTerminal, StderrTerminal bool
	Getenv                         func(string) string
	Executable                     string // absolute path of the running program
	Version                        string

	// Language finds the language and locales directory of a configuration, "" when it cannot be read.
	Language func(ctx context.Context, path string) (tag, localesDir string)
	// Catalog gives the texts of a language; when that fails, those of another language, English at last. Never nil.
	Catalog func(ctx context.Context, tag, localesDir string) text.Catalog
	// Admin is used by apply and show.
	Admin service.Administrator
	// Server serves until its transport ends (nil), ctx is cancelled (fault.CodeCancelled), or it fails (a *ServedError
	// once it had served). It prints its
	// own warnings and ready message on Stderr; what it returns is printed here.
	Server func(ctx context.Context, path string) error
}

// Codes of the command line. Each exits with ExitRefused.
const (
	CodeUnknownFlag fault.Code = "usage.unknown_flag" // args: flag
	CodeTooMany     fault.Code = "usage.too_many"     // args: argument
	CodeEmptyPath   fault.Code = "usage.empty_path"
	CodeYesAlone    fault.Code = "usage.yes_alone"
	CodeMistyped    fault.Code = "usage.mistyped" // args: word, command
	CodeOutput      fault.Code = "usage.output"   // args: detail — standard output cannot be written; exits with ExitFailed
	CodeOld         fault.Code = "usage.old"      // args: words; Reasons: what to do instead of each (CLI-05)
)

// Keys of what is printed besides views.
const (
	keyHelp      text.Key = "help.text"
	keyVersion   text.Key = "help.version"
	keyApplied   text.Key = "apply.applied"
	keyFirst     text.Key = "apply.applied_first"
	keyUnchanged text.Key = "apply.unchanged"
	keyDeclined  text.Key = "apply.declined"
	keyYes       text.Key = "apply.yes"
)

// ServedError marks a failure that came after clients were served: an operation that failed, not a start that was refused.
type ServedError struct{ Err error }

// Error implements error.
func (e *ServedError) Error() string { return e.Err.Error() }

// Unwrap gives what failed.
func (e *ServedError) Unwrap() error { return e.Err }

// Main runs one command and returns its exit code. args are without the program's name. It never exits the process.
func Main(ctx context.Context, args []string, d Deps) int {
	cmd, err := parse(args)
	path := cmd.path
	if path == "" {
		path = filepath.Join(filepath.Dir(d.Executable), DefaultConfig)
	}
	p := printer{Deps: d, catalog: d.catalog(ctx, path), applying: cmd.name == "apply"}
	if err != nil {
		return p.fail(err)
	}
	switch cmd.name {
	case "help":
		return p.only(p.catalog.Text(keyHelp, nil))
	case "version":
		return p.only(p.catalog.Text(keyVersion, map[string]any{"version": d.Version}))
	case "apply":
		return p.apply(ctx, path, cmd.yes)
	case "show":
		view, err := d.Admin.Show(ctx, path)
		if err != nil {
			return p.fail(err)
		}
		return p.only(Show(view, p.catalog, p.style()))
	}
	return p.fail(d.Server(ctx, path))
}

// catalog chooses the language: the configuration's; without a readable one the environment's; English at last.
func (d Deps) catalog(ctx context.Context, path string) text.Catalog {
	tag, dir := d.Language(ctx, path)
	if tag == "" {
		tag = environment(d.Getenv)
	}
	return d.Catalog(ctx, tag, dir)
}

// environment reads the language of POSIX locale variables: ja_JP.UTF-8 → ja-JP.
func environment(getenv func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		value, _, _ := strings.Cut(getenv(name), ".")
		value, _, _ = strings.Cut(value, "@")
		if value == "C" || value == "POSIX" {
			return "en"
		}
		if value != "" {
			return strings.ReplaceAll(value, "_", "-")
		}
	}
	return "en"
}

type printer struct {
	Deps
	catalog  text.Catalog
	applying bool
}

// style of standard output.
func (p printer) style() Style { return StyleFor(p.StdoutTerminal, p.Getenv) }

// only prints what a command was called for. A full disk loses it, so that is a failure; a reader that had enough
// (`show | head`) is none.
func (p printer) only(s string) int {
	_, err := fmt.Fprintln(p.Stdout, strings.TrimRight(s, "\n"))
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return ExitDone
	}
	p.fail(fault.Wrap(err, CodeOutput, "detail", system(err)))
	return ExitFailed
}

// system is the system's own word for a failure.
func system(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}

// out and fail ignore a closed stream: there is nobody left to tell, and the exit code still speaks.
func (p printer) out(s string) { _, _ = fmt.Fprintln(p.Stdout, strings.TrimRight(s, "\n")) }

func (p printer) fail(err error) int {
	if err == nil {
		return ExitDone
	}
	f := fault.From(err)
	code := "[" + string(f.Code) + "] " // the same in every language, as in agent_status
	if f.Code == fault.CodeCancelled {
		code = ""
	}
	_, _ = fmt.Fprintln(p.Stderr, code+strings.TrimRight(p.catalog.Fault(f), "\n"))
	var served *ServedError
	if errors.As(err, &served) && f.Code != fault.CodeCancelled {
		return ExitFailed
	}
	return ExitCode(f, p.applying)
}

func (p printer) apply(ctx context.Context, path string, yes bool) int {
	applied := keyApplied
	got, err := p.Admin.Apply(ctx, service.ApplyRequest{Path: path, Yes: yes, Present: func(v service.View) {
		if v.Standing == service.NeverApplied {
			applied = keyFirst // nothing can be running with it yet
		}
		p.out(Difference(v, p.catalog, p.style()))
		if yes {
			p.out(p.catalog.Text(keyYes, nil))
		}
	}})
	if err != nil {
		return p.fail(err)
	}
	switch got.Outcome {
	case service.Declined:
		_, _ = fmt.Fprintln(p.Stderr, p.catalog.Text(keyDeclined, nil))
		return ExitDeclined
	case service.Unchanged:
		if notes := Warnings(got.View.Warnings, p.catalog, p.style()); notes != "" {
			p.out(notes)
		}
		p.out(p.catalog.Text(keyUnchanged, map[string]any{"config": got.View.Config}))
		return ExitDone
	}
	p.out(p.catalog.Text(applied, map[string]any{"config": got.View.Config}))
	return ExitDone
}
