package engine

import (
	"strings"

	"github.com/agent-mcp/agent-mcp/core/guard"
	"github.com/agent-mcp/agent-mcp/core/report"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Texts of what a Task is believed for (AGT-04).
const (
	keyObserved     text.Key = "status.observed"      //
	keyObservedOne  text.Key = "status.observed_one"  // effect
	keyObservedMore text.Key = "status.observed_more" // count
)

const maxEvidenceShown = 20

// evidence tells what was observed of the completed steps of a Task that is over: not what the model says of it. The report and the
// Audit Log have all of it.
func evidence(cat text.Catalog, v view) string {
	var b strings.Builder
	shown, more := 0, 0
	for _, p := range v.proof {
		more += p.More
		for _, e := range p.Effects {
			if shown == maxEvidenceShown {
				more++
				continue
			}
			if shown++; shown == 1 {
				b.WriteString(cat.Text(keyObserved, nil) + "\n")
			}
			b.WriteString(cat.Text(keyObservedOne, map[string]any{"effect": cutRunes(guard.Plain(report.Effect(cat, v.workspace, e)), maxPathRunes)}) + "\n")
		}
	}
	if more > 0 {
		b.WriteString(cat.Text(keyObservedMore, map[string]any{"count": more}) + "\n")
	}
	return b.String()
}
