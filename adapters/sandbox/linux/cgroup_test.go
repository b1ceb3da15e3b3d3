package linux

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const (
	v2Mount  = "30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
	roMount  = "30 22 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate\n"
	v1Mounts = "34 30 0:31 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n" +
		"38 30 0:35 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
	hybrid = v1Mounts + "40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
)

// given is a directory with controllers enabled for its children.
func given(may, move bool) groupDir {
	all := []string{"cpu", "memory", "pids"}
	return groupDir{Available: all, Enabled: all, Make: may, Move: move, Enable: move}
}

// ends is a directory with processes: nothing is enabled below.
func ends(may bool, procs ...int) groupDir {
	return groupDir{Available: []string{"cpu", "memory", "pids"}, Make: may, Move: may, Enable: may, Procs: procs}
}

// RES-01, OBS-01: on each kind of host the nearest place is found that needs no change of what is not ours, or the reason is
// named with the remedy.
func TestChooseGroup_Hosts(t *testing.T) {
	const root = "/sys/fs/cgroup"
	user := root + "/user.slice/user-1000.slice/user@1000.service"
	top := given(false, false)
	top.Top = true
	rootTop := given(true, true)
	rootTop.Top, rootTop.Procs = true, []int{1, 2, 7}
	idleTop := ends(true, 1, 7)
	idleTop.Top = true
	delegate := ends(true, 7)
	delegate.Delegated = true
	bare := ends(true, 7)
	bare.Available = []string{"cpu"}
	for name, c := range map[string]struct {
		facts  groupFacts
		want   groupPlan
		reason string
		remedy string
	}{
		"systemd user session, scope shared with a shell": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/term.scope\n", Dirs: map[string]groupDir{
				user + "/app.slice/term.scope": ends(true, 5, 7), user + "/app.slice": given(true, true), user: given(true, true), root: top,
			}},
			want: groupPlan{Version: 2, Memory: user + "/app.slice"},
		},
		"systemd-run --user --scope -p Delegate=yes": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run.scope\n", Dirs: map[string]groupDir{
				user + "/app.slice/run.scope": delegate, user + "/app.slice": given(true, true), root: top,
			}},
			want: groupPlan{Version: 2, Memory: user + "/app.slice/run.scope", Leaf: true},
		},
		"ssh session scope": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/user.slice/user-1000.slice/session-3.scope\n", Dirs: map[string]groupDir{
				root + "/user.slice/user-1000.slice/session-3.scope": ends(false, 5, 7), root + "/user.slice/user-1000.slice": given(false, false), root: top,
			}},
			reason: "not writable", remedy: remedySystemd,
		},
		"root in a session": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/user.slice/user-0.slice/session-1.scope\n", Dirs: map[string]groupDir{
				root + "/user.slice/user-0.slice/session-1.scope": ends(true, 5, 7), root + "/user.slice/user-0.slice": given(true, true), root: rootTop,
			}},
			want: groupPlan{Version: 2, Memory: root + "/user.slice/user-0.slice"},
		},
		"service of root, not delegated: its own stays as it is": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/system.slice/a.service\n", Dirs: map[string]groupDir{
				root + "/system.slice/a.service": ends(true, 7), root + "/system.slice": given(true, true), root: rootTop,
			}},
			want: groupPlan{Version: 2, Memory: root + "/system.slice"},
		},
		"the real top": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: rootTop}},
			want:  groupPlan{Version: 2, Memory: root},
		},
		"the real top, nothing enabled": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: idleTop}},
			reason: "not enabled below " + root, remedy: "echo +memory +pids > " + root + "/cgroup.subtree_control",
		},
		"own directory of another instance is passed by": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/s/agent-mcp-0123456789abcdef/broker\n", Dirs: map[string]groupDir{
				root + "/s/agent-mcp-0123456789abcdef/broker": ends(true, 5, 7), root + "/s/agent-mcp-0123456789abcdef": given(true, true), root + "/s": given(true, true), root: top,
			}},
			want: groupPlan{Version: 2, Memory: root + "/s"},
		},
		"writable, but a move would need the ancestor": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/a/b\n", Dirs: map[string]groupDir{
				root + "/a/b": ends(false, 7), root + "/a": given(true, false), root: top,
			}},
			reason: "not writable", remedy: remedySystemd,
		},
		"Docker, read-only": {
			facts:  groupFacts{MountInfo: roMount, Self: "0::/\n", Dirs: map[string]groupDir{root: ends(false, 1, 7)}},
			reason: "read-only: " + root, remedy: remedyContainer,
		},
		"Docker, own namespace, writable, first process": {
			facts: groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: ends(true, 7)}},
			want:  groupPlan{Version: 2, Memory: root, Leaf: true},
		},
		"Docker, own namespace, writable, beside others": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: ends(true, 1, 7)}},
			reason: "other processes", remedy: remedySystemd,
		},
		"a process of a foreign pid namespace": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: ends(true, 0, 7)}},
			reason: "other processes", remedy: remedySystemd,
		},
		"Docker on v1, no namespace, read-only": {
			facts: groupFacts{
				MountInfo: "34 30 0:31 /docker/x /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory\n38 30 0:35 /docker/x /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n",
				Self:      "4:memory:/docker/x\n8:pids:/docker/x\n",
			},
			reason: "read-only: /sys/fs/cgroup/memory", remedy: remedyContainer,
		},
		"container on v1, writable": {
			facts: groupFacts{
				MountInfo: "34 30 0:31 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n38 30 0:35 /docker/x /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
				Self:      "4:memory:/docker/x\n8:pids:/docker/x/y\n",
				Dirs:      map[string]groupDir{root + "/memory": {Make: true}, root + "/pids/y": {Make: true}},
			},
			want: groupPlan{Version: 1, Memory: root + "/memory", Pids: root + "/pids/y"},
		},
		"hybrid, root": {
			facts: groupFacts{MountInfo: hybrid, Self: "8:pids:/\n4:memory:/j\n0::/\n", Swapping: true, Dirs: map[string]groupDir{
				root + "/memory/j": {Make: true}, root + "/pids": {Make: true}, root + "/unified": given(true, true),
			}},
			want: groupPlan{Version: 1, Memory: root + "/memory/j", Pids: root + "/pids", Swapping: true},
		},
		"hybrid, ordinary user": {
			facts:  groupFacts{MountInfo: hybrid, Self: "8:pids:/\n4:memory:/\n0::/\n", Dirs: map[string]groupDir{}},
			reason: "not writable for this user: /sys/fs/cgroup/memory", remedy: remedyV1,
		},
		"v1 mounted together": {
			facts: groupFacts{MountInfo: "34 30 0:31 / /cg rw - cgroup cgroup rw,pids,memory\n", Self: "4:pids,memory:/a\n", Dirs: map[string]groupDir{"/cg/a": {Make: true}}},
			want:  groupPlan{Version: 1, Memory: "/cg/a", Pids: "/cg/a"},
		},
		"v1 without pids": {
			facts:  groupFacts{MountInfo: strings.SplitAfter(v1Mounts, "\n")[0], Self: "4:memory:/\n", Dirs: map[string]groupDir{root + "/memory": {Make: true}}},
			reason: "controller not mounted: pids", remedy: "mount -t cgroup -o pids",
		},
		"WSL2": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: top}},
			reason: "not writable", remedy: remedySystemd,
		},
		"controllers not given": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Dirs: map[string]groupDir{root: bare}},
			reason: "controllers memory and pids are not given", remedy: remedySystemd,
		},
		"none": {facts: groupFacts{MountInfo: "22 1 0:20 / / rw - ext4 /dev/a rw\n", Self: "0::/\n"}, reason: "no cgroup file system", remedy: remedyMount},
		"own path above the namespace": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/../other\n"},
			reason: "outside of what is mounted", remedy: remedyContainer,
		},
		"mount above the namespace": {
			facts:  groupFacts{MountInfo: strings.Replace(v2Mount, " / /sys", " /../.. /sys", 1), Self: "0::/\n"},
			reason: "outside of what is mounted", remedy: remedyContainer,
		},
		"kernel memory not counted": {
			facts:  groupFacts{MountInfo: v2Mount, Self: "0::/\n", Cmdline: "quiet cgroup.memory=nosocket,nokmem\n", Dirs: map[string]groupDir{root: rootTop}},
			reason: "nokmem", remedy: remedyBoot,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.facts.PID = 7
			got, why := chooseGroup(c.facts)
			if c.want.Pids == "" {
				c.want.Pids = c.want.Memory
			}
			assert.Equal(t, c.want, got)
			assert.Contains(t, why.Reason, c.reason)
			assert.Contains(t, why.Remedy, c.remedy)
			assert.Equal(t, got.Version == 0, why != noGroup{})
		})
	}
}

