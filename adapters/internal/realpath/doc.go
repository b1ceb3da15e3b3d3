// Package realpath tells the one name under which a system knows a file. On Windows a path can be spelled in many ways: case,
// 8.3 names, junctions that are no symbolic links, drives that stand for other places. The handle of the opened file knows
// (FS-02). Elsewhere a path without symbolic links is that name already. It judges nothing.
package realpath
