package toolbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/report"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/rights"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// write creates or overwrites a file (EDT-01).
func (b *Box) write(ctx context.Context, j *job) error {
	if strings.HasSuffix(j.call.Path, "/") {
		return fault.New(workspace.CodeIsDirectory, "path", j.call.Path)
	}
	h, err := b.make(ctx, j, j.call.Path, policy.OpWrite)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // Replace reports what matters
	before := h.Info()
	data := []byte(j.call.Content)
	if err := b.store(ctx, j, h, data, j.call.Executable); err != nil {
		return err
	}
	verb := "created"
	if before.Exists {
		verb = fmt.Sprintf("overwrote (%d bytes before)", before.Identity.Size)
	}
	j.result.Text = fmt.Sprintf("%s %s: %d lines, %d bytes", verb, b.show(before.Path), lineCount(data), len(data))
	return nil
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// patch replaces exact text, once or everywhere.
func (b *Box) patch(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpRead, true)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // Replace reports what matters
	info := h.Info()
	need, _ := j.call.Name.Needs()
	if err := b.judge(j, policy.Request{Op: policy.OpWrite, Path: info.Path}, need); err != nil {
		return err
	}
	data, err := b.whole(ctx, h)
	if err != nil {
		return err
	}
	if binary(data) {
		return fault.New(CodeBinary, "path", b.show(info.Path))
	}
	old, with := lineEnds(data, j.call.Old, j.call.New)
	count := bytes.Count(data, old)
	switch {
	case count == 0:
		line, near := nearestLines(data, j.call.Old)
		f := fault.New(CodeNoMatch, "path", b.show(info.Path), "line", line, "near", near)
		return f
	case count > 1 && !j.call.All:
		return fault.New(CodeAmbiguous, "path", b.show(info.Path), "count", count, "lines", matchLines(data, old))
	}
	changed := bytes.ReplaceAll(data, old, with)
	if len(changed) > maxEditBytes {
		return fault.New(CodeTooBig, "path", b.show(info.Path), "size", len(changed), "limit", maxEditBytes)
	}
	if err := b.store(ctx, j, h, changed, false); err != nil {
		return err
	}
	before, _, _ := bytes.Cut(data, old)
	at := 1 + bytes.Count(before, []byte("\n"))
	j.result.Text = fmt.Sprintf("patched %s: %d replaced, first at line %d; %d lines now", b.show(info.Path), count, at, lineCount(changed))
	return nil
}

