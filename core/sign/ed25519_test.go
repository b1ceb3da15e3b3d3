package sign_test

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/core/sign"
)

// order of the group (RFC 8032 section 5.1).
var order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

func little(n *big.Int) []byte {
	b := n.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	return b
}

func number(b []byte) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	return new(big.Int).SetBytes(b)
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// challenge is k = SHA-512(R ‖ A ‖ M) mod L.
func challenge(r, a, m []byte) *big.Int {
	sum := sha512.Sum512(slices.Concat(r, a, m))
	return new(big.Int).Mod(number(sum[:]), order)
}

// secret is the scalar of a seed (RFC 8032 section 5.1.5).
func secret(seed []byte) *big.Int {
	sum := sha512.Sum512(seed)
	sum[0] &= 248
	sum[31] = sum[31]&63 | 64
	return number(sum[:32])
}

// Points of small order, all spellings.
var small = []string{
	"0100000000000000000000000000000000000000000000000000000000000000",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000080",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
	"0100000000000000000000000000000000000000000000000000000000000080",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}

// edge cases of Ed25519 that implementations answer differently. All of them are forged as well as they
// can be: whoever knows the secret could make them, and the verdict must still be this one.
func TestVerify_Ed25519Edges(t *testing.T) {
	v := sign.NewVerifier(anything{}, canon.Limits{})
	k := key(t, "urn:x:key", seedA)
	keys := registry(t, binding(k, sign.Agent))
	signed, err := v.Sign(sign.Command, text(t, document(sign.Command, sign.Agent)), k)
	require.NoError(t, err)
	doc, err := canon.Read(signed, canon.Limits{})
	require.NoError(t, err)
	m, err := doc.AppendWithout(nil, "signature")
	require.NoError(t, err)
	start := bytes.Index(signed, []byte(`"value":"`)) + len(`"value":"`)
	good, err := base64.RawURLEncoding.DecodeString(string(signed[start : start+86]))
	require.NoError(t, err)
	seed, err := base64.RawURLEncoding.DecodeString(seedA)
	require.NoError(t, err)
	public, err := base64.RawURLEncoding.DecodeString(k.Public())
	require.NoError(t, err)
	r, s := good[:32], number(good[32:])
	judge := func(signature []byte) string {
		bent := slices.Clone(signed)
		copy(bent[start:], base64.RawURLEncoding.EncodeToString(signature))
		_, err := v.Verify(sign.Command, bent, keys)
		return verdict(err)
	}
	join := func(r []byte, s *big.Int) []byte { return slices.Concat(r, little(s)) }
	plus := func(n *big.Int) *big.Int { return new(big.Int).Add(s, n) }
	const (
		badR     = "signature-envelope sign.signature_r"
		badS     = "signature-envelope sign.signature_s"
		equation = "signature sign.equation"
	)
	neutral := unhex(t, small[0])
	identityS := new(big.Int).Mod(new(big.Int).Mul(challenge(neutral, public, m), secret(seed)), order)
	for _, tt := range []struct {
		name      string
		signature []byte
		want      string
	}{
		{"as it was made", good, "complete"},
		{"R is the neutral point, and the equation holds", join(neutral, identityS), "complete"},
		{"R is the neutral point, S is 0", join(neutral, new(big.Int)), equation},
		{"S + L", join(r, plus(order)), badS},
		{"S + 2L", join(r, plus(new(big.Int).Lsh(order, 1))), badS},
		{"S + 7L", join(r, plus(new(big.Int).Mul(order, big.NewInt(7)))), badS},
		{"S = L", join(r, order), badS},
		{"S = L - 1", join(r, new(big.Int).Sub(order, big.NewInt(1))), equation},
		{"S = 0", join(r, new(big.Int)), equation},
		{"S = 1", join(r, big.NewInt(1)), equation},
		{"S = 2^252", join(r, new(big.Int).Lsh(big.NewInt(1), 252)), equation},
		{"S with its highest bit", join(r, new(big.Int).SetBit(s, 255, 1)), badS},
		{"S with bit 253", join(r, new(big.Int).SetBit(s, 253, 1)), badS},
		{"L - S", join(r, new(big.Int).Sub(order, s)), equation},
		{"-R", slices.Concat(r[:31], []byte{r[31] ^ 0x80}, good[32:]), equation},
		{"R = A", join(public, s), equation},
		{"halves exchanged", slices.Concat(good[32:], good[:32]), ""},
		{"all zeros", make([]byte, 64), badR},
		{"all ones", bytes.Repeat([]byte{0xff}, 64), badR},
		{"R = 2", join(append([]byte{2}, make([]byte, 31)...), s), badR},
	} {
		got := judge(tt.signature)
		if tt.want == "" {
			assert.NotEqual(t, "complete", got, tt.name)
			continue
		}
		assert.Equal(t, tt.want, got, tt.name)
	}
	for i, point := range small { // R of small order with an S that a cofactored equation takes
		want := badR
		if i == 0 {
			want = equation
		}
		b := unhex(t, point)
		assert.Equal(t, want, judge(join(b, s)), point)
		forged := new(big.Int).Mod(new(big.Int).Mul(challenge(b, public, m), secret(seed)), order)
		if i > 0 {
			assert.Equal(t, badR, judge(join(b, forged)), point)
		}
	}
	for bit := range 512 { // no bit may differ
		bent := slices.Clone(good)
		bent[bit/8] ^= 1 << (bit % 8)
		got := judge(bent)
		assert.True(t, got == badR || got == badS || got == equation, "bit %d: %s", bit, got)
	}
}

