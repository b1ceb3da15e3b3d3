package signed_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/schema/compiled"
	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/conformance/weavedata"
	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
)

const commandFile = "cryptography/vectors/signed-documents/valid/command.json"

// place has all that verification needs: the 22 schemas, a registry of n keys with the golden command's among them.
type place struct {
	verifier *sign.Verifier
	keys     sign.Keys
	signer   sign.Key
	command  []byte
}

func setup(t testing.TB, n int) place {
	t.Helper()
	files := weavedata.FS(t, "speed and memory of the six stages with a registry of 1,000 keys")
	k, err := signed.Schemas(files, compiled.New(signed.Formats()), map[string]string{"schemas": ""})
	require.NoError(t, err)
	signer, err := sign.NewKey("urn:missionweaveprotocol:key:crypto-vector-rfc8032-1", "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
	require.NoError(t, err)
	bindings := []sign.Binding{{
		KeyID: signer.ID(), Principal: sign.Principal{Type: sign.Agent, ID: "urn:missionweaveprotocol:agent:crypto-vector-coordinator"},
		Algorithm: sign.Algorithm, PublicKey: signer.Public(), ValidFrom: "2026-07-01T00:00:00Z",
	}}
	for i := 1; i < n; i++ {
		seed := sha256.Sum256([]byte(fmt.Sprint("key ", i)))
		bindings = append(bindings, sign.Binding{
			KeyID: fmt.Sprint("urn:x:key:", i), Principal: sign.Principal{Type: sign.Agent, ID: fmt.Sprint("urn:x:agent:", i)}, Algorithm: sign.Algorithm,
			PublicKey: base64.RawURLEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed[:])[32:]), ValidFrom: "2026-07-01T00:00:00Z",
			History: []sign.Status{{Sequence: 1, RecordedAt: "2026-07-01T00:00:00Z", ValidUntil: "2027-07-01T00:00:00Z"}},
		})
	}
	registry, err := sign.NewRegistry("urn:x:org", bindings)
	require.NoError(t, err)
	return place{sign.NewVerifier(k, canon.Limits{}), sign.Keys{Registry: registry}, signer, weavedata.Read(t, files, commandFile)}
}

// sized is a command whose payload makes it about n bytes long; part is repeated in it.
func (p place) sized(t testing.TB, n int, part string) []byte {
	t.Helper()
	list := strings.Repeat(part+",", (n-len(p.command))/(len(part)+1)) + "0"
	text := strings.Replace(string(p.command), `"payload": {`, `"payload": {"list": [`+list+`],`, 1)
	signed, err := p.verifier.Sign(sign.Command, []byte(text), p.signer)
	require.NoError(t, err)
	return signed
}

// The memory of one verification is pinned: it does not grow with the registry, nor from one document to the next.
func TestVerify_Allocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes a sync.Pool forget at random")
	}
	p := setup(t, 20)
	large := p.sized(t, 60_000, `{"id":"urn:uuid:11111111-2222-4333-8444-555555555555","n":42}`)
	for name, text := range map[string][]byte{"the golden command": p.command, "60 kB": large} {
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			if _, err := p.verifier.Verify(sign.Command, text, p.keys); err != nil {
				panic(err)
			}
		}), 6.0, name)
	}
	var r canon.Reader
	var out []byte
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		d, err := r.Read(p.command, canon.Limits{})
		if err == nil {
			out, err = d.Append(out[:0])
		}
		if err != nil {
			panic(err)
		}
	}), 0.0)
}

// BenchmarkVerify is all six stages of the golden command with a registry of 1,000 keys. Target: 5,000 a second and core,
// 200 µs each.
func BenchmarkVerify(b *testing.B) {
	p := setup(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.verifier.Verify(sign.Command, p.command, p.keys); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseAndCanonical reads the golden command and writes its canonical form. Target: 50,000 a second, 20 µs each.
func BenchmarkParseAndCanonical(b *testing.B) {
	p := setup(b, 1)
	var r canon.Reader
	var out []byte
	b.SetBytes(int64(len(p.command)))
	b.ReportAllocs()
	for b.Loop() {
		d, err := r.Read(p.command, canon.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		out, _ = d.Append(out[:0])
	}
}

// BenchmarkVerifySize: the cost of a byte is the same at every size.
func BenchmarkVerifySize(b *testing.B) {
	p := setup(b, 1000)
	for _, size := range []int{4 << 10, 16 << 10, 64 << 10, 256 << 10, 1<<20 - 4096} {
		text := p.sized(b, size, `{"id":"urn:uuid:11111111-2222-4333-8444-555555555555","note":"As an honest document has it.","n":42}`)
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := p.verifier.Verify(sign.Command, text, p.keys); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkHostile are documents of one size that an enemy would send, beside an honest one of that size: none may cost
// more.
func BenchmarkHostile(b *testing.B) {
	p := setup(b, 1000)
	const size = 128 << 10
	honest := p.sized(b, size, `"plain text of a document that has something to say"`)
	fill := func(open, part, last string) []byte {
		return []byte(open + strings.Repeat(part, (size-len(open)-len(last))/len(part)) + last)
	}
	at := strings.Index(string(honest), `"value":"`) + len(`"value":"`)
	turned := []byte(string(honest[:at]) + strings.ToUpper(string(honest[at:at+20])) + string(honest[at+20:]))
	for _, tt := range []struct {
		name string
		text []byte
	}{
		{"honest", honest},
		{"wrong_signature", []byte(strings.Replace(string(honest), "plain", "plane", 1))},
		{"wrong_R", turned},
		{"depth", fill("", "[", "")},
		{"names", fill(`{"`+strings.Repeat("a", 60), `":1,"`+strings.Repeat("a", 60), `":1}`)},
		{"exponents", fill("[", "1e999999999999999999999999999999,", "0]")},
		{"long_numbers", fill("[", "0.12345678901234567890123456789012345678901234567890123456789,", "0]")},
		{"escapes", fill(`"`, `\ud83d\ude00`, `"`)},
		{"surrogates", fill(`"`, `\ud83d`, `"`)},
		{"nodes", fill("[", "1,", "0]")},
		{"wide_id", []byte(strings.Replace(string(p.command), "urn:uuid:11111111", "urn:"+strings.Repeat("a", size), 1))},
	} {
		b.Run(tt.name, func(b *testing.B) {
			b.SetBytes(int64(len(tt.text)))
			for b.Loop() {
				_, err := p.verifier.Verify(sign.Command, tt.text, p.keys)
				if (err == nil) != (tt.name == "honest") {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRegistry checks all of a registry of 1,000 keys.
func BenchmarkRegistry(b *testing.B) {
	p := setup(b, 1)
	_ = p
	bindings := make([]sign.Binding, 1000)
	for i := range bindings {
		seed := sha256.Sum256([]byte(fmt.Sprint("key ", i)))
		bindings[i] = sign.Binding{
			KeyID: fmt.Sprint("urn:x:key:", i), Principal: sign.Principal{Type: sign.Agent, ID: fmt.Sprint("urn:x:agent:", i)}, Algorithm: sign.Algorithm,
			PublicKey: base64.RawURLEncoding.EncodeToString(ed25519.NewKeyFromSeed(seed[:])[32:]), ValidFrom: "2026-07-01T00:00:00Z",
		}
	}
	for b.Loop() {
		if _, err := sign.NewRegistry("urn:x:org", bindings); err != nil {
			b.Fatal(err)
		}
	}
}
