//go:build !windows

package flock

import "path/filepath"

// retire removes the directory while the lock is held, so that nobody takes it for dead.
func (o *owned) retire() error { return remove(filepath.Dir(o.dir), o.dir) }
