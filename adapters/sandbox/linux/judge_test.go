package linux

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// plain is a host that gives level 2; each case spoils it.
func plain() facts {
	return facts{Arch: "amd64", Table: true, Kernel: "6.8.0-45-generic", Version: "#45-Ubuntu SMP", ABI: 7, Seccomp: true}
}

// noNamespaces is what the trial of a helper says where namespaces are refused.
func noNamespaces(f *facts) { f.Full = trial{Step: "clone", With: "clone: operation not permitted"} }

// OBS-01: the level of many hosts, every cause that keeps them from a higher one, and the remedy where it depends on the host.
func TestJudge_Hosts(t *testing.T) {
	type codes = []fault.Code
	full := codes{sandbox.CodeNoCgroup}
	for name, c := range map[string]struct {
		host   func(*facts)
		level  sandbox.Level
		want   codes
		remedy string // found in the arguments of some cause
	}{
		"plain":           {func(*facts) {}, sandbox.L2, full, ""},
		"ABI 3":           {func(f *facts) { f.ABI, f.Kernel = 3, "6.2.0" }, sandbox.L2, full, ""},
		"ABI 4":           {func(f *facts) { f.ABI, f.Kernel = 4, "6.7.0" }, sandbox.L2, full, ""},
		"ABI 5":           {func(f *facts) { f.ABI, f.Kernel = 5, "6.10.0" }, sandbox.L2, full, ""},
		"ABI 6":           {func(f *facts) { f.ABI, f.Kernel = 6, "6.12.0" }, sandbox.L2, full, ""},
		"ABI 2":           {func(f *facts) { f.ABI, f.Kernel = 2, "5.19.0" }, sandbox.LevelNone, codes{sandbox.CodeNoLandlock}, ""},
		"ABI 1":           {func(f *facts) { f.ABI, f.Kernel = 1, "5.15.0-91-generic" }, sandbox.LevelNone, codes{sandbox.CodeNoLandlock}, ""},
		"before Landlock": {func(f *facts) { f.ABI, f.Kernel = 0, "5.10.0-28-amd64" }, sandbox.LevelNone, codes{sandbox.CodeNoLandlock}, "5.10.0-28-amd64"},
		"no Landlock in lsm=": {
			func(f *facts) { f.ABI, f.LandlockOff = 0, true }, sandbox.LevelNone,
			codes{sandbox.CodeLandlockOff},
			"",
		},
		"Landlock not built, or hidden by a filter": {func(f *facts) { f.ABI = 0 }, sandbox.LevelNone, codes{sandbox.CodeLandlockHidden}, ""},
		"WSL 1": {
			func(f *facts) { f.ABI, f.Kernel, f.Seccomp = 0, "4.4.0-19041-Microsoft", false }, sandbox.LevelNone,
			codes{sandbox.CodeEmulated},
			"wsl --set-version",
		},
		"WSL 2": {func(f *facts) { f.ABI, f.Kernel = 3, "6.6.87.2-microsoft-standard-WSL2" }, sandbox.L2, full, ""},
		"gVisor": {
			func(f *facts) { f.ABI, f.Kernel, f.Version = 0, "4.4.0", "#1 SMP Sun Jan 10 15:06:54 PST 2016" }, sandbox.LevelNone,
			codes{sandbox.CodeEmulated},
			"--runtime=runc",
		},
		"no seccomp":           {func(f *facts) { f.Seccomp = false }, sandbox.LevelNone, codes{sandbox.CodeNoSeccomp}, ""},
		"unknown architecture": {func(f *facts) { f.Arch, f.Table = "riscv64", false }, sandbox.LevelNone, codes{sandbox.CodeArchitecture}, "riscv64"},
		"everything is missing": {
			func(f *facts) { f.ABI, f.Kernel, f.Seccomp, f.Table = 0, "4.18.0", false, false }, sandbox.LevelNone,
			codes{sandbox.CodeArchitecture, sandbox.CodeNoLandlock, sandbox.CodeNoSeccomp},
			"",
		},
		"sysctl off": {func(f *facts) {
			noNamespaces(f)
			f.Full.With, f.MaxUserNS = "clone: no space left on device", "0"
		}, sandbox.L1, codes{sandbox.CodeUserNSSwitch}, "user.max_user_namespaces"},
		"sysctl off, root": {func(f *facts) {
			noNamespaces(f)
			f.MaxUserNS, f.Root = "0", true
		}, sandbox.L1, codes{sandbox.CodeUserNSSwitch}, "user.max_user_namespaces"},
		"sysctl off, ABI 5": {func(f *facts) {
			noNamespaces(f)
			f.MaxUserNS, f.ABI = "0", 5
		}, sandbox.LevelNone, codes{sandbox.CodeUserNSSwitch, sandbox.CodeOldLandlock}, "user.max_user_namespaces"},
		"nested, none left": {func(f *facts) {
			noNamespaces(f)
			f.MaxUserNS, f.Nested = "0", true
		}, sandbox.L1, codes{sandbox.CodeNestedUserNS}, ""},
		"Debian's switch": {func(f *facts) {
			noNamespaces(f)
			f.MaxUserNS, f.UnprivUserNS = "15000", "0"
		}, sandbox.L1, codes{sandbox.CodeUserNSSwitch}, "kernel.unprivileged_userns_clone"},
		"built without": {
			func(f *facts) { f.Full = trial{Step: "clone", With: "clone: invalid argument"} }, sandbox.L1,
			codes{sandbox.CodeUserNSKernel},
			"",
		},
		"Ubuntu's restriction, at clone": {func(f *facts) {
			noNamespaces(f)
			f.AppArmorUserNS = "1"
		}, sandbox.L1, codes{sandbox.CodeAppArmorUserNS}, ""},
		"Ubuntu's restriction, at the first mount": {func(f *facts) {
			f.Full, f.AppArmorUserNS = trial{Step: "mount tmpfs", With: "permission denied"}, "1"
		}, sandbox.L1, codes{sandbox.CodeAppArmorUserNS}, ""},
		"Docker": {func(f *facts) {
			noNamespaces(f)
			f.Container, f.Masked, f.Root, f.Profile = "docker", true, true, "docker-default"
		}, sandbox.L1, codes{sandbox.CodeContainer, sandbox.CodeMaskedProc}, "--security-opt systempaths=unconfined"},
		"Docker, old kernel": {func(f *facts) {
			noNamespaces(f)
			f.Container, f.Masked, f.Root, f.ABI = "docker", true, true, 3
		}, sandbox.LevelNone, codes{sandbox.CodeContainer, sandbox.CodeMaskedProc, sandbox.CodeOldLandlock}, "--security-opt seccomp=unconfined"},
		"Docker, seccomp=unconfined": {func(f *facts) {
			f.Container, f.Masked, f.Root = "docker", true, true
			f.Full = trial{Step: "mount proc", With: "operation not permitted"}
		}, sandbox.L1, codes{sandbox.CodeMaskedProc}, "--security-opt systempaths=unconfined"},
		"Docker, seccomp=unconfined, AppArmor": {func(f *facts) {
			f.Container, f.Masked, f.Root, f.Profile = "docker", true, true, "docker-default"
			f.Full = trial{Step: "mount tmpfs", With: "permission denied"}
		}, sandbox.L1, codes{sandbox.CodeAppArmorProfile, sandbox.CodeMaskedProc}, "--security-opt apparmor=unconfined"},
		"Docker, systempaths=unconfined": {func(f *facts) {
			noNamespaces(f)
			f.Container, f.Root = "docker", true
		}, sandbox.L1, codes{sandbox.CodeContainer}, "--security-opt seccomp=unconfined"},
		"Docker, both": {func(f *facts) { f.Container, f.Root = "docker", true }, sandbox.L2, full, ""},
		"Podman, rootless": {func(f *facts) {
			f.Container, f.Masked, f.Nested = "podman", true, true
			f.Full = trial{Step: "mount proc", With: "operation not permitted"}
		}, sandbox.L1, codes{sandbox.CodeMaskedProc}, "unmask=ALL"},
		"Kubernetes": {func(f *facts) {
			noNamespaces(f)
			f.Container, f.Masked = "kubernetes", true
		}, sandbox.L1, codes{sandbox.CodeContainer, sandbox.CodeMaskedProc}, "procMount"},
		"a runtime that listens itself": {func(f *facts) {
			f.Full = trial{Step: "seccomp", With: "seccomp: device or resource busy"}
			f.Shared = f.Full
		}, sandbox.LevelNone, codes{sandbox.CodeSeccompBusy}, ""},
		"no cause that shows": {noNamespaces, sandbox.L1, codes{sandbox.CodeNoUserNS}, ""},
		"nothing works": {func(f *facts) {
			noNamespaces(f)
			f.Shared = trial{Step: "open proc", With: "no such file or directory"}
		}, sandbox.LevelNone, codes{sandbox.CodeNoUserNS, sandbox.CodeUnavailable}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := plain()
			c.host(&f)
			level, missing := judge(f)
			assert.Equal(t, c.level, level)
			var got codes
			var args []string
			for _, m := range missing {
				got = append(got, m.Code)
				for _, a := range m.Args {
					if s, ok := a.(string); ok {
						args = append(args, s)
					}
				}
			}
			assert.Equal(t, c.want, got)
			assert.Contains(t, strings.Join(args, "\n"), c.remedy)

			report := sandbox.Report{Level: level, Abilities: abilities(level), Missing: missing}
			refused := strongEnough(report, sandbox.StrengthNone)
			if level > sandbox.LevelNone {
				assert.Nil(t, refused)
				return
			}
			require.NotNil(t, refused)
			assert.Equal(t, sandbox.CodeUnavailable, refused.Code)
			assert.Equal(t, c.want[0], refused.Reasons[0].Code)
			for _, a := range report.Abilities {
				assert.Equal(t, sandbox.StrengthNone, a.Strength)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	for want, c := range map[string]struct{ file, env string }{
		"": {}, "docker": {file: "/.dockerenv"}, "podman": {file: "/run/.containerenv"}, "kubernetes": {env: "KUBERNETES_SERVICE_HOST"},
		"lxc": {file: "/dev/lxd/sock"}, "container": {env: "container"},
	} {
		got := container(func(p string) bool { return p == c.file }, func(n string) string {
			if n == c.env {
				return "x"
			}
			return ""
		})
		assert.Equal(t, want, got)
	}
	assert.Equal(t, "docker-default", apparmorProfile("docker-default (enforce)\n"))
	for _, text := range []string{"unconfined\n", "", "x (complain)"} {
		assert.Empty(t, apparmorProfile(text))
	}
}

func TestNewer(t *testing.T) {
	for release, want := range map[string]bool{"6.2.0": true, "6.12": true, "7.0-rc1": true, "6.1.99": false, "5.15.0-91": false, "": false, "x": false, "6.2-rc1": true} {
		assert.Equal(t, want, newer(release, 6, 2), release)
	}
}
