package prompt

import (
	"strings"
	"unicode"
)

// revealWords is how many words in a row of the Fixed System Prompt are no coincidence.
const revealWords = 10

// Reveals reports that a text holds a part of the Fixed System Prompt word for word, whatever its case, punctuation and line
// breaks (SEC-INV-09). Translations and paraphrases are not recognised; they are no secret either.
func Reveals(text string) bool {
	own := wordsOf(fixed)
	if len(text) < len(fixed)/40 {
		return false
	}
	all := " " + strings.Join(wordsOf(text), " ") + " "
	for i := 0; i+revealWords <= len(own); i += revealWords / 2 {
		if strings.Contains(all, " "+strings.Join(own[i:i+revealWords], " ")+" ") {
			return true
		}
	}
	return false
}

// wordsOf are the words of a text in lower case, without numbers: a list may be numbered anew.
func wordsOf(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
}
