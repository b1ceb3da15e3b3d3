package sign

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/curve"
	"github.com/agent-mcp/agent-mcp/core/stamp"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/schema"
)

// Codes of stages 2 to 6; those of stages 1 and 5 are canon's, those of stage 2 the schema's as well.
const (
	CodeProfile       fault.Code = "sign.profile"        // args: profile — not one of the nine
	CodeShape         fault.Code = "sign.shape"          // args: pointer — the schema let a document pass without what every profile has
	CodeTimeForm      fault.Code = "sign.time_form"      // args: pointer — a protected time does not end in Z
	CodeTimeEqual     fault.Code = "sign.time_equal"     // args: pointer, other — the two texts differ
	CodeSignatureText fault.Code = "sign.signature_text" // no canonical base64url of 64 bytes
	CodeSignatureR    fault.Code = "sign.signature_r"    // R is no strict encoding of a point of the group
	CodeSignatureS    fault.Code = "sign.signature_s"    // S is not below L
	CodeNoEvidence    fault.Code = "sign.no_evidence"    // the registry could not be established
	CodeKeyUnknown    fault.Code = "sign.key_unknown"    // args: key
	CodeKeyOwner      fault.Code = "sign.key_owner"      // args: key — bound to another Principal
	CodeKeyTime       fault.Code = "sign.key_time"       // args: key, time — not valid then
	CodeKeyEncoding   fault.Code = "sign.key_encoding"   // no canonical base64url of 32 bytes
	CodeKeyPoint      fault.Code = "sign.key_point"      // not the encoding of a point of prime order
	CodeEquation      fault.Code = "sign.equation"       // the signature is not of these bytes by this key
)

// Verifier verifies documents. It may be used by several goroutines at once, and it keeps no document.
type Verifier struct {
	schemas schema.Checker
	limits  canon.Limits
	pool    sync.Pool // of *scratch
}

// NewVerifier returns a Verifier with the schemas of the protocol, each under the name of its profile, and the limits of a
// document (the zero value has canon's defaults, which are those of the protocol's frames: gap E5).
func NewVerifier(schemas schema.Checker, limits canon.Limits) *Verifier {
	return &Verifier{schemas: schemas, limits: limits}
}

type scratch struct {
	reader   canon.Reader
	envelope envelope
	bytes    []byte
}

func (v *Verifier) take() *scratch {
	if s, ok := v.pool.Get().(*scratch); ok {
		return s
	}
	return &scratch{}
}

func (v *Verifier) give(s *scratch) {
	if s.envelope = (envelope{}); cap(s.bytes) > 2<<20 {
		s.bytes = nil // more than is worth keeping
	}
	v.pool.Put(s)
}

// Verify runs the six stages. text is not changed and not kept. The error is a *Failure, and then there is no result.
func (v *Verifier) Verify(p Profile, text []byte, keys Keys) (Verified, error) {
	s := v.take()
	defer v.give(s)
	e, err := v.open(s, p, text)
	if err != nil {
		return Verified{}, err
	}
	k, err := e.resolve(keys)
	if err != nil {
		return Verified{}, err
	}
	hash, err := e.close(s, k.public)
	if err != nil {
		return Verified{}, err
	}
	return Verified{
		Profile: p, Organization: keys.Registry.organization, KeyID: k.id, Principal: k.principal,
		Time: e.time, Hash: hash, Interval: k.interval,
	}, nil
}

// envelope is a document after stage 3. It lives in the scratch.
type envelope struct {
	profile Profile
	doc     *canon.Doc
	size    int           // of its text
	time    string        // protected
	at      stamp.Instant // the same
	keyID   []byte
	kind    []byte // of the signer; anyone says that the document names none
	id      []byte
	anyone  bool
	value   [ed25519.SignatureSize]byte
}

// tree is a document as ports/schema sees it; the kinds of both are the same numbers.
type tree struct{ *canon.Doc }

var _ schema.Tree = tree{}

// Kind implements schema.Tree.
func (t tree) Kind(n int) schema.Kind { return schema.Kind(t.Doc.Kind(n)) }

// Tree shows a document to a schema.Checker.
func Tree(d *canon.Doc) schema.Tree { return tree{d} }

// open runs stages 1 to 3.
func (v *Verifier) open(s *scratch, p Profile, text []byte) (*envelope, error) {
	l, ok := p.layout()
	if !ok {
		return nil, failed(Schema, fault.New(CodeProfile, "profile", string(p)))
	}
	d, err := s.reader.Read(text, v.limits)
	if err != nil {
		return nil, failed(Parse, err)
	}
	if err := v.schemas.Check(string(p), tree{d}); err != nil {
		return nil, failed(Schema, err)
	}
	e := &s.envelope
	*e = envelope{profile: p, doc: d, size: len(text)}
	if missing := e.read(l); missing != "" {
		return nil, failed(Schema, fault.New(CodeShape, "pointer", missing))
	}
	return e, e.check(l)
}

