package trigger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agent-mcp/agent-mcp/core/trigger"
)

// DENY-01, SEC-INV-13: which files are obeyed by what, and which are ordinary ones.
func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		place trigger.Place
		want  trigger.Kind
	}{
		{trigger.Place{Path: "/w/r/.git/hooks/pre-commit", GitDir: true, Executable: true}, trigger.Git},
		{trigger.Place{Path: "/w/r/.git/hooks/pre-commit", GitDir: true}, ""},
		{trigger.Place{Path: "/w/r/.git/hooks/pre-commit.sample", GitDir: true, Executable: true}, ""},
		{trigger.Place{Path: "/w/r/.git/config", GitDir: true}, trigger.Git},
		{trigger.Place{Path: "/w/r/.git/HEAD", GitDir: true}, ""},
		{trigger.Place{Path: "/w/config"}, ""},
		{trigger.Place{Path: "/w/.gitmodules"}, trigger.Git},
		{trigger.Place{Path: "/w/.gitattributes"}, ""},
		{trigger.Place{Path: "/w/a/.envrc"}, trigger.Environment},
		{trigger.Place{Path: "/w/.mise/config.toml"}, trigger.Environment},
		{trigger.Place{Path: "/w/.vscode/Tasks.json"}, trigger.Editor},
		{trigger.Place{Path: "/w/tasks.json"}, ""},
		{trigger.Place{Path: "/w/.idea/runConfigurations/x.xml"}, trigger.Editor},
		{trigger.Place{Path: "/w/x.code-workspace"}, trigger.Editor},
		{trigger.Place{Path: "/w/.nvim.lua"}, trigger.Editor},
		{trigger.Place{Path: "/w/.dir-locals.el"}, trigger.Editor},
		{trigger.Place{Path: "/w/.gdbinit"}, trigger.Debugger},
		{trigger.Place{Path: "/w/.devcontainer/x/devcontainer.json"}, trigger.Container},
		{trigger.Place{Path: "/w/.husky/pre-push"}, trigger.Hooks},
		{trigger.Place{Path: "/w/.husky/.gitignore"}, ""},
		{trigger.Place{Path: "/w/lefthook.yml"}, trigger.Hooks},
		{trigger.Place{Path: "/w/.npmrc"}, trigger.Packages},
		{trigger.Place{Path: "/w/.cargo/config.toml"}, trigger.Build},
		{trigger.Place{Path: "/w/.bazelrc"}, trigger.Build},
		{trigger.Place{Path: "/w/sitecustomize.py", Top: true}, trigger.Python},
		{trigger.Place{Path: "/w/x.pth", Top: true}, trigger.Python},
		{trigger.Place{Path: "/w/venv/lib/x.pth"}, ""},
		{trigger.Place{Path: "/w/.github/workflows/ci.yml"}, trigger.Automation},
		{trigger.Place{Path: "/w/workflows/ci.yml"}, ""},
		{trigger.Place{Path: "/w/.gitlab-ci.yml"}, trigger.Automation},
		{trigger.Place{Path: "/w/app.desktop"}, trigger.Desktop},
		{trigger.Place{Path: "/w/Makefile"}, ""},
		{trigger.Place{Path: "/w/package.json"}, ""},
		{trigger.Place{Path: "/w/.python-version"}, ""},
		{trigger.Place{Path: "/w/node_modules/x/.envrc", Vendored: true}, ""},
		{trigger.Place{Path: "/w/node_modules/x/.git/config", Vendored: true, GitDir: true}, trigger.Git},
		{trigger.Place{Path: "/w/.claude/settings.json"}, trigger.Editor},
		{trigger.Place{Path: "/w/.vscode/c_cpp_properties.json"}, trigger.Editor},
		{trigger.Place{Path: "/w/.Rprofile"}, trigger.Environment},
		{trigger.Place{Path: "/w/.bashrc", Top: true}, trigger.Environment},
		{trigger.Place{Path: "/w/dotfiles/.bashrc"}, ""},
		{trigger.Place{Path: "/w/.ssh/authorized_keys"}, trigger.Environment},
		{trigger.Place{Path: "/w/.hg/hgrc"}, trigger.Git},
		{trigger.Place{Path: "/w/lefthook.toml"}, trigger.Hooks},
		{trigger.Place{Path: "/w/rust-toolchain.toml"}, trigger.Build},
		{trigger.Place{Path: "/w/src/Directory.Build.targets"}, trigger.Build},
		{trigger.Place{Path: "/w/sub/.git"}, trigger.Git},
		{trigger.Place{Path: "/w/node_modules/.git", Vendored: true, Link: true}, trigger.Git},
		{trigger.Place{Path: "/w/.vscode", Link: true}, trigger.Editor},
		{trigger.Place{Path: "/w/.github", Link: true}, trigger.Automation},
		{trigger.Place{Path: "/w/.vscode"}, ""},
		{trigger.Place{Path: "/w/docs", Link: true}, ""},
		{trigger.Place{Path: "/w/r/.git/hooks", GitDir: true, Link: true}, trigger.Git},
		{trigger.Place{Path: "/w/r/.git/commondir", GitDir: true}, trigger.Git},
		{trigger.Place{Path: ""}, ""},
	} {
		r, ok := trigger.Match(tt.place)
		assert.Equal(t, tt.want, r.Kind, tt.place.Path)
		assert.Equal(t, tt.want != "", ok, tt.place.Path)
		assert.Equal(t, ok, r.Why != "", tt.place.Path)
	}
}

