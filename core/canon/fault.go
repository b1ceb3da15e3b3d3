package canon

import (
	"io"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Codes of a text that is not one strict JSON value. line and column count from 1, columns in characters.
const (
	CodeSyntax    fault.Code = "canon.syntax"    // args: line, column — not the grammar of RFC 8259
	CodeTruncated fault.Code = "canon.truncated" // args: line, column — it ends in the middle (RFC 8259); wraps io.ErrUnexpectedEOF
	CodeEncoding  fault.Code = "canon.encoding"  // args: line, column — invalid UTF-8 (RFC 8259 section 8.1)
	CodeBOM       fault.Code = "canon.bom"       // a byte order mark comes first (RFC 8259 section 8.1)
	CodeTrailing  fault.Code = "canon.trailing"  // args: line, column — something follows the value
	CodeDuplicate fault.Code = "canon.duplicate" // args: name, line, column — two members of one object have this name once escapes are decoded (RFC 7493 section 2.3)
	CodeTooLarge  fault.Code = "canon.too_large" // args: bytes, limit
	CodeTooDeep   fault.Code = "canon.too_deep"  // args: limit, line, column
	CodeTooMany   fault.Code = "canon.too_many"  // args: limit — values and member names
)

// Codes of a value that is JSON but has no canonical form: the data model of RFC 8785 section 3.1 and RFC 7493.
const (
	CodeRange      fault.Code = "canon.range"       // args: line, column — the number is beyond finite binary64
	CodeExponent   fault.Code = "canon.exponent"    // args: limit, line, column — the exponent is absurd
	CodeNumberLong fault.Code = "canon.number_long" // args: limit, line, column — the number has too many characters
	CodeSurrogate  fault.Code = "canon.surrogate"   // args: line, column — half of a surrogate pair (RFC 7493 section 2.1)
	CodeValue      fault.Code = "canon.value"       // args: detail — a Go value that JSON cannot hold
)

// at makes a fault that names a place of the text.
func at(text []byte, off int, code fault.Code, kv ...any) *fault.Error {
	line, column := position(text, off)
	kv = append(kv, "line", line, "column", column)
	if code == CodeTruncated {
		return fault.Wrap(io.ErrUnexpectedEOF, code, kv...)
	}
	return fault.New(code, kv...)
}

// position of a byte offset: line and column from 1. Invalid bytes count as one character each.
func position(text []byte, off int) (line, column int) {
	off = min(off, len(text))
	line, start := 1, 0
	for i, c := range text[:off] {
		if c == '\n' {
			line, start = line+1, i+1
		}
	}
	return line, utf8.RuneCount(text[start:off]) + 1
}
