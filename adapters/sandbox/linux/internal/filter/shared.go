package filter

// What a tree may not do when it has no namespaces of its own (level 1): there is no read-only mount that stops a change
// of modes, owners, times and attributes, which Landlock does not see; System V objects and message queues are the host's;
// and other processes of the same user can be slowed down.

// meta calls change a file's metadata.
var meta = []string{
	"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat",
	"utime", "utimes", "futimesat", "utimensat",
	"setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr",
	"setxattrat", "removexattrat", "file_setattr",
}

// hostIPC calls reach objects that belong to nobody's directory.
var hostIPC = []string{
	"shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semctl", "semtimedop", "msgget", "msgsnd", "msgrcv", "msgctl",
	"mq_open", "mq_unlink",
}

// ofOthers change how a process is scheduled; the argument of the index names it, 0 is the caller.
var ofOthers = []struct {
	name string
	arg  uint32
	user uint32 // the value of argument 0 that means all processes of a user
}{
	{"sched_setparam", 0, 0},
	{"sched_setscheduler", 0, 0},
	{"sched_setaffinity", 0, 0},
	{"sched_setattr", 0, 0},
	{"setpriority", 1, 2},
	{"ioprio_set", 1, 3},
}

// ioctls that change nothing but the open file: terminals ('T'), and of files what asks, or what needs a writable
// descriptor. A file system's own (attributes, subvolumes, verity) work on a descriptor that was opened for reading.
var ioctls = []uint32{
	0x80086601, 0x801c581f, 0xc020660b, 2, // FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP, FIGETBSZ
	0x40049409, 0x4020940d, // FICLONE, FICLONERANGE
	0x80045200, // RNDGETENTCNT
}

const ioctlTerminal = 0x5400

// shared adds the rules of a tree without namespaces.
func (p *program) shared(goarch string) {
	nr := sharedNumbers[goarch]
	deny := func(names []string, action uint32) {
		for _, name := range names {
			if n, ok := nr[name]; ok {
				p.call(n, func(b *program) { b.ret(action) })
			}
		}
	}
	deny(meta, Errno(EPERM))
	deny(hostIPC, Errno(ENOSYS))
	for _, c := range ofOthers {
		p.call(nr[c.name], func(b *program) {
			if c.user != 0 {
				b.op(opLoad, low(0), 0, 0)
				b.op(opJeq, c.user, 2, 0)
			}
			b.op(opLoad, low(c.arg), 0, 0)
			b.op(opJeq, 0, 1, 0)
			b.ret(Errno(EPERM))
			b.ret(Allow)
		})
	}
}

// ioctl of a tree without namespaces: everything unknown looks as if the file had no such thing.
func (p *program) sharedIoctl() {
	p.op(opLoad, low(1), 0, 0)
	p.op(opJeq, tiocsti, 2, 0)
	p.op(opJeq, tiocsetd, 1, 0)
	p.op(opJeq, tioclinux, 0, 1)
	p.ret(Errno(EPERM))
	for _, c := range ioctls {
		p.op(opJeq, c, 0, 1)
		p.ret(Allow)
	}
	p.op(opAnd, 0xffffff00, 0, 0)
	p.op(opJeq, ioctlTerminal, 0, 1)
	p.ret(Allow)
	p.ret(Errno(ENOTTY))
}

// sharedNumbers has the numbers of the calls above per GOARCH.
var sharedNumbers = map[string]map[string]uint32{
	"amd64": {
		"chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260, "fchmodat": 268, "fchmodat2": 452,
		"utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
		"setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
		"setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
		"shmget": 29, "shmat": 30, "shmctl": 31, "shmdt": 67, "semget": 64, "semop": 65, "semctl": 66, "semtimedop": 220,
		"msgget": 68, "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240, "mq_unlink": 241,
		"sched_setparam": 142, "sched_setscheduler": 144, "sched_setaffinity": 203, "sched_setattr": 314,
		"setpriority": 141, "ioprio_set": 251,
	},
	"arm64": {
		"fchmod": 52, "fchmodat": 53, "fchmodat2": 452, "fchownat": 54, "fchown": 55, "utimensat": 88,
		"setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
		"setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
		"shmget": 194, "shmat": 196, "shmctl": 195, "shmdt": 197, "semget": 190, "semop": 193, "semctl": 191, "semtimedop": 192,
		"msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187, "mq_open": 180, "mq_unlink": 181,
		"sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122, "sched_setattr": 274,
		"setpriority": 140, "ioprio_set": 30,
	},
}
