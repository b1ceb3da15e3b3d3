package workspace

import "context"

// Scratch keeps old content outside the workspace while an edit is checked (EDT-01), for contents above the memory limit.
// What it makes is journaled before it exists and is gone after Drop or after recovery (PRF-02).
type Scratch interface {
	// Keep stores data under a new name and returns it.
	Keep(ctx context.Context, data []byte) (name string, err error)
	// Load returns what Keep stored.
	Load(ctx context.Context, name string) ([]byte, error)
	// Drop removes it; dropping twice is fine.
	Drop(ctx context.Context, name string) error
}
