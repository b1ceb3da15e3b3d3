package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

const (
	chunk       = 256 << 10 // bytes per read
	binaryProbe = 8 << 10   // bytes looked at to tell binary from text, as Git does
	listDefault = 200
	readScan    = 256 << 20 // bytes looked through for the first line
)

// binary reports whether the beginning of a file says that it is no text.
func binary(head []byte) bool { return bytes.IndexByte(head[:min(len(head), binaryProbe)], 0) >= 0 }

// read gives lines from Offset, at most Limit and at most ReadBytes. Bytes are shown as they are (made valid UTF-8), so
// that text copied from it matches in patch_file.
func (b *Box) read(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpRead, true)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // nothing was written
	info := h.Info()
	head, err := h.Read(ctx, 0, chunk)
	if err != nil {
		return err
	}
	j.result.Effects = append(j.result.Effects, tool.Effect{Kind: tool.EffectRead, Path: info.Path})
	if binary(head) {
		j.result.Text = binaryText(b.show(info.Path), info.Identity.Size)
		return nil
	}
	p := part{first: max(j.call.Offset, 1), lines: j.call.Limit, bytes: b.Limits.ReadBytes, size: info.Identity.Size}
	for data, at := head, int64(0); len(data) > 0 && !p.full; {
		p.feed(data)
		at += int64(len(data))
		if len(data) < chunk || p.full {
			break
		}
		if at >= readScan {
			j.result.Text = fmt.Sprintf("[line %d lies more than %d MiB into the file; use search_files or tail_file]", p.first, readScan>>20)
			return nil
		}
		if data, err = h.Read(ctx, at, chunk); err != nil {
			return err
		}
	}
	j.result.Text = p.text()
	return nil
}

func binaryText(name string, size int64) string {
	return fmt.Sprintf("%s is a binary file (%d bytes); its content is not shown.", name, size)
}

// part collects a range of lines.
type part struct {
	first int64 // line to start at, from 1
	lines int   // 0 = no bound
	bytes int
	size  int64 // of the whole file

	line   int64 // lines seen completely
	taken  int   // lines taken completely
	middle bool  // inside a line that was begun
	cut    bool  // the last line is not whole
	full   bool
	out    []byte
}

func (p *part) feed(data []byte) {
	for len(data) > 0 && !p.full {
		end := bytes.IndexByte(data, '\n')
		piece := data
		if end >= 0 {
			piece = data[:end+1]
		}
		data = data[len(piece):]
		if p.line+1 >= p.first {
			if room := p.bytes - len(p.out); len(piece) > room {
				if p.taken == 0 { // one line longer than a whole answer
					p.out = append(p.out, piece[:max(room, 0)]...)
					p.cut = true
				} else if p.middle {
					p.out = p.out[:bytes.LastIndexByte(p.out, '\n')+1]
				}
				p.full = true
				return
			}
			p.out = append(p.out, piece...)
		}
		if p.middle = end < 0; p.middle {
			continue
		}
		if p.line++; p.line >= p.first {
			p.taken++
			p.full = p.lines > 0 && p.taken >= p.lines
		}
	}
}

func (p *part) text() string {
	if p.size == 0 && len(p.out) == 0 {
		return "(empty file)"
	}
	last := p.line
	if p.middle && !p.full {
		last++ // the last line has no newline
	}
	if len(p.out) == 0 && !p.full {
		return fmt.Sprintf("[the file has %d lines]", last)
	}
	body := visible(p.out)
	if p.cut {
		return body + fmt.Sprintf("\n[line %d is longer than %d bytes and is cut; use search_files to find text in it]", p.first, p.bytes)
	}
	if p.first == 1 && !p.full || int64(len(p.out)) == p.size {
		return body
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	if !p.full {
		return body + fmt.Sprintf("[lines %d-%d, the end]", p.first, last)
	}
	return body + fmt.Sprintf("[lines %d-%d; the file has %d bytes; go on with offset=%d]", p.first, p.line, p.size, p.line+1)
}

// visible keeps text as it is but for what is no UTF-8.
func visible(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// tail gives the last lines, read from the end.
func (b *Box) tail(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpRead, true)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // nothing was written
	info := h.Info()
	data, err := h.Read(ctx, -int64(b.Limits.ReadBytes), b.Limits.ReadBytes)
	if err != nil {
		return err
	}
	j.result.Effects = append(j.result.Effects, tool.Effect{Kind: tool.EffectRead, Path: info.Path})
	switch {
	case binary(data):
		j.result.Text = binaryText(b.show(info.Path), info.Identity.Size)
		return nil
	case len(data) == 0:
		j.result.Text = "(empty file)"
		return nil
	}
	want := b.Limits.TailLines
	if j.call.Limit > 0 {
		want = min(want, j.call.Limit)
	}
	whole := int64(len(data)) >= info.Identity.Size
	start := tailStart(data, want)
	if start == 0 && !whole { // begins inside a line
		start = bytes.IndexByte(data, '\n') + 1
	}
	text := visible(data[start:])
	if start > 0 || !whole {
		n := bytes.Count(data[start:], []byte("\n"))
		if data[len(data)-1] != '\n' {
			n++
		}
		text = fmt.Sprintf("[the last %d lines of %d bytes]\n", n, info.Identity.Size) + text
	}
	j.result.Text = text
	return nil
}

// tailStart is where the last n lines begin.
func tailStart(data []byte, n int) int {
	at := len(data)
	if at > 0 && data[at-1] == '\n' {
		at--
	}
	for ; n > 0; n-- {
		i := bytes.LastIndexByte(data[:at], '\n')
		if i < 0 {
			return 0
		}
		at = i
	}
	return at + 1
}

// list names a directory's entries: "name/" a directory, "name@" a symlink, else the size in bytes.
func (b *Box) list(ctx context.Context, j *job) error {
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpList, true)
	if err != nil {
		return err
	}
	defer h.Close() //nolint:errcheck // nothing was written
	limit := j.call.Limit
	if limit <= 0 {
		limit = listDefault
	}
	entries, total, err := h.List(ctx, limit)
	if err != nil {
		return err
	}
	j.result.Effects = append(j.result.Effects, tool.Effect{Kind: tool.EffectListed, Path: h.Info().Path})
	var out strings.Builder
	shown := 0
	for _, e := range entries {
		line := entryLine(e)
		if out.Len()+len(line) > b.Limits.ReadBytes {
			break
		}
		out.WriteString(line)
		shown++
	}
	switch {
	case total == 0:
		out.WriteString("(empty directory)")
	case shown < total:
		fmt.Fprintf(&out, "[%d of %d entries; give a larger limit, or use search_files]", shown, total)
	}
	j.result.Text = out.String()
	return nil
}

func entryLine(e workspace.Info) string {
	name := visible([]byte(e.Name))
	e.Name = strings.NewReplacer("\n", "\\n", "\r", "\\r", "\x1b", "\\e").Replace(name)
	if e.Mode.IsRegular() {
		return fmt.Sprintf("%s %d\n", line(e.Name), e.Identity.Size)
	}
	return entryName(e) + "\n"
}
