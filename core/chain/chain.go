// Package chain links records with SHA-256 so that no line can be changed, removed, added or moved unseen. It is the one
// chain of this program: the Audit Log (LOG-03) uses it, and whatever else keeps records later.
//
// A line is one canonical JSON object. Beside the record's own keys it has
//
//	seq      1, 2, 3… without a gap
//	prev     the hash of the line before; in line 1 the hash of its genesis
//	genesis  only in line 1: {"domain","name","previous"}
//	hash     SHA-256 over a domain tag and the canonical object without hash
//
// The chain is tamper-evident, not tamper-proof: who can write the file can write a whole new chain. What ends the
// chain is not in it; keep Head elsewhere when a cut-off tail must be seen. The package is pure and never stores.
package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/agent-mcp/agent-mcp/core/canon"
)

// tag separates these hashes from every other use of SHA-256.
const tag = "agent-mcp/chain/1\n"

// Reserved keys of a line.
const (
	keySeq     = "seq"
	keyPrev    = "prev"
	keyHash    = "hash"
	keyGenesis = "genesis"
)

// Genesis names a chain.
type Genesis struct {
	Domain   string // what kind of records: "audit"
	Name     string // whose: the instance
	Previous string // head of the chain that this one follows, "" = none
}

func (g Genesis) object() map[string]any {
	return map[string]any{"domain": g.Domain, "name": g.Name, "previous": g.Previous}
}

// Head is the end of a chain so far: all that is needed to add to it. The zero value is no chain; start with Begin.
type Head struct {
	Seq     uint64 // number of lines
	Hash    string // hash of the last line, or of the genesis
	genesis *Genesis
}

// Begin returns the head of a new, empty chain.
func Begin(g Genesis) Head {
	raw, err := canon.Append(nil, g.object())
	if err != nil {
		panic("chain: a genesis is always canonical: " + err.Error())
	}
	return Head{Hash: digest(raw), genesis: &g}
}

// Next links a record and returns its line (no newline) and the new head. The record must not use the reserved keys and
// must be canonical JSON material; an error means a programmer's mistake, and h is still the head.
func (h Head) Next(record map[string]any) (line []byte, next Head, err error) {
	object := make(map[string]any, len(record)+4)
	for k, v := range record { // a set: order does not matter here
		object[k] = v
	}
	for _, k := range []string{keySeq, keyPrev, keyHash, keyGenesis} {
		if _, taken := record[k]; taken {
			return nil, h, fmt.Errorf("chain: a record must not use the key %q", k)
		}
	}
	next = Head{Seq: h.Seq + 1}
	object[keySeq], object[keyPrev] = next.Seq, h.Hash
	if h.Seq == 0 {
		if h.genesis == nil {
			return nil, h, fmt.Errorf("chain: not begun")
		}
		object[keyGenesis] = h.genesis.object()
	}
	body, err := canon.Append(nil, object)
	if err != nil {
		return nil, h, fmt.Errorf("chain: %w", err)
	}
	next.Hash = digest(body)
	object[keyHash] = next.Hash
	if line, err = canon.Append(make([]byte, 0, len(body)+80), object); err != nil {
		return nil, h, fmt.Errorf("chain: %w", err)
	}
	if !bytes.HasPrefix(line, []byte("{")) || bytes.IndexByte(line, '\n') >= 0 {
		return nil, h, fmt.Errorf("chain: a line is one object")
	}
	return line, next, nil
}

func digest(body []byte) string {
	d := sha256.New()
	d.Write([]byte(tag))
	d.Write(body)
	return hex.EncodeToString(d.Sum(nil))
}
