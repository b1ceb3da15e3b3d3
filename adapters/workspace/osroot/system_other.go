//go:build !linux

package osroot

// native is the system of this machine.
func native() system { return portable{} }
