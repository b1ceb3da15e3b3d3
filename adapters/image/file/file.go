// Package file identifies executables on the host's file system (ports/image): it resolves every symlink itself, one by
// one, reports what it met, and hashes the very file it looked at. It judges nothing, starts nothing, writes nothing.
package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/internal/realpath"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/image"
)

// maxLinks is the kernel's own bound on symlinks in one path (ELOOP).
const maxLinks = 40

// maxShebang is what Linux reads of a script's first line (BINPRM_BUF_SIZE).
const maxShebang = 256

// maxCached bounds the remembered hashes; a configuration has a handful of entries.
const maxCached = 64

// tick is more than any file system's time resolution: two changes within one tick look the same, so what changed that
// recently is not remembered.
const tick = 3 * time.Second

// Identifier implements image.Identifier. It remembers the hash of a file as long as device, inode, size, and both times
// (the change time is the kernel's own) stay the same, so that starting a large interpreter does not read it each time.
type Identifier struct {
	mu     sync.Mutex
	hashes map[state]read
}

// state tells one content of one file from every other.
type state struct {
	dev, ino        uint64
	size            int64
	modified, inode int64 // nanoseconds
}

// read is what reading a file gave.
type read struct {
	sha256      string
	format      image.Format
	interpreter string
	argument    string
}

var _ image.Identifier = (*Identifier)(nil)

// New makes one that remembers nothing yet.
func New() *Identifier { return &Identifier{hashes: map[state]read{}} }

// Identify implements image.Identifier.
func (i *Identifier) Identify(ctx context.Context, path string) (image.Identity, error) {
	if !filepath.IsAbs(path) {
		return image.Identity{}, fault.New(image.CodeRelative, "path", path)
	}
	id, err := i.look(ctx, path)
	if err != nil || id.Interpreter == "" {
		return id, err
	}
	id.Interpreters, id.InterpreterFound, err = image.Interpreters(id, func(path string) (image.Identity, error) { return i.look(ctx, path) })
	if err != nil {
		return image.Identity{}, err
	}
	return id, nil
}

// look is Identify without the interpreters. path is absolute.
func (i *Identifier) look(ctx context.Context, path string) (image.Identity, error) {
	id := image.Identity{Asked: path}
	var err error
	if id.Path, id.Links, err = resolve(path); err != nil {
		return image.Identity{}, err
	}
	info, err := os.Lstat(id.Path)
	if err != nil {
		return image.Identity{}, failed(err, path)
	}
	id.Mode, id.Directory, id.Regular = info.Mode(), info.IsDir(), info.Mode().IsRegular()
	id.OpenParents, id.Shared = parents(id.Path, id.Links)
	if foreign(info) {
		id.Shared = append([]string{id.Path}, id.Shared...)
	}
	id.GroupWritable, id.WorldWritable = writable(info.Mode())
	if !id.Regular {
		return id, nil
	}
	id.Executable = executable(id.Path, info.Mode())
	r, err := i.read(ctx, id.Path, info)
	if err != nil {
		return image.Identity{}, err
	}
	id.Size, id.SHA256, id.Format, id.Interpreter, id.InterpreterArgument = info.Size(), r.sha256, r.format, r.interpreter, r.argument
	return id, nil
}

// resolve follows symlinks component by component.
func resolve(path string) (canonical string, links []image.Link, err error) {
	volume := filepath.VolumeName(path)
	at := volume + string(filepath.Separator)
	rest := split(path[len(volume):])
	for len(rest) > 0 {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, c)
		info, err := os.Lstat(next)
		if err != nil {
			return "", nil, failed(err, path)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if len(rest) > 0 && !info.IsDir() {
				return "", nil, fault.New(image.CodeMissing, "path", path)
			}
			at = next
			continue
		}
		if len(links) == maxLinks {
			return "", nil, fault.New(image.CodeCycle, "path", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", nil, failed(err, path)
		}
		links = append(links, image.Link{Path: next, Target: target})
		if filepath.IsAbs(target) {
			v := filepath.VolumeName(target)
			at = v + string(filepath.Separator)
			target = target[len(v):]
		}
		rest = append(split(target), rest...)
	}
	return own(at, path, links)
}

