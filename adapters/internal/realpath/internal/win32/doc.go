// Package win32 makes the raw calls of realpath.
package win32
