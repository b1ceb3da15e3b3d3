package sandbox

import "github.com/agent-mcp/agent-mcp/ports/text"

// What people read of items, strengths and network modes.
const (
	keyRead        text.Key = "enforce.read"
	keyWrite       text.Key = "enforce.write"
	keyExecute     text.Key = "enforce.execute"
	keyDelete      text.Key = "enforce.delete"
	keyNetwork     text.Key = "enforce.network"
	keyProcesses   text.Key = "enforce.processes"
	keyMemory      text.Key = "enforce.memory"
	keyWallClock   text.Key = "enforce.wall_clock"
	keyKillAll     text.Key = "enforce.kill_all"
	keyCredentials text.Key = "enforce.credentials"
	keyEntry       text.Key = "enforce.entry"

	keyStrengthNone text.Key = "strength.none"
	keyApproximate  text.Key = "strength.approximate"
	keyExact        text.Key = "strength.exact"

	keyExited    text.Key = "end.exited"
	keySignaled  text.Key = "end.signaled"
	keyTimedOut  text.Key = "end.timed_out"
	keyMemoryEnd text.Key = "end.out_of_memory"
	keyCancelled text.Key = "end.cancelled"

	keyNone       text.Key = "network.none"
	keyLocal      text.Key = "network.local"
	keyRestricted text.Key = "network.restricted"
)

// Word is the item as an argument of a text.
func (i Item) Word() text.Word { return text.Word{Plain: string(i), Key: itemKeys()[i]} }

func itemKeys() map[Item]text.Key {
	return map[Item]text.Key{
		ItemRead: keyRead, ItemWrite: keyWrite, ItemExecute: keyExecute, ItemDelete: keyDelete, ItemNetwork: keyNetwork,
		ItemProcesses: keyProcesses, ItemMemory: keyMemory, ItemWallClock: keyWallClock, ItemKillAll: keyKillAll,
		ItemCredentials: keyCredentials, ItemEntry: keyEntry,
	}
}

// Word is the strength as an argument of a text.
func (s Strength) Word() text.Word {
	switch s {
	case Exact:
		return text.Word{Plain: s.String(), Key: keyExact}
	case Approximate:
		return text.Word{Plain: s.String(), Key: keyApproximate}
	}
	return text.Word{Plain: s.String(), Key: keyStrengthNone}
}

// ParseStrength reads a strength as String writes it; anything else is none.
func ParseStrength(s string) Strength {
	for _, known := range []Strength{Exact, Approximate} {
		if s == known.String() {
			return known
		}
	}
	return StrengthNone
}

// Word is the mode as an argument of a text.
func (m NetworkMode) Word() text.Word {
	switch m {
	case NetworkLocal:
		return text.Word{Plain: string(m), Key: keyLocal}
	case NetworkRestricted:
		return text.Word{Plain: string(m), Key: keyRestricted}
	case NetworkNone:
		return text.Word{Plain: string(m), Key: keyNone}
	}
	return text.Word{Plain: string(m)}
}

// Word is the end as an argument of a text.
func (e End) Word() text.Word {
	keys := map[End]text.Key{
		EndExited: keyExited, EndSignaled: keySignaled, EndTimedOut: keyTimedOut, EndMemory: keyMemoryEnd, EndCancelled: keyCancelled,
	}
	return text.Word{Plain: string(e), Key: keys[e]}
}
