package sign

import (
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/agent-mcp/agent-mcp/core/curve"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/core/uri"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Codes of a registry that is no evidence (R-6.4.6 to, D5). binding counts from 0.
const (
	CodeRegistryForm    fault.Code = "sign.registry_form"    // args: pointer — not exactly the members that a registry has
	CodeRegistryID      fault.Code = "sign.registry_id"      // args: pointer — no absolute URI
	CodeRegistryKey     fault.Code = "sign.registry_key"     // args: pointer, key — no canonical base64url of a strict Ed25519 public key
	CodeRegistryTime    fault.Code = "sign.registry_time"    // args: pointer — no timestamp of the profile
	CodeRegistryRebound fault.Code = "sign.registry_rebound" // args: key — one key id, two bindings
	CodeRegistryShared  fault.Code = "sign.registry_shared"  // args: key, other — one public key, two key ids or Principals
	CodeRegistryHistory fault.Code = "sign.registry_history" // args: key, sequence — a gap, a contradiction, or a validity that was extended
	CodeRegistryDropped fault.Code = "sign.registry_dropped" // args: key — a later registry has lost or rewritten what an earlier one had
)

// Status is one entry of a key's validity history. Times are texts as they were recorded; "" is none.
type Status struct {
	Sequence              uint64 // 1, 2, 3…
	RecordedAt            string
	ValidUntil, RevokedAt string
}

// Binding ties a key id to a Principal and a public key, for good.
type Binding struct {
	KeyID     string
	Principal Principal
	Algorithm string
	PublicKey string // canonical base64url of 32 bytes
	ValidFrom string
	History   []Status
}

// Registry is the whole evidence of one Organization at one revision: every binding with its whole history, all of them
// checked before any is used. It does not change; a new revision is a new Registry that Follow has accepted.
type Registry struct {
	organization string
	keys         map[string]*key
}

// key is a binding that was accepted.
type key struct {
	id        string
	principal Principal
	public    ed25519.PublicKey
	interval  Interval
	history   []status
}

type status struct {
	recorded       stamp.Instant
	until, revoked *stamp.Instant
}

// NewRegistry checks all bindings of an Organization: identifiers, keys, times, that no key id and no public key is used for
// two things, and that no history was rewritten. A binding may be repeated; its histories are then one. The first thing that
// is wrong is the error, and there is no Registry: one bad binding makes all of it no evidence, used or not.
func NewRegistry(organization string, bindings []Binding) (*Registry, error) {
	if !uri.Valid(organization) {
		return nil, fault.New(CodeRegistryID, "pointer", "/organizationId")
	}
	if len(bindings) == 0 {
		return nil, fault.New(CodeRegistryForm, "pointer", "/bindings")
	}
	r := &Registry{organization, make(map[string]*key, len(bindings))}
	histories := make(map[string][]Status, len(bindings))
	owners := make(map[string]string, len(bindings)) // public key → key id
	for i, b := range bindings {
		k, err := accept(b, fmt.Sprintf("/bindings/%d", i))
		if err != nil {
			return nil, err
		}
		if first := r.keys[k.id]; first == nil {
			r.keys[k.id] = k
		} else if first.principal != k.principal || !first.public.Equal(k.public) || first.interval.From.Compare(k.interval.From) != 0 {
			return nil, fault.New(CodeRegistryRebound, "key", k.id)
		}
		if owner, taken := owners[string(k.public)]; taken && owner != k.id {
			return nil, fault.New(CodeRegistryShared, "key", k.id, "other", owner)
		}
		owners[string(k.public)] = k.id
		histories[k.id] = append(histories[k.id], b.History...)
	}
	for _, b := range bindings { // in their order, so that the first error is always the same
		if err := r.keys[b.KeyID].record(histories[b.KeyID]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// accept checks what a binding says by itself. pointer names it in a JSON text.
func accept(b Binding, pointer string) (*key, error) {
	k := &key{id: b.KeyID, principal: b.Principal}
	switch t := b.Principal.Type; {
	case !uri.Valid(b.KeyID):
		return nil, fault.New(CodeRegistryID, "pointer", pointer+"/keyId")
	case t != Agent && t != Human && t != Service:
		return nil, fault.New(CodeRegistryForm, "pointer", pointer+"/principal/type")
	case !uri.Valid(b.Principal.ID):
		return nil, fault.New(CodeRegistryID, "pointer", pointer+"/principal/id")
	case b.Algorithm != Algorithm:
		return nil, fault.New(CodeRegistryForm, "pointer", pointer+"/algorithm")
	}
	var err error
	if k.public, err = PublicKey(b.PublicKey); err != nil {
		return nil, fault.Wrap(err, CodeRegistryKey, "pointer", pointer+"/publicKey", "key", b.KeyID)
	}
	var ok bool
	if k.interval.From, ok = stamp.Parse(b.ValidFrom); !ok {
		return nil, fault.New(CodeRegistryTime, "pointer", pointer+"/validFrom")
	}
	for i, s := range b.History {
		for _, t := range []struct {
			name, text string
			needed     bool
		}{{"recordedAt", s.RecordedAt, true}, {"validUntil", s.ValidUntil, false}, {"revokedAt", s.RevokedAt, false}} {
			if !stamp.Valid(t.text) && (t.needed || t.text != "") {
				return nil, fault.New(CodeRegistryTime, "pointer", fmt.Sprintf("%s/validityHistory/%d/%s", pointer, i, t.name))
			}
		}
	}
	return k, nil
}

// PublicKey reads a public key strictly: canonical base64url of 32 bytes that are the one encoding of a point of
// prime order. It fails with CodeKeyEncoding or CodeKeyPoint.
func PublicKey(text string) (ed25519.PublicKey, error) {
	var b [curve.Size]byte
	if n, ok := decode64(b[:], []byte(text)); !ok || n != len(b) {
		return nil, fault.New(CodeKeyEncoding)
	}
	p, ok := curve.Decode(&b)
	if !ok || p.Identity() || !p.InGroup() {
		return nil, fault.New(CodeKeyPoint)
	}
	return b[:], nil
}

// record puts the entries of all repetitions in order and checks that they are one history: the same sequence twice is the
// same entry, none is missing, time does not go back, and a validity is never extended.
func (k *key) record(entries []Status) error {
	entries = slices.Clone(entries)
	slices.SortStableFunc(entries, func(a, b Status) int {
		switch {
		case a.Sequence < b.Sequence:
			return -1
		case a.Sequence > b.Sequence:
			return 1
		}
		return 0
	})
	k.history, k.interval.Until, k.interval.Revoked = nil, nil, nil
	for _, e := range entries {
		s := status{until: instant(e.ValidUntil), revoked: instant(e.RevokedAt)}
		s.recorded, _ = stamp.Parse(e.RecordedAt)
		wrong := fault.New(CodeRegistryHistory, "key", k.id, "sequence", e.Sequence)
		n := uint64(len(k.history))
		switch {
		case e.Sequence == n && n > 0:
			if !k.history[n-1].same(s) {
				return wrong
			}
			continue
		case e.Sequence != n+1 || n > 0 && s.recorded.Compare(k.history[n-1].recorded) < 0:
			return wrong
		case later(s.until, k.interval.Until) || later(s.revoked, k.interval.Revoked):
			return wrong
		}
		k.history = append(k.history, s)
		if s.until != nil {
			k.interval.Until = s.until
		}
		if s.revoked != nil {
			k.interval.Revoked = s.revoked
		}
	}
	return nil
}

// later reports whether b moves to a later moment. An entry that says nothing changes nothing.
func later(b, before *stamp.Instant) bool {
	return b != nil && before != nil && b.Compare(*before) > 0
}

func (s status) same(o status) bool {
	equal := func(a, b *stamp.Instant) bool { return (a == nil) == (b == nil) && (a == nil || a.Compare(*b) == 0) }
	return s.recorded.Compare(o.recorded) == 0 && equal(s.until, o.until) && equal(s.revoked, o.revoked)
}

// instant of a text that was found valid, nil for "".
func instant(text string) *stamp.Instant {
	if text == "" {
		return nil
	}
	at, _ := stamp.Parse(text)
	return &at
}

// Organization is whose registry it is.
func (r *Registry) Organization() string { return r.organization }

// Len is the number of keys.
func (r *Registry) Len() int { return len(r.keys) }

// Follow reports whether next may take the place of r: the same Organization, every key still there with the same
// Principal, public key and first validity, and every history only longer. It fails with CodeRegistryDropped.
func (r *Registry) Follow(next *Registry) error {
	if next.organization != r.organization {
		return fault.New(CodeRegistryDropped, "key", r.organization)
	}
	ids := make([]string, 0, len(r.keys))
	for id := range r.keys { // order is made explicit below
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		k, n := r.keys[id], next.keys[id]
		kept := n != nil && n.principal == k.principal && n.public.Equal(k.public) && n.interval.From.Compare(k.interval.From) == 0 && len(n.history) >= len(k.history)
		for i := 0; kept && i < len(k.history); i++ {
			kept = k.history[i].same(n.history[i])
		}
		if !kept {
			return fault.New(CodeRegistryDropped, "key", id)
		}
	}
	return nil
}
