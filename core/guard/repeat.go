package guard

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Bounds of the repetition guard, in runes unless said.
const (
	window    = 4096 // what is looked at: the end of the text
	step      = 256  // how often
	longest   = 400  // longest unit that may repeat
	least     = 800  // a repetition shorter than this is left alone
	times     = 8    // and one of fewer units
	manyWords = 300  // words from which on few different n-grams are a loop
	gram      = 4    // words of an n-gram
)

// Stream watches a streamed reply for endless repetition. Feed it every chunk; once Add returns true, cancel the call: it
// failed with model.CodeRepetition. The zero value is ready for one reply. Words and thinking are watched apart. Not for
// concurrent use.
type Stream struct{ content, thinking tail }

// Add takes a chunk and reports whether the model repeats itself.
func (s *Stream) Add(c model.Chunk) bool {
	return s.content.add(c.Content) || s.thinking.add(c.Thinking)
}

type tail struct {
	runes []rune
	fresh int
}

func (t *tail) add(s string) bool {
	if s == "" {
		return false
	}
	n := len(t.runes)
	t.runes = append(t.runes, []rune(s)...)
	t.fresh += len(t.runes) - n
	if over := len(t.runes) - window; over > 0 {
		t.runes = append(t.runes[:0], t.runes[over:]...)
	}
	if t.fresh < step {
		return false
	}
	t.fresh = 0
	return repeats(t.runes)
}

// Repeats reports that a text ends in endless repetition: one unit over and over, or the same few n-grams of words.
func Repeats(s string) bool {
	r := []rune(s)
	if len(r) > window {
		r = r[len(r)-window:]
	}
	return repeats(r)
}

func repeats(r []rune) bool {
	if len(r) < least {
		return false
	}
	for period := 1; period <= longest && period*times <= len(r); period++ {
		need := max(least, period*times)
		if need > len(r) {
			break
		}
		same := 0
		for i := len(r) - 1; i >= period && same < need && r[i] == r[i-period]; i-- {
			same++
		}
		if same >= need-period {
			return true
		}
	}
	return fewGrams(strings.Fields(string(r)))
}

func fewGrams(words []string) bool {
	if len(words) < manyWords {
		return false
	}
	seen := map[string]bool{}
	n := 0
	for i := 0; i+gram <= len(words); i++ {
		seen[strings.Join(words[i:i+gram], " ")] = true
		n++
	}
	return len(seen)*10 <= n
}
