package ollama

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// OLL-14: reasoning that leaked into content is no content.
func TestSplitThink(t *testing.T) {
	for _, c := range []struct{ in, thinking, answer string }{
		{"plain", "", "plain"},
		{"<think>a</think>b", "a", "b"},
		{" \n<think>\na\n</think>\n\nb", "a", "b"},
		{"a\n</think>\n\n42", "a", "42"},
		{"<think>a</think>b<think>c</think>d", "abc", "d"},
		{"<think>never closed", "never closed", ""},
		{"a</think><think>more", "amore", ""},
		{"Sure.\n<think>hm", "hm", "Sure."},
		{"Use the <think> tag.", "", "Use the <think> tag."},
		{`{"note":"a </think> tag"}`, "", `{"note":"a </think> tag"}`},
		{"</think>", "", ""},
	} {
		thinking, answer := splitThink(c.in)
		assert.Equal(t, c.thinking, thinking, c.in)
		assert.Equal(t, c.answer, answer, c.in)
	}
}

// However the head is cut into pieces, the same text comes out on the same side.
func TestHeadFilter_AnyCut(t *testing.T) {
	for _, c := range []struct{ in, thinking, content string }{
		{"<think>abc</think>def", "abc", "def"},
		{"\n<think>x", "x", ""},
		{"<thin", "", ""},
		{"hello <think>", "", "hello <think>"},
		{"<b>bold</b>", "", "<b>bold</b>"},
		{"<think>a<b</thinx></think>", "a<b</thinx>", ""},
	} {
		for i := range len(c.in) + 1 {
			for j := i; j <= len(c.in); j++ {
				var f headFilter
				var content, thinking string
				for _, p := range []string{c.in[:i], c.in[i:j], c.in[j:]} {
					a, b := f.push(p)
					content, thinking = content+a, thinking+b
				}
				require.Equal(t, c.content, content, "%q at %d, %d", c.in, i, j)
				require.Equal(t, c.thinking, thinking, "%q at %d, %d", c.in, i, j)
			}
		}
	}
}

func TestRepeats(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "a normal answer": false, strings.Repeat(" again", 30): true, strings.Repeat(" ", 30): true,
		"start " + strings.Repeat("ab", 10): true, strings.Repeat("ab", 9): false, strings.Repeat("long piece of text, ", 9): false,
		strings.Repeat("long piece of text, ", 11): true, strings.Repeat("x", 30) + " end": false,
	} {
		assert.Equal(t, want, repeats(in), "%q", in)
	}
}

func TestNamed(t *testing.T) {
	ids := func(in ...string) (out []string) {
		var calls []model.ToolCall
		for _, id := range in {
			calls = append(calls, model.ToolCall{ID: id})
		}
		for _, c := range named(calls) {
			out = append(out, c.ID)
		}
		return out
	}
	assert.Equal(t, []string{"call_1", "call_2"}, ids("", ""))
	assert.Equal(t, []string{"a", "call_2"}, ids("a", "a"))
	assert.Equal(t, []string{"call_3", "call_1", "call_2"}, ids("", "call_1", "call_2"))
}

// A proxy never sees what is meant for a model on this machine.
func TestProxy_NotForThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "a.localhost": true, "127.0.0.1": true, "127.8.8.8": true,
		"::1": true, "::1%lo": true, "0.0.0.0": true, "::": true, "example.com": false, "10.0.0.1": false, "localhost.example.com": false, "128.0.0.1": false,
	} {
		assert.Equal(t, want, local(host), host)
	}
	u, err := proxy(&http.Request{URL: &url.URL{Scheme: "http", Host: "127.0.0.1:11434"}})
	require.NoError(t, err)
	assert.Nil(t, u)
}

