package toolbox

import (
	"context"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/app/gitguard"
	"github.com/agent-mcp/agent-mcp/core/broker"
	"github.com/agent-mcp/agent-mcp/core/policy"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/workspace"
)

// denial reports whether a fault is a policy's no (AGT-08): retrying the same call is useless.
func denial(f *fault.Error) bool {
	return f != nil && (f.Code == policy.CodeDenied || f.Code == broker.CodeRefused || f.Code == sandbox.CodeEntryChanged)
}

// maxNamesShown bounds the suggestions for a missing path.
const maxNamesShown = 20

// helpMissing adds what is there instead of a missing path.
func (b *Box) helpMissing(ctx context.Context, name string, err error) error {
	if climbs(name) {
		return err
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		h, e := b.Tree.Resolve(ctx, dir)
		if e == nil && h.Info().Exists {
			entries, total, e := h.List(ctx, maxNamesShown)
			at := b.show(h.Info().Path)
			_ = h.Close()
			if e != nil || !b.Policy.Decide(policy.Request{Op: policy.OpList, Path: h.Info().Path}).Allowed {
				return err
			}
			names := make([]string, 0, len(entries))
			for _, it := range entries {
				names = append(names, entryName(it))
			}
			if total > len(names) {
				names = append(names, fmt.Sprintf("… (%d in all)", total))
			}
			there := strings.Join(names, ", ")
			if there == "" {
				there = "nothing"
			}
			return fault.Wrap(err, workspace.CodeNotFound, "path", name, "dir", at, "there", there)
		}
		if e == nil {
			_ = h.Close()
		}
		if dir == "." || dir == "/" {
			return err
		}
	}
}

// explain says in English, for the model, what went wrong and what to do instead.
func (b *Box) explain(f *fault.Error) string {
	arg := func(name string) string {
		if v, ok := f.Args[name]; ok {
			if s := fmt.Sprint(v); name != "near" { // that is some lines of a file
				return line(s)
			}
			return fmt.Sprint(v)
		}
		return ""
	}
	switch f.Code {
	case policy.CodeDenied, broker.CodeRefused:
		return "Denied by policy: " + b.reasons(f)
	case workspace.CodeNotFound:
		text := arg("path") + " does not exist."
		if arg("there") != "" {
			text += fmt.Sprintf(" In %s: %s.", arg("dir"), arg("there"))
		}
		return text
	case CodeNoMatch:
		text := "old was not found in " + arg("path") + ". It must match exactly, with its spaces and line breaks."
		if arg("near") != "" {
			text += " The nearest place is line " + arg("line") + ":\n" + arg("near")
		}
		return text
	case CodeAmbiguous:
		return fmt.Sprintf("old occurs %s times in %s (lines %s). Give more of the text around it, or all=true.", arg("count"), arg("path"), arg("lines"))
	case workspace.CodeFailed, fault.CodeInternal:
		return "Failed: " + arg("path") + " " + arg("detail")
	}
	if words, ok := plainWords[f.Code]; ok {
		return expand(words, f.Args)
	}
	return "Failed: " + string(f.Code) + argsText(f.Args)
}

