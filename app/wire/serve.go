package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/clock/system"
	frontmcp "github.com/agent-mcp/agent-mcp/adapters/front/mcp"
	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	instanceflock "github.com/agent-mcp/agent-mcp/adapters/instance/flock"
	journalfile "github.com/agent-mcp/agent-mcp/adapters/journal/file"
	tracefile "github.com/agent-mcp/agent-mcp/adapters/trace/file"
	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/app/auditor"
	"github.com/agent-mcp/agent-mcp/app/cli"
	"github.com/agent-mcp/agent-mcp/app/engine"
	"github.com/agent-mcp/agent-mcp/core/audit"
	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/instance"
	"github.com/agent-mcp/agent-mcp/ports/journal"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/text"
	"github.com/agent-mcp/agent-mcp/ports/trace"
)

// Texts and codes of starting and stopping (OBS-01, OBS-02).
const (
	keyReady     text.Key = "server.ready"      // protocol, pid, log
	keyReadyHTTP text.Key = "server.ready_http" // endpoints, protocol, pid, log
	keyRecovered text.Key = "server.recovered"  // count
	keyWarning   text.Key = "server.warning"    // message

	CodeInput fault.Code = "server.input" // args: detail — standard input cannot be read
)

// closeLimit bounds the shut-down: a Task that does not end by then is killed with the process, and its resources are
// left to the journal.
const closeLimit = 20 * time.Second

// server is everything that runs, in the order it is given back.
type server struct {
	eff      admin.Effective
	box      sandbox.Sandbox
	err      io.Writer
	id       string
	trace    *tracefile.Sink
	audit    *auditor.Auditor
	own      instance.Owned
	registry instance.Registry
	engine   *engine.Engine
	closers  []func() error // run last to first

	openJournal instanceflock.OpenJournal
	endpoints   []string // URLs of HTTP
	served      bool     // clients were served; what fails now is no refused start
}

// Serve starts the server of a configuration and returns when its client is gone or ctx ends. An error before the ready
// message means that nothing was served.
func Serve(ctx context.Context, eff admin.Effective, box sandbox.Sandbox, in io.Reader, out, stderr io.Writer) error {
	s := &server{eff: eff, box: box, err: stderr, id: random.New().New(), openJournal: openJournal}
	return s.serve(ctx, in, out)
}

func openJournal(path string) (journal.Journal, error) { return journalfile.Open(path) }

func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	why, code := "error", fault.Code("")
	defer func() {
		if s.audit != nil {
			code = fault.CodeOf(err)
			err = errors.Join(err, s.audit.Record(audit.Stop(system.New().Now(), why, code)))
		}
		err = errors.Join(err, s.close())
		if s.served && err != nil {
			err = &cli.ServedError{Err: err}
		}
	}()
	if err := s.open(ctx); err != nil {
		return err
	}
	var listeners []net.Listener
	if s.eff.Config.MCP.Transport == config.TransportHTTP {
		if listeners, err = s.listen(); err != nil {
			return err
		}
		defer func() {
			for _, l := range listeners {
				_ = l.Close() // closed already when they were served
			}
		}()
	}
	front, err := s.build(ctx)
	if err != nil {
		return err
	}
	defer func() { s.served = true }()
	var end frontmcp.End
	if listeners != nil {
		end, err = front.ServeHTTP(ctx, listeners, frontmcp.HTTPOptions{Path: s.eff.Config.MCP.HTTP.Path, BodyBytes: s.eff.Config.MCP.HTTP.MaxBodyBytes})
	} else {
		end, err = front.ServeStdio(ctx, in, out)
	}
	why = end.String()
	if f := fault.From(err); f != nil && f.Code == fault.CodeInternal && end == frontmcp.EndInput {
		err = fault.Wrap(err, CodeInput, "detail", reason(err))
	}
	return errors.Join(err, s.drain(), front.Settle(context.WithoutCancel(ctx)))
}

// say shows one line to the person who watches stderr.
func (s *server) say(key text.Key, args map[string]any) {
	_, _ = fmt.Fprintln(s.err, s.eff.Catalog.Text(key, args)) // nobody may be reading; serving goes on
}

func (s *server) onClose(f func() error) { s.closers = append(s.closers, f) }

func (s *server) close() (err error) {
	for i := len(s.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closers[i]())
	}
	return err
}

// open prepares logs and audit, cleans up after the dead, and registers this instance (SEC-INV-11: before any MCP).
func (s *server) open(ctx context.Context) (err error) {
	cfg, clk := s.eff.Config, system.New()
	s.trace, err = tracefile.New(tracefile.Options{
		Dir: cfg.Logging.Dir, Level: level(cfg.Logging.Level), LLM: cfg.Logging.LLM, HTTP: cfg.Logging.HTTP,
		MaxFileBytes: cfg.Logging.MaxFileBytes, MaxFiles: cfg.Logging.MaxFiles, Stderr: s.err, Render: s.eff.Catalog.Fault,
	})
	if err != nil {
		return err
	}
	s.onClose(s.trace.Close)
	ledger, err := openLedger(cfg, s.id)
	if err != nil {
		return err
	}
	s.onClose(ledger.Close)
	s.audit = auditor.New(ledger, s.id, "")
	if err := s.audit.Record(audit.Start(clk.Now(), s.id, Version(), cfg.Path, cfg.MCP.Transport, os.Getpid())); err != nil {
		return err
	}
	if err := s.audit.Record(audit.Enforced(clk.Now(), s.eff.Report)); err != nil {
		return err
	}
	s.registry = instanceflock.New(stateDir(cfg, "instances"), s.openJournal)
	if err := s.recover(ctx, s.registry); err != nil {
		return err
	}
	if s.own, err = s.registry.Own(ctx, s.id); err != nil {
		return err
	}
	s.onClose(s.retire)
	return nil
}

// retire forgets the instance when nothing of it is left, else leaves its journal to the next start.
func (s *server) retire() error {
	left, err := s.leftovers()
	if err != nil || left > 0 {
		return errors.Join(err, s.own.Close())
	}
	return s.own.Retire()
}

// drain stops every Task and waits until their resources are gone (PRF-02, REC-03, REC-05).
func (s *server) drain() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return s.engine.Close(ctx)
}

func level(name string) trace.Level {
	switch name {
	case "debug":
		return trace.Debug
	case "warn":
		return trace.Warn
	case "error":
		return trace.Error
	}
	return trace.Info
}
