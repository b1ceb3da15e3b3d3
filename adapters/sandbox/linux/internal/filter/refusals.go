package filter

// Refusals says of a call that the program asked for, because Options.Tell is set, what it is and which error it gets: the
// one that the program would have given it by itself.
type Refusals struct {
	nr   map[uint32]uint16 // call → kind
	inet bool
	arch table
}

// Kind is one sort of refused call. Their number is small, so that they can be counted in an array.
type Kind struct {
	Target  string // for people: "mount", "socket AF_UNIX"
	Network bool   // it would have led to a network
}

// Kinds lists all kinds; its indexes are what Of returns.
func Kinds() []Kind { return kinds }

const (
	kindClone = iota
	kindSticky
	kindLinux
	kindLimit
	kindPair
	kindProtocol
	kindRaw4
	kindRaw6
	kindInet4
	kindInet6
	kindFamily // of a socket, and one for each of families after it
)

// families by number; those without a name are told together.
var families = map[uint32]string{
	1: "AF_UNIX", 3: "AF_AX25", 4: "AF_IPX", 5: "AF_APPLETALK", 9: "AF_X25", 15: "AF_KEY", 16: "AF_NETLINK", 17: "AF_PACKET", 21: "AF_RDS",
	24: "AF_PPPOX", 29: "AF_CAN", 30: "AF_TIPC", 31: "AF_BLUETOOTH", 38: "AF_ALG", 39: "AF_NFC", 40: "AF_VSOCK", 41: "AF_KCM", 43: "AF_SMC", 44: "AF_XDP",
}

const families45 = 45

var kinds = func() []Kind {
	out := []Kind{
		kindClone: {Target: "clone into a new namespace"}, kindSticky: {Target: "ioctl TIOCSTI"}, kindLinux: {Target: "ioctl TIOCLINUX"},
		kindLimit: {Target: "prlimit of another process"}, kindPair: {Target: "socketpair other than AF_UNIX stream"},
		kindProtocol: {Target: "socket with another protocol than TCP and UDP", Network: true},
		kindRaw4:     {Target: "socket AF_INET SOCK_RAW", Network: true}, kindRaw6: {Target: "socket AF_INET6 SOCK_RAW", Network: true},
		kindInet4: {Target: "socket AF_INET", Network: true}, kindInet6: {Target: "socket AF_INET6", Network: true},
		kindFamily: {Target: "socket of an unknown family"},
	}
	for f := range uint32(families45) {
		name, ok := families[f]
		if !ok {
			name = "of an unknown family"
		}
		out = append(out, Kind{Target: "socket " + name})
	}
	for _, name := range denied {
		out = append(out, Kind{Target: name})
	}
	return out
}()

// NewRefusals knows the calls of a GOARCH; inet is Options.Inet.
func NewRefusals(goarch string, inet bool) (*Refusals, error) {
	t, ok := tables[goarch]
	if !ok {
		return nil, ErrArch
	}
	r := &Refusals{nr: map[uint32]uint16{}, inet: inet, arch: t}
	first := kindFamily + 1 + families45
	for i, name := range denied {
		if nr, ok := t.nr[name]; ok {
			r.nr[nr] = uint16(first + i)
		}
	}
	return r, nil
}

// Of returns the kind of a refused call and its error; ok is false for a call that is never refused. It does not allocate.
func (r *Refusals) Of(nr uint32, args [6]uint64) (kind int, errno uint32, ok bool) {
	if k, ok := r.nr[nr]; ok {
		return int(k), EPERM, true
	}
	switch nr {
	case r.arch.nr["clone"]:
		return kindClone, EPERM, uint32(args[0])&(cloneNewNS|cloneParent) != 0 // else a new process, which is asked for as such
	case r.arch.nr["prlimit64"]:
		return kindLimit, EPERM, true
	case r.arch.nr["ioctl"]:
		if uint32(args[1]) == tioclinux { //nolint:gocritic // the kernel looks at the low word alone
			return kindLinux, EPERM, true
		}
		return kindSticky, EPERM, true
	case r.arch.nr["socketpair"]:
		return kindPair, EACCES, true
	case r.arch.nr["socket"]:
		return r.socket(uint32(args[0]), uint32(args[1])&sockTypeMask, uint32(args[2])), EACCES, true
	}
	return 0, 0, false
}

func (r *Refusals) socket(family, kind, protocol uint32) int {
	inet := family == afInet || family == afInet6
	switch {
	case inet && kind != sockStream && kind != sockDgram:
		return kindRaw4 + b2i(family == afInet6)
	case inet && r.inet || inet && protocol != 0 && protocol != 6 && protocol != 17:
		return kindProtocol
	case inet:
		return kindInet4 + b2i(family == afInet6)
	case family < families45:
		return kindFamily + 1 + int(family)
	}
	return kindFamily
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
