package filter

// Arguments that bring more than the call's name says.
const (
	tiocsetd     = 0x5423 // line disciplines: kernel code that no ordinary program needs
	ioctlType    = 0xff00
	ioctlNr      = 0xff
	btrfsType    = 0x9400 // subvolumes and snapshots, past every check of names and rights…
	ficlone      = 9      // …but for the three that any file system has: FICLONE, FICLONERANGE, FIDEDUPERANGE
	ficloneRange = 13
	fidedupe     = 54
	bcachefsType = 0xbc00
	setlease     = 1024 // F_SETLEASE: an outsider that opens the file waits for us
	setUserID    = 0o4000
	setGroupID   = 0o2000
)

// ioctl refuses what puts input into terminals, loads line disciplines, or changes trees past the checks of names.
func (p *program) ioctl(o Options) {
	p.op(opLoad, low(1), 0, 0)
	p.op(opJeq, tiocsti, 11, 0)
	p.op(opJeq, tioclinux, 10, 0)
	p.op(opJeq, tiocsetd, 8, 0)
	p.op(opAnd, ioctlType, 0, 0)
	p.op(opJeq, bcachefsType, 6, 0)
	p.op(opJeq, btrfsType, 0, 7)
	p.op(opLoad, low(1), 0, 0)
	p.op(opAnd, ioctlNr, 0, 0)
	p.op(opJeq, ficlone, 4, 0)
	p.op(opJeq, ficloneRange, 3, 0)
	p.op(opJeq, fidedupe, 2, 0)
	p.ret(Errno(EPERM))
	p.ret(o.refuse(EPERM))
	p.ret(Allow)
}

func (p *program) fcntl() {
	p.op(opLoad, low(1), 0, 0)
	p.op(opJeq, setlease, 0, 1)
	p.ret(Errno(EPERM))
	p.ret(Allow)
}

// chmod refuses modes that lend the owner's identity: what a program leaves behind belongs to the owner of the root.
// A mode given at creation goes with the first byte written.
func (t table) chmod(p *program, o Options) {
	bits := uint32(setUserID)
	if o.NoSetGID {
		bits |= setGroupID
	}
	for name, arg := range modes {
		if nr, ok := t.nr[name]; ok {
			p.call(nr, func(b *program) {
				b.op(opLoad, low(arg), 0, 0)
				b.op(opJset, bits, 0, 1)
				b.ret(Errno(EPERM))
				b.ret(Allow)
			})
		}
	}
}

var modes = map[string]uint32{"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2}

// schedule guards the calls that set how urgent or where another process runs. For the caller itself they pass; for a
// number the listener is asked whether that is the helper, which has the same user; without a listener, and for all
// processes of a user, they are refused.
func (t table) schedule(p *program, o Options) {
	ask := Errno(EPERM)
	if o.CountForks || o.CountThreads {
		ask = Notify
	}
	for _, name := range []string{"sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler"} {
		p.call(t.nr[name], func(b *program) {
			b.op(opLoad, low(0), 0, 0)
			b.op(opJeq, 0, 0, 1)
			b.ret(Allow)
			b.ret(ask)
		})
	}
	for name, user := range map[string]uint32{"setpriority": 2, "ioprio_set": 3} { // PRIO_USER, IOPRIO_WHO_USER
		p.call(t.nr[name], func(b *program) {
			b.op(opLoad, low(0), 0, 0)
			b.op(opJeq, user, 3, 0)
			b.op(opLoad, low(1), 0, 0)
			b.op(opJeq, 0, 2, 0)
			b.ret(ask)
			b.ret(Errno(EPERM))
			b.ret(Allow)
		})
	}
}
