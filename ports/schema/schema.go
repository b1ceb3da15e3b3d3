// Package schema checks JSON documents against JSON Schema 2020-12, every format asserted (MissionWeave ). It
// knows no document kind: schemas come as data, a Compiler makes a Checker of them once, and the Checker answers for any
// number of documents.
package schema

import "github.com/agent-mcp/agent-mcp/ports/fault"

// Codes of a Compiler and a Checker.
const (
	CodeMismatch    fault.Code = "schema.mismatch"    // args: schema, pointer (JSON Pointer of the value, "" = the whole), rule (the keyword), detail (what it asks for)
	CodeUnknown     fault.Code = "schema.unknown"     // args: schema — no schema has this name
	CodeUnsupported fault.Code = "schema.unsupported" // args: schema, pointer, detail — a keyword, pattern or format that the Compiler does not do exactly
	CodeReference   fault.Code = "schema.reference"   // args: schema, pointer, detail — a $ref leads nowhere
	CodeMalformed   fault.Code = "schema.malformed"   // args: schema, pointer, detail — a keyword's value is not what the standard says
)

// Kind of a JSON value.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Tree is one JSON value as a Checker sees it, whoever read it. Values are numbered, 0 is the whole, and a value's number is
// below those of the values inside it. No two members of an object have equal names, and objects that are equal list
// their members in the same order. A Tree does not change while it is checked.
type Tree interface {
	Kind(n int) Kind
	// Text is the decoded value of a string in UTF-8 (half of a surrogate pair as three bytes of generalized UTF-8), and
	// the text of a number. The caller does not change it.
	Text(n int) []byte
	// Len is the number of items or members, 0 of anything but an array or object.
	Len(n int) int
	// Item is the i-th item or member; name is for members.
	Item(n, i int) (name []byte, value int)
}

// Source is one schema document. Its name is what Check and error messages call it; $ref find it by its $id.
type Source struct {
	Name string
	Doc  Tree
}

// Compiler makes a Checker of schema documents that refer to each other.
type Compiler interface {
	// Compile fails with CodeUnsupported, CodeReference or CodeMalformed; a keyword it does not know is no annotation but an
	// error, so that nothing is left unchecked. It keeps the sources.
	Compile(sources []Source) (Checker, error)
}

// Checker checks documents. It may be used by several goroutines at once.
type Checker interface {
	// Check fails with CodeUnknown, or with CodeMismatch and the first thing that is wrong. Its time is linear in the
	// document but for uniqueItems, which is n·log n.
	Check(schema string, doc Tree) error
	// Names are the schemas that were given, in order.
	Names() []string
}
