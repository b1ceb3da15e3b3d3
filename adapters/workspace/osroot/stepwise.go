package osroot

import "errors"

// mover is a dir whose rename takes over what stands at the destination.
type mover interface {
	dir
	rename(from string, dest dir, to string) error
	link(from string, dest dir, to string) error
}

// moveStepwise moves onto a free name where the system has no single call that refuses a taken one: a file gets a second
// name before it loses the first, a directory takes over an empty one that was made for it.
func moveStepwise(d mover, from string, dest dir, to string) error {
	m, err := d.stat(from)
	if err != nil {
		return err
	}
	if !m.mode.IsDir() {
		if err := d.link(from, dest, to); err != nil {
			return err
		}
		if err := d.unlink(from); err != nil {
			return errors.Join(err, dest.unlink(to))
		}
		return nil
	}
	if err := dest.mkdir(to); err != nil {
		return err
	}
	if err := d.rename(from, dest, to); err != nil {
		return errors.Join(err, dest.rmdir(to))
	}
	return nil
}
