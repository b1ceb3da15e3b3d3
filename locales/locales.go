// Package locales holds the shipped texts, one flat JSON object per language: code or key → sentence with {named}
// placeholders (I18N-01..03, I18N-09). It is data; adapters/text reads it. Its test compares every locale with every
// code and key constant of the source.
package locales

import "embed"

// FS holds the shipped locales: <tag>.json.
//
//go:embed *.json
var FS embed.FS
