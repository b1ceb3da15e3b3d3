package windows

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// A Windows process gets one line and takes it apart itself. This file writes the line so that the C runtime's rules
// (CommandLineToArgvW) give back exactly the arguments. cmd.exe has rules of its own.

// maxCommandLine is what CreateProcess takes, in UTF-16 units with the NUL.
const maxCommandLine = 32767

// commandLine writes argv[0] and its arguments for a program at path. sandbox.CodeArgument names what no line can carry.
func commandLine(path, name string, args []string) (string, *fault.Error) {
	for i, a := range append([]string{name}, args...) {
		switch {
		case strings.ContainsRune(a, 0):
			return "", argument(i, "a NUL character")
		case !utf8.ValidString(a):
			return "", argument(i, "text that is not Unicode")
		}
	}
	if strings.ContainsRune(name, '"') {
		return "", argument(0, "a quotation mark")
	}
	var b strings.Builder
	b.WriteString(quoteName(name))
	if isCommandShell(path) {
		rest, f := commandShell(args)
		if f != nil {
			return "", f
		}
		b.WriteString(rest)
	} else {
		for _, a := range args {
			b.WriteByte(' ')
			quote(&b, a)
		}
	}
	if n := utf16Len(b.String()) + 1; n > maxCommandLine {
		return "", argument(len(args), "the command line has "+strconv.Itoa(n)+" characters, at most "+strconv.Itoa(maxCommandLine)+" are possible")
	}
	return b.String(), nil
}

func argument(index int, detail string) *fault.Error {
	return fault.New(sandbox.CodeArgument, "index", index, "detail", detail)
}

func utf16Len(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// quoteName writes argv[0]: no backslash escapes there, and a quotation mark cannot be written at all.
func quoteName(name string) string {
	if name == "" || strings.ContainsAny(name, " \t") {
		return `"` + name + `"`
	}
	return name
}

// quote writes one argument: backslashes count only before a quotation mark, where each is doubled.
func quote(b *strings.Builder, a string) {
	if a != "" && !strings.ContainsAny(a, " \t\n\v\"") {
		b.WriteString(a)
		return
	}
	b.WriteByte('"')
	slashes := 0
	for i := range len(a) {
		switch a[i] {
		case '\\':
			slashes++
			b.WriteByte('\\')
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes+1))
		}
		slashes = 0
		b.WriteByte(a[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
}

// isCommandShell tells cmd.exe by the resolved file name (PRC-06).
func isCommandShell(path string) bool { return strings.EqualFold(winpath.Base(path), "cmd.exe") }

// commandShell writes arguments for cmd.exe, which reads what follows /c or /k as text: one argument is a command of its
// language and stays as it is; of several each is one word, and nothing in it is read as anything else. /d keeps commands of
// the registry out, /s makes the outer quotation marks be the only ones that are taken off, /e:on /v:off fix the language.
func commandShell(args []string) (string, *fault.Error) {
	at := -1
	for i, a := range args {
		if len(a) >= 2 && a[0] == '/' && strings.ContainsRune("cCkK", rune(a[1])) {
			at = i
			break
		}
		if len(a) < 2 || a[0] != '/' {
			return "", argument(i+1, "cmd.exe takes switches, then /c and the command")
		}
	}
	var b strings.Builder
	b.WriteString(" /d /s /e:on /v:off")
	for _, a := range args[:max(at, 0)] {
		if strings.ContainsAny(a, " \t\"&|<>^%!()") {
			return "", argument(0, "a switch of cmd.exe with a special character")
		}
		b.WriteString(" " + a)
	}
	if at < 0 {
		for _, a := range args {
			b.WriteString(" " + a)
		}
		return b.String(), nil
	}
	words := args[at+1:]
	if glued := args[at][2:]; glued != "" {
		words = append([]string{glued}, words...)
	}
	b.WriteString(" " + args[at][:2] + ` "`)
	if len(words) == 1 {
		if strings.ContainsAny(words[0], "\r\n") {
			return "", argument(at+2, "a line end, at which cmd.exe stops reading")
		}
		b.WriteString(words[0])
	} else {
		for i, w := range words {
			if i > 0 {
				b.WriteByte(' ')
			}
			if f := shellWord(&b, w, at+2+i); f != nil {
				return "", f
			}
		}
	}
	b.WriteString(`"`)
	return b.String(), nil
}

// shellWord writes one word for cmd.exe. Between quotation marks only the percent sign is read, and %% followed by an empty
// substring of a variable that every shell has leaves one. A quotation mark itself cannot be written for all programs.
func shellWord(b *strings.Builder, w string, index int) *fault.Error {
	switch {
	case strings.ContainsAny(w, "\r\n"):
		return argument(index, "a line end, at which cmd.exe stops reading")
	case strings.ContainsRune(w, '"'):
		return argument(index, "a quotation mark; give the whole command as one argument after /c")
	}
	plain := w != "" && !strings.ContainsFunc(w, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`\/.:_-+=#$@~`, r) || r > 0x7f)
	})
	if plain {
		b.WriteString(w)
		return nil
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(w, "%", "%%cd:~,%"))
	if strings.HasSuffix(w, `\`) {
		b.WriteByte('\\') // for the program's own parser, which the closing mark would be escaped for
	}
	b.WriteByte('"')
	return nil
}
