package agent

import (
	"encoding/json"
	"slices"

	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/core/session"
	"github.com/agent-mcp/agent-mcp/core/taskgraph"
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// Bounds of what a Task keeps.
const (
	maxCalls       = 8    // calls taken from one reply
	sameCallLimit  = 5    // the same call with the same result, more often than this …
	sameCallWindow = 10   // … within so many steps, stops the Task
	maxEvidence    = 256  // effects kept per Planner Task
	maxProof       = 64   // … and kept of what remains, for people
	maxFiles       = 1024 // paths followed per Task
	maxReport      = 4000 // runes of a report that are kept
	minContext     = 512  // tokens; less cannot hold the fixed prompt
)

// State is one Task's machine. The zero value waits for Began. It is a value: Step never changes what a copy shares.
type State struct {
	setup      Began
	state      service.State // planning or running
	want       want
	seq        int
	iterations int
	replans    int
	input      int
	output     int
	read       session.Pace // of the input
	spoken     session.Pace // of the output
	graph      taskgraph.Graph
	current    taskgraph.ID
	conv       []model.Message // no system message; may start with a summary
	requestAt  int             // of the user's request in conv
	digest     bool            // conv starts with a summary
	side       []model.Message // of the planning or finishing under way; not kept
	overspent  bool            // the replan under way is for want of budget
	askedBack  bool            // the plan was asked for once more
	pending    []pending       // calls of the last assistant message, in order
	work       work
	counts     []count
	steps      []mark   // the last sameCallWindow calls
	good       []string // signatures of the last successful calls
	denied     []denial
	files      []file
	results    []session.Result
	proofs     []session.Proof
	loaded     []prompt.LoadedSkill
	scale      prompt.Scale
	seen       seen
	probed     probe
	epoch      int // grows whenever the conversation stops being a longer version of itself
	raised     bool
	thinkOff   bool
	resume     Phase // what a summary interrupts
	lastError  *fault.Error
	trouble    *fault.Error // of the last call that failed or was denied, until a later one changed something
	finishes   int
	names      []string  // of files that the request orders something about, and no call has mentioned yet
	made       []string  // of files that the request orders to be made
	looked     []string  // of them, that were read, or that a program which ended well was told of
	reminded   bool      // of names
	retongued  bool      // the closing words were asked for in the owner's language
	base       []glimpse // how the paths that matter were found first
	blind      bool      // something happened to files, since they were last looked at, that no result tells of
	absent     []string  // of the paths of the last look, those where nothing is
	said       string    // the report that waits for a look at the files
	outcome    *Outcome
}

// want is what the machine waits for.
type want struct {
	ID       string
	Phase    Phase  // "" = not an Ask
	Look     string // "" = not a Look; else lookBefore or lookAfter
	Estimate int    // of the request, scaled
	Raw      int    // unscaled
	Cap      int    // num_predict sent
	Room     bool   // Cap was set by the room left in the context
}

// pending is one call of the last assistant message.
type pending struct {
	Call   tool.Call
	ID     string
	Name   string
	Sig    string
	Answer string // what the model reads; "" = not answered yet
	Act    bool   // it goes out with the Act under way
}

// work is the Planner Task under way.
type work struct {
	OK       int // successful calls
	Denied   int
	Again    bool // the same tool, subject and reason were denied before (AGT-08)
	Unmet    int  // reports whose expected effects were missing, after calls
	Missing  int  // how many effects were missing at the last of them
	Bare     int  // reports without any call where one was needed
	Empty    int  // empty replies in a row
	Dropped  bool // the last reply held more calls than are taken
	Spent    int  // tokens against the Token Budget Class: all output, and the growth of the input
	LastIn   int
	LastOut  int
	Warned   bool
	Doubted  bool // a report told of files that are not there
	Wrap     bool // the budget is used up: report now, without tools
	Effects  []tool.Effect
	Mutating int
	Failing  []string // files named by the request or the title, whose last run ended badly
	Absent   []string // paths that were looked for and are not there
}

type count struct {
	Cause Cause
	N     int
	Sig   string // of the last failing call, "" = none
}

type mark struct{ Sig, Result string }

type denial struct {
	session.DeniedCall
	Sig string
}

// file is what was observed of one path.
type file struct {
	Path string
	SHA  string
	Base string       // SHA when the Planner Task By began, "" = unknown
	Orig string       // SHA when the Task first changed it, "" = it was not there, or unknown
	New  bool         // its content was another one than Orig at some time
	By   taskgraph.ID // who last changed it
	Gone bool
	Away bool // Gone by a move
}

// seen is the last prompt count of the conversation as it grows, and what it was estimated at.
type seen struct{ Epoch, Count, Raw int }

// Conversation is the conversation as it stands, without the system message. It never holds an unanswered call once the
// Task is over.
func (s State) Conversation() []model.Message { return slices.Clone(s.conv) }

// Snapshot is the Task's progress.
func (s State) Snapshot() session.Progress {
	spent := 0
	if s.current != "" {
		spent = s.work.Spent
	}
	return session.Progress{
		Plan: s.graph.View(), Current: s.current, Iterations: s.iterations, Replans: s.replans,
		InputTokens: s.input, OutputTokens: s.output, Spent: spent, Read: s.read, Spoken: s.spoken, Proof: s.proofs, LastError: s.lastError,
	}
}

// MarshalJSON writes the canonical form: equal states give equal bytes. It is for tests and diagnosis and may hold what a
// log must not.
func (s State) MarshalJSON() ([]byte, error) {
	type view struct {
		State     service.State
		Want      want
		Progress  session.Progress
		Conv      []model.Message
		RequestAt int
		Digest    bool
		Overspent bool
		Side      []model.Message
		AskedBack bool
		Pending   []pending
		Work      work
		Counts    []count
		Steps     []mark
		Good      []string
		Denied    []denial
		Files     []file
		Results   []session.Result
		Loaded    []string
		Scale     prompt.Scale
		Seen      seen
		Probed    probe
		Epoch     int
		Raised    bool
		ThinkOff  bool
		Resume    Phase
		Finishes  int
		Names     []string
		Made      []string
		Looked    []string
		Reminded  bool
		Retongued bool
		Base      []glimpse
		Blind     bool
		Absent    []string
		Said      string
		Outcome   *Outcome
	}
	v := view{
		s.state, s.want, s.Snapshot(), s.conv, s.requestAt, s.digest, s.overspent, s.side, s.askedBack, s.pending, s.work, s.counts, s.steps, s.good, s.denied, s.files,
		s.results, nil, s.scale, s.seen, s.probed, s.epoch, s.raised, s.thinkOff, s.resume, s.finishes, s.names, s.made, s.looked, s.reminded, s.retongued, s.base, s.blind, s.absent, s.said, s.outcome,
	}
	for _, l := range s.loaded {
		v.Loaded = append(v.Loaded, l.Name)
	}
	return json.Marshal(v)
}

// push appends to a copy, so that no two States share what either appends.
func push[T any](s []T, items ...T) []T { return append(slices.Clip(s), items...) }

// last keeps at most n items, the newest.
func last[T any](s []T, n int) []T {
	if len(s) > n {
		return slices.Clone(s[len(s)-n:])
	}
	return s
}

func (s Settings) withDefaults() Settings {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	if s.ContextTokens <= 0 && s.Options.NumCtx != nil {
		s.ContextTokens = *s.Options.NumCtx
	}
	if s.ContextTokens <= 0 {
		s.ContextTokens = 4096
	}
	s.ContextTokens = max(s.ContextTokens, minContext)
	set(&s.MaxIterations, 128)
	set(&s.MaxTasks, taskgraph.DefaultMaxTasks)
	set(&s.SameFailureLimit, 5)
	set(&s.MaxReplans, 3)
	s.MaxReplans = max(s.MaxReplans, 0)
	if s.SummarizeAt <= 0 || s.SummarizeAt > 1 {
		s.SummarizeAt = 0.8
	}
	return s
}
