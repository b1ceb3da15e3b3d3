package windows

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// split takes a line apart as the C runtime documents it ("Parsing C command-line arguments").
func split(line string) (out []string) {
	i := 0
	var b strings.Builder
	quoted := false
	for ; i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t'); i++ { // argv[0]: no escapes
		if line[i] == '"' {
			quoted = !quoted
		} else {
			b.WriteByte(line[i])
		}
	}
	out = append(out, b.String())
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i >= len(line) {
			return out
		}
		b.Reset()
		quoted = false
		for i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t') {
			slashes := 0
			for i < len(line) && line[i] == '\\' {
				slashes, i = slashes+1, i+1
			}
			switch {
			case i < len(line) && line[i] == '"':
				b.WriteString(strings.Repeat(`\`, slashes/2))
				switch {
				case slashes%2 == 1:
					b.WriteByte('"')
				case quoted && i+1 < len(line) && line[i+1] == '"':
					b.WriteByte('"')
					i++
				default:
					quoted = !quoted
				}
				i++
			default:
				b.WriteString(strings.Repeat(`\`, slashes))
				if i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t') {
					b.WriteByte(line[i])
					i++
				}
			}
		}
		out = append(out, b.String())
	}
}

// Whatever the arguments, a program gets exactly these.
func TestCommandLine_GivesBackTheArguments(t *testing.T) {
	args := []string{
		"", " ", "a b", `a"b`, `\`, `\\`, `a\`, `a\\ b\`, `\"`, `\\"`, `"`, `""`, `"a b"`, `C:\dir\`, `C:\a dir\`, "tab\there", "line\nend", "日本語 です", `a\"b c\\"d`, "--x=y z",
		"%PATH%", "&|<>^", "'single'", "*", "-", "//", `\\server\share\`, `a""b`, `"" ""`, `\ \`,
	}
	line, f := commandLine(`C:\py\python.exe`, `C:\my py\python.exe`, args)
	require.Nil(t, f)
	assert.Equal(t, append([]string{`C:\my py\python.exe`}, args...), split(line))
	for _, name := range []string{"", "x", `C:\a b\c.exe`, `C:\dir\`, "日本語"} {
		line, f := commandLine(`C:\x.exe`, name, []string{"a"})
		require.Nil(t, f)
		assert.Equal(t, []string{name, "a"}, split(line))
	}
}

func TestCommandLine_RefusesWhatNoLineCarries(t *testing.T) {
	for _, c := range []struct {
		path, name string
		args       []string
		index      int
	}{
		{"x.exe", `a"b`, nil, 0},
		{"x.exe", "a", []string{"ok", "a\x00b"}, 2},
		{"x.exe", "a", []string{"\xff"}, 1},
		{"x.exe", "a", []string{strings.Repeat("x", 20000), strings.Repeat("y", 20000)}, 2},
		{"x.exe", "a", []string{strings.Repeat("𝔘", 16400)}, 1},
		{`C:\Windows\System32\CMD.EXE`, "cmd", []string{"/c", "echo", "a\r"}, 3},
		{"cmd.exe", "cmd", []string{"/c", "a\nb"}, 2},
		{"cmd.exe", "cmd", []string{"/c", "echo", `say "hi"`}, 3},
		{"cmd.exe", "cmd", []string{"dir"}, 1},
		{"cmd.exe", "cmd", []string{`/t:"x`, "/c", "dir"}, 0},
	} {
		_, f := commandLine(c.path, c.name, c.args)
		require.NotNil(t, f, c.args)
		assert.Equal(t, sandbox.CodeArgument, f.Code)
		assert.Equal(t, c.index, f.Args["index"], c.args)
	}
}

// cmd.exe reads what follows /c as its own language: one argument is a command, several are words.
func TestCommandLine_CommandShell(t *testing.T) {
	const head = `cmd /d /s /e:on /v:off `
	for want, args := range map[string][]string{
		`/c "dir & ver"`:                    {"/c", "dir & ver"},
		`/C "dir & ver"`:                    {"/C", "dir & ver"},
		`/k "x"`:                            {"/k", "x"},
		`/c ""`:                             {"/c"},
		`/c "type "my file.txt" plain.txt"`: {"/c", "type", "my file.txt", "plain.txt"},
		`/c "echo "a&b" "<x>" "(y)" "^" "!z!" """`:      {"/c", "echo", "a&b", "<x>", "(y)", "^", "!z!", ""},
		`/c "echo "50%%cd:~,%" "%%cd:~,%PATH%%cd:~,%""`: {"/c", "echo", "50%", "%PATH%"},
		`/c "copy "C:\a b\\" D:\x\"`:                    {"/c", "copy", `C:\a b\`, `D:\x\`},
		`/u /c "dir"`:                                   {"/u", "/cdir"},
		`/c "echo 日本語"`:                                 {"/c", "echo", "日本語"},
		`/c "echo %USERNAME%"`:                          {"/c", "echo %USERNAME%"},
		`/c "say "hi""`:                                 {"/c", `say "hi"`},
		`/?`:                                            {"/?"},
	} {
		line, f := commandLine(`C:\Windows\System32\cmd.exe`, "cmd", args)
		require.Nil(t, f, args)
		assert.Equal(t, head+want, line)
	}
	line, f := commandLine(`C:\tools\notcmd.exe`, "x", []string{"/c", "a b"})
	require.Nil(t, f)
	assert.Equal(t, `x /c "a b"`, line)
}

func FuzzCommandLine(f *testing.F) {
	f.Add("a b", `c\"d`, "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		line, bad := commandLine(`C:\x.exe`, "x", []string{a, b, c})
		if bad == nil {
			assert.Equal(t, []string{"x", a, b, c}, split(line))
		}
	})
}

// SEC-INV-08: nothing of the host's, every place for a user's files in the run's own directory, one value for a name.
func TestEnvironment(t *testing.T) {
	out := environment([]string{"path=C:\\mine", "LANG=ja_JP.UTF-8", "Zed=1", "TERM=dumb"}, testHost(), `C:\t`)
	values := map[string]string{}
	for i, kv := range out {
		name, value, ok := strings.Cut(kv, "=")
		require.True(t, ok)
		_, double := values[strings.ToUpper(name)]
		assert.False(t, double, name)
		values[strings.ToUpper(name)] = value
		if i > 0 {
			before, _, _ := strings.Cut(out[i-1], "=")
			assert.Less(t, strings.ToUpper(before), strings.ToUpper(name), "the system wants it sorted without case")
		}
	}
	assert.Equal(t, `C:\mine`, values["PATH"], "the Spec's own wins")
	for _, name := range []string{"TEMP", "TMP", "TMPDIR", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "ALLUSERSPROFILE"} {
		assert.Equal(t, `C:\t`, values[name], name)
	}
	assert.Equal(t, `C:\Windows`, values["SYSTEMROOT"])
	assert.Equal(t, `C:\Windows\System32\cmd.exe`, values["COMSPEC"])
	for _, secret := range []string{"USERNAME", "COMPUTERNAME", "USERDOMAIN", "LOGONSERVER", "SESSIONNAME"} {
		assert.NotContains(t, values, secret)
	}
}
