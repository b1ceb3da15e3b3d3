// Package snapshot is the port to the Applied Configuration store (CFG-05): one snapshot per configuration, replaced
// atomically, readable by its owner only.
package snapshot

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Store keeps one snapshot per configuration id.
type Store interface {
	// Load returns the stored bytes; CodeNone when nothing was ever applied, CodeUnsafe when the file or its directory
	// is owned or writable by somebody else.
	Load(ctx context.Context, configID string) ([]byte, error)
	// Save replaces the snapshot: old or new after a crash, never a mixture. Any failure keeps the old one.
	Save(ctx context.Context, configID string, data []byte) error
}

// ValidID reports whether an id can name a place in a store: 1..64 of a-z, 0-9 and '-'. Load and Save refuse any other
// id with CodeFailed.
func ValidID(configID string) bool {
	for _, c := range []byte(configID) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return configID != "" && len(configID) <= 64
}

// Codes.
const (
	CodeNone   fault.Code = "snapshot.none"   // args: config
	CodeUnsafe fault.Code = "snapshot.unsafe" // args: path, detail
	CodeFailed fault.Code = "snapshot.failed" // args: path, detail
)
