package change_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/change"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

func at(path string) change.Place { return change.Place{Written: path, Path: path} }

func permissions() change.Permissions {
	return change.Permissions{
		Profile:   "development",
		Workspace: change.Place{Written: "/w", Path: "/w", Identity: "7"},
		Mounts:    []change.Mount{{Name: "docs", Place: at("/docs"), Access: "read_only"}, {Name: "data", Place: at("/data"), Access: "read_write"}},
		Entries: []change.Entry{
			{Alias: "sh", Place: at("/bin/sh"), SHA256: "aa", Shell: true},
			{Alias: "python", Place: change.Place{Written: "/usr/bin/python3", Path: "/usr/bin/python3.11"}, SHA256: "bb", RuntimeRoot: at("/usr/lib/python3.11")},
		},
		Network:   change.Network{Mode: "none"},
		Resources: change.Resources{Profile: "normal", MemoryMiB: 4096, Processes: 16, TimeoutSeconds: 1800},
		Require:   "approximate",
		Model:     change.Model{Name: "qwen3:8b", Server: "http://127.0.0.1:11434"},
	}
}

func applied() change.Snapshot {
	return change.Snapshot{Config: "/a.yaml", Fingerprint: "f1", AppliedAt: time.Unix(1, 0), Permissions: permissions()}
}

// line writes a change on one line.
func line(c service.Change) string {
	join := func(attributes []service.Attribute) string {
		var out []string
		for _, a := range attributes {
			out = append(out, fmt.Sprintf("%s=%s", strings.TrimPrefix(string(a.Name), "label."), a.Value))
		}
		return strings.Join(out, " ")
	}
	return fmt.Sprintf("%s %s %s [%s] → [%s] %s widens=%v", c.Op, c.Item, c.Name, join(c.Before), join(c.After), c.Meaning.Key, c.Widens)
}

func TestCompare_NothingApplied(t *testing.T) {
	var got []string
	for _, c := range change.Compare(nil, permissions(), "f1") {
		got = append(got, line(c))
	}
	require.Equal(t, []string{
		"added workspace  [] → [path=/w profile=development] means.workspace_development widens=true",
		"added mount data [] → [path=/data access=read_write] means.mount_read_write widens=true",
		"added mount docs [] → [path=/docs access=read_only] means.mount_read_only widens=true",
		"added entry python [] → [path=/usr/bin/python3.11 written=/usr/bin/python3 sha256=bb] means.entry_program widens=true",
		"added runtime_root python [] → [path=/usr/lib/python3.11] means.runtime_root widens=true",
		"added entry sh [] → [path=/bin/sh sha256=aa] means.entry_shell widens=true",
		"added network  [] → [mode=none] means.network_none widens=false",
		"added resources  [] → [memory=4096 MiB processes=16 timeout=30m] means.resources widens=true",
		"added require  [] → [require=approximate] means.require_approximate widens=true",
		"added model  [] → [model=qwen3:8b server=http://127.0.0.1:11434] means.model widens=true",
	}, got)
}

