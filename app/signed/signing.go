package signed

import (
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Order to sign.
type Order struct {
	Profile  string // "" = find it
	Text     []byte
	Key      []byte // JSON: keyId, algorithm "Ed25519", seed and publicKey in base64url; testOnly may be there
	Registry []byte // nil = do not ask one whether it accepts the result
}

// Sign signs a document. A Result that is not verified says at which stage the document failed, and then there is no signed
// text. An error is about the order: its key, its profile.
func (d *Desk) Sign(o Order) (text []byte, r Result, err error) {
	key, err := Key(o.Key)
	if err != nil {
		return nil, Result{}, err
	}
	p, detected, err := profile(o.Profile, o.Text)
	if err == nil {
		text, err = d.verifier.Sign(p, o.Text, key)
	}
	r = Result{Profile: string(p), Detected: detected, KeyID: key.ID()}
	if f := sign.FailureOf(err); f != nil {
		return nil, failure(r, f), nil
	}
	if err != nil {
		return nil, Result{}, err
	}
	if o.Registry != nil {
		r, err = d.Verify(Request{Profile: string(p), Text: text, Registry: o.Registry})
		if r.Detected = detected; err != nil || !r.Verified {
			return nil, r, err
		}
		return text, r, nil
	}
	r.Verified = true
	return text, r, nil
}

// Key reads a signing key strictly. Nothing of it but its id is ever in an error.
func Key(text []byte) (sign.Key, error) {
	doc, err := canon.Read(text, canon.Limits{})
	if err == nil {
		err = doc.Model()
	}
	if err != nil || doc.Kind(canon.Root) != canon.Object {
		return sign.Key{}, fault.New(CodeKeyFile)
	}
	found := map[string]string{}
	for i := range doc.Len(canon.Root) {
		name, at := doc.Item(canon.Root, i)
		switch string(name) {
		case "keyId", "algorithm", "seed", "publicKey":
			if doc.Kind(at) != canon.String {
				return sign.Key{}, fault.New(CodeKeyFile)
			}
			found[string(name)] = string(doc.Text(at))
		case "testOnly":
		default:
			return sign.Key{}, fault.New(CodeKeyFile)
		}
	}
	if len(found) != 4 || found["algorithm"] != sign.Algorithm {
		return sign.Key{}, fault.New(CodeKeyFile)
	}
	key, err := sign.NewKey(found["keyId"], found["seed"])
	if err != nil {
		return sign.Key{}, err
	}
	if key.Public() != found["publicKey"] {
		return sign.Key{}, fault.New(CodeKeyPublic)
	}
	return key, nil
}
