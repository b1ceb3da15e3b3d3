package change

import (
	"slices"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
)

// Codes of drift (CFG-05). CodeDrift carries the others as reasons; its hint points to `agent-mcp apply`.
const (
	CodeDrift       fault.Code = "change.drift"        // args: config
	CodeFingerprint fault.Code = "change.fingerprint"  // the files' bytes differ
	CodeWorkspace   fault.Code = "change.workspace"    // args: was, now — another path, or another directory of that path
	CodeReplaced    fault.Code = "change.replaced"     // args: path — the directory is not the one that was approved
	CodeMountPath   fault.Code = "change.mount_path"   // args: mount, was, now
	CodeEntryPath   fault.Code = "change.entry_path"   // args: alias, was, now
	CodeEntryHash   fault.Code = "change.entry_hash"   // args: alias, path, was, now
	CodeInterpreter fault.Code = "change.interpreter"  // args: alias, was, now — what runs a script
	CodeRuntimeRoot fault.Code = "change.runtime_root" // args: alias, was, now
	CodeCache       fault.Code = "change.cache"        // args: was, now
	CodeOther       fault.Code = "change.other"        // args: item, name — another permission
)

// Drift returns every reason why what was applied is not what would be used now; none means that a server may start.
func Drift(applied Snapshot, desired Permissions, fingerprint string) []*fault.Error {
	old, now := applied.Permissions.Normal(), desired.Normal()
	var out []*fault.Error
	if applied.Fingerprint != fingerprint {
		out = append(out, fault.New(CodeFingerprint))
	}
	if old.Workspace.Path != now.Workspace.Path {
		out = append(out, fault.New(CodeWorkspace, "was", old.Workspace.Path, "now", now.Workspace.Path))
	} else if old.Workspace.Identity != now.Workspace.Identity {
		out = append(out, fault.New(CodeReplaced, "path", now.Workspace.Path))
	}
	for _, n := range now.Mounts {
		o, had := find(old.Mounts, func(m Mount) bool { return m.Name == n.Name })
		switch {
		case !had:
		case o.Place.Path != n.Place.Path:
			out = append(out, fault.New(CodeMountPath, "mount", n.Name, "was", o.Place.Path, "now", n.Place.Path))
		case o.Place.Identity != n.Place.Identity:
			out = append(out, fault.New(CodeReplaced, "path", n.Place.Path))
		}
	}
	for _, n := range now.Entries {
		if o, had := find(old.Entries, func(e Entry) bool { return e.Alias == n.Alias }); had {
			out = append(out, entryDrift(o, n)...)
		}
	}
	if old.Cache.Name == now.Cache.Name && old.Cache.Path != now.Cache.Path {
		out = append(out, fault.New(CodeCache, "was", old.Cache.Path, "now", now.Cache.Path))
	}
	if len(out) > 0 {
		return out
	}
	// Nothing of the above, yet something differs: a permission that neither the files nor these facts explain.
	for _, c := range Compare(&applied, desired, fingerprint) {
		out = append(out, fault.New(CodeOther, "item", c.Item.Word(), "name", c.Name))
	}
	return out
}

func entryDrift(o, n Entry) (out []*fault.Error) {
	if o.Place.Path != n.Place.Path {
		out = append(out, fault.New(CodeEntryPath, "alias", n.Alias, "was", o.Place.Path, "now", n.Place.Path))
	}
	if o.SHA256 != n.SHA256 {
		out = append(out, fault.New(CodeEntryHash, "alias", n.Alias, "path", n.Place.Path, "was", o.SHA256, "now", n.SHA256))
	}
	if !slices.Equal(o.Interpreters, n.Interpreters) {
		out = append(out, fault.New(CodeInterpreter, "alias", n.Alias, "was", list(o.Interpreters), "now", list(n.Interpreters)))
	}
	if o.RuntimeRoot.Path != n.RuntimeRoot.Path || o.RuntimeRoot.Identity != n.RuntimeRoot.Identity {
		out = append(out, fault.New(CodeRuntimeRoot, "alias", n.Alias, "was", o.RuntimeRoot.Path, "now", n.RuntimeRoot.Path))
	}
	return out
}

// list writes images for a message.
func list(images []sandbox.Image) string {
	out := make([]string, 0, len(images))
	for _, i := range images {
		out = append(out, i.Path+" (SHA-256 "+i.SHA256+")")
	}
	return strings.Join(out, ", ")
}
