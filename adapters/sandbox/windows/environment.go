package windows

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/adapters/internal/winpath"
)

// environment is the whole environment of a program (SEC-INV-08): env, and what Windows programs do not start without, which
// env may override. Every place for a user's files leads into tmp. The result is sorted as the system sorts it, one entry
// per name.
func environment(env []string, h host, tmp string) []string {
	system := winpath.Join(h.SystemRoot, "System32")
	base := []string{
		"ALLUSERSPROFILE=" + tmp, "APPDATA=" + tmp, "ComSpec=" + winpath.Join(system, "cmd.exe"), "HOME=" + tmp, "HOMEDRIVE=" + tmp[:2], "HOMEPATH=" + tmp[2:],
		"LANG=C.UTF-8",
		"LOCALAPPDATA=" + tmp, "NUMBER_OF_PROCESSORS=" + h.Processors, "OS=Windows_NT", "PATHEXT=.COM;.EXE;.BAT;.CMD",
		"PATH=" + strings.Join([]string{system, h.SystemRoot, winpath.Join(system, "Wbem"), winpath.Join(system, `WindowsPowerShell\v1.0`)}, ";"),
		"POWERSHELL_TELEMETRY_OPTOUT=1", "POWERSHELL_UPDATECHECK=Off", "PROCESSOR_ARCHITECTURE=AMD64", "ProgramData=" + tmp,
		"SystemDrive=" + h.SystemRoot[:2], "SystemRoot=" + h.SystemRoot, "TEMP=" + tmp, "TMP=" + tmp, "TMPDIR=" + tmp, "USERPROFILE=" + tmp,
		"windir=" + h.SystemRoot,
	}
	values := map[string]string{}
	for _, kv := range append(base, env...) {
		name, _, _ := strings.Cut(kv, "=")
		values[winpath.Fold(name)] = kv
	}
	out := make([]string, 0, len(values))
	for _, kv := range values {
		out = append(out, kv)
	}
	slices.SortFunc(out, func(a, b string) int {
		x, _, _ := strings.Cut(a, "=")
		y, _, _ := strings.Cut(b, "=")
		return strings.Compare(winpath.Fold(x), winpath.Fold(y))
	})
	return out
}
