package win32

import (
	"io/fs"
	"net/netip"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	fwpuclnt    = windows.NewLazySystemDLL("fwpuclnt.dll")
	firewallapi = windows.NewLazySystemDLL("firewallapi.dll")

	procEngineOpen          = fwpuclnt.NewProc("FwpmEngineOpen0")
	procEngineClose         = fwpuclnt.NewProc("FwpmEngineClose0")
	procTransactionBegin    = fwpuclnt.NewProc("FwpmTransactionBegin0")
	procTransactionCommit   = fwpuclnt.NewProc("FwpmTransactionCommit0")
	procTransactionAbort    = fwpuclnt.NewProc("FwpmTransactionAbort0")
	procSubLayerAdd         = fwpuclnt.NewProc("FwpmSubLayerAdd0")
	procSubLayerDeleteByKey = fwpuclnt.NewProc("FwpmSubLayerDeleteByKey0")
	procFilterAdd           = fwpuclnt.NewProc("FwpmFilterAdd0")
	procFilterDeleteByKey   = fwpuclnt.NewProc("FwpmFilterDeleteByKey0")
	procGetConfig           = firewallapi.NewProc("NetworkIsolationGetAppContainerConfig")
	procSetConfig           = firewallapi.NewProc("NetworkIsolationSetAppContainerConfig")
)

// Structures of fwpmtypes.h and fwptypes.h on 64-bit systems.
type (
	displayData struct{ name, description *uint16 }
	byteBlob    struct {
		size uint32
		data *byte
	}
	fwpValue struct {
		kind  uint32
		value uintptr // or a pointer
	}
	session struct {
		key     windows.GUID
		display displayData
		flags   uint32
		wait    uint32
		pid     uint32
		sid     *windows.SID
		user    *uint16
		kernel  uint32
		_       uint32
	}
	subLayer struct {
		key      windows.GUID
		display  displayData
		flags    uint32
		provider *windows.GUID
		data     byteBlob
		weight   uint16
	}
	condition struct {
		field windows.GUID
		match uint32
		value fwpValue
	}
	filterRecord struct {
		key        windows.GUID
		display    displayData
		flags      uint32
		provider   *windows.GUID
		data       byteBlob
		layer      windows.GUID
		subLayer   windows.GUID
		weight     fwpValue
		count      uint32
		conditions *condition
		action     uint32
		actionKey  windows.GUID
		_          uint32
		context    [16]byte
		reserved   *windows.GUID
		id         uint64
		effective  fwpValue
	}
	v6Address struct{ bytes [16]byte }
)

// Kinds of values, matches and actions (fwptypes.h).
const (
	kindUint8   = 1
	kindUint16  = 2
	kindUint32  = 3
	kindArray16 = 11
	kindSID     = 13

	matchEqual   = 0
	actionBlock  = 0x1001
	actionPermit = 0x1002

	sessionDynamic = 1
	authnWinNT     = 10

	statusFilterMissing   = 0x80320003
	statusSubLayerMissing = 0x80320007
	statusExists          = 0x80320009
)

// status turns what an Fwpm function returns into an error.
func status(code uintptr) error {
	switch code {
	case 0:
		return nil
	case statusFilterMissing, statusSubLayerMissing:
		return fs.ErrNotExist
	case statusExists:
		return fs.ErrExist
	}
	return windows.Errno(code)
}

func call(p *windows.LazyProc, args ...uintptr) error {
	if err := p.Find(); err != nil {
		return err
	}
	code, _, _ := p.Call(args...)
	return status(code)
}

func label() *uint16 {
	p, _ := windows.UTF16PtrFromString("agent-mcp sandbox")
	return p
}

// OpenEngine opens a session of the filter engine.
func OpenEngine(dynamic bool) (h uintptr, err error) {
	s := session{display: displayData{name: label()}}
	if dynamic {
		s.flags = sessionDynamic
	}
	err = call(procEngineOpen, 0, authnWinNT, 0, uintptr(unsafe.Pointer(&s)), uintptr(unsafe.Pointer(&h)))
	runtime.KeepAlive(&s)
	return h, err
}

// CloseEngine ends a session.
func CloseEngine(h uintptr) error { return call(procEngineClose, h) }

// Begin begins a transaction.
func Begin(h uintptr) error { return call(procTransactionBegin, h, 0) }

// Commit ends a transaction and makes it count.
func Commit(h uintptr) error { return call(procTransactionCommit, h) }

// Abort ends a transaction and drops it.
func Abort(h uintptr) error { return call(procTransactionAbort, h) }

// AddSubLayer adds a sublayer.
func AddSubLayer(engine uintptr, key string, weight uint16) error {
	k, err := windows.GUIDFromString("{" + key + "}")
	if err != nil {
		return err
	}
	s := subLayer{key: k, display: displayData{name: label()}, weight: weight}
	err = call(procSubLayerAdd, engine, uintptr(unsafe.Pointer(&s)), 0)
	runtime.KeepAlive(&s)
	return err
}

