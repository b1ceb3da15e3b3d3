package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

//go:embed texts/*.json
var texts embed.FS

// speaker prints this example's own texts in one language. The product's texts come from the product.
type speaker struct {
	lang  string
	out   io.Writer
	texts map[string]string
	plain bool
	n     int
}

func newSpeaker(lang string, out io.Writer) (*speaker, error) {
	raw, err := texts.ReadFile("texts/" + lang + ".json")
	if err != nil {
		return nil, fmt.Errorf("--lang %s: en or ja", lang)
	}
	s := &speaker{lang: lang, out: out, texts: map[string]string{}, plain: os.Getenv("NO_COLOR") != "" || !terminal(out)}
	return s, json.Unmarshal(raw, &s.texts)
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

func (s *speaker) text(key string, kv ...string) string {
	t, ok := s.texts[key]
	if !ok {
		t = key
	}
	for i := 0; i+1 < len(kv); i += 2 {
		t = strings.ReplaceAll(t, "{"+kv[i]+"}", kv[i+1])
	}
	return t
}

func (s *speaker) paint(code, t string) string {
	if s.plain {
		return t
	}
	return "\x1b[" + code + "m" + t + "\x1b[0m"
}

func (s *speaker) title(key string) { fmt.Fprintln(s.out, s.paint("1", s.text(key))) }

func (s *speaker) step(key string) {
	s.n++
	fmt.Fprintf(s.out, "\n%s\n", s.paint("1;36", fmt.Sprintf("%d. %s", s.n, s.text(key))))
}

func (s *speaker) line(key string, kv ...string) { fmt.Fprintln(s.out, "   "+s.text(key, kv...)) }

func (s *speaker) block(text string) {
	for l := range strings.Lines(text) {
		fmt.Fprint(s.out, "   "+l)
	}
	if !strings.HasSuffix(text, "\n") {
		fmt.Fprintln(s.out)
	}
}

func (s *speaker) problem(key string, err error) error { return fmt.Errorf("%s: %w", s.text(key), err) }
