package trigger

import "strings"

// table lists patterns of trailing path components in lower case; the last may begin with "*".
var table = []struct {
	rule     Rule
	patterns string
}{
	{Rule{Kind: Git, Why: "Git runs the command of a submodule's update", Reads: submodules}, ".gitmodules"},
	{Rule{Kind: Environment, Why: "direnv runs it when a shell enters the directory"}, ".envrc"},
	{Rule{Kind: Environment, Why: "the version manager runs its hooks, tasks and plugins when a shell enters the directory"}, ".mise.toml mise.toml .mise.local.toml mise.local.toml .mise/config.toml .mise/config.local.toml mise/config.toml .config/mise.toml .config/mise/config.toml .tool-versions .rtx.toml .sdkmanrc"},
	{Rule{Kind: Environment, Why: "a shell that looks for it runs it when it enters the directory"}, ".autoenv .env.zsh .localrc"},
	{Rule{Kind: Editor, Why: "VS Code runs its tasks and takes programs from its settings"}, ".vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/mcp.json .vscode/c_cpp_properties.json *.code-workspace"},
	{Rule{Kind: Editor, Why: "an editor or an assistant starts the servers and commands that it names"}, ".cursor/mcp.json .mcp.json .zed/settings.json .zed/tasks.json .fleet/run.json .fleet/settings.json .helix/config.toml .helix/languages.toml .vim/coc-settings.json .nvim/coc-settings.json .lapce/settings.toml .lapce/run.toml .vs/tasks.vs.json .vs/launch.vs.json .externaltoolbuilders/*.launch"},
	{Rule{Kind: Editor, Why: "an assistant runs its hooks and starts the servers and commands that it names"}, ".claude/settings.json .claude/settings.local.json .gemini/settings.json .codex/config.toml .cursor/hooks.json .cursor/cli.json .windsurf/hooks.json .windsurf/mcp_config.json .kiro/settings/mcp.json .kiro/hooks/* .roo/mcp.json .amazonq/mcp.json .continue/config.yaml .continue/config.json .opencode/opencode.json opencode.json .qwen/settings.json .junie/mcp/mcp.json"},
	{Rule{Kind: Editor, Why: "an IDE starts these run configurations and external tools"}, ".idea/runconfigurations/*.xml .idea/workspace.xml .idea/watchertasks.xml .idea/tools/*.xml .run/*.xml .idea/externaldependencies.xml"},
	{Rule{Kind: Editor, Why: "the editor runs it when it starts in the directory"}, ".exrc .vimrc .nvimrc .nvim.lua .nvim.vim .lvimrc .gvimrc _vimrc _exrc .kakrc .nanorc .lite_project.lua"},
	{Rule{Kind: Editor, Why: "Emacs evaluates it when a file of the directory is opened"}, ".dir-locals.el .dir-locals-2.el .projectile"},
	{Rule{Kind: Environment, Why: "the language's own shell or interpreter runs it when it starts in the directory"}, ".irbrc .pryrc .rprofile .ghci .ocamlinit .iex.exs .erlang"},
	{Rule{Kind: Environment, Why: "a shell or a session of yours runs it when this is your home directory", top: true}, ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .xprofile .xsession .xsessionrc .xinitrc .inputrc .gitconfig .hgrc"},
	{Rule{Kind: Environment, Why: "a shell, a session or a program of yours runs what it names when this is below your home directory"}, ".ssh/config .ssh/rc .ssh/authorized_keys .config/git/config .config/fish/config.fish .config/systemd/user/*.service .config/systemd/user/*.timer .config/environment.d/*.conf"},
	{Rule{Kind: Debugger, Why: "the debugger runs it when it starts in the directory"}, ".gdbinit .lldbinit .gdbearlyinit"},
	{Rule{Kind: Container, Why: "an editor builds and starts it, with its commands, when it opens the directory"}, ".devcontainer/devcontainer.json .devcontainer/*/devcontainer.json .devcontainer.json .devcontainer/*.sh .devcontainer/dockerfile .gitpod.yml"},
	{Rule{Kind: Hooks, Why: "Git runs it through husky"}, ".husky/* .husky/_/*"},
	{Rule{Kind: Hooks, Why: "Git runs its commands through a hook manager"}, ".pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook.toml .lefthook.toml lefthook.json .lefthook.json lefthook-local.yml lefthook-local.yaml .lefthook-local.yml lefthook-local.toml prek.toml .overcommit.yml .huskyrc .huskyrc.js .huskyrc.json .lintstagedrc .lintstagedrc.js .lintstagedrc.json lint-staged.config.js simple-git-hooks.json .simple-git-hooks.json"},
	{Rule{Kind: Git, Why: "the version control runs the hooks, aliases and programs that it names"}, ".hg/hgrc .hg/hgrc-not-shared .sl/config .jj/repo/config.toml .bzr/branch/branch.conf"},
	{Rule{Kind: Packages, Why: "npm takes programs, or where packages come from, from it", Reads: keys(
		"script-shell", "node-options", "shell", "git", "editor", "viewer", "browser", "init-module", "onload-script", "registry", "ignore-scripts", "globalconfig", "userconfig", "prefix",
	)}, ".npmrc .pnpmrc"},
	{Rule{Kind: Packages, Why: "Yarn runs the program, the plugins, or takes packages from where it names", Reads: keys(
		"yarnpath", "plugins", "npmregistryserver", "npmscopes", "yarn-path", "registry", "injectenvironmentfiles", "enablescripts",
	)}, ".yarnrc.yml .yarnrc"},
	{Rule{Kind: Packages, Why: "pip takes packages from where it names", Reads: keys(
		"index-url", "extra-index-url", "find-links", "index", "trusted-host", "python",
	)}, "pip.conf pip.ini"},
	{Rule{Kind: Packages, Why: "the package manager runs it"}, ".pnpmfile.cjs pnpmfile.js .pnpmfile.mjs .bundle/config .gemrc"},
	{Rule{Kind: Build, Why: "Cargo runs the programs that it names instead of, or around, the compiler, and gives them its environment", Reads: keys(
		"runner", "rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc", "linker", "ar", "credential-provider", "credential-process", "global-credential-providers", "replace-with", "rustflags", "build-rustflags", "include", "env",
	)}, ".cargo/config.toml .cargo/config"},
	{Rule{Kind: Build, Why: "rustup takes the compiler from where it names", Reads: keys("path")}, "rust-toolchain.toml rust-toolchain"},
	{Rule{Kind: Build, Why: "Gradle starts Java from where it names, and with what it names", Reads: keys("jvmargs", "home", "init-script")}, "gradle.properties"},
	{Rule{Kind: Build, Why: "the build tool takes options of Java, and with them programs, from it"}, ".jvmopts .sbtopts"},
	{Rule{Kind: Build, Why: "MSBuild takes targets from it when an editor opens a project below"}, "directory.build.props directory.build.targets directory.build.rsp"},
	{Rule{Kind: Build, Why: "Buck takes commands from it"}, ".buckconfig .buckconfig.local"},
	{Rule{Kind: Build, Why: "Bun runs what it preloads", Reads: keys("preload", "registry")}, "bunfig.toml .bunfig.toml"},
	{Rule{Kind: Python, Why: "pylint runs it whenever it starts there, also for an editor", Reads: keys("init-hook", "load-plugins")}, ".pylintrc pylintrc .pylintrc.toml pylintrc.toml"},
	{Rule{Kind: Build, Why: "Bazel takes options, and with them programs, from it"}, ".bazelrc .bazeliskrc tools/bazel .bazelversion"},
	{Rule{Kind: Build, Why: "the build tool's wrapper downloads and runs what it names"}, "gradle/wrapper/gradle-wrapper.properties .mvn/wrapper/maven-wrapper.properties .mvn/jvm.config .mvn/maven.config .mvn/extensions.xml"},
	{Rule{Kind: Python, Why: "Python runs it whenever it starts with this directory in its path", top: true}, "sitecustomize.py usercustomize.py *.pth"},
	{Rule{Kind: Automation, Why: "it runs elsewhere, with that place's secrets, once it is pushed"}, ".github/workflows/*.yml .github/workflows/*.yaml .github/actions/*/action.yml .github/actions/*/action.yaml .gitlab-ci.yml .circleci/config.yml azure-pipelines.yml bitbucket-pipelines.yml .travis.yml .drone.yml .woodpecker.yml .woodpecker/*.yml .forgejo/workflows/*.yml .gitea/workflows/*.yml .gitea/workflows/*.yaml jenkinsfile .buildkite/pipeline.yml .cirrus.yml .appveyor.yml appveyor.yml .semaphore/semaphore.yml cloudbuild.yaml cloudbuild.yml buildspec.yml .teamcity/settings.kts .builds/*.yml .build.yml .azure-pipelines/*.yml netlify.toml .github/hooks/*.json"},
	{Rule{Kind: Desktop, Why: "a click in a file manager starts its command"}, "*.desktop *.command *.workflow *.lnk autorun.inf"},
}

// The table by its last component: a literal name, or the extension of "*.x". "dir/*" is kept under the extension "".
// The hidden directories of patterns stand for all that lies in them when they are symlinks.
var byName, byExtension, byDirectory = compile()

func compile() (names, extensions map[string][]entry, directories map[string]Rule) {
	names, extensions, directories = map[string][]entry{}, map[string][]entry{}, map[string]Rule{}
	for _, line := range table {
		for p := range strings.FieldsSeq(line.patterns) {
			parts := strings.Split(p, "/")
			e, last := entry{line.rule, parts[:len(parts)-1]}, parts[len(parts)-1]
			for _, dir := range e.parents {
				if _, known := directories[dir]; !known && dir[0] == '.' {
					directories[dir] = Rule{Kind: line.rule.Kind, Why: "what lies where it leads is taken for the project's: " + line.rule.Why}
				}
			}
			if ext, ok := strings.CutPrefix(last, "*"); ok {
				extensions[ext] = append(extensions[ext], e)
			} else {
				names[last] = append(names[last], e)
			}
		}
	}
	return names, extensions, directories
}
