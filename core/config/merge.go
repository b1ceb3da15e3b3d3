package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// Merge lays the layers over each other: maps recursively, scalars, lists and nulls replaced (CFG-03). Every node keeps
// the file and line it came from. A key keeps the position of its first appearance.
func Merge(layers []settings.Layer) settings.Node {
	var out settings.Node
	for i, l := range layers {
		if i == 0 {
			out = l.Root
			continue
		}
		if l.Root.Kind == settings.Null {
			continue // a local file of comments only changes nothing
		}
		out = merge(out, l.Root)
	}
	return out
}

func merge(base, over settings.Node) settings.Node {
	if base.Kind != settings.Map || over.Kind != settings.Map {
		return over
	}
	out := base
	out.Fields = slices.Clone(base.Fields)
	for _, f := range over.Fields {
		i := slices.IndexFunc(out.Fields, func(have settings.Field) bool { return have.Key == f.Key })
		if i < 0 {
			out.Fields = append(out.Fields, f)
			continue
		}
		f.Value = merge(out.Fields[i].Value, f.Value)
		out.Fields[i] = f
	}
	return out
}

// Fingerprint is the lower-case hex SHA-256 over every layer's name and bytes, in order (CFG-05). A local file that
// appears, changes or goes away changes it.
func Fingerprint(layers []settings.Layer) string {
	h := sha256.New()
	for _, l := range layers {
		fmt.Fprintf(h, "%s\x00%d\x00", filepath.Base(l.Path), len(l.Bytes))
		h.Write(l.Bytes)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// ID derives the configuration id from the base file's resolved path: 32 hex digits, the name of its directory in the
// snapshot store.
func ID(resolvedPath string) string {
	sum := sha256.Sum256([]byte(resolvedPath))
	return hex.EncodeToString(sum[:16])
}