// read finds the members that every profile has; the schema has seen to it that they are there.
func (e *envelope) read(l layout) (missing string) {
	time, ok := text(e.doc, canon.Root, l.time)
	if !ok {
		return "/" + l.time
	}
	e.time = string(time)
	if e.kind, e.id, e.anyone, ok = l.signer(e.profile, e.doc); !ok {
		return "/" + l.by
	}
	return ""
}

// signature finds the members of the signature.
func (e *envelope) signature() (created, value []byte, missing string) {
	at, ok := e.doc.Member(canon.Root, "signature")
	if !ok {
		return nil, nil, "/signature"
	}
	for _, f := range []struct {
		to   *[]byte
		name string
	}{{&e.keyID, "keyId"}, {&created, "createdAt"}, {&value, "value"}} {
		if *f.to, ok = text(e.doc, at, f.name); !ok {
			return nil, nil, "/signature/" + f.name
		}
	}
	if algorithm, ok := text(e.doc, at, "algorithm"); !ok || string(algorithm) != Algorithm {
		return nil, nil, "/signature/algorithm"
	}
	return created, value, ""
}

// check is stage 3: times are compared as bytes, nothing is normalised.
func (e *envelope) check(l layout) error {
	created, value, missing := e.signature()
	if missing != "" {
		return failed(Schema, fault.New(CodeShape, "pointer", missing))
	}
	var ok bool
	if e.at, ok = stamp.Parse(e.time); !ok {
		return failed(Schema, fault.New(CodeShape, "pointer", "/"+l.time))
	}
	switch {
	case !stamp.UTC(e.time):
		return failed(Envelope, fault.New(CodeTimeForm, "pointer", "/"+l.time))
	case !stamp.UTC(created):
		return failed(Envelope, fault.New(CodeTimeForm, "pointer", "/signature/createdAt"))
	case e.time != string(created):
		return failed(Envelope, fault.New(CodeTimeEqual, "pointer", "/signature/createdAt", "other", "/"+l.time))
	}
	n, ok := decode64(e.value[:], value)
	if !ok || n != len(e.value) {
		return failed(Envelope, fault.New(CodeSignatureText))
	}
	if point, ok := curve.Decode((*[curve.Size]byte)(e.value[:curve.Size])); !ok || !point.InGroup() {
		return failed(Envelope, fault.New(CodeSignatureR))
	}
	if !curve.Scalar((*[curve.Size]byte)(e.value[curve.Size:])) {
		return failed(Envelope, fault.New(CodeSignatureS))
	}
	return nil
}

// resolve is stage 4: the evidence was checked as a whole when the Registry was made; now the key id selects one key.
func (e *envelope) resolve(keys Keys) (*key, error) {
	if keys.Registry == nil {
		reason := keys.Reason
		if reason == nil {
			reason = fault.New(CodeNoEvidence)
		}
		return nil, failed(Resolution, reason)
	}
	k := keys.Registry.keys[string(e.keyID)]
	switch {
	case k == nil:
		return nil, failed(Resolution, fault.New(CodeKeyUnknown, "key", printable(e.keyID)))
	case e.anyone && k.principal.Type != Service, !e.anyone && (k.principal.Type != string(e.kind) || k.principal.ID != string(e.id)):
		return nil, failed(Resolution, fault.New(CodeKeyOwner, "key", k.id))
	case !k.interval.Contains(e.at):
		return nil, failed(Resolution, fault.New(CodeKeyTime, "key", k.id, "time", e.time))
	}
	return k, nil
}

// close runs stages 5 and 6 and gives the signing hash.
func (e *envelope) close(s *scratch, public ed25519.PublicKey) (hash string, err error) {
	if cap(s.bytes) < e.size {
		s.bytes = make([]byte, 0, e.size)
	}
	if s.bytes, err = e.doc.AppendWithout(s.bytes[:0], "signature"); err != nil {
		return "", failed(Canonicalization, err)
	}
	if !ed25519.Verify(public, s.bytes, e.value[:]) {
		return "", failed(Signature, fault.New(CodeEquation))
	}
	return Hash(s.bytes), nil
}

// Hash is a content hash as the protocol writes it.
func Hash(content []byte) string {
	sum := sha256.Sum256(content)
	out := make([]byte, 0, 7+2*len(sum))
	return string(hex.AppendEncode(append(out, "sha256:"...), sum[:]))
}

func printable(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