// Filter is one filter. Conditions without a value are left out.
type Filter struct {
	Key, Layer, SubLayer       string
	Permit                     bool
	Weight                     uint8
	Package                    string
	Address                    netip.Addr
	Port                       uint16
	Protocol                   uint8
	FieldPackage, FieldAddress string
	FieldPort, FieldProtocol   string
}

// AddFilter adds a filter.
func AddFilter(engine uintptr, f Filter) error {
	sid, err := windows.StringToSid(f.Package)
	if err != nil {
		return err
	}
	r := filterRecord{display: displayData{name: label()}, weight: fwpValue{kindUint8, uintptr(f.Weight)}, action: actionBlock}
	if f.Permit {
		r.action = actionPermit
	}
	var six v6Address
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&six)
	pin.Pin(sid)
	values := []struct {
		field string
		value fwpValue
		use   bool
	}{
		{f.FieldPackage, fwpValue{kindSID, uintptr(unsafe.Pointer(sid))}, true},
		{f.FieldProtocol, fwpValue{kindUint8, uintptr(f.Protocol)}, f.Protocol != 0},
		{f.FieldAddress, address(f.Address, &six), f.Address.IsValid()},
		{f.FieldPort, fwpValue{kindUint16, uintptr(f.Port)}, f.Port != 0},
	}
	var conditions []condition
	for _, v := range values {
		if !v.use {
			continue
		}
		field, err := windows.GUIDFromString("{" + v.field + "}")
		if err != nil {
			return err
		}
		conditions = append(conditions, condition{field: field, match: matchEqual, value: v.value})
	}
	for to, text := range map[*windows.GUID]string{&r.key: f.Key, &r.layer: f.Layer, &r.subLayer: f.SubLayer} {
		if *to, err = windows.GUIDFromString("{" + text + "}"); err != nil {
			return err
		}
	}
	r.count, r.conditions = uint32(len(conditions)), &conditions[0]
	err = call(procFilterAdd, engine, uintptr(unsafe.Pointer(&r)), 0, 0)
	runtime.KeepAlive(&r)
	runtime.KeepAlive(conditions)
	return err
}

// address is a value in the byte order that the engine wants: an IPv4 address is a number.
func address(a netip.Addr, six *v6Address) fwpValue {
	if a.Is4() {
		b := a.As4()
		return fwpValue{kindUint32, uintptr(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))}
	}
	if a.IsValid() {
		six.bytes = a.As16()
	}
	return fwpValue{kindArray16, uintptr(unsafe.Pointer(six))}
}

// DeleteFilter deletes a filter; fs.ErrNotExist when there is none.
func DeleteFilter(engine uintptr, key string) error { return byKey(procFilterDeleteByKey, engine, key) }

// DeleteSubLayer deletes a sublayer; fs.ErrNotExist when there is none.
func DeleteSubLayer(engine uintptr, key string) error {
	return byKey(procSubLayerDeleteByKey, engine, key)
}

func byKey(p *windows.LazyProc, engine uintptr, key string) error {
	k, err := windows.GUIDFromString("{" + key + "}")
	if err != nil {
		return err
	}
	err = call(p, engine, uintptr(unsafe.Pointer(&k)))
	runtime.KeepAlive(&k)
	return err
}

// Exempt is the list of AppContainers that may use the loopback.
func Exempt() (out []string, err error) {
	var n uint32
	var list *windows.SIDAndAttributes
	if err := call(procGetConfig, uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&list))); err != nil || n == 0 {
		return nil, err
	}
	heap, _, _ := procGetProcessHeap.Call()
	for _, s := range unsafe.Slice(list, n) {
		out = append(out, s.Sid.String())
		heapFree(heap, unsafe.Pointer(s.Sid))
	}
	heapFree(heap, unsafe.Pointer(list))
	return out, nil
}

var (
	procGetProcessHeap = kernel32.NewProc("GetProcessHeap")
	procHeapFree       = kernel32.NewProc("HeapFree")
)

func heapFree(heap uintptr, p unsafe.Pointer) { _, _, _ = procHeapFree.Call(heap, 0, uintptr(p)) }

// SetExempt replaces that list.
func SetExempt(list []string) error {
	all := make([]windows.SIDAndAttributes, len(list)+1) // never empty: its address is taken
	var pin runtime.Pinner
	defer pin.Unpin()
	for i, text := range list {
		s, err := windows.StringToSid(text)
		if err != nil {
			return err
		}
		pin.Pin(s)
		all[i].Sid = s
	}
	err := call(procSetConfig, uintptr(len(list)), uintptr(unsafe.Pointer(&all[0])))
	runtime.KeepAlive(all)
	return err
}
