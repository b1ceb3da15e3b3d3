// Command quickstart shows the whole of agent-mcp in one run: it makes a scratch workspace and an agent.yaml, applies it,
// starts the real agent-mcp binary over stdio, connects with an MCP client, asks for a small program with tests, shows the
// progress live, and then proves what happened: answer, permissions, audit trail, and that nothing was left behind.
//
// It uses what any outsider can use: the command line, the MCP SDK, and public packages. It exits with 0 only when
// everything happened.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() { os.Exit(command()) }

func command() int {
	lang := flag.String("lang", "en", "language of everything shown: en or ja")
	keep := flag.Bool("keep", false, "keep the scratch folder and print its path")
	only := flag.Bool("scripted", false, "use the scripted model even when an Ollama answers")
	limit := flag.Duration("timeout", 15*time.Minute, "give up after this long")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	say, err := newSpeaker(*lang, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := run(ctx, say, *keep, *only); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			say.line("interrupted")
			return 130
		}
		say.line("failed", "error", err.Error())
		return 1
	}
	return 0
}

// run is the story, step by step.
func run(ctx context.Context, say *speaker, keep, only bool) (err error) {
	scratch, err := os.MkdirTemp("", "agent-mcp-quickstart-")
	if err != nil {
		return err
	}
	if scratch, err = filepath.EvalSymlinks(scratch); err != nil {
		return err
	}
	defer func() {
		if keep {
			say.line("kept", "path", scratch)
			return
		}
		err = errors.Join(err, os.RemoveAll(scratch))
		if err == nil {
			say.line("removed", "path", scratch)
		}
	}()
	say.title("title")

	say.step("step.model")
	brain, err := chooseModel(ctx, say, only)
	if err != nil {
		return err
	}
	defer brain.close()

	say.step("step.setup")
	home, err := prepare(ctx, say, scratch, brain)
	if err != nil {
		return err
	}

	say.step("step.apply")
	if err := home.command(ctx, say.out, "apply", home.config, "--yes"); err != nil {
		return say.problem("problem.apply", err)
	}

	say.step("step.work")
	outcome, err := work(ctx, say, home)
	if err != nil {
		return err
	}
	say.step("step.answer")
	say.block(outcome.answer)

	say.step("step.permissions")
	if err := home.command(ctx, say.out, "show", home.config); err != nil {
		return say.problem("problem.show", err)
	}

	say.step("step.audit")
	if err := auditTrail(ctx, say, home, outcome, brain.scripted); err != nil {
		return err
	}
	say.step("step.clean")
	if err := clean(say, home); err != nil {
		return err
	}
	say.line("done")
	return nil
}
