package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/adapters/consent/terminal"
	"github.com/agent-mcp/agent-mcp/conformance/consenttest"
	"github.com/agent-mcp/agent-mcp/ports/consent"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

var ctx = context.Background()

func TestAsker_Contract(t *testing.T) {
	consenttest.Run(t, func(_ *testing.T, p consenttest.Person) (consent.Asker, func() string) {
		var out bytes.Buffer
		answer := map[consenttest.Person]string{consenttest.SaysYes: "yes\n", consenttest.SaysNo: "no\n", consenttest.SaysNothing: "\n"}[p]
		return terminal.New(strings.NewReader(answer), &out, p != consenttest.Nobody), out.String
	})
}

func TestAsk_OnlyAnExplicitYes(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "YES\r\n": true, " yes \n": true, "はい\n": true, "ｙ\n": true,
		"\n": false, "n\n": false, "yess\n": false, "yes please\n": false, "y y\n": false, "いいえ\n": false,
		strings.Repeat("y", 5000) + "\n": false,
	} {
		var out bytes.Buffer
		got, err := terminal.New(strings.NewReader(answer), &out, true).Ask(ctx, "Allow? ")
		require.NoError(t, err, answer)
		require.Equal(t, want, got, "%.20q", answer)
		require.Equal(t, "Allow? ", out.String())
	}
}

func TestAsk_Nobody(t *testing.T) {
	for name, a := range map[string]*terminal.Asker{
		"no terminal":    terminal.New(strings.NewReader("y\n"), io.Discard, false),
		"closed output":  terminal.New(strings.NewReader("y\n"), broken{}, true),
		"a broken input": terminal.New(iotest.ErrReader(errors.New("gone")), io.Discard, true),
	} {
		got, err := a.Ask(ctx, "?")
		require.False(t, got, name)
		require.Equal(t, consent.CodeNobody, fault.CodeOf(err), name)
	}
}

// Ctrl-D with a person there is a no, on a line of its own: also after a yes that nobody confirmed.
func TestAsk_EndOfInputIsANo(t *testing.T) {
	for _, answer := range []string{"", "yes"} {
		var out bytes.Buffer
		got, err := terminal.New(strings.NewReader(answer), &out, true).Ask(ctx, "Allow? ")
		require.NoError(t, err)
		require.False(t, got, "%q", answer)
		require.Equal(t, "Allow? \n", out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestAsk_Cancelled(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close() //nolint:errcheck // a test's pipe
	ctx, cancel := context.WithCancel(ctx)
	out := writer(func() { cancel() }) // while it waits for the answer
	got, err := terminal.New(r, out, true).Ask(ctx, "?")
	require.False(t, got)
	require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
	got, err = terminal.New(r, out, true).Ask(ctx, "?")
	require.False(t, got)
	require.Equal(t, fault.CodeCancelled, fault.CodeOf(err))
}

type writer func()

func (w writer) Write(p []byte) (int, error) { w(); return len(p), nil }

func TestIsTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close() //nolint:errcheck // only read
	require.False(t, terminal.IsTerminal(null), "a character device is not yet a terminal")
	require.False(t, terminal.IsTerminal(nil))
	if pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err == nil {
		defer pty.Close() //nolint:errcheck // a test's pty
		require.True(t, terminal.IsTerminal(pty))
	}
}
