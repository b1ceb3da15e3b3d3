// Package koanf reads agent.yaml and the agent.local.yaml beside it into layers with the place of every value (CFG-03).
// It never merges, defaults or validates: that is core/config's.
//
// koanf (with its YAML parser and the rawbytes provider) loads a layer and types its values. koanf forgets lines, order
// and doubled keys, therefore the same bytes are read as yaml.v3 nodes too: they give every value its place, and they
// are what refuses doubled keys and alias bombs before koanf expands anything.
package koanf

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// MaxBytes is the largest configuration file.
const MaxBytes = 1 << 20

// Codes beside those of ports/settings.
const (
	CodeDocuments fault.Code = "config.documents" // args: path, line — a second YAML document
	CodeKey       fault.Code = "config.key"       // args: path, line — a key that is no text
)

// Source reads files. The zero value is ready; safe for concurrent use.
type Source struct{}

var _ settings.Source = Source{}

// New returns a Source.
func New() Source { return Source{} }

// Load implements settings.Source. The base file's own symlinks are resolved first; the local file stands beside what
// they lead to. An empty local file is a layer that changes nothing; a local file that is there but cannot be read is a
// fault, never ignored.
func (Source) Load(ctx context.Context, basePath string) ([]settings.Layer, error) {
	base, err := load(ctx, basePath)
	if err != nil {
		return nil, err
	}
	if base.Root.Kind == settings.Null {
		return nil, fault.New(settings.CodeEmpty, "path", base.Path)
	}
	layers := []settings.Layer{base}
	localPath := LocalPath(base.Path)
	if _, err := os.Lstat(localPath); errors.Is(err, fs.ErrNotExist) {
		return layers, nil
	}
	local, err := load(ctx, localPath)
	if fault.CodeOf(err) == settings.CodeMissing { // a link that leads nowhere
		return nil, fault.Wrap(err, settings.CodeUnreadable, "path", localPath, "detail", syscall.ENOENT.Error())
	}
	if err != nil {
		return nil, err
	}
	return append(layers, local), nil
}

// LocalPath names the local file of a base file: agent.yaml → agent.local.yaml.
func LocalPath(base string) string {
	ext := filepath.Ext(base)
	return strings.TrimSuffix(base, ext) + ".local" + ext
}

func load(ctx context.Context, path string) (settings.Layer, error) {
	if err := ctx.Err(); err != nil {
		return settings.Layer{}, fault.From(err)
	}
	path, err := resolve(path)
	if err != nil {
		return settings.Layer{}, err
	}
	data, err := read(path)
	if err != nil {
		return settings.Layer{}, err
	}
	root, err := parse(path, data)
	if err != nil {
		return settings.Layer{}, err
	}
	return settings.Layer{Path: path, Bytes: data, Root: root}, nil
}

func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", failed(path, err)
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		if _, e := os.Stat(abs); e != nil {
			err = e // the same failure in the system's words
		}
		return "", failed(abs, err)
	}
	if !utf8.ValidString(resolved) { // it is stored, compared and shown as text
		return "", failed(resolved, errPathText)
	}
	return resolved, nil
}

func failed(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, settings.CodeMissing, "path", path)
	}
	detail := err.Error()
	var p *fs.PathError
	if errors.As(err, &p) {
		detail = p.Err.Error()
	}
	return fault.Wrap(err, settings.CodeUnreadable, "path", path, "detail", detail)
}

var (
	errNotRegular = errors.New("not a regular file")
	errPathText   = errors.New("its path is not UTF-8 text")
)

// read never blocks on a pipe or device: only a regular file is opened.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, failed(path, err)
	case info.IsDir():
		return nil, failed(path, syscall.EISDIR)
	case !info.Mode().IsRegular():
		return nil, failed(path, errNotRegular)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, failed(path, err)
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return nil, failed(path, err)
	case len(data) > MaxBytes:
		return nil, fault.New(settings.CodeTooLarge, "path", path, "limit", MaxBytes)
	case len(strings.TrimSpace(strings.TrimPrefix(string(data), "\ufeff"))) == 0:
		return data, nil // the caller decides what an empty file means
	case !isText(data):
		return nil, fault.New(settings.CodeEncoding, "path", path)
	}
	return data, nil
}

// isText accepts UTF-8 without control characters other than tab, line feed and carriage return.
func isText(data []byte) bool {
	if !utf8.Valid(data) {
		return false
	}
	for _, c := range data {
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f {
			return false
		}
	}
	return true
}
