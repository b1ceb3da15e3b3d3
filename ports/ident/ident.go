// Package ident is the port to new identifiers. Only app uses it; core gets ids as data.
package ident

// Source makes identifiers.
type Source interface {
	// New returns a fresh random UUID in canonical lower-case form.
	New() string
}
