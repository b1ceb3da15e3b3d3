package admin_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// scripted makes the entry a script that a second script runs, which a program runs.
func scripted(t *testing.T) *world {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.path("run"), 0o755))
	w.program("run/real", "\x7fELF interpreter")
	require.NoError(t, os.Symlink("real", w.path("run/link")))
	w.program("run/wrapper", "#!"+w.path("run/link")+" -u\n")
	w.program("bin/tool", "#!"+w.path("run/wrapper")+"\n")
	return w
}

// PRC-01, PRC-02, CLI-02: what runs a script is resolved, shown, approved with its hash, and pinned for every start.
func TestApply_ShowsWhatRunsAScript(t *testing.T) {
	w := scripted(t)
	var shown []service.Change
	_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Present: func(v service.View) { shown = v.Changes }})
	require.NoError(t, err)
	var labels []text.Key
	values := map[text.Key][]string{}
	for _, c := range shown {
		if c.Item != service.ItemEntry {
			continue
		}
		for _, a := range c.After {
			labels = append(labels, a.Name)
			values[a.Name] = append(values[a.Name], a.Value)
		}
	}
	require.Equal(t, []text.Key{"label.path", "label.sha256", "label.interpreter", "label.interpreter_sha256", "label.interpreter", "label.interpreter_sha256"}, labels)
	require.Equal(t, []string{w.path("run/wrapper"), w.path("run/real")}, values["label.interpreter"])
	eff, err := w.load()
	require.NoError(t, err)
	entry, _ := eff.Policy.Entry("tool")
	require.Len(t, entry.Interpreters, 2)
	require.Equal(t, w.path("run/real"), entry.Interpreters[1].Path)
	require.Equal(t, entry.Interpreters, eff.View.Execution[0].Interpreters)
	require.True(t, eff.View.Execution[0].Approved)
}

// PRC-02, CFG-05, AT-08, AT-09: whatever of a script's interpreters changes between apply and start refuses the start.
func TestLoad_InterpreterDrift(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  []fault.Code
		again bool // apply accepts it
	}{
		"overwritten": {func(w *world) { w.program("run/real", "\x7fELF evil") }, []fault.Code{change.CodeInterpreter}, true},
		"led elsewhere": {func(w *world) {
			w.program("run/other", "\x7fELF interpreter")
			require.NoError(w.t, os.Remove(w.path("run/link")))
			require.NoError(w.t, os.Symlink("other", w.path("run/link")))
		}, []fault.Code{change.CodeInterpreter}, true},
		"a directory above renamed": {func(w *world) {
			require.NoError(w.t, os.Rename(w.path("run"), w.path("run2")))
			require.NoError(w.t, os.MkdirAll(w.path("run"), 0o755))
			w.program("run/link", "\x7fELF evil")
			w.program("run/wrapper", "#!"+w.path("run/link")+" -u\n")
		}, []fault.Code{change.CodeInterpreter}, true},
		"made a program": {func(w *world) { w.program("run/wrapper", "\x7fELF evil") }, []fault.Code{change.CodeInterpreter}, true},
		"gone":           {func(w *world) { require.NoError(w.t, os.Remove(w.path("run/real"))) }, []fault.Code{change.CodeInterpreter, "broker.entry_interpreter"}, false},
		"open to all":    {func(w *world) { require.NoError(w.t, os.Chmod(w.path("run/real"), 0o757)) }, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := scripted(t)
			w.apply()
			tc.spoil(w)
			_, err := w.load()
			if tc.want != nil {
				require.Equal(t, change.CodeDrift, fault.CodeOf(err))
				require.Equal(t, tc.want, codes(fault.From(err)))
			}
			require.Error(t, err)
			got, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
			require.Equal(t, tc.again, err == nil, err)
			if tc.again {
				require.True(t, got.View.Changes[0].Widens)
				require.Equal(t, text.Key("means.entry_interpreter"), got.View.Changes[0].Meaning.Key)
				_, err = w.load()
				require.NoError(t, err)
			}
		})
	}
}