// CLI-02: one difference, with plain words and what widens. CFG-05: each is also a reason not to start.
func TestCompareAndDrift(t *testing.T) {
	for name, tc := range map[string]struct {
		edit  func(*change.Permissions)
		want  []string
		drift []fault.Code
	}{
		"nothing":        {func(*change.Permissions) {}, nil, nil},
		"order of lists": {func(p *change.Permissions) { slices.Reverse(p.Mounts); slices.Reverse(p.Entries) }, nil, nil},
		"profile": {
			func(p *change.Permissions) { p.Profile = "readonly" },
			[]string{"changed profile  [profile=development] → [profile=readonly] means.workspace_readonly widens=false"},
			[]fault.Code{change.CodeOther},
		},
		"workspace moved": {
			func(p *change.Permissions) { p.Workspace.Path = "/v" },
			[]string{"changed workspace  [path=/w] → [path=/v written=/w] means.workspace_development widens=true"},
			[]fault.Code{change.CodeWorkspace},
		},
		"workspace replaced": {
			func(p *change.Permissions) { p.Workspace.Identity = "8" },
			[]string{"changed workspace  [identity=7] → [identity=8] means.directory_replaced widens=true"},
			[]fault.Code{change.CodeReplaced},
		},
		"mount removed, another added": {
			func(p *change.Permissions) { p.Mounts[0].Name = "new" },
			[]string{
				"removed mount docs [path=/docs access=read_only] → [] means.gone widens=false",
				"added mount new [] → [path=/docs access=read_only] means.mount_read_only widens=true",
			},
			[]fault.Code{change.CodeOther, change.CodeOther},
		},
		"mount widened": {
			func(p *change.Permissions) { p.Mounts[0].Access = "read_write_delete" },
			[]string{"changed mount docs [access=read_only] → [access=read_write_delete] means.mount_read_write_delete widens=true"},
			[]fault.Code{change.CodeOther},
		},
		"mount narrowed": {
			func(p *change.Permissions) { p.Mounts[1].Access = "read_only" },
			[]string{"changed mount data [access=read_write] → [access=read_only] means.mount_read_only widens=false"},
			[]fault.Code{change.CodeOther},
		},
		"mount leads elsewhere": {
			func(p *change.Permissions) { p.Mounts[0].Place.Path = "/etc" },
			[]string{"changed mount docs [path=/docs] → [path=/etc written=/docs] means.mount_read_only widens=true"},
			[]fault.Code{change.CodeMountPath},
		},
		"entry updated": { // PRC-02
			func(p *change.Permissions) { p.Entries[1].SHA256 = "cc" },
			[]string{"changed entry python [sha256=bb] → [sha256=cc] means.entry_content widens=true"},
			[]fault.Code{change.CodeEntryHash},
		},
		"entry leads elsewhere": {
			func(p *change.Permissions) { p.Entries[1].Place.Path, p.Entries[1].SHA256 = "/opt/evil", "cc" },
			[]string{"changed entry python [path=/usr/bin/python3.11 sha256=bb] → [path=/opt/evil sha256=cc] means.entry_elsewhere widens=true"},
			[]fault.Code{change.CodeEntryPath, change.CodeEntryHash},
		},
		"entry removed": {
			func(p *change.Permissions) { p.Entries = p.Entries[:1] },
			[]string{
				"removed entry python [path=/usr/bin/python3.11 written=/usr/bin/python3 sha256=bb] → [] means.entry_removed widens=false",
				"removed runtime_root python [path=/usr/lib/python3.11] → [] means.runtime_root_removed widens=false",
			},
			[]fault.Code{change.CodeOther, change.CodeOther},
		},
		"entry written otherwise": {
			func(p *change.Permissions) { p.Entries[0].Place.Written = "/usr/bin/sh" },
			[]string{"changed entry sh [] → [written=/usr/bin/sh] means.same_target widens=false"},
			[]fault.Code{change.CodeOther},
		},
		"runtime root moved": {
			func(p *change.Permissions) { p.Entries[1].RuntimeRoot = at("/opt/py") },
			[]string{"changed runtime_root python [path=/usr/lib/python3.11] → [path=/opt/py] means.runtime_root widens=true"},
			[]fault.Code{change.CodeRuntimeRoot},
		},
		"network opened": {
			func(p *change.Permissions) {
				p.Network = change.Network{Mode: "restricted", Endpoints: []string{"b:1", "a:1"}}
			},
			[]string{"changed network  [mode=none] → [mode=restricted endpoints=a:1, b:1] means.network_restricted widens=true"},
			[]fault.Code{change.CodeOther},
		},
		"fewer resources": {
			func(p *change.Permissions) { p.Resources.Processes = 4 },
			[]string{"changed resources  [processes=16] → [processes=4] means.resources widens=false"},
			[]fault.Code{change.CodeOther},
		},
		"exact required": {
			func(p *change.Permissions) { p.Require = "exact" },
			[]string{"changed require  [require=approximate] → [require=exact] means.require_exact widens=false"},
			[]fault.Code{change.CodeOther},
		},
		"a cache": {
			func(p *change.Permissions) { p.Cache = change.Cache{Name: "build", Path: "/s/cache/1/build"} },
			[]string{"added cache build [] → [path=/s/cache/1/build] means.cache widens=true"},
			[]fault.Code{change.CodeOther},
		},
		"another model": {
			func(p *change.Permissions) { p.Model.Name = "x:cloud" },
			[]string{"changed model  [model=qwen3:8b] → [model=x:cloud] means.model widens=true"},
			[]fault.Code{change.CodeOther},
		},
	} {
		t.Run(name, func(t *testing.T) {
			snap, now := applied(), permissions()
			tc.edit(&now)
			var got []string
			for _, c := range change.Compare(&snap, now, "f1") {
				got = append(got, line(c))
			}
			require.Equal(t, tc.want, got)
			var codes []fault.Code
			for _, f := range change.Drift(snap, now, "f1") {
				codes = append(codes, f.Code)
			}
			require.Equal(t, tc.drift, codes)
			require.Contains(t, codesOf(change.Drift(snap, now, "f2")), change.CodeFingerprint)
		})
	}
}

func codesOf(faults []*fault.Error) (out []fault.Code) {
	for _, f := range faults {
		out = append(out, f.Code)
	}
	return out
}

