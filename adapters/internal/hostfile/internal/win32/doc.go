// Package win32 holds the raw Windows calls of hostfile; only it imports x/sys.
package win32
