// Package win32 makes the raw calls of the Windows sandbox, one function for each, with Go types in and out. It decides
// nothing: every flag and mask that carries a decision is an argument. Functions that golang.org/x/sys lacks are loaded by
// name from system libraries only.
package win32
