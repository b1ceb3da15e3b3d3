// Package rights holds the four separate rights on a path (FS-00) and the path they apply to. Sandbox roots today and
// leases later are both sets of path rights; the judging is done by core/policy, never here.
package rights

// Set is a set of the four rights. The zero value is no right at all.
type Set uint8

// The rights of FS-00. Write never implies Delete (FS-04); Read never implies Execute (FS-10).
const (
	Read    Set = 1 << iota // content and listing
	Write                   // create, overwrite, rename, mkdir; not delete
	Execute                 // map or start an image
	Delete                  // remove, rmdir
	None    Set = 0
	All         = Read | Write | Execute | Delete
)

// Has reports whether every right of want is in s.
func (s Set) Has(want Set) bool { return s&want == want }

// String renders the set as a subset of "rwxd", "-" when empty. The order is fixed.
func (s Set) String() string {
	if s == None {
		return "-"
	}
	b := make([]byte, 0, 4)
	for i, c := range []byte("rwxd") {
		if s&(1<<i) != 0 {
			b = append(b, c)
		}
	}
	return string(b)
}

// Root gives rights on one canonical absolute host path and everything below it.
type Root struct {
	Path   string // canonical: absolute, clean, no symlink in it
	Rights Set
}