// One stream, cut in two at every byte, always gives the same reply.
func TestRead_EverySplit(t *testing.T) {
	m := client(t, Config{})
	for _, name := range []string{"25-split-bytes", "17-calls-in-done-frame", "07-arguments-as-string", "11-stray-close-think"} {
		for _, r := range load(t, "faults.jsonl") {
			if r.name != name {
				continue
			}
			body, err := io.ReadAll(r.decoded())
			require.NoError(t, err)
			var want model.Reply
			for i := range body {
				call := m.start(context.Background())
				got, err := call.read(io.MultiReader(bytes.NewReader(body[:i]), bytes.NewReader(body[i:])), "m", nil)
				call.end()
				require.NoError(t, err, "%s at %d", name, i)
				if i == 0 {
					want = got
				}
				require.Equal(t, want, got, "%s at %d", name, i)
			}
		}
	}
}

// A stream cut off at any byte is never a success, and never anything but incomplete.
func TestRead_EveryCut(t *testing.T) {
	m := client(t, Config{})
	for _, r := range load(t, "faults.jsonl") {
		if r.name != "25-split-bytes" && r.name != "17-calls-in-done-frame" {
			continue
		}
		body, err := io.ReadAll(r.decoded())
		require.NoError(t, err)
		for i := range len(bytes.TrimSpace(body)) {
			call := m.start(context.Background())
			_, err := call.read(bytes.NewReader(body[:i]), "m", nil)
			call.end()
			require.ErrorContains(t, err, string(model.CodeIncomplete), "%s at %d", r.name, i)
		}
	}
}

// Why nothing answered: too slow to connect is not the same as nobody there.
func TestUnreachable(t *testing.T) {
	m := client(t, Config{BaseURL: "http://u:secret@host:1", ConnectTimeout: 5e9})
	dial := func(err error) error {
		return &url.Error{Op: "Post", URL: "x", Err: &net.OpError{Op: "dial", Err: err}}
	}
	assert.Equal(t, model.CodeConnectTimeout, m.unreachable(dial(os.ErrDeadlineExceeded)).Code)
	assert.Equal(t, "5s", m.unreachable(dial(os.ErrDeadlineExceeded)).Args["limit"])
	assert.Equal(t, model.CodeUnreachable, m.unreachable(dial(io.EOF)).Code)
	assert.Equal(t, model.CodeUnreachable, m.unreachable(&url.Error{Err: io.EOF}).Code)
	assert.NotContains(t, m.unreachable(dial(io.EOF)).Args["url"], "secret")
}

func TestClean(t *testing.T) {
	assert.Equal(t, "a b c[31m", clean("a\n\tb\x00 c\x1b[31m"))
	assert.Len(t, []rune(clean(strings.Repeat("é", 1000))), 401)
	assert.Equal(t, "HTML: 502 Bad Gateway", detail([]byte("<html><head><title>x</title></head><h1>502 Bad\nGateway</h1></html>")))
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"<think>a</think>b","tool_calls":[{"function":{"name":"x","arguments":"{}"}}]},"done":true}` + "\n"))
	f.Add([]byte(`{"error":{"message":"x"}}`))
	f.Add([]byte("<html>"))
	m, err := New(Config{MaxLineBytes: 1 << 12, MaxReplyBytes: 1 << 12})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		call := m.start(context.Background())
		defer call.end()
		r, err := call.read(bytes.NewReader(body), "m", func(model.Chunk) {})
		if err == nil && !bytes.Contains(body, []byte("done")) {
			t.Fatalf("a success without the end mark: %+v", r)
		}
		for _, c := range r.Message.ToolCalls {
			if c.ID == "" || len(c.Arguments) == 0 {
				t.Fatalf("call without id or arguments: %+v", c)
			}
		}
	})
}

// OLL-14: errors that repeat what a model wrote do not repeat what it thought; a broken line of a reply is not quoted at all.
func TestErrors_HoldNoThinking(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a <think>x</think> b": "a … b", "x</think> b": "… b", "a <think>x": "a …", "a <think>x</think> b </think> c <think>y": "a … c …",
	} {
		assert.Equal(t, want, unthought(in), in)
		assert.Equal(t, want, classifyText(in, 500, "m").Args["detail"], in)
	}
	err := errors.New("x")
	assert.Equal(t, "broken JSON in a line of 14 bytes", brokenLine([]byte(`{"thinking":"x`), err).Args["detail"])
	assert.Equal(t, "HTML: Sign in", brokenLine([]byte("<html>Sign in"), err).Args["detail"])
}
