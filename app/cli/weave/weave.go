// Package weave is the command line of the program weave: verify, sign and canonicalise Signed Documents of MissionWeave, and
// run its published conformance bundles. It turns words into use cases and their results into text or JSON and an exit
// code; it decides nothing about a document. A secret key is read and never shown.
package weave

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"github.com/agent-mcp/agent-mcp/app/cli"
	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/app/vectors"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// DataVariable names the folder of the protocol's published data; --schemas and --vectors come before it.
const DataVariable = "AGENT_MCP_MISSIONWEAVE_DATA"

// maxInput bounds what is read from a file or standard input, in bytes.
const maxInput = 64 << 20

// Deps are what the command line calls. All fields are required.
type Deps struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	StdoutTerminal bool
	StdinTerminal  bool
	Getenv         func(string) string
	Version        string
	Catalog        func(tag string) text.Catalog // never nil; English when there is no such language
	Compiler       schema.Compiler
	Open           func(path string) (io.ReadCloser, error)
	Dir            func(path string) fs.FS
	Shared         func(path string) bool // whether others than the owner can read a file
}

// Codes of the command line; all exit with 2 but the last.
const (
	CodeCommand fault.Code = "weave.no_command" // args: word
	CodeFlag    fault.Code = "weave.no_flag"    // args: flag, command
	CodeValue   fault.Code = "weave.no_value"   // args: flag
	CodeTwice   fault.Code = "weave.twice"      // args: flag
	CodeTooMany fault.Code = "weave.too_many"   // args: argument
	CodeNeeds   fault.Code = "weave.needs"      // args: flag, command
	CodeLarge   fault.Code = "weave.too_large"  // args: file, limit
	CodeOutput  fault.Code = "weave.output"     // args: detail — exits with 1
)

// Keys of what is printed.
const (
	keyHelp        text.Key = "weave.help"
	keyVersion     text.Key = "weave.version"      // args: version
	keyVerified    text.Key = "weave.verified"     // args: profile
	keyRefused     text.Key = "weave.refused"      // args: stage
	keySigner      text.Key = "weave.signer"       // args: type, id
	keyKey         text.Key = "weave.key"          // args: key
	keyTime        text.Key = "weave.time"         // args: time
	keyHash        text.Key = "weave.hash"         // args: hash
	keyOrg         text.Key = "weave.organization" // args: id
	keyMeaning     text.Key = "weave.meaning"
	keyDetected    text.Key = "weave.detected" // args: profile
	keyKeyShared   text.Key = "weave.key_shared"
	keyWaiting     text.Key = "weave.waiting"
	keyBundle      text.Key = "weave.bundle"       // args: name, passed, expected
	keyBundleFiles text.Key = "weave.bundle_files" // args: files, digest
	keyBundleBad   text.Key = "weave.bundle_broken"
	keyCase        text.Key = "weave.case"  // args: id, want, got
	keyTotal       text.Key = "weave.total" // args: passed, expected
	keyScope       text.Key = "weave.scope"
)

// stages of the profile and what people call them.
var stages = map[string]text.Key{
	"parse": stageParse, "schema": stageSchema, "signature-envelope": stageEnvelope, "key-resolution": stageResolution,
	"canonicalization": stageCanonical, "signature": stageSignature,
}

// Keys of the stages.
const (
	stageParse      text.Key = "stage.parse"
	stageSchema     text.Key = "stage.schema"
	stageEnvelope   text.Key = "stage.envelope"
	stageResolution text.Key = "stage.resolution"
	stageCanonical  text.Key = "stage.canonical"
	stageSignature  text.Key = "stage.signature"
)

// Main runs one command and returns its exit code: 0 verified, signed, written or all passed; 1 not; 2 the command cannot be
// carried out. args are without the program's name.
func Main(args []string, d Deps) int {
	p := program{d, d.Catalog(cli.Language(d.Getenv))}
	c, err := parse(args)
	if err != nil {
		return p.fail(err)
	}
	switch c.name {
	case "help":
		return p.out(p.t(keyHelp, nil))
	case "version":
		return p.out(p.t(keyVersion, map[string]any{"version": d.Version}))
	case "verify":
		return p.verify(c)
	case "sign":
		return p.sign(c)
	case "canon":
		return p.canon(c)
	}
	return p.conformance(c)
}

type program struct {
	Deps
	catalog text.Catalog
}

// words of a fault.
func (p program) words(f *fault.Error) string { return p.catalog.Fault(tame(f)) }

func (p program) t(key text.Key, args map[string]any) string { return p.catalog.Text(key, args) }

// out prints a result; a reader that had enough is no failure.
func (p program) out(s string) int { return p.raw([]byte(strings.TrimRight(s, "\n") + "\n")) }

func (p program) raw(b []byte) int {
	_, err := p.Stdout.Write(b)
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return cli.ExitDone
	}
	p.fail(fault.Wrap(err, CodeOutput, "detail", err.Error()))
	return cli.ExitFailed
}

