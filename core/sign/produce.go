package sign

import (
	"crypto/ed25519"
	"encoding/base64"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/core/uri"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Codes of a signing key.
const (
	CodeSeed   fault.Code = "sign.seed"    // no seed of 32 bytes
	CodeSeedID fault.Code = "sign.seed_id" // args: key — the key id is no absolute URI
)

// Key signs. It holds a secret: it is never printed, and String says only its id.
type Key struct {
	id      string
	private ed25519.PrivateKey
}

// NewKey makes a key of its id and its seed (RFC 8032 section 5.1.5), in canonical base64url.
func NewKey(id, seed string) (Key, error) {
	if !uri.Valid(id) {
		return Key{}, fault.New(CodeSeedID, "key", id)
	}
	var b [ed25519.SeedSize]byte
	if n, ok := decode64(b[:], []byte(seed)); !ok || n != len(b) {
		return Key{}, fault.New(CodeSeed)
	}
	return Key{id, ed25519.NewKeyFromSeed(b[:])}, nil
}

// ID is the key id that signatures name.
func (k Key) ID() string { return k.id }

// String is the key id: a key in a message gives nothing away.
func (k Key) String() string { return "key " + k.id }

// GoString is String.
func (k Key) GoString() string { return k.String() }

// Public is the public key in canonical base64url, as a registry has it.
func (k Key) Public() string {
	return base64.RawURLEncoding.EncodeToString(k.private.Public().(ed25519.PublicKey))
}

// Sign signs a document of profile p and returns it in canonical form, with a signature whose createdAt is the document's own
// protected time. A signature that it had is replaced. What is returned has passed stages 1 to 3, 5
// and 6 of Verify with this key; else the error is a *Failure and there is no document. Whether a registry has bound the key
// to the signer named is Verify's question.
func (v *Verifier) Sign(p Profile, text []byte, k Key) ([]byte, error) {
	l, ok := p.layout()
	if !ok {
		return nil, failed(Schema, fault.New(CodeProfile, "profile", string(p)))
	}
	if len(k.private) == 0 {
		return nil, failed(Envelope, fault.New(CodeSeed))
	}
	signed, err := v.draft(l, text, k)
	if err != nil {
		return nil, err
	}
	s := v.take()
	defer v.give(s)
	e, err := v.open(s, p, signed)
	if err != nil {
		return nil, err
	}
	if _, err := e.close(s, k.private.Public().(ed25519.PublicKey)); err != nil {
		return nil, err
	}
	return signed, nil
}

// draft puts the signature beside the members it covers.
func (v *Verifier) draft(l layout, unsigned []byte, k Key) ([]byte, error) {
	d, err := canon.Read(unsigned, v.limits)
	if err != nil {
		return nil, failed(Parse, err)
	}
	if d.Kind(canon.Root) != canon.Object {
		return nil, failed(Schema, fault.New(CodeShape, "pointer", ""))
	}
	at, ok := text(d, canon.Root, l.time)
	if !ok {
		return nil, failed(Schema, fault.New(CodeShape, "pointer", "/"+l.time))
	}
	if !stamp.UTC(at) {
		return nil, failed(Envelope, fault.New(CodeTimeForm, "pointer", "/"+l.time))
	}
	body, err := d.AppendWithout(nil, "signature")
	if err != nil {
		return nil, failed(Canonicalization, err)
	}
	out := make([]byte, 0, len(body)+512)
	out = append(out, body[:len(body)-1]...)
	out = append(out, `,"signature":{"algorithm":"`+Algorithm+`","createdAt":`...)
	out = canon.AppendString(out, at)
	out = canon.AppendString(append(out, `,"keyId":`...), k.id)
	out = append(out, `,"value":"`...)
	out = base64.RawURLEncoding.AppendEncode(out, ed25519.Sign(k.private, body))
	signed, err := canon.Canonical(append(out, `"}}`...))
	if err != nil {
		return nil, failed(Canonicalization, err)
	}
	return signed, nil
}
