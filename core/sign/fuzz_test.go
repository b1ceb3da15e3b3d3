package sign_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
)

// respell writes a document with its members backwards, every character escaped, numbers as exponents and white space all
// over: another text of the same value.
func respell(b *strings.Builder, d *canon.Doc, n int) {
	gap := func() { b.WriteString(" \n\t\r") }
	quote := func(text []byte) {
		b.WriteByte('"')
		for _, r := range string(text) {
			if r > 0xffff {
				r -= 0x10000
				fmt.Fprintf(b, `\u%04x\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
				continue
			}
			fmt.Fprintf(b, `\u%04X`, r)
		}
		b.WriteByte('"')
	}
	gap()
	switch d.Kind(n) {
	case canon.Object, canon.Array:
		open, end := "[", "]"
		if d.Kind(n) == canon.Object {
			open, end = "{", "}"
		}
		b.WriteString(open)
		for k := range d.Len(n) {
			i := k
			if d.Kind(n) == canon.Object {
				i = d.Len(n) - 1 - k
			}
			if k > 0 {
				b.WriteByte(',')
			}
			name, value := d.Item(n, i)
			if d.Kind(n) == canon.Object {
				gap()
				quote(name)
				gap()
				b.WriteByte(':')
			}
			respell(b, d, value)
			gap()
		}
		gap()
		b.WriteString(end)
	case canon.String:
		quote(d.Text(n))
	case canon.Number:
		b.Write(d.Text(n))
		if text := string(d.Text(n)); !strings.ContainsAny(text, "eE") && len(text) < 50 {
			b.WriteString("e+0")
		}
	default:
		b.Write(d.Text(n))
	}
}

// Whatever arrives: no panic, no result with an error, and no other verdict for another text of the same value.
func FuzzVerify(f *testing.F) {
	v := sign.NewVerifier(anything{}, canon.Limits{})
	k := key(f, "urn:x:key", seedA)
	keys := registry(f, binding(k, sign.Agent), binding(key(f, "urn:x:other", seedB), sign.Service))
	for i, p := range sign.Profiles() {
		signed, err := v.Sign(p, text(f, document(p, sign.Agent)), k)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i), signed)
		f.Add(byte(i+1), signed)
	}
	f.Add(byte(3), []byte(`{"issuedAt":"2026-07-15T00:00:00Z","actor":{"type":"agent","id":"x"},"signature":{"algorithm":"Ed25519","keyId":"","createdAt":"","value":"\ud800"},"n":1e999}`))
	f.Fuzz(func(t *testing.T, which byte, doc []byte) {
		p := sign.Profiles()[int(which)%9]
		got, err := v.Verify(p, doc, keys)
		if (err == nil) == (got == sign.Verified{}) || (err == nil) != (sign.FailureOf(err) == nil) {
			t.Fatalf("%q: %+v with %v", doc, got, err)
		}
		d, readErr := canon.Read(doc, canon.Limits{})
		if readErr != nil {
			if sign.FailureOf(err).Stage != sign.Parse {
				t.Fatalf("%q: %v, though it cannot be read", doc, err)
			}
			return
		}
		if d.Model() != nil {
			return
		}
		var b strings.Builder
		respell(&b, d, canon.Root)
		form, _ := d.Append(nil)
		for _, same := range []string{string(form), b.String()} {
			again, err2 := v.Verify(p, []byte(same), keys)
			if len(same) > 1<<20 {
				return
			}
			if verdict(err) != verdict(err2) || (err == nil && again != got) {
				t.Fatalf("%q: %v\nrespelled %q: %v", doc, err, same, err2)
			}
		}
	})
}

func FuzzReadRegistry(f *testing.F) {
	f.Add([]byte(`{"organizationId":"urn:x:org","bindings":[{"keyId":"urn:x:a","principal":{"type":"agent","id":"urn:x:agent"},"algorithm":"Ed25519","publicKey":"` +
		key(f, "urn:x:a", seedA).Public() + `","validFrom":"2026-07-01T00:00:00Z","validityHistory":[{"sequence":1,"recordedAt":"2026-07-01T00:00:00Z"}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := sign.ReadRegistry(text, canon.Limits{})
		if (r == nil) != (err != nil) {
			t.Fatalf("%q: %v with %v", text, r, err)
		}
		if err == nil && (r.Len() == 0 || r.Follow(r) != nil) {
			t.Fatalf("%q does not follow itself", text)
		}
	})
}

// D4: a spelling is taken when it is the one that its bytes are written as.
func FuzzPublicKey(f *testing.F) {
	f.Add(key(f, "urn:x:a", seedA).Public())
	f.Fuzz(func(t *testing.T, text string) {
		k, err := sign.PublicKey(text)
		if (k == nil) != (err != nil) {
			t.Fatalf("%q: %x with %v", text, k, err)
		}
		if err == nil && (base64.RawURLEncoding.EncodeToString(k) != text || !utf8.ValidString(text)) {
			t.Fatalf("%q is another spelling of %x", text, k)
		}
	})
}
