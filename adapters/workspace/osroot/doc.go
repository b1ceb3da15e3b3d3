// Package osroot is the workspace on the real file system (ports/workspace; spec FS-02, FS-03, FS-06, FS-07, EDT-01).
//
// A path is walked one component at a time from a root that was pinned when the Tree was made. Each step opens the entry
// itself and never lets the system follow a symlink: links are read and resolved here, their absolute targets are mapped
// onto the roots again, and what leaves every root is refused without having been looked at. The handle that comes out
// pins the parent directory and the object, so whatever is swapped afterwards changes nothing but the outcome
// workspace.CodeChanged.
//
// On Linux the steps are openat2(2) with RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS and RESOLVE_NO_MAGICLINKS. Elsewhere they go
// through os.Root, which refuses escapes too, but pins directories only and not files, and cannot rename between roots.
//
// Replace writes a temporary file beside the target and renames it over the target: a hard link's other names keep the old
// content. Such a file is called .agent-mcp-<random>.tmp and is recorded by the Guard before it exists (PRF-02).
//
// The package never judges rights, never retries and never logs.
package osroot
