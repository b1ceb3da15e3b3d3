package filter

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What level 1 alone refuses, per architecture: metadata, objects of the host's namespaces, the scheduling of others, and what an ioctl
// could change through a descriptor that may only read. The same calls pass, or are judged elsewhere, where the tree has namespaces.
func TestBuild_Shared(t *testing.T) {
	for arch, tab := range tables {
		nr := sharedNumbers[arch]
		prog, err := Build(arch, Options{Shared: true, CountForks: true})
		require.NoError(t, err)
		plain, err := Build(arch, Options{CountForks: true})
		require.NoError(t, err)
		run := func(n uint32, args ...uint64) uint32 { return interpret(t, prog, n, tab.audit, args...) }
		for _, name := range meta {
			if n, ok := nr[name]; ok {
				assert.Contains(t, []uint32{Errno(EPERM), Errno(ENOSYS)}, run(n, 3, 0o644), "%s %s: refused, or too new to be known", arch, name)
			}
		}
		for _, name := range hostIPC {
			assert.Equal(t, Errno(ENOSYS), run(nr[name], 1, 2, 3), "%s %s", arch, name)
		}
		for name, rows := range map[string][]struct {
			args []uint64
			want uint32
		}{
			"sched_setparam":     {{[]uint64{0, 1}, Allow}, {[]uint64{high, 1}, Allow}, {[]uint64{1234, 1}, Errno(EPERM)}},
			"sched_setscheduler": {{[]uint64{0, 1}, Allow}, {[]uint64{1, 1}, Errno(EPERM)}},
			"sched_setaffinity":  {{[]uint64{0, 8}, Allow}, {[]uint64{0xffffffff, 8}, Errno(EPERM)}},
			"sched_setattr":      {{[]uint64{0, 8}, Allow}, {[]uint64{77, 8}, Errno(EPERM)}},
			"setpriority":        {{[]uint64{0, 0, 5}, Allow}, {[]uint64{0, 9, 5}, Errno(EPERM)}, {[]uint64{1, 0, 5}, Allow}, {[]uint64{1, 9, 5}, Errno(EPERM)}, {[]uint64{2, 0, 5}, Errno(EPERM)}, {[]uint64{2 | high, 0, 5}, Errno(EPERM)}},
			"ioprio_set":         {{[]uint64{1, 0, 5}, Allow}, {[]uint64{1, 9, 5}, Errno(EPERM)}, {[]uint64{3, 0, 5}, Errno(EPERM)}, {[]uint64{3, 9, 5}, Errno(EPERM)}},
		} {
			for _, r := range rows {
				assert.Equal(t, r.want, run(nr[name], r.args...), "%s %s %x", arch, name, r.args)
			}
		}
		for request, want := range map[uint64]uint32{
			0x5401: Allow, 0x5413: Allow, 0x541b: Allow, 0x5450: Allow, 0x5451: Allow, // TCGETS, TIOCGWINSZ, FIONREAD, FIONCLEX, FIOCLEX
			tiocsti: Errno(EPERM), tiocsti | high: Errno(EPERM), tiocsetd: Errno(EPERM), tioclinux: Errno(EPERM),
			0x80086601: Allow, 0x801c581f: Allow, 0x40049409: Allow, 0x80045200: Allow,
			0x40086602: Errno(ENOTTY), 0x401c5820: Errno(ENOTTY), // FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR
			0x5000940e: Errno(ENOTTY), 0x40806685: Errno(ENOTTY), // BTRFS_IOC_SUBVOL_CREATE, FS_IOC_ENABLE_VERITY
			0x40085203: Errno(ENOTTY), 0: Errno(ENOTTY), 0x1254: Errno(ENOTTY), // RNDADDENTROPY, nothing, BLKZEROOUT
		} {
			assert.Equal(t, want, run(tab.nr["ioctl"], 3, request), "%s ioctl %#x", arch, request)
		}
		assert.Equal(t, uint32(Notify), run(tab.nr["clone"], cloneThread|0x100), "%s: a thread is asked for", arch)
		assert.Equal(t, uint32(Allow), interpret(t, plain, tab.nr["clone"], tab.audit, cloneThread|0x100), "%s: it is not where the kernel counts", arch)
		assert.NotEqual(t, Errno(EPERM), interpret(t, plain, nr["fchmodat"], tab.audit, 3, 0, 0o644), fmt.Sprint(arch, ": elsewhere a mount decides"))
	}
}
