package session

import (
	"cmp"
	"maps"
	"slices"
)

func (m *machine) putSession(id string, s sess) {
	m.sessions = maps.Clone(m.sessions)
	if m.sessions == nil {
		m.sessions = map[string]*sess{}
	}
	m.sessions[id] = &s
}

// useSession counts a Task in or out and marks the Session as used now.
func (m *machine) useSession(id string, open int) {
	s := *m.sessions[id]
	s.open += open
	s.usedAt = m.tick
	m.putSession(id, s)
}

// forget lets finished Tasks and idle Sessions go above the limits, the oldest first.
func (m *machine) forget() {
	var f Forgot
	if n := len(m.order) - m.limits.KeepFinished; n > 0 {
		f.Tasks = slices.Clone(m.order[:n])
		m.order = slices.Clone(m.order[n:])
		m.done = maps.Clone(m.done)
		for _, id := range f.Tasks {
			delete(m.done, id)
		}
	}
	if len(m.sessions) > m.limits.KeepSessions || m.used > m.limits.MemoryBytes {
		f.Sessions = m.forgetSessions()
	}
	if len(f.Tasks)+len(f.Sessions) > 0 {
		m.emit(f)
	}
}

func (m *machine) forgetSessions() []string {
	var idle []string
	for id, s := range m.sessions {
		if s.open == 0 {
			idle = append(idle, id)
		}
	}
	slices.SortFunc(idle, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.sessions[a].usedAt, m.sessions[b].usedAt), cmp.Compare(a, b))
	})
	n := 0
	left, used := len(m.sessions), m.used
	for n < len(idle) && (left > m.limits.KeepSessions || used > m.limits.MemoryBytes) {
		used -= m.sessions[idle[n]].size
		left--
		n++
	}
	if n == 0 {
		return nil
	}
	m.sessions = maps.Clone(m.sessions)
	for _, id := range idle[:n] {
		delete(m.sessions, id)
	}
	m.used = used
	return idle[:n]
}
