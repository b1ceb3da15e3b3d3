//go:build !windows

package realpath

// Of gives back path, which has no symbolic link in it.
func Of(path string) (string, error) { return path, nil }
