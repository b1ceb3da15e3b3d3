package cli

import (
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
