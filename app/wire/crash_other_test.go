//go:build !linux

package wire

func crashChild() {}
