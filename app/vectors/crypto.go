package vectors

import (
	"bytes"
	"fmt"

	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

type principal struct{ Type, ID string }

func (p principal) value() sign.Principal { return sign.Principal{Type: p.Type, ID: p.ID} }

type cryptoCase struct {
	ID          string
	Evaluations []cryptoEvaluation
}

type cryptoEvaluation struct {
	ProfileID, Document, Registry, SigningKey string
	Input, ExpectedJcs, SHA256                string // canonicalization alone
	Fault                                     *struct{ ID string }
	Expect                                    struct {
		Stage, WireCode string
		Verified        struct {
			KeyID                                    string
			Principal                                principal
			ProtectedTime, SigningBytes, SigningHash string
			Signature, SignedDocumentHash            string
		}
	}
}

// cryptography runs the signed-document evaluations.
func (r *runner) cryptography(b *Bundle) error {
	var m struct {
		FixtureSchemas struct{ Registry, SigningKey string }
		Cases          []cryptoCase
	}
	if err := r.manifest(b, "cryptography/manifest.json", "cryptography/manifest", &m); err != nil {
		return err
	}
	r.digest = b.Digest
	for _, c := range m.Cases {
		for i, e := range c.Evaluations {
			id := c.ID
			if len(c.Evaluations) > 1 {
				id = fmt.Sprintf("%s/%d", c.ID, i+1)
			}
			if e.Fault != nil {
				id = c.ID + "/" + e.Fault.ID
			} else if e.ProfileID != "" && len(c.Evaluations) > 1 {
				id = c.ID + "/" + e.ProfileID
			}
			got, err := r.cryptoEvaluation(e)
			if err != nil {
				return err
			}
			got.ID = id
			b.Evaluations = append(b.Evaluations, got)
		}
	}
	return nil
}

// say writes an outcome on one line.
func say(parts ...string) (out string) {
	for _, p := range parts {
		if p != "" {
			if out != "" {
				out += " "
			}
			out += p
		}
	}
	return out
}

func (r *runner) cryptoEvaluation(e cryptoEvaluation) (Evaluation, error) {
	if e.Input != "" {
		return r.canonicalization(e)
	}
	document, err := r.listed(e.Document)
	if err != nil {
		return Evaluation{}, err
	}
	keys, err := r.keys(e.Registry)
	if err != nil {
		return Evaluation{}, err
	}
	out := Evaluation{Want: say(e.Expect.Stage, e.Expect.WireCode)}
	v, err := r.verifier.Verify(sign.Profile(e.ProfileID), document, keys)
	if f := sign.FailureOf(err); f != nil {
		out.Got, out.Reason = say(f.Stage.String(), string(f.Wire())), f.Reason
		out.OK = out.Got == out.Want && v == (sign.Verified{})
		return out, nil
	}
	out.Got = sign.Complete.String()
	if err := r.complete(e, document, v); err != nil {
		out.Reason = fault.From(err)
		return out, nil
	}
	out.OK = out.Got == out.Want
	return out, nil
}

// keys reads a registry fixture; one that is no evidence is told at stage 4.
func (r *runner) keys(name string) (sign.Keys, error) {
	text, err := r.fixture(name, "cryptography/registry-fixture", nil)
	if err != nil {
		return sign.Keys{}, err
	}
	registry, err := sign.ReadRegistry(text, signed.Limits())
	return sign.Keys{Registry: registry, Reason: err}, nil
}

// complete compares all that an accepted document must give: key, Principal, time, bytes, hashes, and that signing it anew
// with its key gives the very same document.
func (r *runner) complete(e cryptoEvaluation, document []byte, v sign.Verified) error {
	want := e.Expect.Verified
	doc, err := canon.Read(document, canon.Limits{})
	if err != nil {
		return err
	}
	body, err := doc.AppendWithout(nil, "signature")
	if err != nil {
		return err
	}
	whole, err := doc.Append(nil)
	if err != nil {
		return err
	}
	signing, err := r.listed(want.SigningBytes)
	if err != nil {
		return err
	}
	var seed struct{ KeyID, Seed string }
	if _, err := r.fixture(e.SigningKey, "cryptography/signing-key-fixture", &seed); err != nil {
		return err
	}
	key, err := sign.NewKey(seed.KeyID, seed.Seed)
	if err != nil {
		return err
	}
	again, err := r.verifier.Sign(v.Profile, document, key)
	if err != nil {
		return err
	}
	for _, c := range []struct{ what, want, got string }{
		{"keyId", want.KeyID, v.KeyID},
		{"principal", say(want.Principal.Type, want.Principal.ID), say(v.Principal.Type, v.Principal.ID)},
		{"protectedTime", want.ProtectedTime, v.Time},
		{"signingHash", want.SigningHash, v.Hash},
		{"signingBytes", string(signing), string(body)},
		{"signedDocumentHash", want.SignedDocumentHash, sign.Hash(whole)},
		{"document signed again", string(whole), string(again)},
	} {
		if c.want != c.got {
			return fault.New(CodeOther, "what", c.what, "want", c.want, "got", c.got)
		}
	}
	if !bytes.Contains(again, []byte(`"value":"`+want.Signature+`"`)) {
		return fault.New(CodeOther, "what", "signature", "want", want.Signature, "got", "")
	}
	return nil
}

func (r *runner) canonicalization(e cryptoEvaluation) (Evaluation, error) {
	input, err := r.listed(e.Input)
	if err != nil {
		return Evaluation{}, err
	}
	want, err := r.listed(e.ExpectedJcs)
	if err != nil {
		return Evaluation{}, err
	}
	out := Evaluation{Want: e.SHA256}
	form, err := signed.Canon(input)
	if err != nil {
		out.Reason = fault.From(err)
		return out, nil
	}
	out.Got = sign.Hash(form)
	out.OK = out.Got == out.Want && bytes.Equal(form, want)
	return out, nil
}
