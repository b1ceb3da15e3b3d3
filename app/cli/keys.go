package cli

import (
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/service"
	"github.com/agent-mcp/agent-mcp/ports/text"
)

// Keys of the views.
const (
	keyConfig      text.Key = "view.config"
	keyLocal       text.Key = "view.local"
	keyID          text.Key = "view.id"
	keyState       text.Key = "view.state"
	keyStateDir    text.Key = "view.state_dir"
	keyApplyState  text.Key = "view.applied"
	keyBy          text.Key = "view.applied_by" // args: at, by
	keyByPerson    text.Key = "view.by_person"
	keyLanguage    text.Key = "view.language"
	keyTransport   text.Key = "view.transport"
	keyModel       text.Key = "view.model"
	keySkills      text.Key = "view.skills"
	keyNoSkills    text.Key = "view.no_skills"
	keyTasks       text.Key = "view.tasks"
	keyHost        text.Key = "view.host"
	keyHostLevel   text.Key = "view.host_level" // args: platform, level
	keyFilesystem  text.Key = "view.filesystem"
	keyLegend      text.Key = "view.legend"
	keyExecution   text.Key = "view.execution"
	keyNoEntries   text.Key = "view.no_entries"
	keyNetwork     text.Key = "view.network"
	keyResources   text.Key = "view.resources"
	keyEnforcement text.Key = "view.enforcement"
	keyDifference  text.Key = "view.difference"
	keyNoChange    text.Key = "view.no_change"
	keyWarnings    text.Key = "view.warnings"
	keyProblems    text.Key = "view.problems"
	keyDrift       text.Key = "view.drift"
	keyMissing     text.Key = "view.host_missing"
	keyWidens      text.Key = "view.widens"
	keyName        text.Key = "view.name"
	keyRights      text.Key = "view.rights"
	keyPath        text.Key = "view.path"
	keyWritten     text.Key = "view.written"
	keyRuntime     text.Key = "view.runtime_root"
	keyInterpreter text.Key = "view.interpreter"
	keyUnresolved  text.Key = "view.unresolved"
	keyShell       text.Key = "view.shell"
	keyProgram     text.Key = "view.program"
	keyApproved    text.Key = "view.approved"
	keyNotApproved text.Key = "view.not_approved"
	keyMode        text.Key = "view.mode"
	keyEndpoints   text.Key = "view.endpoints"
	keyProfile     text.Key = "view.profile"
	keyMemory      text.Key = "view.memory"
	keyProcesses   text.Key = "view.processes"
	keyTimeout     text.Key = "view.timeout"
	keyRequire     text.Key = "view.require"
	keyItem        text.Key = "view.item"
	keyStrength    text.Key = "view.strength"
	keyMechanism   text.Key = "view.mechanism"

	standNever   text.Key = "standing.never_applied"
	standCurrent text.Key = "standing.current"
	standDrifted text.Key = "standing.drifted"
	standDamaged text.Key = "standing.damaged"
	standRefused text.Key = "standing.refused"

	itemProfile     text.Key = "item.profile"
	itemWorkspace   text.Key = "item.workspace"
	itemMount       text.Key = "item.mount"
	itemEntry       text.Key = "item.entry"
	itemRuntimeRoot text.Key = "item.runtime_root"
	itemNetwork     text.Key = "item.network"
	itemResources   text.Key = "item.resources"
	itemRequire     text.Key = "item.require"
	itemModel       text.Key = "item.model"
	itemSettings    text.Key = "item.settings"
	itemSystem      text.Key = "item.system"
	itemCache       text.Key = "item.cache"

	enforceRead        text.Key = "enforce.read"
	enforceWrite       text.Key = "enforce.write"
	enforceExecute     text.Key = "enforce.execute"
	enforceDelete      text.Key = "enforce.delete"
	enforceNetwork     text.Key = "enforce.network"
	enforceProcesses   text.Key = "enforce.processes"
	enforceMemory      text.Key = "enforce.memory"
	enforceWallClock   text.Key = "enforce.wall_clock"
	enforceKillAll     text.Key = "enforce.kill_all"
	enforceCredentials text.Key = "enforce.credentials"
	enforceEntry       text.Key = "enforce.entry"

	strengthNone        text.Key = "strength.none"
	strengthApproximate text.Key = "strength.approximate"
	strengthExact       text.Key = "strength.exact"
)

func standingKey(s service.Standing) text.Key {
	switch s {
	case service.NeverApplied:
		return standNever
	case service.Current:
		return standCurrent
	case service.Drifted:
		return standDrifted
	case service.Damaged:
		return standDamaged
	}
	return standRefused
}

func itemKey(i service.Item) text.Key {
	switch i {
	case service.ItemProfile:
		return itemProfile
	case service.ItemWorkspace:
		return itemWorkspace
	case service.ItemMount:
		return itemMount
	case service.ItemEntry:
		return itemEntry
	case service.ItemRuntimeRoot:
		return itemRuntimeRoot
	case service.ItemNetwork:
		return itemNetwork
	case service.ItemResources:
		return itemResources
	case service.ItemRequire:
		return itemRequire
	case service.ItemModel:
		return itemModel
	case service.ItemSystem:
		return itemSystem
	case service.ItemCache:
		return itemCache
	}
	return itemSettings
}

func strengthKey(s sandbox.Strength) text.Key {
	switch s {
	case sandbox.Exact:
		return strengthExact
	case sandbox.Approximate:
		return strengthApproximate
	}
	return strengthNone
}

func enforceKey(i sandbox.Item) text.Key {
	switch i {
	case sandbox.ItemRead:
		return enforceRead
	case sandbox.ItemWrite:
		return enforceWrite
	case sandbox.ItemExecute:
		return enforceExecute
	case sandbox.ItemDelete:
		return enforceDelete
	case sandbox.ItemNetwork:
		return enforceNetwork
	case sandbox.ItemProcesses:
		return enforceProcesses
	case sandbox.ItemMemory:
		return enforceMemory
	case sandbox.ItemWallClock:
		return enforceWallClock
	case sandbox.ItemKillAll:
		return enforceKillAll
	case sandbox.ItemCredentials:
		return enforceCredentials
	case sandbox.ItemEntry:
		return enforceEntry
	}
	return text.Key(i)
}
