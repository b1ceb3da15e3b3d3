// Package winpath judges and compares Windows paths as text, on any system. It knows the ways in which one file can be
// named twice: case, 8.3 names, trailing dots and spaces, streams, device names, prefixes, drive-relative paths (spec
// section 8, FS-02, FS-03). It never looks at a file: what a path leads to is told by the handle that opened it, and
// adapters compare the two with Agree.
package winpath

import (
	"strings"
	"unicode"
)

// Form is how a path is written.
type Form uint8

// Forms.
const (
	Relative      Form = iota // "a\b"
	Drive                     // "C:\a"
	DriveRelative             // "C:a": depends on a hidden working directory of each drive
	Rooted                    // "\a": depends on the current drive
	UNC                       // "\\server\share\a", and "\\?\UNC\server\share\a"
	Device                    // "\\.\x", "\\?\GLOBALROOT\x", "\\?\Volume{…}\x", "\??\x"
)

// Of tells the form and what follows the part that makes it: "a\b" of `C:\a\b`. A "\\?\C:\" path is Drive.
func Of(path string) (form Form, volume, rest string) {
	p := strings.ReplaceAll(path, "/", `\`)
	if after, ok := cutFold(p, `\\?\UNC\`); ok {
		return unc(after)
	}
	if after, ok := cutFold(p, `\\?\`); ok {
		if form, volume, rest = drive(after); form == Drive {
			return form, volume, rest
		}
		return Device, p, ""
	}
	switch {
	case strings.HasPrefix(p, `\\.\`), strings.HasPrefix(p, `\??\`), p == `\\.`, p == `\\?`:
		return Device, p, ""
	case strings.HasPrefix(p, `\\`):
		return unc(p[2:])
	case strings.HasPrefix(p, `\`):
		return Rooted, "", p[1:]
	}
	return drive(p)
}

func cutFold(p, prefix string) (string, bool) {
	if len(p) >= len(prefix) && strings.EqualFold(p[:len(prefix)], prefix) {
		return p[len(prefix):], true
	}
	return p, false
}

func drive(p string) (form Form, volume, rest string) {
	if len(p) < 2 || p[1] != ':' || !letter(p[0]) {
		return Relative, "", p
	}
	if len(p) < 3 || p[2] != '\\' {
		return DriveRelative, p[:2], p[2:]
	}
	return Drive, p[:2], p[3:]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func unc(p string) (form Form, volume, rest string) {
	server, after, _ := strings.Cut(p, `\`)
	share, rest, _ := strings.Cut(after, `\`)
	return UNC, `\\` + server + `\` + share, rest
}

// Problem is why a name or a path must not be used; "" is none. It is a technical word for messages.
type Problem string

// Problems.
const (
	None      Problem = ""
	Empty     Problem = "empty"
	NotDrive  Problem = "not an absolute path on a drive"
	Network   Problem = "a network path"
	DevicePth Problem = "a device path"
	Dots      Problem = `"." or ".." in it`
	Separator Problem = "a doubled or trailing separator"
	Character Problem = "a character that no name may have"
	Trailing  Problem = "a name that ends in a dot or a space, which Windows drops"
	Stream    Problem = "an alternate data stream"
	Reserved  Problem = "the name of a device"
	Surrogate Problem = "text that is not UTF-16"
	TooLong   Problem = "longer than Windows can open"
)

// Limits in UTF-16 units: of a name on NTFS, and of a whole path with the prefix `\\?\`.
const (
	MaxName = 255
	MaxPath = 32767 - len(`\\?\`)
)

// Canonical judges whether path is written in the one form that the sandbox takes: `C:\a\b`, an upper-case drive, single
// backslashes, no name that Windows would read as something else. Whether it is the name on disk only its handle tells.
func Canonical(path string) Problem {
	form, _, rest := Of(path)
	switch {
	case path == "":
		return Empty
	case form == UNC:
		return Network
	case form == Device, form == Drive && path[1] != ':':
		return DevicePth
	case form != Drive, path[0] >= 'a', path[2] != '\\':
		return NotDrive
	case strings.Contains(path, "/"):
		return Separator
	case units(path) > MaxPath:
		return TooLong
	case rest == "":
		return None
	}
	for name := range strings.SplitSeq(rest, `\`) {
		if p := Name(name); p != None {
			return p
		}
	}
	return None
}

// Name judges one component.
func Name(name string) Problem {
	switch {
	case name == "":
		return Separator
	case name == "." || name == "..":
		return Dots
	case strings.ContainsRune(name, unicode.ReplacementChar):
		return Surrogate
	case strings.ContainsRune(name, ':'):
		return Stream
	case strings.ContainsAny(name, `<>"/\|?*`) || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 }):
		return Character
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return Trailing
	case units(name) > MaxName:
		return TooLong
	case IsDevice(name):
		return Reserved
	}
	return None
}

