package line_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/front/mcp/internal/line"
)

// all reads everything; "!" stands for an oversized line.
func all(t *testing.T, in io.Reader, limit int) ([]string, error) {
	t.Helper()
	r := line.NewReader(in, limit)
	var got []string
	for {
		text, err := r.Next()
		switch {
		case errors.Is(err, line.ErrTooLong):
			got = append(got, "!")
		case err != nil:
			_, again := r.Next()
			require.Equal(t, err, again, "an end must stay an end")
			return got, err
		default:
			got = append(got, string(text))
		}
	}
}

func TestReader_Next(t *testing.T) {
	big := strings.Repeat("x", 300_000)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"blank lines", "\n \r\n\t\n\n", nil},
		{"one", "a\n", []string{"a"}},
		{"unterminated", "a\nb", []string{"a", "b"}},
		{"CRLF", "a\r\nb\r\n", []string{"a", "b"}},
		{"byte order mark", "\xef\xbb\xbfa\nb\n", []string{"a", "b"}},
		{"byte order mark alone", "\xef\xbb\xbf\n", nil},
		{"carriage return inside", "a\rb\n", []string{"a\rb"}},
		{"U+2028 is no line end", "a\u2028b\n", []string{"a\u2028b"}},
		{"white space around", "  a \t\n", []string{"a"}},
		{"exactly the limit", "0123456789\n", []string{"0123456789"}},
		{"exactly the limit, CRLF and BOM", "\xef\xbb\xbf0123456789\r\n", []string{"0123456789"}},
		{"one above", "0123456789a\nb\n", []string{"!", "b"}},
		{"far above", big + "\nb\n" + big, []string{"!", "b", "!"}},
		{"unterminated above", "a\n0123456789ab", []string{"a", "!"}},
		{"NUL", "a\x00b\n", []string{"a\x00b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, in := range map[string]io.Reader{
				"whole": strings.NewReader(c.in), "bytes": iotest.OneByteReader(strings.NewReader(c.in)),
				"data with error": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := all(t, in, 10)
				assert.Equal(t, c.want, got, name)
				assert.ErrorIs(t, err, io.EOF)
			}
		})
	}
}

func TestReader_StreamError(t *testing.T) {
	boom := errors.New("boom")
	got, err := all(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(boom)), 10)
	assert.Equal(t, []string{"a", "b"}, got)
	assert.ErrorIs(t, err, boom)
}

// endless yields n bytes without a newline, then one newline.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = 'x'
	}
	if e.n -= n; e.n == 0 {
		p[n-1] = '\n'
	}
	return n, nil
}

func TestReader_OversizedIsNotHeld(t *testing.T) {
	allocated := testing.AllocsPerRun(1, func() {
		r := line.NewReader(&endless{n: 64 << 20}, 1<<10)
		_, err := r.Next()
		require.ErrorIs(t, err, line.ErrTooLong)
	})
	assert.Less(t, allocated, 20.0)
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"", "a\nb", "\xef\xbb\xbfa\r\n\r\n", strings.Repeat("x", 20) + "\ny", "\n\n \n", "x\xff\n"} {
		f.Add([]byte(s), 10)
	}
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		limit = 1 + (limit&0x7fffffff)%64
		var want []string
		for _, part := range bytes.SplitAfter(in, []byte("\n")) {
			text := string(bytes.Trim(bytes.TrimPrefix(part, []byte("\xef\xbb\xbf")), " \t\r\n"))
			slack := len(part) - limit
			switch {
			case len(text) > limit:
				want = append(want, "!")
			case text == "" && slack <= 5:
			case slack > 5: // padded beyond the limit: either way is right
				return
			default:
				want = append(want, text)
			}
		}
		whole, err := all(t, bytes.NewReader(in), limit)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, want, whole)
		slow, _ := all(t, iotest.OneByteReader(bytes.NewReader(in)), limit)
		require.Equal(t, want, slow)
	})
}
