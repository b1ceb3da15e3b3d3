package report

import (
	"path"
	"strings"

	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// What an operation is called for people.
const (
	keyRead   text.Key = "did.read"
	keySearch text.Key = "did.search"
	keyTail   text.Key = "did.tail"
	keyList   text.Key = "did.list"
	keyWrite  text.Key = "did.write"
	keyPatch  text.Key = "did.patch"
	keyMove   text.Key = "did.move"
	keyRemove text.Key = "did.remove"
	keyMkdir  text.Key = "did.mkdir"
	keyRmdir  text.Key = "did.rmdir"
	keyRun    text.Key = "did.run"
)

// verb says what a call does; the name of one that is not known stands for itself.
func (w *writer) verb(name tool.Name) string {
	keys := map[tool.Name]text.Key{
		tool.Read: keyRead, tool.Search: keySearch, tool.Tail: keyTail, tool.List: keyList, tool.Write: keyWrite, tool.Patch: keyPatch,
		tool.Move: keyMove, tool.Remove: keyRemove, tool.Mkdir: keyMkdir, tool.Rmdir: keyRmdir, tool.Run: keyRun,
	}
	if key := keys[name]; key != "" {
		return w.say(key)
	}
	return code(string(name))
}

// secretFile tells by its name a file whose content is a secret: no difference of it is shown, whatever its lines look like.
func secretFile(p string) bool {
	name := strings.ToLower(path.Base(strings.ReplaceAll(p, `\`, "/")))
	switch path.Ext(name) {
	case ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".asc", ".gpg":
		return true
	case ".example", ".sample", ".template", ".dist", ".pub":
		return false
	}
	switch name {
	case ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", "credentials", "credentials.json", "secrets",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "secrets.yaml", "secrets.yml", "secrets.json":
		return true
	}
	return name == ".env" || strings.HasPrefix(name, ".env.")
}
