package guard

import (
	"strings"
	"unicode"
)

// scripts are the letters that a text in a language cannot do without; a language that is not here is not judged.
var scripts = map[string][]*unicode.RangeTable{
	"ja": {unicode.Hiragana, unicode.Katakana}, "zh": {unicode.Han}, "ko": {unicode.Hangul}, "ru": {unicode.Cyrillic}, "uk": {unicode.Cyrillic},
	"el": {unicode.Greek}, "ar": {unicode.Arabic}, "he": {unicode.Hebrew}, "th": {unicode.Thai}, "hi": {unicode.Devanagari},
	"en": {unicode.Latin}, "de": {unicode.Latin}, "fr": {unicode.Latin}, "es": {unicode.Latin}, "it": {unicode.Latin}, "pt": {unicode.Latin},
}

// Speaks tells by the letters alone whether a text may be in a language (a BCP 47 tag). A text almost without letters, and a
// language that is not known here, may.
func Speaks(tag, text string) bool {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	tables := scripts[base]
	if tables == nil {
		return true
	}
	letters, own := 0, 0
	for _, r := range text {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if unicode.In(r, tables...) {
			own++
		}
	}
	if base == "ja" && own == 0 && letters > 0 {
		han := strings.IndexFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) >= 0
		return letters < 12 && han // 完了
	}
	return letters < 4 || own*10 >= letters // names and code may be most of it
}