// lineEnds gives the texts the file's own line ends, when it uses CR LF throughout and the model wrote LF.
func lineEnds(data []byte, old, with string) ([]byte, []byte) {
	crlf := bytes.Count(data, []byte("\r\n"))
	if crlf == 0 || crlf != bytes.Count(data, []byte("\n")) || strings.Contains(old, "\r") {
		return []byte(old), []byte(with)
	}
	fix := func(s string) []byte {
		return []byte(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n"))
	}
	return fix(old), fix(with)
}

// matchLines names the lines of the first matches.
func matchLines(data, old []byte) string {
	var lines []string
	for at := 0; len(lines) < 10; {
		i := bytes.Index(data[at:], old)
		if i < 0 {
			return strings.Join(lines, ", ")
		}
		at += i
		lines = append(lines, strconv.Itoa(1+bytes.Count(data[:at], []byte("\n"))))
		at += len(old)
	}
	return strings.Join(lines, ", ") + ", …"
}

// nearestLines finds the place that most resembles the first telling line of old: equal but for spaces, else the longest
// common beginning. It returns up to as many lines as old has (at most 8).
func nearestLines(data []byte, old string) (line int, near string) {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	wanted, skip := "", 0
	for i, l := range strings.Split(old, "\n") {
		if wanted = squeeze(l); wanted != "" {
			skip = i
			break
		}
	}
	if wanted == "" {
		return 0, ""
	}
	lines := strings.Split(visible(data), "\n")
	best, score := -1, 3 // less than four bytes in common is no resemblance
	for i, l := range lines {
		s := squeeze(l)
		n := 0
		for n < len(s) && n < len(wanted) && s[n] == wanted[n] {
			n++
		}
		if s == wanted {
			n += 1000
		}
		if n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		return 0, ""
	}
	from := max(0, best-skip)
	to := min(len(lines), from+min(8, 1+strings.Count(old, "\n")))
	return from + 1, strings.Join(lines[from:to], "\n")
}

// whole reads a file that is small enough to be edited.
func (b *Box) whole(ctx context.Context, h workspace.Handle) ([]byte, error) {
	info := h.Info()
	if info.Identity.Size > maxEditBytes {
		return nil, fault.New(CodeTooBig, "path", b.show(info.Path), "size", info.Identity.Size, "limit", maxEditBytes)
	}
	data, err := h.Read(ctx, 0, maxEditBytes+1)
	if err == nil && len(data) > maxEditBytes {
		return nil, fault.New(CodeTooBig, "path", b.show(info.Path), "size", len(data), "limit", maxEditBytes)
	}
	return data, err
}

// store replaces a judged place's content: keep the old, replace atomically, read it again, and put the old content back
// when it is not what was written (EDT-01).
func (b *Box) store(ctx context.Context, j *job, h workspace.Handle, data []byte, exec bool) error {
	before := h.Info()
	k := backup{path: before.Path, fresh: !before.Exists}
	kind, was := tool.EffectCreated, ""
	var want *workspace.Identity
	var old []byte
	if before.Exists {
		var err error
		if old, err = b.whole(ctx, h); err != nil {
			return err
		}
		was = digest(old)
		kind, k.exec, want = tool.EffectChanged, before.Mode&0o111 != 0, &before.Identity
		if err := b.keep(ctx, &k, old); err != nil {
			return err
		}
	}
	defer b.drop(context.WithoutCancel(ctx), k)
	info, err := h.Replace(ctx, data, exec, want)
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // from here on it is finished or put back
	sum := digest(data)
	if err := b.verify(ctx, k, info, sum); err != nil {
		return err
	}
	return b.effect(j, tool.Effect{Kind: kind, Path: info.Path, SHA256: sum, Before: was, Diff: report.Diff(old, data)})
}

// verify reads what was written. A file that is another one by now belongs to somebody else and is left alone.
func (b *Box) verify(ctx context.Context, k backup, written workspace.Info, sum string) error {
	h, err := b.Tree.Resolve(ctx, written.Path)
	if err == nil {
		defer h.Close() //nolint:errcheck // Replace reports what matters
		now := h.Info()
		if !now.Exists || now.Path != written.Path || now.Identity.File != written.Identity.File || now.Identity.Volume != written.Identity.Volume {
			return fault.New(workspace.CodeChanged, "path", b.show(written.Path))
		}
		var data []byte
		if data, err = h.Read(ctx, 0, maxEditBytes+1); err == nil && digest(data) == sum {
			return nil
		}
	}
	if restored := b.restore(ctx, k); restored != nil {
		return fault.Wrap(restored, CodeRestore, "path", b.show(written.Path))
	}
	return fault.Wrap(err, CodeVerify, "path", b.show(written.Path))
}

// move renames onto a free place; missing directories of the destination are made.
func (b *Box) move(ctx context.Context, j *job) error {
	from, err := b.open(ctx, j, j.call.Path, false)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // MoveTo reports what matters
	if !from.Info().Exists {
		return b.helpMissing(ctx, j.call.Path, fault.New(workspace.CodeNotFound, "path", j.call.Path))
	}
	to, err := b.dest(ctx, j, from.Info())
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // MoveTo reports what matters
	src, dst := from.Info(), to.Info()
	if err := b.judge(j, policy.Request{Op: policy.OpMove, Path: src.Path, Dest: dst.Path}, rights.Write); err != nil {
		return err
	}
	if dst.Exists {
		return fault.New(workspace.CodeExists, "path", b.show(dst.Path))
	}
	was := b.before(ctx, from)
	if _, err := from.MoveTo(ctx, to); err != nil {
		return err
	}
	j.result.Text = fmt.Sprintf("moved %s to %s", b.show(src.Path), b.show(dst.Path))
	return b.effect(j, tool.Effect{Kind: tool.EffectMoved, Path: src.Path, Dest: dst.Path, Before: was})
}

// dest resolves the destination. The source is judged before anything is made for the destination's sake.
func (b *Box) dest(ctx context.Context, j *job, src workspace.Info) (workspace.Handle, error) {
	ask := policy.Request{Op: policy.OpMoveFrom, Path: src.Path}
	if err := b.judge(j, ask, rights.Write); err != nil {
		return nil, err
	}
	name := strings.TrimRight(j.call.Dest, "/")
	if name == "" {
		name = j.call.Dest
	}
	return b.make(ctx, j, name, policy.OpWrite)
}

// remove deletes a file or a symlink.
func (b *Box) remove(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpDelete, false)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // Remove reports what matters
	info, was := h.Info(), b.before(ctx, h)
	if err := h.Remove(ctx); err != nil {
		return err
	}
	j.result.Text = "removed " + b.show(info.Path)
	return b.effect(j, tool.Effect{Kind: tool.EffectRemoved, Path: info.Path, Before: was})
}

func (b *Box) mkdir(ctx context.Context, j *job) error {
	h, err := b.make(ctx, j, strings.TrimRight(j.call.Path, "/"), policy.OpMkdir)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // Mkdir reports what matters
	if info := h.Info(); info.Exists && info.Mode.IsDir() {
		j.result.Text = b.show(info.Path) + " exists already"
		return nil
	}
	if err := b.makeDir(ctx, j, h); err != nil {
		return err
	}
	j.result.Text = "made directory " + b.show(h.Info().Path)
	return nil
}

func (b *Box) rmdir(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, strings.TrimRight(j.call.Path, "/"), policy.OpRmdir, false)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // Rmdir reports what matters
	p := h.Info().Path
	if err := h.Rmdir(ctx); err != nil {
		return err
	}
	j.result.Text = "removed directory " + b.show(p)
	return b.effect(j, tool.Effect{Kind: tool.EffectRemoved, Path: p})
}
