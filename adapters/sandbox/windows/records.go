package windows

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// This file writes what a record needs to be undone, and turns a record back into the call that undoes it. Both sides of a
// crash use the same text.

// detail is the form of journal.Resource.Detail. Entries are their binary form in hex, so that what is taken out is exactly
// what was put in.
type detail struct {
	Volume string   `json:"volume,omitempty"`
	File   string   `json:"file,omitempty"`
	Dir    bool     `json:"dir,omitempty"`
	SID    sid      `json:"sid,omitempty"`
	Aces   []string `json:"aces,omitempty"`
	Turned []string `json:"turned,omitempty"`

	Layer   string   `json:"layer,omitempty"`
	Filters []string `json:"filters,omitempty"`
	Profile string   `json:"profile,omitempty"`
}

func recordOf(kind journal.Kind, path string, d detail) *record {
	r := &record{Kind: kind, Path: path}
	if kind != journal.KindTree {
		b, err := json.Marshal(d)
		if err != nil {
			panic("windows: a record of plain text cannot be written: " + err.Error())
		}
		r.Detail = string(b)
	}
	return r
}

func (p place) detail(who sid) detail {
	return detail{Volume: strconv.FormatUint(p.ID.Volume, 16), File: p.ID.File, Dir: p.Dir, SID: who}
}

func packAces(aces []ace) (out []string) {
	for _, a := range aces {
		b, err := a.marshal()
		if err != nil {
			panic("windows: an entry of ours cannot be written: " + err.Error())
		}
		out = append(out, hex.EncodeToString(b))
	}
	return out
}

var errRecord = errors.New("malformed record")

func unpackAces(texts []string) (out []ace, err error) {
	for _, text := range texts {
		b, err := hex.DecodeString(text)
		if err != nil || len(b) < aceHeader || int(b[2])|int(b[3])<<8 != len(b) {
			return nil, fmt.Errorf("%w: entry %q", errRecord, text)
		}
		a, err := parseACE(b)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %q", errRecord, text)
		}
		out = append(out, a)
	}
	return out, nil
}

// undoOf is the call that undoes what a record names. It fails closed: a record that cannot be read undoes nothing.
func undoOf(kind journal.Kind, path, text string) (call, error) {
	if kind == journal.KindTree {
		return removeTree{path}, nil
	}
	var d detail
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	switch kind {
	case journal.KindGrant, journal.KindSeal:
		return d.acl(kind, path)
	case journal.KindFirewall:
		return d.filters()
	case journal.KindExemption:
		return unexempt{d.SID}, d.profileSID()
	case journal.KindProfile:
		if d.Profile == "" {
			return nil, fmt.Errorf("%w: no profile", errRecord)
		}
		return emptyProfile{d.Profile}, nil
	}
	return nil, fmt.Errorf("%w: kind %q", errRecord, kind)
}

// profileSID accepts identifiers of AppContainers alone: a record that names anybody else takes nothing away.
func (d detail) profileSID() error {
	if len(d.SID) <= len(packagePrefix) || d.SID[:len(packagePrefix)] != packagePrefix || d.SID == sidAllPackages || d.SID == sidLowPackages {
		return fmt.Errorf("%w: %q is no profile", errRecord, d.SID)
	}
	return nil
}

func (d detail) acl(kind journal.Kind, path string) (call, error) {
	volume, err := strconv.ParseUint(d.Volume, 16, 64)
	if err != nil || len(d.File) != 32 {
		return nil, fmt.Errorf("%w: no identity", errRecord)
	}
	if err := d.profileSID(); err != nil {
		return nil, err
	}
	p := place{Path: path, ID: objectID{volume, d.File}, Dir: d.Dir}
	aces, err := unpackAces(d.Aces)
	if err != nil {
		return nil, err
	}
	for _, a := range aces {
		if a.SID != d.SID {
			return nil, fmt.Errorf("%w: an entry of %q", errRecord, a.SID)
		}
	}
	if kind == journal.KindGrant {
		return revoke{Place: p, Who: d.SID, Aces: aces}, nil
	}
	turned, err := unpackAces(d.Turned)
	if err != nil {
		return nil, err
	}
	return unseal{Place: p, Who: d.SID, Turned: turned, Aces: aces}, nil
}

func (d detail) filters() (call, error) {
	layer, err := parseGUID(d.Layer)
	if err != nil {
		return nil, err
	}
	c := dropFilters{Layer: layer}
	for _, text := range d.Filters {
		key, err := parseGUID(text)
		if err != nil {
			return nil, err
		}
		c.Keys = append(c.Keys, key)
	}
	return c, nil
}
