// Package file is the Recovery Journal on disk (ports/journal, REC-06): one append-only, owner-only file per instance.
//
// Each record is one line: the CRC-32C of the rest in eight hex digits, a space, JSON. Append returns when the line is on
// the disk (fsync). A crash while writing leaves a torn last line, which is left out and cut off before the next
// append; damage anywhere else is told, never skipped. The package never decides what a record means.
package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/adapters/internal/hostfile"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/journal"
)

// MaxBytes bounds a journal that is read back: more is damage, not history.
const MaxBytes = 64 << 20

// Journal is one open file. Safe for concurrent use.
type Journal struct {
	path string

	mu     sync.Mutex
	f      file
	size   int64 // bytes of whole records
	broken error // a failure after which the file's end is unknown; no append is possible any more
}

// file is what a journal needs of *os.File; tests put a failing one in its place.
type file interface {
	io.ReaderAt
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

var _ journal.Journal = (*Journal)(nil)

// Open opens or makes the journal at path; the directory must exist. CodeDamaged when it holds damage, CodeFailed for
// everything the system refuses.
func Open(path string) (*Journal, error) {
	f, made, err := hostfile.OpenAppend(path)
	if err != nil {
		return nil, failed(err, path)
	}
	if made {
		err = hostfile.SyncDir(filepath.Dir(path))
	}
	var info os.FileInfo
	if err == nil {
		info, err = f.Stat()
	}
	if err == nil {
		var j *Journal
		if j, err = open(path, f, info.Size()); err == nil {
			return j, nil
		}
	}
	_ = f.Close()
	return nil, failed(err, path)
}

func open(path string, f file, size int64) (*Journal, error) {
	j := &Journal{path: path, f: f, size: size}
	_, whole, err := j.read()
	if err != nil {
		return nil, err
	}
	if whole < size {
		if err := j.cut(whole); err != nil {
			return nil, failed(err, path)
		}
	}
	j.size = whole
	return j, nil
}

// Append writes one record and syncs it. After a failed write the half-written line is cut off again; when even that
// fails, or the sync does, the journal takes no more records.
func (j *Journal) Append(ctx context.Context, rec journal.Record) error {
	if err := ctx.Err(); err != nil {
		return fault.From(err)
	}
	line, err := encode(rec)
	if err != nil {
		return failed(err, j.path)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken != nil {
		return failed(j.broken, j.path)
	}
	if _, err := j.f.Write(line); err != nil {
		if cutErr := j.cut(j.size); cutErr != nil {
			j.broken = errors.Join(err, cutErr)
		}
		return failed(err, j.path)
	}
	if err := j.f.Sync(); err != nil {
		j.broken = err // what is on the disk is unknown now: fsync(2) reports an error once
		return failed(err, j.path)
	}
	j.size += int64(len(line))
	return nil
}

// Replay reads every whole record from the file.
func (j *Journal) Replay(ctx context.Context) ([]journal.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.From(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, os.ErrClosed) {
		return nil, failed(j.broken, j.path)
	}
	recs, _, err := j.read()
	return recs, err
}

// Close closes the file; everything in it is already on the disk.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(j.broken, os.ErrClosed) {
		return nil
	}
	j.broken = os.ErrClosed
	if err := j.f.Close(); err != nil {
		return failed(err, j.path)
	}
	return nil
}

func (j *Journal) cut(size int64) error {
	if err := j.f.Truncate(size); err != nil {
		return err
	}
	return j.f.Sync()
}

// read returns the whole records and how many bytes they take.
func (j *Journal) read() ([]journal.Record, int64, error) {
	data, err := io.ReadAll(io.NewSectionReader(j.f, 0, MaxBytes+1))
	if err != nil {
		return nil, 0, failed(err, j.path)
	}
	if len(data) > MaxBytes {
		return nil, 0, failed(errors.New("it is larger than any journal"), j.path)
	}
	recs, whole, badLine := decode(data)
	if badLine > 0 {
		return nil, 0, fault.New(journal.CodeDamaged, "path", j.path, "line", badLine)
	}
	return recs, int64(whole), nil
}

const sumLen = 8 // hex digits

func sum(body []byte) []byte {
	castagnoli := crc32.MakeTable(crc32.Castagnoli) // made once by crc32 itself
	return hex.AppendEncode(nil, binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli)))
}

func encode(rec journal.Record) ([]byte, error) {
	for _, text := range []string{rec.Resource.ID, rec.Resource.Path, rec.Resource.Task, string(rec.Resource.Kind)} {
		if !utf8.ValidString(text) { // JSON would change it, and recovery would look for another file
			return nil, fmt.Errorf("%q is not UTF-8", text)
		}
	}
	body, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	line := make([]byte, 0, len(body)+sumLen+2)
	line = append(line, sum(body)...)
	line = append(line, ' ')
	line = append(line, body...)
	return append(line, '\n'), nil
}

// decode reads lines. whole is the number of bytes up to the end of the last good line; badLine is the first line, from
// 1, that is damaged, 0 when none is. What follows the last newline is torn. So is a last line with zero bytes in it: a
// page that the system had not written when the power went.
func decode(data []byte) (recs []journal.Record, whole, badLine int) {
	for line := 1; whole < len(data); line++ {
		end := bytes.IndexByte(data[whole:], '\n')
		if end < 0 {
			return recs, whole, 0
		}
		text := data[whole : whole+end]
		rec, ok := decodeLine(text)
		if !ok {
			if last := whole+end+1 == len(data); last && bytes.IndexByte(text, 0) >= 0 {
				return recs, whole, 0
			}
			return nil, whole, line
		}
		recs, whole = append(recs, rec), whole+end+1
	}
	return recs, whole, 0
}

func decodeLine(text []byte) (rec journal.Record, ok bool) {
	if len(text) < sumLen+1 || text[sumLen] != ' ' {
		return rec, false
	}
	body := text[sumLen+1:]
	if !bytes.Equal(sum(body), text[:sumLen]) {
		return rec, false
	}
	return rec, json.Unmarshal(body, &rec) == nil
}

func failed(err error, path string) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return f
	}
	return fault.Wrap(err, journal.CodeFailed, "path", path, "detail", err.Error())
}
