// Package change compares what the owner wants with what was applied: the Applied Configuration as canonical bytes, the
// ordered difference that `apply` and `show` print, and the drift that keeps a server from starting (CLI-02, CLI-03,
// CFG-05). It never reads the host: paths, hashes and identities arrive resolved.
package change

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/canon"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Version of the stored form. Another version is refused, never guessed.
const Version = 1

// Codes of a stored snapshot.
const (
	CodeDamaged fault.Code = "change.damaged" // args: config, detail
	CodeVersion fault.Code = "change.version" // args: config, version, known
)

// Snapshot is one Applied Configuration.
type Snapshot struct {
	Version     int         `json:"version"`
	Config      string      `json:"config"`      // resolved path of the base file
	Fingerprint string      `json:"fingerprint"` // of the YAML layers
	AppliedAt   time.Time   `json:"applied_at"`
	Yes         bool        `json:"yes"` // nobody was asked
	Permissions Permissions `json:"permissions"`
}

// Permissions is everything that was approved. Lists are sorted: mounts by name, entries by alias.
type Permissions struct {
	Profile   string    `json:"profile"`
	Workspace Place     `json:"workspace"`
	Mounts    []Mount   `json:"mounts"`
	Entries   []Entry   `json:"entries"`
	Network   Network   `json:"network"`
	Resources Resources `json:"resources"`
	Require   string    `json:"require"`
	Model     Model     `json:"model"`
	Cache     Cache     `json:"cache,omitzero"`
	Listen    []string  `json:"listen,omitempty"` // where clients connect over HTTP; none = stdio; sorted
}

// Cache is the directory that processes keep between Tasks. The zero value is none.
type Cache struct {
	Name string `json:"name"`
	Path string `json:"path"` // canonical
}

// Place is a path as written (absolute) and as resolved. Identity tells the directory from another one of that path.
type Place struct {
	Written  string `json:"written"`
	Path     string `json:"path"`
	Identity string `json:"identity,omitempty"`
}

// Mount is one mount.
type Mount struct {
	Name   string `json:"name"`
	Place  Place  `json:"place"`
	Access string `json:"access"`
}

// Entry is one approved executable.
type Entry struct {
	Alias       string `json:"alias"`
	Place       Place  `json:"place"`
	SHA256      string `json:"sha256"`
	RuntimeRoot Place  `json:"runtime_root"` // zero = none
	Shell       bool   `json:"shell"`

	Interpreters []sandbox.Image `json:"interpreters,omitempty"` // of a script: what runs it, outer first
}

// Network is the network part.
type Network struct {
	Mode      string   `json:"mode"`
	Endpoints []string `json:"endpoints"` // sorted
}

// Resources are the bounds.
type Resources struct {
	Profile        string `json:"profile"`
	MemoryMiB      int    `json:"memory_mib"`
	Processes      int    `json:"processes"`
	TimeoutSeconds int    `json:"timeout_seconds"`
}

// Model is who reads the prompts.
type Model struct {
	Name   string `json:"name"`
	Server string `json:"server"`
}

// Normal returns the permissions with sorted, non-nil lists: equal permissions are equal bytes.
func (p Permissions) Normal() Permissions {
	p.Mounts = append([]Mount{}, p.Mounts...)
	p.Entries = append([]Entry{}, p.Entries...)
	p.Network.Endpoints = append([]string{}, p.Network.Endpoints...)
	slices.SortStableFunc(p.Mounts, func(a, b Mount) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(p.Entries, func(a, b Entry) int { return strings.Compare(a.Alias, b.Alias) })
	slices.Sort(p.Network.Endpoints)
	p.Listen = slices.Sorted(slices.Values(p.Listen))
	return p
}

// Bytes is the canonical stored form.
func (s Snapshot) Bytes() ([]byte, error) {
	s.Version = Version
	s.Permissions = s.Permissions.Normal()
	s.AppliedAt = s.AppliedAt.UTC()
	return canon.Marshal(s)
}

// Parse reads a stored snapshot strictly: canonical bytes, this version, no key it does not know. Whatever else is
// there was not written by `apply` and permits nothing.
func Parse(config string, data []byte) (Snapshot, error) {
	damaged := func(detail string) error {
		return fault.New(CodeDamaged, "config", config, "detail", detail)
	}
	if !canon.IsCanonical(data) {
		return Snapshot{}, damaged("not canonical JSON")
	}
	var head struct {
		Version *int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Version == nil {
		return Snapshot{}, damaged("no version")
	}
	if *head.Version != Version {
		return Snapshot{}, fault.New(CodeVersion, "config", config, "version", *head.Version, "known", Version)
	}
	var s Snapshot
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Snapshot{}, damaged(err.Error())
	}
	again, err := s.Bytes()
	switch {
	case err != nil || !bytes.Equal(again, data):
		return Snapshot{}, damaged("incomplete")
	case s.Config != config:
		return Snapshot{}, damaged("made for " + s.Config)
	}
	return s, nil
}