// What a file holds decides where most of its kind are harmless.
func TestReads(t *testing.T) {
	const plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tfsmonitor = true\n[remote \"origin\"]\n\turl = https://x/y.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n[alias]\n\tco = checkout\n[user]\n\tname = a ] b\n"
	for _, tt := range []struct {
		name, content string
		git           bool
		want          []string
	}{
		{"config", plain, true, nil},
		{"config", plain + "[core]\n\thooksPath = ../h\n", true, []string{"core.hookspath"}},
		{"config", "[core] fsmonitor = ./x", true, []string{"core.fsmonitor"}},
		{"config", "[CORE]\nsshCommand=x\ngitProxy=y\neditor=e\npager=p\n", true, []string{"core.sshcommand", "core.gitproxy", "core.editor", "core.pager"}},
		{"config", "[filter \"a]b\"]\n\tclean = x\n\tprocess = y\n", true, []string{"filter.a]b.clean", "filter.a]b.process"}},
		{"config", "[diff.x]\ntextconv=y\n[merge \"m\"]\ndriver = d %A\n", true, []string{"diff.x.textconv", "merge.m.driver"}},
		{"config", "[alias]\n\tst = !sh -c x\n\tx = \"!y\"\n", true, []string{"alias.st", "alias.x"}},
		{"config", "[credential \"https://x\"]\n\thelper = !y\n[gpg]\n\tprogram = z\n[include]\n\tpath = ../c\n", true, []string{"credential.https://x.helper", "gpg.program", "include.path"}},
		{"config", "[submodule \"a\"]\n\tupdate = !x\n\turl = https://x\n[remote \"r\"]\n\turl = ext::sh\n\treceivepack = y\n", true, []string{"submodule.a.update", "remote.r.url", "remote.r.receivepack"}},
		{"config", "# [core]\n; fsmonitor = x\n[pager]\n\tlog = evil\n\tdiff = false\n", true, []string{"pager.log"}},
		// Ways to write a setting that Git reads and a reader of lines does not.
		{"config", "[x][core] fsmonitor = ./x", true, []string{"core.fsmonitor"}},
		{"config", "[x \"]\"][y][alias] st = !e", true, []string{"alias.st"}},
		{"config", "[alias]\n\tst = \\\n!e\n\tco = \\\r\n!f", true, []string{"alias.st", "alias.co"}},
		{"config", "[core] # a \\\n\tsshCommand = x", true, []string{"core.sshcommand"}},
		{"config", "[alias]\n\ta = \"\" !e\n\tb = \"\"\"\"!f\n", true, []string{"alias.a", "alias.b"}},
		{"config", "[remote \"o\"]\n\turl = e\"xt\"::sh\n[url \"e\\xt::sh \"]\n\tinsteadOf = https://\n[protocol \"e\\xt\"]\n\tallow = always\n", true, []string{"remote.o.url", "url.ext::sh .insteadof", "protocol.ext.allow"}},
		{"config", "[core]\n\tworktree = ../../../sub\n", true, nil},
		{"config", "[core]\n\tworktree = /home/me\n", true, []string{"core.worktree"}},
		{"config", "[lfs \"customtransfer.x\"]\n\tpath = ./x\n[annex]\n\tweb-download-command = y\n[imap]\n\ttunnel = z\n", true, []string{"lfs.customtransfer.x.path", "annex.web-download-command", "imap.tunnel"}},
		{".npmrc", "\"script\\u002dshell\" = ./x\n", false, []string{"script-shell"}},
		{".yarnrc.yml", "\"yarn\\x50ath\": x\n", false, []string{"yarnpath"}},
		{".yarnrc.yml", "? yarnPath\n: x\n? !!str plugins\n: []\n", false, []string{"yarnpath", "plugins"}},
		{".yarnrc.yml", "&a yarnPath: x\n", false, []string{"yarnpath"}},
		{".cargo/config.toml", "[env]\nLD_PRELOAD = \"./x.so\"\n", false, []string{"env"}},
		{"rust-toolchain.toml", "[toolchain]\nchannel = \"1.80\"\n", false, nil},
		{"rust-toolchain.toml", "[toolchain]\npath = \"./t\"\n", false, []string{"path"}},
		{"gradle.properties", "org.gradle.caching=true\norg.gradle.jvmargs=-javaagent:x.jar\n", false, []string{"jvmargs"}},
		{".gitmodules", "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n", false, nil},
		{".gitmodules", "[submodule \"a\"]\n\tupdate = !x\n\turl = -u\n", false, []string{"submodule.a.update", "submodule.a.url"}},
		{"commondir", "../..\n", true, nil},
		{"commondir", "/elsewhere\n", true, []string{"/elsewhere"}},
		{".npmrc", "save-exact=true\nfund=false\n# script-shell=x\n", false, nil},
		{".npmrc", "script-shell=./x\n@a:registry=https://x\n", false, []string{"script-shell", "registry"}},
		{".yarnrc.yml", "nodeLinker: node-modules\nyarnPath: .yarn/x.cjs\n", false, []string{"yarnpath"}},
		{"pip.conf", "[global]\ntimeout = 1\nextra-index-url = https://x\n", false, []string{"extra-index-url"}},
		{".cargo/config.toml", "[net]\noffline = true\n[target.x86_64-unknown-linux-gnu]\nrunner = \"x\"\n[build]\nrustc-wrapper = \"y\"\n", false, []string{"runner", "rustc-wrapper"}},
		{".cargo/config.toml", "build = { rustc-wrapper = \"y\" }\ntarget.x.linker = \"z\"\n", false, []string{"rustc-wrapper", "linker"}},
	} {
		r, ok := trigger.Match(trigger.Place{Path: "/w/" + tt.name, GitDir: tt.git})
		assert.True(t, ok, tt.name)
		assert.Equal(t, tt.want, r.Reads(tt.content), tt.content)
	}
}

func FuzzReads(f *testing.F) {
	f.Add("[a \"b\\")
	f.Add("[core]fsmonitor=x")
	f.Add("{@:,=}")
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range []trigger.Place{{Path: "/config", GitDir: true}, {Path: "/.gitmodules"}, {Path: "/.npmrc"}} {
			r, _ := trigger.Match(p)
			assert.LessOrEqual(t, len(r.Reads(s)), 8)
		}
		trigger.Match(trigger.Place{Path: s})
	})
}