// note goes to standard error: it is no part of the result.
func (p program) note(s string) { _, _ = fmt.Fprintln(p.Stderr, strings.TrimRight(s, "\n")) }

// fail prints why the command cannot be carried out.
func (p program) fail(err error) int {
	f := fault.From(err)
	p.note("[" + string(f.Code) + "] " + p.words(f))
	return cli.ExitRefused
}

// read gives a file's or standard input's content; "" and "-" are standard input.
func (p program) read(path string) ([]byte, error) {
	in := io.NopCloser(p.Stdin)
	if path == "" || path == "-" {
		if path = "-"; p.StdinTerminal {
			p.note(p.t(keyWaiting, nil))
		}
	} else {
		file, err := p.Open(path)
		if err != nil {
			return nil, unreadable(path, err)
		}
		in = file
	}
	content, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if closeErr := in.Close(); err == nil {
		err = closeErr
	}
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(content) > maxInput:
		return nil, fault.New(CodeLarge, "file", path, "limit", maxInput)
	}
	return content, nil
}

func unreadable(path string, err error) error {
	detail := err.Error()
	var e *fs.PathError
	if errors.As(err, &e) {
		detail = e.Err.Error()
	}
	return fault.Wrap(err, signed.CodeUnreadable, "file", path, "detail", detail)
}

// desk opens the schemas.
func (p program) desk(c command) (*signed.Desk, error) {
	dir := c.flags["--schemas"]
	if dir == "" {
		dir = p.Getenv(DataVariable)
	}
	if dir == "" {
		return nil, fault.New(CodeNeeds, "flag", "--schemas", "command", c.name)
	}
	return signed.Open(p.Dir(dir), p.Compiler)
}

func (p program) verify(c command) int {
	if c.flags["--registry"] == "" {
		return p.fail(fault.New(CodeNeeds, "flag", "--registry", "command", c.name))
	}
	desk, err := p.desk(c)
	if err != nil {
		return p.fail(err)
	}
	registry, err := p.read(c.flags["--registry"])
	if err != nil {
		return p.fail(err)
	}
	document, err := p.read(c.file)
	if err != nil {
		return p.fail(err)
	}
	r, err := desk.Verify(signed.Request{Profile: c.flags["--profile"], Text: document, Registry: registry})
	if err != nil {
		return p.fail(err)
	}
	return p.result(r, c.json)
}

func (p program) result(r signed.Result, asJSON bool) int {
	code := cli.ExitDone
	if !r.Verified {
		code = cli.ExitFailed
	}
	shown := p.describe(r)
	if asJSON {
		shown = p.resultJSON(r)
	}
	if failed := p.out(shown); failed != cli.ExitDone {
		return failed
	}
	return code
}

func (p program) sign(c command) int {
	if c.flags["--key"] == "" {
		return p.fail(fault.New(CodeNeeds, "flag", "--key", "command", c.name))
	}
	desk, err := p.desk(c)
	if err != nil {
		return p.fail(err)
	}
	order := signed.Order{Profile: c.flags["--profile"]}
	if order.Key, err = p.read(c.flags["--key"]); err != nil {
		return p.fail(err)
	}
	if p.Shared(c.flags["--key"]) {
		p.note(p.t(keyKeyShared, map[string]any{"file": c.flags["--key"]}))
	}
	if path := c.flags["--registry"]; path != "" {
		if order.Registry, err = p.read(path); err != nil {
			return p.fail(err)
		}
	}
	if order.Text, err = p.read(c.file); err != nil {
		return p.fail(err)
	}
	out, r, err := desk.Sign(order)
	switch {
	case err != nil:
		return p.fail(err)
	case !r.Verified:
		p.note(p.describe(r))
		return cli.ExitFailed
	case r.Detected:
		p.note(p.t(keyDetected, map[string]any{"profile": r.Profile}))
	}
	return p.raw(append(out, '\n'))
}

// canon writes the canonical bytes and nothing else, so that they can be hashed; only a terminal gets a line end.
func (p program) canon(c command) int {
	document, err := p.read(c.file)
	if err != nil {
		return p.fail(err)
	}
	out, err := signed.Canon(document)
	if err != nil {
		f := fault.From(err)
		p.note("[" + string(f.Code) + "] " + p.words(f))
		return cli.ExitFailed
	}
	if p.StdoutTerminal {
		out = append(out, '\n')
	}
	return p.raw(out)
}

func (p program) conformance(c command) int {
	dir := c.flags["--vectors"]
	if dir == "" {
		dir = p.Getenv(DataVariable)
	}
	if dir == "" {
		return p.fail(fault.New(CodeNeeds, "flag", "--vectors", "command", c.name))
	}
	bundles, err := vectors.Run(p.Dir(dir), p.Compiler)
	if err != nil {
		return p.fail(err)
	}
	code := cli.ExitDone
	for _, b := range bundles {
		if !b.OK() {
			code = cli.ExitFailed
		}
	}
	shown := p.table(bundles)
	if c.json {
		shown = p.tableJSON(bundles)
	}
	if failed := p.out(shown); failed != cli.ExitDone {
		return failed
	}
	return code
}
