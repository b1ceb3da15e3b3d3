package weave

import (
	"encoding/json"
	"strings"

	"github.com/agent-mcp/agent-mcp/app/signed"
	"github.com/agent-mcp/agent-mcp/app/vectors"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// describe tells a result in words.
func (p program) describe(r signed.Result) string {
	var lines []string
	if r.Detected {
		lines = append(lines, p.t(keyDetected, map[string]any{"profile": r.Profile}))
	}
	if !r.Verified {
		stage := r.Stage
		if key, ok := stages[stage]; ok {
			stage = p.t(key, nil)
		}
		lines = append(lines, p.t(keyRefused, map[string]any{"stage": stage}), "["+string(r.Reason.Code)+"] "+p.words(r.Reason))
		return strings.Join(lines, "\n")
	}
	lines = append(lines,
		p.t(keyVerified, map[string]any{"profile": r.Profile}),
		p.t(keySigner, map[string]any{"type": r.PrincipalType, "id": r.PrincipalID}),
		p.t(keyKey, map[string]any{"key": r.KeyID}),
		p.t(keyOrg, map[string]any{"id": r.Organization}),
		p.t(keyTime, map[string]any{"time": r.Time}),
		p.t(keyHash, map[string]any{"hash": r.Hash}),
		p.t(keyMeaning, nil),
	)
	return strings.Join(lines, "\n")
}

// reason of a failure, for programs: code and arguments are the same in every language, message is not.
type reason struct {
	Code    fault.Code `json:"code"`
	Args    fault.Args `json:"args,omitempty"`
	Message string     `json:"message"`
	Reasons []reason   `json:"reasons,omitempty"`
}

func (p program) reason(f *fault.Error) *reason {
	if f == nil {
		return nil
	}
	r := &reason{Code: f.Code, Args: f.Args, Message: p.words(f)}
	for _, inner := range f.Reasons {
		r.Reasons = append(r.Reasons, *p.reason(inner))
	}
	return r
}

func indent(v any) string {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("weave: results are always JSON: " + err.Error())
	}
	return string(out)
}

type principal struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

func (p program) resultJSON(r signed.Result) string {
	out := struct {
		Verified      bool       `json:"verified"`
		Profile       string     `json:"profile,omitempty"`
		Organization  string     `json:"organizationId,omitempty"`
		KeyID         string     `json:"keyId,omitempty"`
		Principal     *principal `json:"principal,omitempty"`
		ProtectedTime string     `json:"protectedTime,omitempty"`
		SigningHash   string     `json:"signingHash,omitempty"`
		Stage         string     `json:"stage"`
		WireCode      string     `json:"wireCode,omitempty"`
		Reason        *reason    `json:"reason,omitempty"`
	}{r.Verified, r.Profile, r.Organization, r.KeyID, nil, r.Time, r.Hash, r.Stage, r.Wire, p.reason(r.Reason)}
	if r.Verified {
		out.Principal = &principal{r.PrincipalType, r.PrincipalID}
	}
	return indent(out)
}

// table tells how a conformance run came out: one line for each bundle, then whatever did not pass.
func (p program) table(bundles []vectors.Bundle) string {
	var lines, bad []string
	passed, expected := 0, 0
	for _, b := range bundles {
		passed, expected = passed+b.Passed(), expected+b.Expected
		mark := "ok   "
		if !b.OK() {
			mark = "FAIL "
		}
		line := mark + p.t(keyBundle, map[string]any{"name": b.Name, "passed": b.Passed(), "expected": b.Expected})
		if b.Digest != "" {
			line += "  " + p.t(keyBundleFiles, map[string]any{"files": b.Artifacts, "digest": b.Digest})
		}
		lines = append(lines, line)
		if b.Broken != nil {
			bad = append(bad, p.t(keyBundleBad, map[string]any{"name": b.Name}), "  ["+string(b.Broken.Code)+"] "+p.words(b.Broken))
		}
		for _, e := range b.Evaluations {
			if e.OK {
				continue
			}
			bad = append(bad, p.t(keyCase, map[string]any{"id": b.Name + "/" + e.ID, "want": e.Want, "got": e.Got}))
			if e.Reason != nil {
				bad = append(bad, "  ["+string(e.Reason.Code)+"] "+p.words(e.Reason))
			}
		}
	}
	lines = append(append(lines, bad...), p.t(keyTotal, map[string]any{"passed": passed, "expected": expected}), p.t(keyScope, nil))
	return strings.Join(lines, "\n")
}

func (p program) tableJSON(bundles []vectors.Bundle) string {
	type evaluation struct {
		ID     string  `json:"id"`
		Want   string  `json:"expected"`
		Got    string  `json:"got"`
		OK     bool    `json:"ok"`
		Reason *reason `json:"reason,omitempty"`
	}
	type bundle struct {
		Name        string       `json:"name"`
		Expected    int          `json:"expected"`
		Passed      int          `json:"passed"`
		OK          bool         `json:"ok"`
		Digest      string       `json:"artifactDigest,omitempty"`
		Files       int          `json:"artifacts,omitempty"`
		Broken      *reason      `json:"broken,omitempty"`
		Evaluations []evaluation `json:"evaluations"`
	}
	out := struct {
		OK      bool     `json:"ok"`
		Scope   string   `json:"scope"`
		Bundles []bundle `json:"bundles"`
	}{true, "schema-and-vector", nil}
	for _, b := range bundles {
		row := bundle{b.Name, b.Expected, b.Passed(), b.OK(), b.Digest, b.Artifacts, p.reason(b.Broken), []evaluation{}}
		for _, e := range b.Evaluations {
			row.Evaluations = append(row.Evaluations, evaluation{e.ID, e.Want, e.Got, e.OK, p.reason(e.Reason)})
		}
		out.OK = out.OK && b.OK()
		out.Bundles = append(out.Bundles, row)
	}
	return indent(out)
}