// devices are the names that lead out of any directory. The digits ¹ ² ³ count as 1 2 3.
var devices = func() map[string]bool {
	m := map[string]bool{"CON": true, "PRN": true, "AUX": true, "NUL": true, "CONIN$": true, "CONOUT$": true, "CLOCK$": true}
	for _, d := range []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"} {
		m["COM"+d], m["LPT"+d] = true, true
	}
	return m
}()

// IsDevice reports whether Windows, in any version, takes a name for a device: also with an extension ("NUL.txt"), a stream
// ("con:x") and spaces before them ("nul .txt").
func IsDevice(name string) bool {
	if i := strings.IndexAny(name, ".:"); i >= 0 {
		name = name[:i]
	}
	return devices[strings.ToUpper(strings.TrimRight(name, " "))]
}

// Short reports whether a name may be an 8.3 alias of another: "PROGRA~1", "AB12~1.TXT". Such a path is usable only when the
// handle says that it is the real name.
func Short(name string) bool {
	base, ext, _ := strings.Cut(name, ".")
	i := strings.LastIndexByte(base, '~')
	if i < 0 || len(base) > 8 || len(ext) > 3 || strings.Contains(ext, ".") || i == len(base)-1 {
		return false
	}
	return strings.Trim(base[i+1:], "0123456789") == ""
}

func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Fold maps a path to what NTFS compares: each UTF-16 unit to its upper case alone, one to one. Letters whose upper case
// would be ASCII, or that lie beyond the first plane, stay themselves, as in the table that a volume is made with.
func Fold(path string) string {
	ascii := true
	for i := range len(path) {
		if path[i] >= 0x80 {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToUpper(path)
	}
	return strings.Map(func(r rune) rune {
		u := unicode.ToUpper(r)
		if r >= 0x80 && u < 0x80 || r > 0xffff || u > 0xffff {
			return r
		}
		return u
	}, path)
}

// Same reports whether two canonical paths name one file.
func Same(a, b string) bool { return a == b || Fold(a) == Fold(b) }

// Under reports whether path is dir or lies below it. Both are canonical.
func Under(path, dir string) bool {
	path, dir = Fold(path), strings.TrimSuffix(Fold(dir), `\`)
	return strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '\\')
}

// Join adds a name to a canonical directory.
func Join(dir, name string) string { return strings.TrimSuffix(dir, `\`) + `\` + name }

// Dir is the directory above a canonical path; of a drive it is the drive itself.
func Dir(path string) string {
	i := strings.LastIndexByte(path, '\\')
	if i <= 2 {
		return path[:3]
	}
	return path[:i]
}

// Base is the last name of a canonical path, "" for a drive.
func Base(path string) string { return path[strings.LastIndexByte(path, '\\')+1:] }

// Above lists the directories above a canonical path, from the drive down.
func Above(path string) (out []string) {
	for i := 3; i < len(path); i++ {
		if path[i] == '\\' {
			out = append(out, path[:i])
		}
	}
	if len(path) > 3 {
		out = append([]string{path[:3]}, out...)
	}
	return out
}

// Extended is the form for system calls: no length limit, and no name is read as anything else.
func Extended(path string) string {
	if strings.HasPrefix(path, `\\`) {
		return path
	}
	return `\\?\` + path
}

// FromFinal turns what GetFinalPathNameByHandle says into the canonical form. A share keeps its form `\\server\share\…`, which
// is never canonical; anything else is given back as it is.
func FromFinal(final string) string {
	if after, ok := cutFold(final, `\\?\UNC\`); ok {
		return `\\` + after
	}
	if form, volume, rest := Of(final); form == Drive {
		return strings.ToUpper(volume) + `\` + rest
	}
	return final
}

// Agree compares a canonical path with what its handle says. The answer is None, or what was different: an 8.3 name, or
// another place, so that a junction, a symlink or a mount lay on the way.
func Agree(asked, final string) Problem {
	if Same(asked, FromFinal(final)) {
		return None
	}
	if form, _, _ := Of(FromFinal(final)); form == UNC {
		return Network
	}
	for name := range strings.SplitSeq(asked, `\`) {
		if Short(name) {
			return ShortName
		}
	}
	return Elsewhere
}

// Problems of Agree.
const (
	ShortName Problem = "an 8.3 name"
	Elsewhere Problem = "a junction, a symbolic link or a mount on the way"
)
