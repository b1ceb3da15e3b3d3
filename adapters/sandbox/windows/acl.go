package windows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Types and flags of access control entries (MS-DTYP 2.4.4.1).
const (
	aceAllow byte = 0
	aceDeny  byte = 1

	flagFiles       byte = 0x01 // OBJECT_INHERIT: handed down to files
	flagDirs        byte = 0x02 // CONTAINER_INHERIT: handed down to directories
	flagOnce        byte = 0x04 // NO_PROPAGATE: handed down one level only
	flagInheritOnly byte = 0x08 // does not count for the object that has it
	flagInherited   byte = 0x10 // came from above
)

// ace is one entry. Entries of other kinds than plain allow and deny keep their bytes.
type ace struct {
	Type, Flags byte
	Mask        uint32
	SID         sid
	raw         string // the whole entry, for kinds that are not understood
}

func (a ace) inherited() bool { return a.Flags&flagInherited != 0 }

// String is the entry as SDDL writes it, with the mask in hex: "(A;OICI;0x120089;;;S-1-…)".
func (a ace) String() string {
	if a.raw != "" {
		return fmt.Sprintf("(type %d;%s)", a.Type, flagWords(a.Flags))
	}
	kind := "A"
	if a.Type == aceDeny {
		kind = "D"
	}
	return fmt.Sprintf("(%s;%s;%#x;;;%s)", kind, flagWords(a.Flags), a.Mask, a.SID)
}

func flagWords(f byte) string {
	var b strings.Builder
	for i, w := range []string{"OI", "CI", "NP", "IO", "ID"} {
		if f&(1<<i) != 0 {
			b.WriteString(w)
		}
	}
	return b.String()
}

// dacl is the list of an object, with what must not get lost when it is written back.
type dacl struct {
	Null          bool // no list at all: everybody may do everything
	Protected     bool // inherits nothing
	AutoInherited bool
	Revision      byte
	Aces          []ace
	Owner         sid // when it was asked for; never written
}

// clone gives a copy that may be changed.
func (d dacl) clone() dacl {
	d.Aces = slices.Clone(d.Aces)
	return d
}

// Control bits of a security descriptor (MS-DTYP 2.4.6).
const (
	seDACLPresent     = 0x0004
	seAutoInheritReq  = 0x0100
	seAutoInherited   = 0x0400
	seProtected       = 0x1000
	seSelfRelative    = 0x8000
	sdHeader          = 20
	aclHeader         = 8
	aclRevision       = 2
	aclRevisionDS     = 4
	maxACL            = 0xffff
	aceHeader         = 4
	aceFixed          = 8 // header and mask of a plain entry
	offsetOwner       = 4
	offsetDACL        = 16
	offsetControl     = 2
	smallestSIDLength = 8
)

var (
	errDescriptor = errors.New("malformed security descriptor")
	errFull       = errors.New("the access control list is full (64 KiB)")
)

// parseDescriptor reads a self-relative security descriptor.
func parseDescriptor(b []byte) (d dacl, err error) {
	if len(b) < sdHeader || b[0] != 1 {
		return d, errDescriptor
	}
	control := binary.LittleEndian.Uint16(b[offsetControl:])
	if control&seSelfRelative == 0 {
		return d, errDescriptor
	}
	d.Protected, d.AutoInherited = control&seProtected != 0, control&seAutoInherited != 0
	if at := binary.LittleEndian.Uint32(b[offsetOwner:]); at != 0 {
		if int64(at) > int64(len(b)) {
			return d, errDescriptor
		}
		if d.Owner, _, err = parseSID(b[at:]); err != nil {
			return d, err
		}
	}
	at := binary.LittleEndian.Uint32(b[offsetDACL:])
	if control&seDACLPresent == 0 || at == 0 {
		d.Null, d.Revision = true, aclRevision
		return d, nil
	}
	if int64(at)+aclHeader > int64(len(b)) {
		return d, errDescriptor
	}
	return d, d.parseACL(b[at:])
}

func (d *dacl) parseACL(b []byte) error {
	d.Revision = b[0]
	size, count := int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint16(b[4:]))
	if size < aclHeader || size > len(b) || d.Revision < aclRevision || d.Revision > aclRevisionDS {
		return errDescriptor
	}
	b = b[aclHeader:size]
	for range count {
		if len(b) < aceHeader {
			return errDescriptor
		}
		n := int(binary.LittleEndian.Uint16(b[2:]))
		if n < aceHeader || n > len(b) {
			return errDescriptor
		}
		a, err := parseACE(b[:n])
		if err != nil {
			return err
		}
		d.Aces, b = append(d.Aces, a), b[n:]
	}
	return nil
}

func parseACE(b []byte) (ace, error) {
	a := ace{Type: b[0], Flags: b[1]}
	if a.Type != aceAllow && a.Type != aceDeny {
		a.raw = string(b)
		return a, nil
	}
	if len(b) < aceFixed+smallestSIDLength {
		return a, errDescriptor
	}
	a.Mask = binary.LittleEndian.Uint32(b[4:])
	var n int
	var err error
	if a.SID, n, err = parseSID(b[aceFixed:]); err != nil {
		return a, err
	}
	if aceFixed+n != len(b) {
		a.raw = string(b) // something follows that must not get lost
	}
	return a, nil
}

func (a ace) marshal() ([]byte, error) {
	if a.raw != "" {
		b := []byte(a.raw)
		b[1] = a.Flags
		return b, nil
	}
	id, err := a.SID.marshal()
	if err != nil {
		return nil, err
	}
	b := []byte{a.Type, a.Flags, 0, 0, 0, 0, 0, 0}
	binary.LittleEndian.PutUint16(b[2:], uint16(aceFixed+len(id)))
	binary.LittleEndian.PutUint32(b[4:], a.Mask)
	return append(b, id...), nil
}

// marshal gives a self-relative security descriptor that holds the list alone. AUTO_INHERIT_REQ makes the system keep
// AUTO_INHERITED, which it would drop.
func (d dacl) marshal() ([]byte, error) {
	control := uint16(seSelfRelative | seDACLPresent)
	if d.Protected {
		control |= seProtected
	}
	if d.AutoInherited {
		control |= seAutoInherited | seAutoInheritReq
	}
	out := make([]byte, sdHeader)
	out[0] = 1
	binary.LittleEndian.PutUint16(out[offsetControl:], control)
	if d.Null {
		return out, nil
	}
	binary.LittleEndian.PutUint32(out[offsetDACL:], sdHeader)
	list := []byte{max(d.Revision, aclRevision), 0, 0, 0, 0, 0, 0, 0}
	for _, a := range d.Aces {
		b, err := a.marshal()
		if err != nil {
			return nil, err
		}
		list = append(list, b...)
	}
	if len(list) > maxACL {
		return nil, errFull
	}
	binary.LittleEndian.PutUint16(list[2:], uint16(len(list)))
	binary.LittleEndian.PutUint16(list[4:], uint16(len(d.Aces)))
	return append(out, list...), nil
}