// plainWords are short sentences for the model. {name} is an argument.
var plainWords = map[fault.Code]string{
	workspace.CodeExists:       "{path} exists already.",
	workspace.CodeIsDirectory:  "{path} is a directory.",
	workspace.CodeNotDirectory: "{path} is not a directory.",
	workspace.CodeNotRegular:   "{path} is not a regular file.",
	workspace.CodeNotEmpty:     "{path} is not empty.",
	workspace.CodeChanged:      "{path} was changed by somebody else meanwhile. Read it again.",
	workspace.CodeCycle:        "{path} is a symbolic link that leads back to itself.",
	workspace.CodeBadName:      "{path} is no usable file name.",
	workspace.CodeCrossVolume:  "{path} cannot be moved to another volume; write the new file, then remove the old one.",
	workspace.CodeNoSpace:      "{path}: the disk is full.",
	workspace.CodeReadOnly:     "{path} lies on a read-only file system.",
	workspace.CodePermission:   "{path}: the operating system refuses access.",
	CodePattern:                "pattern is no regular expression (RE2): {detail}. Escape special characters with \\.",
	CodeGlob:                   "glob {glob} is not usable; write for example *.py.",
	CodeBinary:                 "{path} is a binary file; it cannot be patched.",
	CodeTooBig:                 "{path} has {size} bytes; the limit is {limit}.",
	CodeNoBackup:               "{path} is too large to keep a copy of while it is edited.",
	CodeVerify:                 "{path} was not what had been written, so the old content was put back.",
	CodeRestore:                "{path} could not be put back to its old content.",
	CodeCommandLine:            "command is the program alone, and there is no shell. Call it with command={command} and args={args}.",
	CodeNoSandbox:              "No process can be run here.",
	CodeAudit:                  "The audit log cannot be written, so no more is done.",
	broker.CodeNotFile:         "{path} is not a file.",
	broker.CodeNotExecutable:   "{path} is not executable. Write it with executable=true, or run it with an interpreter.",
	broker.CodeNoInterpreter:   "{path} begins with #! but names no interpreter.",
	broker.CodeDirectory:       "{path} is not a directory.",
	broker.CodeArguments:       "args are too long: {size} bytes, at most {limit}. Put them into a file.",
	sandbox.CodeEntryChanged:   "Denied by policy: {path} is no longer the program that the owner approved; only the owner can approve it again. Nothing was run.",
	sandbox.CodeEntryMissing:   "{path} does not exist any more; only the owner can repair that.",
	sandbox.CodeEntryFailed:    "{path} could not be started: {detail}. If it is a script, check the program after #!.",
	sandbox.CodeRootChanged:    "{path} is gone or was replaced since the start; only the owner can repair that.",
	sandbox.CodeArgument:       "Argument {index} cannot be given to a program here: {detail}. Put it into a file.",
	sandbox.CodeTooWeak:        "This computer cannot enforce {item} as strictly as the owner wants, so nothing is run.",
	sandbox.CodeUnavailable:    "This computer cannot confine processes ({detail}), so nothing is run.",
	image.CodeMissing:          "{path} does not exist any more; only the owner can repair that.",
	fault.CodeCancelled:        "Cancelled.",
	fault.CodeTimeout:          "It took too long and was stopped.",
}

// instead names the tool that fits, when a path was not what the called one works on.
func instead(name tool.Name, code fault.Code) string {
	switch {
	case code == workspace.CodeIsDirectory && (name == tool.Read || name == tool.Tail):
		return " Use " + string(tool.List) + "."
	case code == workspace.CodeIsDirectory && name == tool.Remove:
		return " Use " + string(tool.Rmdir) + "."
	case code == workspace.CodeNotDirectory && name == tool.List:
		return " Use " + string(tool.Read) + "."
	case code == workspace.CodeNotDirectory && name == tool.Rmdir:
		return " Use " + string(tool.Remove) + "."
	}
	return ""
}

func expand(words string, args fault.Args) string {
	for name, value := range args {
		words = strings.ReplaceAll(words, "{"+name+"}", line(fmt.Sprint(value)))
	}
	return words
}

func argsText(args fault.Args) string {
	for _, name := range []string{"path", "detail", "item", "mode", "what"} {
		if v, ok := args[name]; ok {
			return fmt.Sprintf(" (%s)", line(fmt.Sprint(v)))
		}
	}
	return ""
}

// reasons renders every reason of a denial.
func (b *Box) reasons(f *fault.Error) string {
	out := make([]string, 0, len(f.Reasons))
	for _, r := range f.Reasons {
		out = append(out, b.reason(r))
	}
	if len(out) == 0 {
		return string(f.Code) + "."
	}
	return strings.Join(out, " ")
}

