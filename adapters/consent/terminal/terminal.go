// Package terminal asks the person at a terminal (ports/consent). It shows the question as it is given and takes only an
// explicit yes; it never decides what to ask.
package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Asker implements consent.Asker. One question at a time.
type Asker struct {
	in     *bufio.Reader
	out    io.Writer
	person bool
}

var _ consent.Asker = (*Asker)(nil)

// New returns an Asker that shows questions on out and reads answers from in. person tells whether in is a terminal
// (IsTerminal): without one nobody is asked.
func New(in io.Reader, out io.Writer, person bool) *Asker {
	return &Asker{in: bufio.NewReaderSize(in, maxAnswer), out: out, person: person}
}

const maxAnswer = 4096 // bytes; a longer line is no yes

// yes are the accepted answers, in lower case, of the shipped languages.
func yes() []string { return []string{"y", "yes", "はい", "ｙ", "ｙｅｓ"} }

// Ask implements consent.Asker. When ctx ends it returns at once; the read that waits ends with the process.
func (a *Asker) Ask(ctx context.Context, question string) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, fault.From(err)
	}
	if !a.person {
		return false, fault.New(consent.CodeNobody)
	}
	if _, err := io.WriteString(a.out, question); err != nil {
		return false, closed(err)
	}
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := a.in.ReadSlice('\n')
		got <- answer{string(line), err}
	}()
	select {
	case <-ctx.Done():
		_, _ = io.WriteString(a.out, "\n") // leave the question's line, whatever comes next
		return false, fault.From(ctx.Err())
	case r := <-got:
		switch {
		case errors.Is(r.err, bufio.ErrBufferFull):
			return false, nil
		case errors.Is(r.err, io.EOF): // Ctrl-D, also after text without a line end: who is there did not say yes
			_, err := io.WriteString(a.out, "\n") // the question's line is not ended by an answer
			return false, closed(err)
		case r.err != nil:
			return false, fault.Wrap(r.err, consent.CodeNobody)
		}
		return slices.Contains(yes(), strings.ToLower(strings.TrimSpace(r.line))), nil
	}
}

// closed tells that nobody sees what is written.
func closed(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, consent.CodeNobody)
}
