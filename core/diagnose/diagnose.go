// Package diagnose concludes from what a program printed which accesses the sandbox refused it (AT-07, NFR-07): the kernel does
// not tell an unprivileged Broker what Landlock or a read-only mount refused, but programs print it ("rm: cannot remove 'x':
// Permission denied"). Every conclusion is checked against the policy, so that only what the policy would really deny is
// reported: a file's own mode, a missing file or a server that is down are no denials.
//
// It is pure, it never decides anything, and nothing depends on it being complete. Output is hostile: at most what is kept of
// two streams is read, once, and at most MaxDenials conclusions are drawn. Names are text: a relative one is meant from the
// working directory (or a directory that the arguments or make change into), symlinks are not followed, and texts are those of
// Unix programs in English, and of glibc in Japanese.
package diagnose

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Bounds of one look.
const (
	MaxDenials   = 64        // distinct conclusions
	maxStream    = 128 << 10 // bytes of one stream's head and tail together
	maxLine      = 4096      // bytes of a line that are looked at
	maxPath      = 4096      // PATH_MAX
	maxDirs      = 8         // directories a relative name may be meant from
	lookBack     = 4         // lines before the error that may hold the name
	maxNames     = 8         // names of one line
	maxQuotes    = 64        // marks of one line that may begin a quotation
	maxTries     = 16        // words stripped from before one name
	maxNetLine   = 1024      // bytes of a line in which an endpoint is looked for
	maxArgsBytes = 64 << 10
)

// Input is a run that ended.
type Input struct {
	Policy         *policy.Policy // with the protected paths of the run
	Dir            string         // canonical working directory
	Args           []string       // argv[1:]
	End            sandbox.End
	ExitCode       int
	Stdout, Stderr sandbox.Capture
	Binds          bool // roots without write are read-only mounts: a refused write then says so (EROFS), and EACCES means something else
}

// Conclude returns what the run was refused, each once, in the order it was printed. A program that ended well is believed only
// what it wrote to stderr.
func Conclude(in Input) []sandbox.Denial {
	if in.Policy == nil || !strings.HasPrefix(in.Dir, "/") {
		return nil
	}
	l := look{Input: in, failed: in.End != sandbox.EndExited || in.ExitCode != 0}
	l.dirs = changes([]string{in.Dir}, in.Args)
	left := maxArgsBytes
	for _, a := range in.Args {
		if left -= len(a); left < 0 {
			break
		}
		l.calls |= called(a)
	}
	l.stream(in.Stderr)
	if l.failed {
		l.stream(in.Stdout)
	}
	return l.out
}

// Merge puts what was concluded behind what the enforcing mechanism saw, without what that says already. Flows are known, so
// nothing is concluded about their endpoints.
func Merge(seen, concluded []sandbox.Denial, flows []sandbox.Flow) []sandbox.Denial {
	out := slices.Clone(seen)
	network := slices.ContainsFunc(seen, func(d sandbox.Denial) bool { return d.Right == rightNetwork || strings.HasPrefix(d.Target, "socket") })
	for _, d := range concluded {
		known := slices.ContainsFunc(out, func(o sandbox.Denial) bool { return o.Target == d.Target && o.Right == d.Right })
		if d.Right == rightNetwork {
			known = known || network && d.Target == unknownEndpoint ||
				slices.ContainsFunc(flows, func(f sandbox.Flow) bool { return d.Target == joinHost(f.Host, f.Port) || d.Target == f.Host })
		}
		if !known {
			out = append(out, d)
		}
	}
	return out
}

// look is one pass over the output.
type look struct {
	Input
	failed bool
	dirs   []string
	calls  acts // what the arguments, as a source, call
	out    []sandbox.Denial
}

func (l *look) full() bool { return len(l.out) >= MaxDenials }

// add counts equal ones.
func (l *look) add(d sandbox.Denial) {
	d.Target = strings.ToValidUTF8(d.Target, "\uFFFD")
	for i := range l.out {
		if l.out[i].Target == d.Target && l.out[i].Right == d.Right {
			l.out[i].Times++
			return
		}
	}
	if !l.full() {
		d.Times = 1
		l.out = append(l.out, d)
	}
}

// stream looks at one stream. Where its middle was dropped, the two cut lines say nothing.
func (l *look) stream(c sandbox.Capture) {
	head, tail := bounded(c.Head), bounded(c.Tail)
	if c.Total <= int64(len(head)+len(tail)) {
		l.lines(head + tail)
		return
	}
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		l.lines(head[:i])
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		l.lines(tail[i+1:])
	}
}

func bounded(b []byte) string { return string(b[:min(len(b), maxStream)]) }

func (l *look) lines(text string) {
	var before []string // the lookBack lines before this one
	for text != "" && !l.full() {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		next, _, _ := strings.Cut(text, "\n")
		line = strings.TrimRight(line[:min(len(line), maxLine)], " \t\r")
		l.line(before, line, next[:min(len(next), maxLine)])
		if before = append(before, line); len(before) > lookBack {
			before = before[1:]
		}
	}
}

// line concludes from one line, with its neighbours when it names nothing itself.
func (l *look) line(before []string, line, next string) {
	if dir, ok := entering(line); ok {
		l.dirs = addDir(l.dirs, dir)
		return
	}
	c, at, end := causeOf(line)
	switch c {
	case none:
		return
	case network:
		l.network(before, line)
		return
	}
	s := said{cause: c, before: line[:at], after: line[end:]}
	s.names, s.context = names(s.before, s.after)
	if strings.HasPrefix(lower(line[at:]), "insufficient permission for") {
		s.context += " write" // the error itself says what was tried
	}
	s.shell = shellLine(s.before)
	if len(s.names) == 0 {
		near := slices.Clone(before)
		slices.Reverse(near)
		for _, other := range append(near, next) {
			if n, context := neighbour(other); len(n) > 0 {
				s.names, s.context = n, context+" "+s.context
				break
			}
		}
	}
	s.hints = strings.Join(before, " ")
	if c == refused && socket(s, line) {
		l.network(before, line)
		return
	}
	l.judge(s)
}

// socket reports whether it is a socket that was refused: without a network there is none.
func socket(s said, line string) bool {
	return strings.Contains(line, "/dev/tcp/") || strings.Contains(line, "/dev/udp/") ||
		len(s.names) == 0 && (begins(s.context, "socket") || strings.Contains(s.hints, "_socket.socket"))
}

// said is what an error line tells.
type said struct {
	cause         cause
	before, after string
	names         []string
	context       string // the line without its names, in lower case
	hints         string // the lines before: a traceback tells what was called
	shell         bool   // "bash: line 1: x: …": the shell could not start x, or not open it
}