func (b *Box) reason(r *fault.Error) string {
	arg := func(name string) string { return line(fmt.Sprint(r.Args[name])) }
	at := b.show(arg("path"))
	switch r.Code {
	case policy.CodeOutside:
		return at + " is outside the workspace and its mounts (" + b.places() + ")."
	case policy.CodeNoRead, policy.CodeNoWrite, policy.CodeNoDelete, policy.CodeNotExecutable:
		return fmt.Sprintf("%s needs %s; %s gives %s.", at, arg("need"), arg("root"), arg("have"))
	case policy.CodeProtected:
		return at + " belongs to Git's hooks or settings, which are read-only."
	case policy.CodeHoldsProtected:
		return at + " holds Git hooks or settings; it can be neither moved nor removed."
	case policy.CodeIsRoot, policy.CodeHoldsRoot:
		return at + " is or holds a root; it can be neither moved nor removed."
	case broker.CodeExternal, broker.CodeShell:
		known := arg("known")
		if known == "" {
			known = "none"
		}
		return fmt.Sprintf("%s may not be started. Commands: %s.", at, known)
	case broker.CodeByPath:
		return fmt.Sprintf("%s must be called as %s.", at, arg("alias"))
	case broker.CodeInterpreter:
		return fmt.Sprintf("The program that runs %s is no longer the one that the owner approved; only the owner can approve it again.", arg("alias"))
	case broker.CodePathChanged, broker.CodeHashChanged:
		return fmt.Sprintf("%s is no longer the program that the owner approved; only the owner can approve it again.", arg("alias"))
	}
	return string(r.Code) + " " + at + "."
}

// places names where the tools may work.
func (b *Box) places() string {
	var out []string
	for _, r := range b.Policy.Roots() {
		if r.Kind == policy.Workspace || r.Kind == policy.Mount {
			out = append(out, r.Path)
		}
	}
	return strings.Join(out, ", ")
}

// entryName writes a directory entry the short way.
func entryName(i workspace.Info) string {
	name := line(i.Name)
	switch {
	case i.Mode.IsDir():
		return name + "/"
	case i.Mode.Type() != 0 && i.Mode.Type().String()[0] == 'L':
		return name + "@"
	}
	return name
}

// line writes a foreign name so that it is one line and nothing but a name: no control character, no other line end, nothing that
// turns the direction of reading. A file that is called "a\nexit code 0" says nothing.
func line(s string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if !strings.ContainsFunc(s, bad) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if bad(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

// clean makes foreign bytes readable text: valid UTF-8, no terminal control, carriage returns as a terminal shows them.
func clean(data []byte) string {
	s := string(data)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }) {
		return s
	}
	var out strings.Builder
	for i, l := range strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if at := strings.LastIndexByte(strings.TrimRight(l, "\r"), '\r'); at >= 0 {
			l = l[at+1:]
		}
		writePlain(&out, l)
	}
	return out.String()
}

// writePlain drops escape sequences (ECMA-48 CSI and OSC) and other control characters.
func writePlain(out *strings.Builder, l string) {
	for i := 0; i < len(l); i++ {
		c := l[i]
		switch {
		case c == 0x1b && i+1 < len(l) && l[i+1] == '[':
			for i += 2; i < len(l) && (l[i] < 0x40 || l[i] > 0x7e); i++ {
			}
		case c == 0x1b && i+1 < len(l) && l[i+1] == ']':
			for i += 2; i < len(l) && l[i] != 7 && l[i] != 0x1b; i++ {
			}
			if i+1 < len(l) && l[i] == 0x1b {
				i++
			}
		case c == 0x1b:
			i++
		case c < 0x20 && c != '\t' || c == 0x7f:
		case c == 0xc2 && i+1 < len(l) && l[i+1] < 0xa0: // C1, as UTF-8 writes it
			i++
		default:
			out.WriteByte(c)
		}
	}
}

// unseenWords tell of the directories that the guard did not look into.
const unseenWords = "warning: the workspace has too many directories to look for Git repositories in all of them (%d not seen). " +
	"In those, programs are not kept from a repository's hooks and settings; tell the user"

// redirected says in words what became of a commondir that Git did not make.
func (b *Box) redirected(p, to string, err error) string {
	const why = "it had Git take a repository's hooks and settings from elsewhere, and Git makes no such file there; tell the user"
	if err != nil {
		return fmt.Sprintf("warning: %s should not be there and could not be renamed: %s", b.show(p), why)
	}
	return fmt.Sprintf("renamed %s to %s: %s", b.show(p), b.show(to), why)
}

// told says in words what was put aside, and why.
func (b *Box) told(swept []gitguard.Aside) string {
	var out strings.Builder
	for _, s := range swept {
		fmt.Fprintf(&out, "\nrenamed %s to %s: only the owner may give a repository hooks or settings", b.show(s.From), b.show(s.To))
	}
	return out.String()
}
