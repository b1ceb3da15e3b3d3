// Package line cuts a byte stream into lines of bounded length: an oversized line is thrown away as it arrives, never
// held, and reported; CRLF, a byte order mark, blank lines and an unterminated last line are accepted (design/mcp.md,
// section 1, stdio). It knows nothing of what a line means.
package line

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// ErrTooLong reports one line above the limit; reading may go on.
var ErrTooLong = errors.New("line too long")

var bom = []byte("\xef\xbb\xbf")

// Reader yields lines. Not safe for concurrent use.
type Reader struct {
	in    *bufio.Reader
	limit int
	end   error
}

// NewReader reads lines of at most limit bytes, the line ending and a byte order mark not counted.
func NewReader(in io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// Next returns the next line that is not blank, trimmed of JSON's white space; the caller owns it. Errors: ErrTooLong
// once per oversized line, io.EOF after the last line, or what the stream said.
func (r *Reader) Next() ([]byte, error) {
	for r.end == nil {
		text, long := r.one()
		if long {
			return nil, ErrTooLong
		}
		if text = trim(text); len(text) > 0 {
			return text, nil
		}
	}
	return nil, r.end
}

// one reads up to and including the next newline; long lines are skipped to their end.
func (r *Reader) one() (text []byte, long bool) {
	for {
		part, err := r.in.ReadSlice('\n')
		if !long {
			if text = append(r.grow(text, len(part)), part...); len(text) > r.limit+len(bom)+len("\r\n") {
				text, long = nil, true
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		r.end = err
		return text, long || len(trim(text)) > r.limit
	}
}

// grow doubles what is too small, so that a long line is copied seldom, but never beyond what a line may need.
func (r *Reader) grow(text []byte, more int) []byte {
	if len(text) == 0 || len(text)+more <= cap(text) {
		return text
	}
	return slices.Grow(text, max(more, min(len(text), r.limit+len(bom)+len("\r\n")-len(text))))
}

func trim(b []byte) []byte {
	return bytes.Trim(bytes.TrimPrefix(b, bom), " \t\r\n")
}