// PRC-01..03, FS-05: nothing is approved that the agent, or anybody but the owner, could swap.
func TestRefused_WhatCanBeSwapped(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  []fault.Code
	}{
		"an interpreter in a write root": {func(w *world) {
			w.program("ws/python", "\x7fELF")
			w.program("bin/tool", "#!"+w.path("ws/python")+"\n")
		}, []fault.Code{"policy.entry_writable"}},
		"a nested interpreter in a mount": {func(w *world) {
			require.NoError(w.t, os.Mkdir(w.path("out"), 0o755))
			w.config("  mounts: [{name: out, path: ./out, access: read_write}]\n")
			w.program("out/python", "\x7fELF")
			w.program("run", "#!"+w.path("out/python")+"\n")
			w.program("bin/tool", "#!"+w.path("run")+"\n")
		}, []fault.Code{"policy.entry_writable"}},
		"an interpreter the group may write": {func(w *world) {
			w.program("run", "\x7fELF")
			require.NoError(w.t, os.Chmod(w.path("run"), 0o775))
			w.program("bin/tool", "#!"+w.path("run")+"\n")
		}, []fault.Code{admin.CodeGroupWritable}},
		"an interpreter in an open directory": {func(w *world) {
			require.NoError(w.t, os.Mkdir(w.path("open"), 0o755))
			w.program("open/run", "\x7fELF")
			require.NoError(w.t, os.Chmod(w.path("open"), 0o777))
			w.program("bin/tool", "#!"+w.path("open/run")+"\n")
		}, []fault.Code{"broker.entry_open"}},
		"env with what cannot be told": {func(w *world) { w.program("bin/tool", "#!/usr/bin/env -i sh\n") }, []fault.Code{"broker.entry_interpreter"}},
		"a link in the workspace": {func(w *world) {
			require.NoError(w.t, os.Symlink("../bin/tool", w.path("ws/tool")))
			w.edit("path: ./bin/tool", "path: ./ws/tool")
		}, []fault.Code{admin.CodeLinkWritable}},
		"a directory link in the workspace": {func(w *world) {
			require.NoError(w.t, os.Symlink("../bin", w.path("ws/bin")))
			w.edit("path: ./bin/tool", "path: ./ws/bin/tool")
		}, []fault.Code{admin.CodeLinkWritable}},
		"an interpreter's link in the workspace": {func(w *world) {
			w.program("run", "\x7fELF")
			require.NoError(w.t, os.Symlink("../run", w.path("ws/run")))
			w.program("bin/tool", "#!"+w.path("ws/run")+"\n")
		}, []fault.Code{admin.CodeLinkWritable}},
		"a runtime root that is a link": {func(w *world) {
			require.NoError(w.t, os.Rename(w.path("bin/lib"), w.path("bin/lib2")))
			require.NoError(w.t, os.Symlink("lib2", w.path("bin/lib")))
		}, []fault.Code{admin.CodeRuntimeLink}},
		"a runtime root in a write root": {func(w *world) {
			require.NoError(w.t, os.Mkdir(w.path("ws/lib"), 0o755))
			w.edit("./bin/lib", "./ws/lib")
		}, []fault.Code{"policy.entry_writable"}},
		"a runtime root around a write root": {func(w *world) {
			require.NoError(w.t, os.MkdirAll(w.path("all/ws"), 0o755))
			w.edit("./ws", "./all/ws")
			w.edit("./bin/lib", "./all")
		}, []fault.Code{"policy.entry_writable"}},
		"a runtime root of everything": {func(w *world) { w.edit("./bin/lib", "/") }, []fault.Code{admin.CodeWholeSystem, admin.CodeOwnPlace, "policy.entry_writable"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tc.spoil(w)
			_, err := w.service().Apply(ctx, service.ApplyRequest{Path: w.path("agent.yaml"), Yes: true})
			require.Equal(t, admin.CodeRefused, fault.CodeOf(err))
			require.Subset(t, tc.want, codes(fault.From(err)), fault.From(err).Error())
			require.Contains(t, codes(fault.From(err)), tc.want[0])
			require.NoDirExists(t, w.path("state"))
		})
	}
}

// CFG-05: a Runtime Root that a link above leads elsewhere is drift.
func TestLoad_RuntimeRootDrift(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.path("rt/lib"), 0o755))
	w.edit("./bin/lib", "./rt/lib")
	w.apply()
	require.NoError(t, os.Rename(w.path("rt"), w.path("rt2")))
	require.NoError(t, os.Symlink("rt2", w.path("rt")))
	_, err := w.load()
	require.Equal(t, []fault.Code{change.CodeRuntimeRoot}, codes(fault.From(err)))
	require.Equal(t, service.AppliedChanges, w.apply().Outcome)
	_, err = w.load()
	require.NoError(t, err)
}

// A place that another user or group may change is told at apply; what everybody may change is refused elsewhere.
func TestApply_TellsOfSharedPlaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs a file of another user")
	}
	for name, spoil := range map[string]func(w *world) error{
		"owner":     func(w *world) error { return os.Chown(w.path("bin/tool"), 12345, 0) },
		"directory": func(w *world) error { return os.Chown(w.path("bin"), 12345, 0) },
		"group": func(w *world) error {
			if err := os.Chown(w.path("bin"), 0, 12345); err != nil {
				return err
			}
			return os.Chmod(w.path("bin"), 0o775)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			require.NoError(t, spoil(w))
			got := w.apply()
			require.NotEmpty(t, got.View.Warnings)
			require.Equal(t, admin.WarnShared, got.View.Warnings[0].Code)
		})
	}
}
