package agent

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Bounds of the repetition guard, in runes unless said.
const (
	guardWindow = 4096 // what is looked at: the end of the text
	guardStep   = 256  // how often
	guardPeriod = 400  // longest unit that may repeat
	guardLeast  = 800  // a repetition shorter than this is left alone
	guardTimes  = 8    // and one of fewer units
	guardWords  = 300  // words from which on few different n-grams are a loop
	guardGram   = 4    // words of an n-gram
)

// Guard watches a streamed reply for endless repetition. Feed it every chunk; once Add returns true, cancel the call and
// answer Ask with ModelFailed and model.CodeRepetition. Words and thinking are watched apart. Not for concurrent use.
type Guard struct{ content, thinking tail }

// Add takes a chunk and reports whether the model repeats itself.
func (g *Guard) Add(c model.Chunk) bool {
	return g.content.add(c.Content) || g.thinking.add(c.Thinking)
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
	if over := len(t.runes) - guardWindow; over > 0 {
		t.runes = append(t.runes[:0], t.runes[over:]...)
	}
	if t.fresh < guardStep {
		return false
	}
	t.fresh = 0
	return repeats(t.runes)
}

// Repeats reports that a text ends in endless repetition: one unit over and over, or the same few n-grams of words.
func Repeats(s string) bool {
	r := []rune(s)
	if len(r) > guardWindow {
		r = r[len(r)-guardWindow:]
	}
	return repeats(r)
}

func repeats(r []rune) bool {
	if len(r) < guardLeast {
		return false
	}
	for period := 1; period <= guardPeriod && period*guardTimes <= len(r); period++ {
		need := max(guardLeast, period*guardTimes)
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
	if len(words) < guardWords {
		return false
	}
	seen := map[string]bool{}
	n := 0
	for i := 0; i+guardGram <= len(words); i++ {
		seen[strings.Join(words[i:i+guardGram], " ")] = true
		n++
	}
	return len(seen)*10 <= n
}
