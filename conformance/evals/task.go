// Package evals holds the agent's evaluation tasks as data, and judges how a run of one ended (spec sections 4–7, issue of
// weak models: AGT-01..09, PLN-*, SES-05/06, OLL-*). It never runs anything: app/wire plays the tasks against the real engine,
// with a scripted model over the real wire, or against a live server.
//
// A task is a directory testdata/GROUP/NAME:
//
//	task.json         what is asked, and what must be true afterwards (Task)
//	model.json        the scripted model (adapters/model/scripted)
//	workspace/        the start tree, if any
//	outside/          what lies beside the workspace: mounts, secrets that nobody may touch
//	skills/           Agent Skills, if any
//	settings.yaml     settings laid over the runner's agent.yaml, if any
//	*.png             images of the request
//
// {{place}} in a request or a script is the directory that holds workspace and outside.
//
// Goal is what the user asked for: a run that ends completed while Goal does not hold is a false success, and there must be
// none. Keep must hold however the run ends. Want looks at one transcript and counts for the scripted model only.
package evals

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

//go:embed all:testdata
var data embed.FS

// Kinds of tasks.
const (
	Good    = "good"    // the model can do it; the run should end completed
	Hostile = "hostile" // weak or hostile: an honest end is what counts
)

// Task is one evaluation.
type Task struct {
	Name        string   `json:"-"`                // GROUP/NAME
	Kind        string   `json:"kind"`             // Good or Hostile
	About       string   `json:"about"`            // what is shown
	Covers      []string `json:"covers"`           // requirement IDs, or rows of the fault table
	Before      []string `json:"before,omitempty"` // requests made earlier in the same Session
	Request     string   `json:"request"`          //
	Images      []string `json:"images,omitempty"` // files of the directory
	Temperature *float64 `json:"temperature,omitzero"`
	Programs    []string `json:"programs,omitempty"` // entries it runs, of "sh" and "python": needs a real sandbox
	Scripted    bool     `json:"scripted,omitempty"` // makes no sense with a live model
	Make        []Made   `json:"make,omitempty"`     // what a directory cannot hold
	Goal        Goal     `json:"goal"`
	Keep        []File   `json:"keep,omitempty"`     // must hold however it ends
	Language    string   `json:"language,omitempty"` // of the answer: "en" (default) or "ja"
	Never       []string `json:"never,omitempty"`    // no answer and no status may hold these
	Want        Want     `json:"want"`
}

// Made is a file that a directory of the repository cannot hold well.
type Made struct {
	Path  string `json:"path"`            // below the place: "workspace/big.log"
	Line  string `json:"line,omitempty"`  // written Times times; %d is the line's number
	Times int    `json:"times,omitempty"` //
	Link  string `json:"link,omitempty"`  // a symbolic link to this
}

// Goal is what the user asked for.
type Goal struct {
	Files  []File   `json:"files,omitempty"`
	Answer []string `json:"answer,omitempty"` // regular expressions (RE2), all of which the answer must match
}

// File says what must be true of one path below the place: "workspace/…" or "outside/…".
type File struct {
	Path     string   `json:"path"`
	Text     *string  `json:"text,omitzero"` // exactly this, apart from white space at the end
	Contains []string `json:"contains,omitempty"`
	Lacks    []string `json:"lacks,omitempty"`
	Absent   bool     `json:"absent,omitempty"`
	Dir      bool     `json:"dir,omitempty"`
	Same     bool     `json:"same,omitempty"` // as it was at the start
}

// Want is what the scripted transcript must lead to.
type Want struct {
	State  string           `json:"state"`            // completed, failed, cancelled
	Code   string           `json:"code,omitempty"`   // of the status; "" = none
	Counts map[string]Range `json:"counts,omitempty"` // names: see Outcome.Counts; what is not named is not judged
	Audit  []AuditLine      `json:"audit,omitempty"`  // each must be there
	Status []string         `json:"status,omitempty"` // the status text must hold these
	Answer []string         `json:"answer,omitempty"` // the answer must hold these
	Sent   Sent             `json:"sent,omitzero"`    // what the model was given
	Loose  bool             `json:"loose,omitempty"`  // steps of the script may stay unplayed
}

// AuditLine is one record of the Audit Log: its kind, and a text that its line holds.
type AuditLine struct {
	Kind string `json:"kind"`
	Has  string `json:"has,omitempty"`
}

// Sent says what the requests to the model held.
type Sent struct {
	Has         []string `json:"has,omitempty"`         // in some message of some request
	Lacks       []string `json:"lacks,omitempty"`       // in no message of any request
	System      []string `json:"system,omitempty"`      // in some system message
	Temperature *float64 `json:"temperature,omitzero"`  // of every request of the last Task
	Think       string   `json:"think,omitempty"`       // of the first request: "true", "false" or a level
	LastThink   string   `json:"last_think,omitempty"`  // of the last request; "unset"
	Images      int      `json:"images,omitempty"`      // images in the first request of the last Task
	MaxMessage  int      `json:"max_message,omitempty"` // runes of the longest message, at most
}

// Range is a number, or [least, most].
type Range struct{ Least, Most int }

// UnmarshalJSON reads 3, [1, 5], or [1] for at least one.
func (r *Range) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &r.Least); err == nil {
		r.Most = r.Least
		return nil
	}
	var v []int
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	switch len(v) {
	case 1:
		r.Least, r.Most = v[0], 1<<40
	case 2:
		r.Least, r.Most = v[0], v[1]
	default:
		return fmt.Errorf("a range is [least] or [least, most], not %s", b)
	}
	return nil
}

// All reads every task, sorted by name. A directory that is no valid task is an error: a task that is not played must not
// pass.
func All() ([]Task, error) {
	var out []Task
	files, err := fs.Glob(data, "testdata/*/*/task.json")
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		t, err := read(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		out = append(out, t)
	}
	return out, nil
}

func read(file string) (Task, error) {
	t := Task{Name: strings.TrimPrefix(path.Dir(file), "testdata/"), Language: "en"}
	b, err := data.ReadFile(file)
	if err != nil {
		return t, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return t, err
	}
	switch {
	case t.Kind != Good && t.Kind != Hostile:
		return t, fmt.Errorf("kind %q", t.Kind)
	case t.Request == "" || t.About == "" || len(t.Covers) == 0:
		return t, fmt.Errorf("request, about and covers are needed")
	case t.Want.State == "":
		return t, fmt.Errorf("want.state is needed")
	case len(t.Goal.Files)+len(t.Goal.Answer) == 0:
		return t, fmt.Errorf("a goal is needed: else no success could be false")
	}
	if _, err := fs.Stat(t.FS(), "model.json"); err != nil {
		return t, err
	}
	return t, nil
}

// FS is the task's directory.
func (t Task) FS() fs.FS {
	sub, err := fs.Sub(data, path.Join("testdata", t.Name))
	if err != nil {
		panic("evals: a task's name is a valid path: " + err.Error())
	}
	return sub
}
