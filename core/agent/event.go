package agent

import (
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Event is a fact from outside. The types below are all of them.
type Event interface{ event() }

// Began starts a Task. The machine keeps what it is given and never changes it.
type Began struct {
	TaskID   string
	Request  string   // the user's words (MCP-RUN-01)
	Images   [][]byte // sent with the request; the caller checked vision and limits (OLL-09)
	Settings Settings
	Prompt   prompt.Layers  // user system prompt and Runtime Context; the fixed prompt is core/prompt's own (OLL-08)
	Tools    []model.Tool   // the Internal Tools offered (core/tool.Definitions)
	Memory   session.Memory // of the Session
}

// Settings are the limits and options of one Task. Zero values mean the default named here.
type Settings struct {
	Model            string
	Think            model.Think
	Options          model.Options // with the Task's temperature already merged (OLL-06)
	KeepAlive        string
	ContextTokens    int     // what the server really gives; 0 = Options.NumCtx, else 4096
	MaxIterations    int     // model calls per Task; 128 (AGT-02)
	MaxTasks         int     // Planner Tasks; 32 (PLN-02)
	SameFailureLimit int     // 5 (AGT-03)
	MaxReplans       int     // 3 (AGT-08); negative = none allowed
	SummarizeAt      float64 // share of the context; 0.8 (SES-05)
	MayCut           bool    // the server is not known to refuse a prompt that is too long: it may cut it without a word
	Workspace        string  // host path that relative paths in a plan are below
	Mounts           []Mount // further places that a plan may name
}

// Mount maps a logical name in a plan ("docs/x.md") to a host path.
type Mount struct{ Name, Path string }

// Replied answers Ask.
type Replied struct {
	CallID string
	Reply  model.Reply
	// ContextTokens is the context that the server really gave, where that is known by now and less than was asked for; 0 = as it
	// was.
	ContextTokens int
}

// ModelFailed answers Ask. Fault is one of ports/model's codes; anything else is treated as permanent.
type ModelFailed struct {
	CallID string
	Fault  *fault.Error
}

// Observed answers Act: one Result per call, in the order of the calls.
type Observed struct {
	CallID  string
	Results []tool.Result
}

// SkillsLoaded answers LoadSkills.
type SkillsLoaded struct {
	CallID string
	Skills []prompt.LoadedSkill
	Failed []string // names whose body could not be read
}

// Looked answers Look: one Seen per path, in the order of the paths. What is missing is taken as not Known.
type Looked struct {
	CallID string
	Seen   []tool.Seen
}

// Cancelled ends the Task wherever it is. Results are those of an Act that was under way, as far as they exist.
type Cancelled struct {
	Fault   *fault.Error // why; nil = fault.CodeCancelled
	Results []tool.Result
}

func (Began) event()        {}
func (Replied) event()      {}
func (ModelFailed) event()  {}
func (Observed) event()     {}
func (SkillsLoaded) event() {}
func (Looked) event()       {}
func (Cancelled) event()    {}

// Effect is something for the caller to do. The types below are all of them.
type Effect interface{ effect() }

// Phase says what a model call is for (LOG-02).
type Phase string

// Phases.
const (
	PhasePlan    Phase = "plan"
	PhaseReplan  Phase = "replan"
	PhaseAct     Phase = "act"
	PhaseSummary Phase = "summary"
	PhaseFinish  Phase = "finish"
)

// Ask wants one model call. Format and Tools are never both set. The request belongs to the machine: do not change it.
type Ask struct {
	CallID      string // unique within the Task: "m1", "m2"…
	Phase       Phase
	PlannerTask taskgraph.ID // "" outside of PhaseAct
	Iteration   int          // from 1 (AGT-02)
	Replan      int
	Request     model.Request
}

// Act wants calls performed. CallID names the batch; every tool.Call has the model's own ID.
type Act struct {
	CallID      string
	PlannerTask taskgraph.ID
	Calls       []tool.Call
}

// LoadSkills wants the bodies of skills; the names are known ones, checked and not loaded yet (SKL-03, SKL-04).
type LoadSkills struct {
	CallID string
	Names  []string
}

// Look wants the state of paths as it is now, seen through the Broker and judged by the policy (AGT-04, AGT-07): before the
// work on a plan begins, and when something is reported after a program ran, since what a program does to files is in no
// Result. The paths are absolute, or relative to the workspace when that has no host path.
type Look struct {
	CallID      string
	PlannerTask taskgraph.ID
	Paths       []string
}

// Progress tells where the Task is: after every change of state, plan, Planner Task or counts.
type Progress struct {
	State    service.State // planning or running
	Progress session.Progress
}

// NoteKind names a fact for the logs.
type NoteKind string

// Notes.
const (
	NotePlan      NoteKind = "plan"       // a plan was accepted; Detail: repairs made
	NoteReplan    NoteKind = "replan"     // why
	NoteStarted   NoteKind = "started"    // a Planner Task
	NoteCompleted NoteKind = "completed"  // a Planner Task; Detail: evidence
	NoteFailed    NoteKind = "failed"     // a Planner Task
	NoteFailure   NoteKind = "failure"    // one counted failure: Cause, Count (AGT-03)
	NoteDenied    NoteKind = "denied"     // a policy denial: Cause; Detail: code (AGT-08)
	NoteUsage     NoteKind = "usage"      // one call's token actuals: Input, Output (LOG-04)
	NoteSummary   NoteKind = "summary"    // the conversation was summarised (SES-05)
	NoteTruncated NoteKind = "truncated"  // the server dropped part of the prompt without a word
	NoteContext   NoteKind = "context"    // the server gives less context than was asked for; Count: tokens
	NoteBudget    NoteKind = "budget"     // a Planner Task neared or used up its Token Budget Class (PLN-07)
	NoteSkills    NoteKind = "skills"     // selected; Detail: names
	NoteSkillsBad NoteKind = "skills_bad" // a bad selection, ignored (SKL-04); Detail: names
	NoteSkillsOut NoteKind = "skills_out" // bodies that could not be read or had no room; Detail: names
	NoteSkillsCut NoteKind = "skills_cut" // descriptions were shortened to Count characters
	NoteCapRaised NoteKind = "cap_raised" // a reply was cut; once more with a larger num_predict
	NoteThinkOff  NoteKind = "think_off"  // the model refuses think; off for this Task
)

// Note is a fact for the audit, LLM and app logs. It carries no prompt text, no arguments, no thinking (LOG-03).
type Note struct {
	Kind          NoteKind
	CallID        string
	Phase         Phase
	PlannerTask   taskgraph.ID
	Cause         Cause // NoteFailure, NoteDenied
	Count         int   // NoteFailure: how many in a row
	Input, Output int   // NoteUsage
	Detail        string
	Effects       []tool.Effect // NoteCompleted: the evidence, as it stands
}

// Done ends the Task. It is the last effect ever.
type Done struct{ Outcome Outcome }

// Outcome is how a Task ended.
type Outcome struct {
	State    service.State // completed, failed, cancelled
	Answer   string        // completed: the final answer in the user's language, without thinking
	Fault    *fault.Error  // failed: why, with every cause as a reason; cancelled: why
	Progress session.Progress
	Memory   session.Memory // for session.Finished
}

func (Ask) effect()        {}
func (Act) effect()        {}
func (LoadSkills) effect() {}
func (Look) effect()       {}
func (Progress) effect()   {}
func (Note) effect()       {}
func (Done) effect()       {}
