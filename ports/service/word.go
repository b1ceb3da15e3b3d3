package service

import "github.com/agent-mcp/agent-mcp/ports/text"

// What people read of the values of a configuration; both `apply` and `show` (CLI-02, CLI-03, I18N-07).
const (
	accessRead   text.Key = "access.read_only"
	accessWrite  text.Key = "access.read_write"
	accessDelete text.Key = "access.read_write_delete"

	profileReadonly    text.Key = "profile.readonly"
	profileDevelopment text.Key = "profile.development"

	limitsConstrained text.Key = "limits.constrained"
	limitsNormal      text.Key = "limits.normal"
	limitsExtended    text.Key = "limits.extended"

	transportStdio text.Key = "transport.stdio"
	transportHTTP  text.Key = "transport.http"

	itemProfile     text.Key = "item.profile"
	itemWorkspace   text.Key = "item.workspace"
	itemMount       text.Key = "item.mount"
	itemEntry       text.Key = "item.entry"
	itemRuntimeRoot text.Key = "item.runtime_root"
	itemNetwork     text.Key = "item.network"
	itemResources   text.Key = "item.resources"
	itemRequire     text.Key = "item.require"
	itemModel       text.Key = "item.model"
	itemListen      text.Key = "item.listen"
	itemSettings    text.Key = "item.settings"
	itemSystem      text.Key = "item.system"
	itemCache       text.Key = "item.cache"
)

func word(value string, known map[string]text.Key) text.Word {
	return text.Word{Plain: value, Key: known[value]}
}

// Access is what a mount allows, as people read it. A value that is none has no Key.
func Access(value string) text.Word {
	return word(value, map[string]text.Key{"read_only": accessRead, "read_write": accessWrite, "read_write_delete": accessDelete})
}

// Profile is the sandbox's profile, as people read it.
func Profile(value string) text.Word {
	return word(value, map[string]text.Key{"readonly": profileReadonly, "development": profileDevelopment})
}

// Limits is the profile of resources, as people read it.
func Limits(value string) text.Word {
	return word(value, map[string]text.Key{"constrained": limitsConstrained, "normal": limitsNormal, "extended": limitsExtended})
}

// Transport is how clients reach a server, as people read it.
func Transport(value string) text.Word {
	return word(value, map[string]text.Key{"stdio": transportStdio, "http": transportHTTP})
}

// Word is the item as an argument of a text.
func (i Item) Word() text.Word {
	return word(string(i), map[string]text.Key{
		string(ItemProfile): itemProfile, string(ItemWorkspace): itemWorkspace, string(ItemMount): itemMount, string(ItemEntry): itemEntry,
		string(ItemRuntimeRoot): itemRuntimeRoot, string(ItemNetwork): itemNetwork, string(ItemResources): itemResources,
		string(ItemRequire): itemRequire, string(ItemModel): itemModel, string(ItemSettings): itemSettings,
		string(ItemSystem): itemSystem, string(ItemCache): itemCache, string(ItemListen): itemListen,
	})
}