// RES-01: the counter that tells a kill for memory, in the text of both versions.
func TestOOMKills_ReadsBothVersions(t *testing.T) {
	for text, want := range map[string]int{
		"oom_kill_disable 0\nunder_oom 0\noom_kill 2\n":               2,
		"low 0\nhigh 0\nmax 9\noom 3\noom_kill 0\noom_group_kill 0\n": 0,
		"low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\noom_group_kill 1\n": 3,
		"":                   0,
		"oom_kill\n":         0,
		"oom_kill_disable 1": 0,
	} {
		assert.Equal(t, want, oomKills(text), "%q", text)
	}
}

// REC-06: our names are ours, nothing else is.
func TestGroupName_IsOurs(t *testing.T) {
	for name, want := range map[string]bool{
		"agent-mcp-0123456789abcdef": true, "agent-mcp-trial-0123456789abcdef": true, "agent-mcp": false, "agent-mcp-0123456789abcdeg": false,
		"agent-mcp.service": false, "xagent-mcp-0123456789abcdef": false, "agent-mcp-0123456789abcdef0": false, "agent-mcp-0123456789abcdef\n": false,
	} {
		assert.Equal(t, want, groupName.MatchString(name), name)
	}
}

func TestUnescape_MountInfo(t *testing.T) {
	assert.Equal(t, "/a b/c\\", unescape(`/a\040b/c\134`))
	assert.Equal(t, filepath.Clean("/x"), unescape("/x"))
}
