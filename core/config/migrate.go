package config

import (
	"path"
	"strconv"
	"strings"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// keyServers is what MCP clients call their list of servers.
const keyServers = "mcpServers"

// client finds the configuration of an MCP client where ours should be; beside a schema_version it is an unknown key.
func client(root settings.Node) *fault.Error {
	if _, ours := root.Get("schema_version"); ours {
		return nil
	}
	for _, f := range root.Fields {
		if f.Key == keyServers {
			return fault.New(CodeClient, "key", f.Key, "place", place(settings.Node{File: f.Value.File, Line: f.Line}))
		}
	}
	return nil
}

// version judges schema_version where no older shape speaks for a migration.
func (d *decoder) version(s *scope) {
	n, ok := s.get("schema_version")
	switch {
	case !ok:
		d.bad(CodeNoVersion, s.key("schema_version"), settings.Node{File: s.node.File, Line: 1})
	case n.Kind != settings.Int || n.Int != SchemaVersion:
		d.bad(CodeBadVersion, s.key("schema_version"), n, "value", show(n))
	}
}

// migration returns the one fault for schema 1, an older shape, or a newer schema; nil for anything else (CFG-01). The
// example is the new form of what was found, ready to paste.
func migration(root settings.Node, base string) *fault.Error {
	version, has := root.Get("schema_version")
	old := oldShapes(root)
	if has && version.Kind == settings.Int && version.Int > SchemaVersion && len(old) == 0 {
		return fault.New(CodeNewerVersion, "path", base, "place", place(version), "version", version.Int)
	}
	if first := has && version.Kind == settings.Int && version.Int == 1; !first && len(old) == 0 {
		return nil
	}
	found := make([]string, 0, len(old)+1)
	switch {
	case !has:
		found = append(found, "schema_version (-)")
	case version.Kind != settings.Int || version.Int != SchemaVersion:
		found = append(found, "schema_version: "+show(version)+" ("+place(version)+")")
	}
	for _, o := range old {
		found = append(found, o.key+" ("+place(o.node)+")")
	}
	return fault.New(CodeMigrate, "path", base, "found", strings.Join(found, ", "), "example", example(old))
}

// shape is one key of an older schema.
type shape struct {
	key  string
	node settings.Node
}

// oldShapes finds the older keys, at the root and below `sandbox`, in a fixed order.
func oldShapes(root settings.Node) (out []shape) {
	box, _ := root.Get("sandbox")
	for _, top := range []struct {
		prefix string
		node   settings.Node
	}{{"", root}, {"sandbox.", box}} {
		execution, _ := top.node.Get("execution")
		process, _ := top.node.Get("process")
		for _, k := range []struct {
			key   string
			in    settings.Node
			field string
		}{
			{"execution.executables", execution, "executables"},
			{"execution.shells", execution, "shells"},
			{"filesystem", top.node, "filesystem"},
			{"process.approvals", process, "approvals"},
		} {
			for _, f := range k.in.Fields {
				if f.Key == k.field {
					n := f.Value
					n.Line, n.Column = f.Line, f.Column
					out = append(out, shape{top.prefix + k.key, n})
				}
			}
		}
	}
	return out
}

// example writes the new form. Values that the old shape does not hold are left for the owner to fill in.
func example(old []shape) string {
	var entries, mounts []string
	workspace := ""
	for _, o := range old {
		if strings.HasSuffix(o.key, "filesystem") {
			w, m := oldFilesystem(o.node)
			if workspace == "" {
				workspace = w
			}
			mounts = append(mounts, m...)
			continue
		}
		entries = append(entries, oldEntries(o.node)...)
	}
	var b strings.Builder
	b.WriteString("schema_version: 2\n")
	if len(old) == 0 {
		return b.String()
	}
	b.WriteString("sandbox:\n")
	if workspace != "" {
		b.WriteString("  workspace: " + workspace + "\n")
	}
	if len(mounts) > 0 {
		b.WriteString("  mounts:\n    " + strings.Join(mounts, "\n    ") + "\n")
	}
	if len(entries) > 0 {
		b.WriteString("  execution:\n    entries:\n      " + strings.Join(entries, "\n      ") + "\n")
	}
	return b.String()
}

// oldEntries accepts a list of paths, a list of records, or a map from a name to a path or a record.
func oldEntries(n settings.Node) (out []string) {
	add := func(alias, file, root string) {
		if file == "" {
			return
		}
		if alias == "" {
			alias = strings.ToLower(strings.TrimSuffix(path.Base(strings.ReplaceAll(file, `\`, "/")), ".exe"))
		}
		line := "- {alias: " + quote(alias) + ", path: " + quote(file)
		if root != "" {
			line += ", runtime_root: " + quote(root)
		}
		if line += "}"; len(out) < maxItems {
			out = append(out, line)
		}
	}
	record := func(alias string, v settings.Node) {
		if v.Kind == settings.String {
			add(alias, v.String, "")
			return
		}
		add(first(alias, field(v, "alias", "name", "id")), field(v, "path", "executable", "resolved_path", "command"), field(v, "runtime_root", "runtime"))
	}
	for _, item := range n.Items {
		record("", item)
	}
	for _, f := range n.Fields {
		record(f.Key, f.Value)
	}
	return out
}

// oldFilesystem accepts workspace/root, and lists of paths or records under read, write, delete, mounts or roots.
func oldFilesystem(n settings.Node) (workspace string, mounts []string) {
	if w := field(n, "workspace", "root"); w != "" {
		workspace = quote(w)
	}
	for _, f := range n.Fields {
		access := AccessReadOnly
		switch f.Key {
		case "write", "writable", "read_write":
			access = AccessReadWrite
		case "delete", "read_write_delete":
			access = AccessReadWriteDelete
		}
		for _, item := range f.Value.Items {
			p, a := item.String, access
			if item.Kind == settings.Map {
				p = field(item, "path")
				if given := field(item, "access"); given == AccessReadWrite || given == AccessReadWriteDelete {
					a = given
				}
			}
			if p == "" || len(mounts) >= maxItems {
				continue
			}
			name := "mount" + strconv.Itoa(len(mounts)+1)
			mounts = append(mounts, "- {name: "+name+", path: "+quote(p)+", access: "+a+"}")
		}
	}
	return workspace, mounts
}

func field(n settings.Node, names ...string) string {
	for _, name := range names {
		if v, ok := n.Get(name); ok && v.Kind == settings.String && v.String != "" {
			return v.String
		}
	}
	return ""
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// quote writes text as a YAML flow scalar: plain where that is safe, else in double quotes.
func quote(text string) string {
	if text == clip(text) && !strings.ContainsAny(text, `:{}[],&*#?|<>=!%@"'\`+"`") && strings.TrimSpace(text) == text {
		return text
	}
	return strconv.Quote(text)
}
