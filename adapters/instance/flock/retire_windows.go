package flock

import "path/filepath"

// retire lets go of the lock first: Windows renames no directory with an open file in it.
func (o *owned) retire() error {
	if err := o.lock.Close(); err != nil {
		return failed(err, o.dir)
	}
	return remove(filepath.Dir(o.dir), o.dir)
}
