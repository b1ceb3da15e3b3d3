//go:build !unix

package file

import "io/fs"

// foreign trusts the access list that the user's profile directory hands down.
func foreign(fs.FileInfo, bool) string { return "" }

func tighten(string) error { return nil }
