// Package settings is the port to raw configuration: layers with the origin of every value (CFG-03). Meaning, defaults
// and ranges are core/config's.
package settings

import (
	"context"

	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Source loads configuration layers.
type Source interface {
	// Load reads the base file and, when it exists, the local file beside it (agent.yaml → agent.local.yaml), in that
	// order. Errors: CodeMissing, CodeUnreadable, CodeTooLarge, CodeEmpty, CodeEncoding, CodeSyntax, CodeDuplicate, CodeBomb.
	Load(ctx context.Context, basePath string) ([]Layer, error)
}

// Layer is one file.
type Layer struct {
	Path  string // absolute, symlinks resolved
	Bytes []byte // as read: the fingerprint is made of it
	Root  Node
}

// Kind of a node.
type Kind uint8

// Kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	String
	List
	Map
)

// Node is a value with its place. Maps keep the file's order.
type Node struct {
	Kind   Kind
	Bool   bool
	Int    int64
	Float  float64
	String string // String: the value; Int/Float: the source text
	Items  []Node
	Fields []Field
	Line   int // from 1
	Column int // from 1
	File   string
}

// Field is a map entry.
type Field struct {
	Key          string
	Line, Column int
	Value        Node
}

// Get returns a map's field.
func (n Node) Get(key string) (Node, bool) {
	for _, f := range n.Fields {
		if f.Key == key {
			return f.Value, true
		}
	}
	return Node{}, false
}

// Codes.
const (
	CodeMissing    fault.Code = "config.missing"    // args: path; the text shows a minimal file to start from
	CodeUnreadable fault.Code = "config.unreadable" // args: path, detail
	CodeTooLarge   fault.Code = "config.too_large"  // args: path, limit
	CodeEmpty      fault.Code = "config.empty"      // args: path
	CodeEncoding   fault.Code = "config.encoding"   // args: path — binary, NUL, not UTF-8
	CodeSyntax     fault.Code = "config.syntax"     // args: path, line, detail
	CodeTab        fault.Code = "config.tab"        // args: path, line — a tab used for indentation
	CodeDuplicate  fault.Code = "config.duplicate"  // args: path, line, key, first
	CodeBomb       fault.Code = "config.bomb"       // args: path — aliases expand too far, or too deep
)
