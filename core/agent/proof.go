package agent

import (
	"slices"

	"github.com/agent-mcp/agent-mcp/core/tool"
)

// proof is what remains of effects in the end: of every file what it came to, of every program its last run, in the order in
// which it happened. What was made and taken away again, or put back as it was, is no part of it (AGT-04).
func proof(effects []tool.Effect) []tool.Effect {
	var out []tool.Effect
	find := func(match func(tool.Effect) bool) int { return slices.IndexFunc(out, match) }
	of := func(p string) int {
		return find(func(e tool.Effect) bool {
			return e.Path == p && e.Kind != tool.EffectRan && e.Kind != tool.EffectMoved || e.Kind == tool.EffectMoved && e.Dest == p
		})
	}
	for _, e := range effects {
		e.Diff = ""
		switch i := of(e.Path); {
		case !e.Mutates():
		case e.Kind == tool.EffectRan:
			if k := find(func(o tool.Effect) bool { return o.Kind == e.Kind && o.Alias == e.Alias && o.Path == e.Path }); k >= 0 {
				out = slices.Delete(out, k, k+1)
			}
			out = append(out, e)
		case i < 0:
			out = append(out, e)
		default:
			old := out[i]
			out = slices.Delete(out, i, i+1)
			if e, left := merged(old, e); left {
				out = append(out, e)
			}
		}
	}
	return out
}

// merged is what two effects on one path come to; left is false when nothing remains.
func merged(old, e tool.Effect) (now tool.Effect, left bool) {
	made := old.Kind == tool.EffectCreated || old.Kind == tool.EffectMadeDir
	switch {
	case old.Kind == tool.EffectMoved: // e is about where it went
		switch e.Kind {
		case tool.EffectRemoved:
			return tool.Effect{Kind: tool.EffectRemoved, Path: old.Path, Before: old.Before}, true
		case tool.EffectMoved:
			old.Dest = e.Dest
			return old, old.Dest != old.Path
		}
		return old, true
	case e.Kind == tool.EffectRemoved:
		e.Before = old.Before
		return e, !made
	case e.Kind == tool.EffectMoved && made:
		old.Path = e.Dest
		return old, true
	case e.Kind == tool.EffectMoved:
		return e, true
	case made:
		old.SHA256 = e.SHA256
		return old, true
	}
	e.Kind, e.Before = tool.EffectChanged, old.Before // changed before, or removed and made again
	return e, e.Before == "" || e.SHA256 != e.Before
}