// CFG-05: the cache is part of what was applied; a snapshot without one is as it was before there were any.
func TestCache_IsApplied(t *testing.T) {
	was := applied()
	data, err := was.Bytes()
	require.NoError(t, err)
	require.NotContains(t, string(data), "cache")
	_, err = change.Parse("/a.yaml", data)
	require.NoError(t, err)

	was.Permissions.Cache = change.Cache{Name: "build", Path: "/s/cache/1/build"}
	data, err = was.Bytes()
	require.NoError(t, err)
	again, err := change.Parse("/a.yaml", data)
	require.NoError(t, err)
	require.Equal(t, was.Permissions.Cache, again.Permissions.Cache)

	now := was.Permissions
	now.Cache.Path = "/other/cache/1/build"
	require.Equal(t, []fault.Code{change.CodeCache}, codesOf(change.Drift(was, now, "f1")))
	require.Equal(t, "changed cache build [path=/s/cache/1/build] → [path=/other/cache/1/build] means.cache widens=true", line(change.Compare(&was, now, "f1")[0]))
	now.Cache, now.Profile = change.Cache{}, "readonly"
	require.Equal(t, "removed cache build [path=/s/cache/1/build] → [] means.cache_removed widens=false", line(change.Compare(&was, now, "f1")[1]))
}

func TestCompare_OnlyTheTextChanged(t *testing.T) {
	snap := applied()
	got := change.Compare(&snap, permissions(), "f2")
	require.Len(t, got, 1)
	require.Equal(t, "changed settings  [] → [] means.settings widens=false", line(got[0]))
}

// NFR-02: equal permissions are equal bytes, in whatever order they were found.
func TestSnapshot_CanonicalRoundTrip(t *testing.T) {
	snap := applied()
	want, err := snap.Bytes()
	require.NoError(t, err)
	for range 20 {
		rand.Shuffle(2, func(i, j int) {
			p := snap.Permissions
			p.Mounts[i], p.Mounts[j] = p.Mounts[j], p.Mounts[i]
			p.Entries[i], p.Entries[j] = p.Entries[j], p.Entries[i]
		})
		got, err := snap.Bytes()
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	back, err := change.Parse("/a.yaml", want)
	require.NoError(t, err)
	require.Empty(t, change.Compare(&back, permissions(), "f1"))
	again, err := back.Bytes()
	require.NoError(t, err)
	require.Equal(t, string(want), string(again))
}

// CFG-05: what `apply` did not write permits nothing.
func TestParse_Refuses(t *testing.T) {
	good, err := applied().Bytes()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		data string
		code fault.Code
	}{
		"empty":            {"", change.CodeDamaged},
		"cut":              {string(good[:len(good)-1]), change.CodeDamaged},
		"spaced":           {strings.Replace(string(good), ":", ": ", 1), change.CodeDamaged},
		"another version":  {strings.Replace(string(good), `"version":1`, `"version":2`, 1), change.CodeVersion},
		"no version":       {`{}`, change.CodeDamaged},
		"only the version": {`{"version":1}`, change.CodeDamaged},
		"unknown key":      {strings.Replace(string(good), `{"applied_at"`, `{"admin":true,"applied_at"`, 1), change.CodeDamaged},
		"another config":   {strings.Replace(string(good), `/a.yaml`, `/b.yaml`, 1), change.CodeDamaged},
		"unsorted lists":   {strings.Replace(string(good), `"name":"data"`, `"name":"zata"`, 1), change.CodeDamaged},
		"a number":         {`1`, change.CodeDamaged},
	} {
		_, err := change.Parse("/a.yaml", []byte(tc.data))
		require.Equal(t, tc.code, fault.CodeOf(err), name)
	}
}

func FuzzParse(f *testing.F) {
	good, err := applied().Bytes()
	require.NoError(f, err)
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, err := change.Parse("/a.yaml", data); err == nil {
			again, err := s.Bytes()
			require.NoError(t, err)
			require.Equal(t, string(data), string(again))
		}
	})
}

// CLI-02: that others of this machine can connect is shown when it begins, changes and ends.
func TestCompare_Listen(t *testing.T) {
	const one, two = "http://127.0.0.1:8765/mcp", "http://[::1]:8765/mcp"
	for name, c := range map[string]struct {
		old, now []string
		op       service.Op
		widens   bool
		means    text.Key
	}{
		"begins":  {nil, []string{two, one}, service.Added, true, "means.listen"},
		"changes": {[]string{one}, []string{one, two}, service.ChangedOp, true, "means.listen"},
		"ends":    {[]string{one}, nil, service.Removed, false, "means.listen_gone"},
	} {
		before, after := permissions(), permissions()
		before.Listen, after.Listen = c.old, c.now
		got := change.Compare(&change.Snapshot{Permissions: before}, after, "")
		require.Len(t, got, 1, name)
		require.Equal(t, []any{service.ItemListen, c.op, c.widens, c.means}, []any{got[0].Item, got[0].Op, got[0].Widens, got[0].Meaning.Key}, name)
	}
	same := permissions()
	same.Listen = []string{one, two}
	other := permissions()
	other.Listen = []string{two, one}
	require.Empty(t, change.Compare(&change.Snapshot{Permissions: same}, other, ""))
}
