package koanf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	parser "github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	engine "github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// Limits of a document once its aliases are expanded.
const (
	maxNodes = 20_000
	maxDepth = 32
)

// parse turns one file into nodes; a file without a value is a Null node.
func parse(path string, data []byte) (settings.Node, error) {
	empty := settings.Node{File: path, Line: 1, Column: 1}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return empty, nil
	case err != nil:
		return empty, syntax(path, data, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		if err != nil {
			return empty, syntax(path, data, err)
		}
		return empty, fault.New(CodeDocuments, "path", path, "line", max(more.Line, 1))
	}
	root := doc.Content[0]
	c := checker{path: path, sizes: map[*yaml.Node]int{}}
	if _, err := c.check(root, 0); err != nil {
		return empty, err
	}
	value, err := values(root, data)
	if err != nil {
		return empty, syntax(path, data, err)
	}
	return convert(path, root, value), nil
}

// values lets koanf load and type the document. A document that is no map has no place in koanf; its node says enough.
func values(root *yaml.Node, data []byte) (any, error) {
	if root.Kind != yaml.MappingNode {
		var v any
		err := root.Decode(&v)
		return v, err
	}
	k := engine.New("\x00") // no key holds it: keys with dots stay whole
	if err := k.Load(rawbytes.Provider(data), parser.Parser()); err != nil {
		return nil, err
	}
	return k.Raw(), nil
}

var lineOf = regexp.MustCompile(`line (\d+)`)

// syntax places a parser's error. Tabs are the one mistake worth a message of its own.
func syntax(path string, data []byte, err error) error {
	line := 0
	if m := lineOf.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
	}
	for i, l := range bytes.Split(data, []byte("\n")) {
		lead := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]
		if bytes.IndexByte(lead, '\t') >= 0 && len(bytes.TrimSpace(l)) > 0 && i+1 >= line-1 {
			return fault.Wrap(err, settings.CodeTab, "path", path, "line", i+1)
		}
	}
	detail := strings.TrimPrefix(err.Error(), "yaml: ")
	detail = strings.TrimPrefix(detail, fmt.Sprintf("line %d: ", line))
	return fault.Wrap(err, settings.CodeSyntax, "path", path, "line", max(line, 1), "detail", strings.ReplaceAll(detail, "\n", " "))
}

// checker refuses what must not be expanded, and doubled keys.
type checker struct {
	path  string
	sizes map[*yaml.Node]int // expanded size; -1 while it is being measured
}

func (c *checker) bomb() error { return fault.New(settings.CodeBomb, "path", c.path) }

// check returns how many nodes n expands to.
func (c *checker) check(n *yaml.Node, depth int) (int, error) {
	if depth > maxDepth {
		return 0, c.bomb()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if size, ok := c.sizes[n]; ok {
		if size < 0 {
			return 0, c.bomb() // it contains itself
		}
		return size, nil
	}
	c.sizes[n] = -1
	if n.Kind == yaml.MappingNode {
		if err := c.keys(n); err != nil {
			return 0, err
		}
	}
	size := 1
	for _, child := range n.Content {
		s, err := c.check(child, depth+1)
		if err != nil {
			return 0, err
		}
		if size += s; size > maxNodes {
			return 0, c.bomb()
		}
	}
	c.sizes[n] = size
	return size, nil
}

func (c *checker) keys(n *yaml.Node) error {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := target(n.Content[i])
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!null" {
			return fault.New(CodeKey, "path", c.path, "line", n.Content[i].Line)
		}
		if line, ok := first[key.Value]; ok {
			return fault.New(settings.CodeDuplicate, "path", c.path, "line", n.Content[i].Line, "key", key.Value, "first", line)
		}
		first[key.Value] = n.Content[i].Line
	}
	return nil
}

func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// convert joins a node's place with the value that koanf gave it.
func convert(path string, n *yaml.Node, value any) settings.Node {
	out := settings.Node{File: path, Line: n.Line, Column: n.Column}
	n = target(n)
	switch v := value.(type) {
	case nil:
		return out
	case bool:
		out.Kind, out.Bool = settings.Bool, v
	case int:
		out.Kind, out.Int, out.String = settings.Int, int64(v), n.Value
	case int64:
		out.Kind, out.Int, out.String = settings.Int, v, n.Value
	case uint64:
		out.Kind, out.Float, out.String = settings.Float, float64(v), n.Value
		if v <= math.MaxInt64 {
			out.Kind, out.Int = settings.Int, int64(v)
		}
	case float64:
		out.Kind, out.Float, out.String = settings.Float, v, n.Value
	case time.Time: // an unquoted date is the text that was written
		out.Kind, out.String = settings.String, n.Value
	case []any:
		out.Kind = settings.List
		for i, item := range v {
			out.Items = append(out.Items, convert(path, n.Content[i], item))
		}
	case map[string]any:
		out.Kind = settings.Map
		for _, f := range fields(n) {
			value := v[f.key.Value] // absent under a number's other spelling: Null, for the schema to refuse
			out.Fields = append(out.Fields, settings.Field{
				Key: f.key.Value, Line: f.at.Line, Column: f.at.Column, Value: convert(path, f.value, value),
			})
		}
	case map[any]any:
		text := make(map[string]any, len(v))
		for key, value := range v {
			text[fmt.Sprint(key)] = value
		}
		return convert(path, n, text)
	default:
		out.Kind, out.String = settings.String, fmt.Sprint(v)
	}
	return out
}

// member is one key of a map: key is the scalar, at where it is written.
type member struct{ key, at, value *yaml.Node }

// fields lists a map's members in the file's order, those of merge keys (<<) last; a map's own key wins over them.
func fields(n *yaml.Node) []member {
	var out, merged []member
	seen := map[string]bool{}
	add := func(to *[]member, m member) {
		if !seen[m.key.Value] {
			seen[m.key.Value] = true
			*to = append(*to, m)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := target(n.Content[i]); key.ShortTag() != "!!merge" {
			add(&out, member{key, n.Content[i], n.Content[i+1]})
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if target(n.Content[i]).ShortTag() != "!!merge" {
			continue
		}
		from := []*yaml.Node{target(n.Content[i+1])}
		if from[0].Kind == yaml.SequenceNode {
			from = from[0].Content
		}
		for _, f := range from {
			for _, m := range fields(target(f)) {
				add(&merged, m)
			}
		}
	}
	return append(out, merged...)
}
