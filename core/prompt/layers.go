package prompt

import "github.com/agent-mcp/agent-mcp/ports/model"

// Layers are the parts of a prompt below the Fixed System Prompt, from strong to weak (PRM-01). There is no field for the
// fixed one: nothing outside this package can replace it (OLL-08, SEC-INV-09).
type Layers struct {
	User         string          // the owner's User System Prompt, "" = none
	Runtime      Runtime         // facts of this Task
	Loaded       []LoadedSkill   // skill bodies in use
	Conversation []model.Message // without system messages; those are dropped
}

// Runtime is what the model needs to know about where it works. Facts only; all are enforced elsewhere.
type Runtime struct {
	Workspace string   // as the model may write it; "" = the process has none
	ReadOnly  bool     // the workspace may not be written
	Mounts    []Mount  // further places
	Entries   []Entry  // what may be run
	Network   string   // "none", "local", "restricted"
	Endpoints []string // what the network mode lists
	MemoryMiB int      // 0 = unknown
	Processes int
	TimeoutS  int
	Language  string  // BCP 47 tag of the answer (I18N-07)
	Skills    []Skill // discovery: names and descriptions (SKL-03)
}

// Mount is one further place.
type Mount struct{ Name, Path, Access string }

// Entry is one executable that the owner approved.
type Entry struct{ Alias, What string }

// Skill is a skill's discovery form.
type Skill struct{ Name, Description string }

// LoadedSkill is a skill's body with the names of its resources.
type LoadedSkill struct {
	Name      string
	Body      string
	Resources []string // relative to the skill's root
}
