package sign

import (
	"strconv"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Keys is what a key resolution could establish. Without a Registry stage 4 fails, for Reason: an
// incomplete, unavailable or superseded registry is no evidence, and on the wire all of that looks the same. The caller is
// the trusted seam: it says only what it knows to be one coherent, current and complete revision.
type Keys struct {
	Registry *Registry
	Reason   error // why there is none; nil = CodeNoEvidence
}

// ReadRegistry reads a registry from its JSON text, in the order of D5. Its errors are those of canon.Read and NewRegistry.
// limits are canon's; a registry of 1,000 keys is about 400 kB.
func ReadRegistry(text []byte, limits canon.Limits) (*Registry, error) {
	d, err := canon.Read(text, limits)
	if err != nil {
		return nil, err
	}
	if err := d.Model(); err != nil {
		return nil, err
	}
	p := registryText{d}
	if err := p.exactly(canon.Root, []string{"organizationId", "bindings"}, nil); err != nil {
		return nil, err
	}
	organization, err := p.text(canon.Root, "organizationId")
	if err != nil {
		return nil, err
	}
	list, _ := d.Member(canon.Root, "bindings")
	if d.Kind(list) != canon.Array {
		return nil, p.wrong(list)
	}
	bindings := make([]Binding, d.Len(list))
	for i := range bindings {
		_, at := d.Item(list, i)
		if bindings[i], err = p.binding(at); err != nil {
			return nil, err
		}
	}
	return NewRegistry(organization, bindings)
}

type registryText struct{ *canon.Doc }

func (p registryText) wrong(n int) error { return fault.New(CodeRegistryForm, "pointer", p.Pointer(n)) }

// exactly reports whether n is an object with all of the needed members and no others but the optional.
func (p registryText) exactly(n int, needed, optional []string) error {
	if p.Kind(n) != canon.Object {
		return p.wrong(n)
	}
	count := 0
	for _, name := range needed {
		if _, ok := p.Member(n, name); !ok {
			return p.wrong(n)
		}
		count++
	}
	for _, name := range optional {
		if _, ok := p.Member(n, name); ok {
			count++
		}
	}
	if count != p.Len(n) {
		return p.wrong(n)
	}
	return nil
}

func (p registryText) text(n int, name string) (string, error) {
	b, ok := text(p.Doc, n, name)
	if !ok {
		return "", p.wrong(n)
	}
	return string(b), nil
}

func (p registryText) binding(n int) (b Binding, err error) {
	if err := p.exactly(n, []string{"keyId", "principal", "algorithm", "publicKey", "validFrom", "validityHistory"}, nil); err != nil {
		return b, err
	}
	principal, _ := p.Member(n, "principal")
	if err := p.exactly(principal, []string{"type", "id"}, nil); err != nil {
		return b, err
	}
	for _, f := range []struct {
		to   *string
		in   int
		name string
	}{
		{&b.KeyID, n, "keyId"},
		{&b.Algorithm, n, "algorithm"},
		{&b.PublicKey, n, "publicKey"},
		{&b.ValidFrom, n, "validFrom"},
		{&b.Principal.Type, principal, "type"},
		{&b.Principal.ID, principal, "id"},
	} {
		if *f.to, err = p.text(f.in, f.name); err != nil {
			return b, err
		}
	}
	history, _ := p.Member(n, "validityHistory")
	if p.Kind(history) != canon.Array {
		return b, p.wrong(history)
	}
	for i := range p.Len(history) {
		_, at := p.Item(history, i)
		s, err := p.status(at)
		if err != nil {
			return b, err
		}
		b.History = append(b.History, s)
	}
	return b, nil
}

func (p registryText) status(n int) (s Status, err error) {
	if err := p.exactly(n, []string{"sequence", "recordedAt"}, []string{"validUntil", "revokedAt"}); err != nil {
		return s, err
	}
	at, _ := p.Member(n, "sequence")
	if s.Sequence, err = sequence(p.Doc, at); err != nil {
		return s, p.wrong(at)
	}
	if s.RecordedAt, err = p.text(n, "recordedAt"); err != nil {
		return s, err
	}
	for name, to := range map[string]*string{"validUntil": &s.ValidUntil, "revokedAt": &s.RevokedAt} { // a set: both are read the same way
		at, has := p.Member(n, name)
		if !has {
			continue
		}
		if *to, err = p.text(n, name); err != nil {
			return s, err
		}
		if *to == "" { // there, but no time: not the same as absent
			return s, fault.New(CodeRegistryTime, "pointer", p.Pointer(at))
		}
	}
	return s, nil
}

// sequence is a whole number from 1 to 2^53-1, however it is written (42.0 is one).
func sequence(d *canon.Doc, n int) (uint64, error) {
	if d.Kind(n) != canon.Number {
		return 0, strconv.ErrSyntax
	}
	plain, err := d.AppendValue(nil, n)
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseUint(string(plain), 10, 64)
	if err == nil && (v == 0 || v > 1<<53-1) {
		err = strconv.ErrRange
	}
	return v, err
}
