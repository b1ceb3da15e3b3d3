package toolbox

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// maxLineShown bounds one match's text, in bytes.
const maxLineShown = 240

// search finds a regular expression below a directory, or in one file. It is bounded in matches, files, bytes and time,
// follows no symlink, and leaves out binary files and Git's own directory unless asked to look in it.
func (b *Box) search(ctx context.Context, j *job) error {
	re, err := regexp.Compile(j.call.Pattern)
	if err != nil {
		return fault.New(CodePattern, "detail", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	glob := strings.TrimPrefix(j.call.Glob, "**/")
	if _, err := path.Match(glob, ""); err != nil {
		return fault.New(CodeGlob, "glob", j.call.Glob)
	}
	h, err := b.reachExisting(ctx, j, j.call.Path, policy.OpRead, true)
	if err != nil {
		return err
	}
	start := h.Info()
	_ = h.Close()
	s := &searching{box: b, job: j, re: re, glob: glob, limit: b.Limits.SearchMatches, root: start.Path}
	if j.call.Limit > 0 {
		s.limit = min(s.limit, j.call.Limit)
	}
	if b.Clock != nil {
		s.deadline = b.now().Add(searchTime)
	}
	err = s.walk(ctx, start)
	j.result.Effects = append(j.result.Effects, tool.Effect{Kind: tool.EffectRead, Path: start.Path})
	if err != nil {
		return err
	}
	j.result.Text = s.text()
	return nil
}

// searching is one search under way.
type searching struct {
	box      *Box
	job      *job
	re       *regexp.Regexp
	glob     string
	root     string
	limit    int
	deadline time.Time

	out     strings.Builder
	matches int
	files   int
	bytes   int64
	large   int
	stop    string // why it ended early
}

// walk visits one place and what is below, in the order of names. What vanishes or refuses on the way is passed over.
func (s *searching) walk(ctx context.Context, at workspace.Info) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	if s.stop != "" {
		return nil
	}
	switch {
	case s.files >= searchFiles:
		s.stop = fmt.Sprintf("%d files", searchFiles)
		return nil
	case !s.deadline.IsZero() && s.box.now().After(s.deadline):
		s.stop = searchTime.String()
		return nil
	case !at.Mode.IsDir():
		return s.file(ctx, at)
	}
	for _, e := range s.entries(ctx, at.Path) {
		e.Path = join(at.Path, e.Name)
		switch {
		case e.Mode.IsDir() && (e.Name == ".git" || e.Name == "objects" && strings.HasSuffix(at.Path, ".git")):
		case e.Mode.IsDir():
			if err := s.walk(ctx, e); err != nil {
				return err
			}
		case e.Mode.IsRegular() && s.wanted(e):
			if err := s.walk(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries lists a directory; none when it vanished or refuses.
func (s *searching) entries(ctx context.Context, dir string) []workspace.Info {
	h, err := s.box.Tree.Resolve(ctx, dir)
	if err != nil {
		return nil
	}
	defer h.Close() //nolint:errcheck // nothing was written
	entries, _, err := h.List(ctx, searchFiles)
	if err != nil {
		return nil
	}
	return entries
}

// wanted applies the glob: to the name, or to the path below the start when the glob has a slash.
func (s *searching) wanted(e workspace.Info) bool {
	if s.glob == "" {
		return true
	}
	name := e.Name
	if strings.Contains(s.glob, "/") {
		name = slashes(s.root, strings.TrimPrefix(e.Path, join(s.root, "")))
	}
	ok, _ := path.Match(s.glob, name) //nolint:errcheck // checked before
	return ok
}

func (s *searching) file(ctx context.Context, at workspace.Info) error {
	if !at.Mode.IsRegular() || !s.box.Policy.Decide(policy.Request{Op: policy.OpRead, Path: at.Path}).Allowed {
		return nil
	}
	if s.bytes >= searchBytes {
		s.stop = fmt.Sprintf("%d MiB", searchBytes>>20)
		return nil
	}
	if data, ok := s.content(ctx, at.Path); ok {
		s.files++
		s.bytes += int64(len(data))
		if !binary(data) {
			s.lines(s.box.show(at.Path), data)
		}
	}
	return nil
}

// content reads a file's beginning; not ok when it vanished, refuses, or became a symlink meanwhile.
func (s *searching) content(ctx context.Context, file string) ([]byte, bool) {
	h, err := s.box.Tree.Resolve(ctx, file)
	if err != nil {
		return nil, false
	}
	defer h.Close() //nolint:errcheck // nothing was written
	if h.Info().Path != file {
		return nil, false
	}
	data, err := h.Read(ctx, 0, searchFileBytes)
	if err == nil && h.Info().Identity.Size > searchFileBytes {
		s.large++
	}
	return data, err == nil
}

// lines adds a file's matches: "path:12: text" for one, the path once and then "12: text" for several.
func (s *searching) lines(name string, data []byte) {
	var found []string
	size := s.out.Len() + len(name) + 1
	for n := 1; len(data) > 0 && s.stop == ""; n++ {
		l, rest, _ := bytes.Cut(data, []byte("\n"))
		data = rest
		l = bytes.TrimSuffix(l, []byte("\r"))
		loc := s.re.FindIndex(l)
		if loc == nil {
			continue
		}
		text := fmt.Sprintf("%d: %s\n", n, around(l, loc))
		switch size += len(text); {
		case s.matches == s.limit:
			s.stop = fmt.Sprintf("%d matches", s.limit)
		case size > s.box.Limits.ReadBytes:
			s.stop = fmt.Sprintf("%d bytes of matches", s.box.Limits.ReadBytes)
		default:
			found = append(found, text)
			s.matches++
		}
	}
	switch len(found) {
	case 0:
	case 1:
		s.out.WriteString(name + ":" + found[0])
	default:
		s.out.WriteString(name + ":\n" + strings.Join(found, ""))
	}
}

// around cuts a long line to what surrounds the match.
func around(l []byte, loc []int) string {
	if len(l) <= maxLineShown {
		return clean(l)
	}
	from := max(0, min(loc[0]-maxLineShown/4, len(l)-maxLineShown))
	to := min(len(l), from+maxLineShown)
	text := strings.Trim(clean(l[from:to]), "\uFFFD")
	if from > 0 {
		text = "…" + text
	}
	if to < len(l) {
		text += "…"
	}
	return text
}

func (s *searching) text() string {
	switch {
	case s.stop != "":
		fmt.Fprintf(&s.out, "[stopped at %s; narrow the pattern, path or glob]", s.stop)
	case s.matches == 0:
		fmt.Fprintf(&s.out, "no match in %d files", s.files)
	}
	if s.large > 0 {
		fmt.Fprintf(&s.out, "\n[%d files were searched in their first %d MiB only]", s.large, searchFileBytes>>20)
	}
	return s.out.String()
}