// own gives a path without symbolic links the name that the system has for it. Where that leads elsewhere, a junction or a
// mount lay on the way, and is told as a link.
func own(at, path string, links []image.Link) (string, []image.Link, error) {
	name, err := realpath.Of(at)
	if err != nil {
		return "", nil, failed(err, path)
	}
	if !strings.EqualFold(name, at) {
		links = append(links, image.Link{Path: at, Target: name})
	}
	return name, links, nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator || r == '/' })
}

// read returns what a file holds, from memory when the file is still the same.
func (i *Identifier) read(ctx context.Context, path string, before fs.FileInfo) (read, error) {
	key, known := stateOf(before)
	if known {
		i.mu.Lock()
		r, ok := i.hashes[key]
		i.mu.Unlock()
		if ok {
			return r, nil
		}
	}
	settled := known && time.Since(time.Unix(0, max(key.modified, key.inode))) > tick
	r, err := content(ctx, path, before)
	if err == nil && settled {
		i.mu.Lock()
		if len(i.hashes) >= maxCached {
			clear(i.hashes)
		}
		i.hashes[key] = r
		i.mu.Unlock()
	}
	return r, err
}

// content hashes the file and looks at its first bytes, from one handle, and refuses a file that changed meanwhile.
func content(ctx context.Context, path string, before fs.FileInfo) (read, error) {
	f, err := os.Open(path)
	if err != nil {
		return read{}, failed(err, path)
	}
	defer f.Close() //nolint:errcheck // read only
	opened, err := f.Stat()
	if err != nil {
		return read{}, failed(err, path)
	}
	if !same(before, opened) {
		return read{}, fault.New(image.CodeChanged, "path", path)
	}
	head := make([]byte, maxShebang)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return read{}, failed(err, path)
	}
	var r read
	r.format, r.interpreter, r.argument = recognise(head[:n])
	sum := sha256.New()
	sum.Write(head[:n])
	size := int64(n)
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return read{}, fault.From(err)
		}
		m, err := io.CopyN(sum, f, 4<<20)
		if err != nil && !errors.Is(err, io.EOF) {
			return read{}, failed(err, path)
		}
		size += m
		more = err == nil
	}
	after, err := f.Stat()
	if err != nil {
		return read{}, failed(err, path)
	}
	if size != opened.Size() || !same(opened, after) {
		return read{}, fault.New(image.CodeChanged, "path", path)
	}
	r.sha256 = hex.EncodeToString(sum.Sum(nil))
	return r, nil
}

// same reports whether two looks at a file saw the same state of the same file.
func same(a, b fs.FileInfo) bool {
	x, ok := stateOf(a)
	y, _ := stateOf(b)
	if ok {
		return x == y
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// recognise names the format; for a script also its first line as the kernel would take it.
func recognise(head []byte) (format image.Format, interpreter, argument string) {
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return image.FormatELF, "", ""
	case bytes.HasPrefix(head, []byte("MZ")):
		return image.FormatPE, "", ""
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")), bytes.HasPrefix(head, []byte("\xca\xfe\xba\xbe")):
		return image.FormatMachO, "", ""
	}
	if interpreter, argument, ok := image.Shebang(head); ok {
		return image.FormatScript, interpreter, argument
	}
	return image.FormatUnknown, "", ""
}

// parents lists directories above the file and above every link on the way that everybody may write, and those that
// another user owns or another group may write.
func parents(path string, links []image.Link) (open, shared []string) {
	seen := map[string]bool{}
	look := func(p string) {
		for dir := filepath.Dir(p); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			info, err := os.Stat(dir)
			if err != nil {
				continue
			}
			sticky := info.Mode()&fs.ModeSticky != 0
			group, world := writable(info.Mode())
			switch {
			case world && !sticky:
				open = append(open, dir)
			case foreign(info), group && !sticky && otherGroup(info):
				shared = append(shared, dir)
			}
		}
	}
	look(path)
	for _, l := range links {
		look(l.Path)
	}
	return open, shared
}

func failed(err error, path string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(err, image.CodeMissing, "path", path)
	case loops(err):
		return fault.Wrap(err, image.CodeCycle, "path", path)
	}
	var pe *fs.PathError
	detail := err.Error()
	if errors.As(err, &pe) {
		detail = pe.Err.Error()
	}
	return fault.Wrap(err, image.CodeUnreadable, "path", path, "detail", detail)
}
