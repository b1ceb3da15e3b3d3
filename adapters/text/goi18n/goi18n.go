// Package goi18n renders catalogue texts with go-i18n (I18N-01..11). It reads locale files strictly: broken JSON, an
// unknown or doubled key, a value that is no text, or placeholders other than English has are faults, never skipped.
// It never decides which language to use.
//
// go-i18n (with x/text for BCP 47 tags) is used for message bundles and the fallback from a locale to English; its
// template parser is replaced by ours, so that a text holds {named} placeholders and nothing that could be executed.
package goi18n

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Codes of locale files beside those of ports/text.
const (
	CodeInvalid     fault.Code = "locale.invalid"           // args: count; Reasons: every problem found
	CodeFileName    fault.Code = "locale.file_name"         // args: path — the name is no BCP 47 tag
	CodeDuplicate   fault.Code = "locale.duplicate_key"     // args: path, key
	CodeNotText     fault.Code = "locale.not_text"          // args: path, key — empty, or no string
	CodePlain       fault.Code = "locale.unknown_key_plain" // args: path, key — no known key is near
	CodePlaceholder fault.Code = "locale.placeholder"       // args: path, key, want, got
)

// Options says where the texts are.
type Options struct {
	// Builtin holds the shipped <tag>.json files; en.json must be there: its keys are the known ones.
	Builtin fs.FS
	// Dirs are added in order; a later text replaces an earlier one of the same tag and key.
	Dirs []Dir
	// Tag is the language wanted, a BCP 47 tag. `ja-JP` is served by `ja` when there is no file of its own.
	Tag string
}

// Dir is a directory of *.json locales.
type Dir struct {
	Path     string
	Optional bool // a missing directory is no fault
}

// Catalog is one language with English behind it. Safe for concurrent use.
type Catalog struct {
	tag       string
	localizer *i18n.Localizer
	parsed    sync.Map // text.Key → parsed, of the keys used so far
	hints     map[string]bool
}

var _ text.Catalog = (*Catalog)(nil)

// New reads every locale file, also those of other languages (a broken one is found at start, not when it is first
// chosen), and returns the catalogue of opts.Tag. Faults: the codes above and text.CodeBadTag, CodeUnknownLocale,
// CodeBrokenFile, CodeUnknownKey; several problems arrive as reasons of CodeInvalid.
func New(opts Options) (*Catalog, error) {
	want, err := language.Parse(opts.Tag)
	var unassigned language.ValueError // well formed, such as jp, but no language's
	if err != nil && !errors.As(err, &unassigned) {
		return nil, fault.Wrap(err, text.CodeBadTag, "tag", opts.Tag)
	}
	l := &loader{texts: map[string]map[string]string{}}
	l.builtin(opts.Builtin)
	for _, d := range opts.Dirs {
		l.dir(d)
	}
	switch len(l.problems) {
	case 0:
	case 1:
		return nil, l.problems[0]
	default:
		return nil, fault.New(CodeInvalid, "count", len(l.problems)).With(l.problems...)
	}
	known := make([]string, 0, len(l.texts))
	for tag := range l.texts {
		known = append(known, tag)
	}
	slices.Sort(known)
	tag := lookup(want.String(), known)
	if tag == "" || err != nil {
		return nil, fault.New(text.CodeUnknownLocale, "tag", opts.Tag, "known", strings.Join(known, ", "))
	}
	return build(tag, l.texts)
}

// lookup finds the tag, or the nearest one above it: zh-Hant-TW, zh-Hant, zh (RFC 4647, 3.4).
func lookup(tag string, known []string) string {
	for tag != "" {
		if slices.Contains(known, tag) {
			return tag
		}
		tag = tag[:max(0, strings.LastIndexByte(tag, '-'))]
	}
	return ""
}

func build(tag string, texts map[string]map[string]string) (*Catalog, error) {
	c := &Catalog{tag: tag, hints: map[string]bool{}}
	bundle := i18n.NewBundle(language.English)
	for _, t := range []string{english, tag} {
		messages := make([]*i18n.Message, 0, len(texts[t]))
		for key, value := range texts[t] {
			messages = append(messages, &i18n.Message{ID: key, Other: value})
			c.hints[key] = true
		}
		if err := bundle.AddMessages(language.MustParse(t), messages...); err != nil {
			return nil, fault.Wrap(err, text.CodeBadTag, "tag", t)
		}
	}
	c.localizer = i18n.NewLocalizer(bundle, tag)
	return c, nil
}

// Tag is the BCP 47 tag in use.
func (c *Catalog) Tag() string { return c.tag }

// Text renders a message: locale → en → the key itself (I18N-10).
func (c *Catalog) Text(key text.Key, args map[string]any) string {
	p, known := c.parsed.Load(key)
	if !known {
		var found parser
		// The error only says that English was used instead.
		_, _ = c.localizer.Localize(&i18n.LocalizeConfig{MessageID: string(key), TemplateParser: &found})
		p = found.text
		c.parsed.Store(key, p)
	}
	out := p.(parsed).fill(c.worded(args)) //nolint:errcheck // nothing else is stored
	if out == "" {
		return string(key)
	}
	return out
}

// worded replaces words by their texts, in a copy.
func (c *Catalog) worded(args map[string]any) map[string]any {
	var out map[string]any
	for name, v := range args {
		var list text.Words
		switch v := v.(type) {
		case text.Word:
			list = text.Words{v}
		case text.Words:
			list = v
		default:
			continue
		}
		if out == nil {
			out = maps.Clone(args)
		}
		texts := make([]string, len(list))
		for i, w := range list {
			if texts[i] = w.Plain; w.Key != "" {
				texts[i] = c.Text(w.Key, nil)
			}
		}
		out[name] = strings.Join(texts, ", ")
	}
	if out == nil {
		return args
	}
	return out
}

// Fault renders a fault: its text, one line per reason, hints below what they belong to. A hint is shown once.
func (c *Catalog) Fault(f *fault.Error) string {
	if f == nil {
		return ""
	}
	var lines []string
	c.fault(&lines, f, "", map[string]bool{})
	return strings.Join(lines, "\n")
}

func (c *Catalog) fault(lines *[]string, f *fault.Error, indent string, shown map[string]bool) {
	lead := indent
	if indent != "" {
		lead = indent[:len(indent)-2] + "- "
	}
	*lines = append(*lines, shift(c.Text(text.Key(f.Code), f.Args), lead, indent))
	for _, r := range f.Reasons {
		c.fault(lines, r, indent+"  ", shown)
	}
	key := string(f.Code) + ".hint"
	if !c.hints[key] {
		return
	}
	if hint := c.Text(text.Key(key), f.Args); !shown[hint] {
		shown[hint] = true
		*lines = append(*lines, shift(hint, indent, indent))
	}
}

// shift indents a text of several lines.
func shift(s, first, rest string) string {
	return first + strings.ReplaceAll(s, "\n", "\n"+rest)
}
