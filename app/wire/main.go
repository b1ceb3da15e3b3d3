package wire

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-mcp/agent-mcp/adapters/consent/terminal"
	"github.com/agent-mcp/agent-mcp/app/cli"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Main is the whole program and returns its exit code. It does not return when this process was started as the sandbox's
// helper.
func Main() int {
	Helper()
	// A client that closed our stdout is an EPIPE and with it an ordinary end, not a death without clean-up.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signals()
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	box := newSandbox()
	defer func() { _ = box.Close() }()
	words := &library{}
	owner := Admin(words.catalog, box, os.Stdin, os.Stdout, terminal.IsTerminal(os.Stdin))
	stderr := &patient{w: os.Stderr, limit: patience}
	return cli.Main(ctx, os.Args[1:], cli.Deps{
		Stdout: os.Stdout, Stderr: stderr,
		StdoutTerminal: terminal.IsTerminal(os.Stdout), StderrTerminal: terminal.IsTerminal(os.Stderr),
		Getenv: os.Getenv, Executable: exe, Version: Version(),
		Language: owner.Language, Catalog: words.any, Admin: owner,
		Server: func(ctx context.Context, path string) error {
			go func() { _, _ = box.Preflight(ctx) }() // takes its time; Load asks for it and gets the same look
			eff, err := owner.Load(ctx, path)
			if err != nil {
				return err
			}
			err = Serve(ctx, eff, box, os.Stdin, os.Stdout, stderr)
			if err == nil && errors.Is(context.Cause(ctx), errInterrupted) {
				return fault.New(fault.CodeCancelled)
			}
			return err
		},
	})
}

// errInterrupted tells Ctrl-C, which exits with 130, from the polite ends of a service.
var errInterrupted = errors.New("interrupted")

// signals cancels the context at the first SIGINT, SIGTERM or SIGHUP, so that everything is cleaned up; a second one ends
// the process at once, and the next start cleans up.
func signals() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		sig, ok := <-ch
		if !ok {
			return
		}
		signal.Stop(ch)
		if sig == os.Interrupt {
			cancel(errInterrupted)
			return
		}
		cancel(context.Canceled)
	}()
	return ctx, func() { signal.Stop(ch); close(ch); cancel(nil) }
}

// library loads each catalogue once: the command line and the use cases need the same one. For one goroutine at a time.
type library struct{ loaded map[[2]string]text.Catalog }

func (l *library) catalog(tag, dir string) (text.Catalog, error) {
	key := [2]string{tag, dir}
	if c := l.loaded[key]; c != nil {
		return c, nil
	}
	c, err := Catalog(tag, dir)
	if err != nil {
		return nil, err
	}
	if l.loaded == nil {
		l.loaded = map[[2]string]text.Catalog{}
	}
	l.loaded[key] = c
	return c, nil
}

// any gives the texts of a language, else of its built-in form, else English: messages about a broken locale file
// need texts too.
func (l *library) any(_ context.Context, tag, dir string) text.Catalog {
	for _, try := range [][2]string{{tag, dir}, {tag, ""}, {"en", ""}} {
		if c, err := l.catalog(try[0], try[1]); err == nil {
			return c
		}
	}
	c, err := builtin("en")
	if err != nil {
		panic("wire: the built-in texts are broken: " + err.Error())
	}
	return c
}