// no public key but the one encoding of a point of prime order, whatever it would verify.
func TestPublicKey_IsStrict(t *testing.T) {
	k := key(t, "urn:x:key", seedA)
	public, err := base64.RawURLEncoding.DecodeString(k.Public())
	require.NoError(t, err)
	encode := base64.RawURLEncoding.EncodeToString
	for name, tt := range map[string]struct{ text, want string }{
		"good":            {k.Public(), ""},
		"the base point":  {encode(unhex(t, "58"+strings.Repeat("66", 31))), ""},
		"31 bytes":        {encode(public[:31]), string(sign.CodeKeyEncoding)},
		"33 bytes":        {encode(append(public, 0)), string(sign.CodeKeyEncoding)},
		"padding":         {k.Public() + "=", string(sign.CodeKeyEncoding)},
		"unused bits":     {k.Public()[:42] + "p", string(sign.CodeKeyEncoding)},
		"another base64":  {strings.NewReplacer("-", "+", "_", "/").Replace(k.Public()), string(sign.CodeKeyEncoding)},
		"a line feed":     {k.Public() + "\n", string(sign.CodeKeyEncoding)},
		"a line feed in":  {k.Public()[:20] + "\n" + k.Public()[20:], string(sign.CodeKeyEncoding)},
		"hexadecimal":     {hex.EncodeToString(public), string(sign.CodeKeyEncoding)},
		"nothing":         {"", string(sign.CodeKeyEncoding)},
		"off the curve":   {encode(append([]byte{2}, make([]byte, 31)...)), string(sign.CodeKeyPoint)},
		"a mixed point":   {encode(unhex(t, "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d")), string(sign.CodeKeyPoint)},
		"negative y sign": {encode(slices.Concat(public[:31], []byte{public[31] ^ 0x80})), ""},
	} {
		_, err := sign.PublicKey(tt.text)
		if tt.want == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, tt.want, name)
		}
	}
	for _, point := range small {
		_, err := sign.PublicKey(encode(unhex(t, point)))
		assert.ErrorContains(t, err, string(sign.CodeKeyPoint), point)
	}
}

// RFC 8032 section 7.1: the published public keys, strictly read.
func TestKey_RFC8032(t *testing.T) {
	for seed, public := range map[string]string{
		"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60": "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
		"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb": "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
		"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7": "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
		"f5e5767cf153319517630f226876b86c8160cc583bc013744c6bf255f5cc0ee5": "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
	} {
		k := key(t, "urn:x:key", base64.RawURLEncoding.EncodeToString(unhex(t, seed)))
		assert.Equal(t, base64.RawURLEncoding.EncodeToString(unhex(t, public)), k.Public())
		_, err := sign.PublicKey(k.Public())
		assert.NoError(t, err)
	}
}
