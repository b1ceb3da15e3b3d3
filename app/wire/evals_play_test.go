package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/adapters/ident/random"
	"github.com/agent-mcp/agent-mcp/app/admin"
	"github.com/agent-mcp/agent-mcp/conformance/evals"
	"github.com/agent-mcp/agent-mcp/core/prompt"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

func (r *run) admin() *admin.Service {
	return Admin(Catalog, r.box, strings.NewReader(""), io.Discard, false)
}

// perform starts a server without its front, asks it, and collects what can be seen afterwards.
func (r *run) perform(ctx context.Context) (o evals.Outcome, err error) {
	eff, err := r.admin().Load(ctx, filepath.Join(r.dir, "agent.yaml"))
	if err != nil {
		return o, err
	}
	s := &server{eff: eff, box: r.box, err: io.Discard, id: random.New().New(), openJournal: openJournal}
	st, err := r.tasks(ctx, s)
	if err := errors.Join(err, s.close()); err != nil { // closing flushes the logs that are read below
		return o, err
	}
	o = evals.Outcome{
		State: string(st.State), Code: st.ErrorCode, Answer: st.Answer, Status: st.Text, Counts: map[string]int{},
		Place: os.DirFS(r.dir), Fixed: prompt.System(prompt.Layers{}).Content,
	}
	if st.State == service.Completed {
		o.Code = ""
	}
	if r.server != nil {
		o.Size = r.size(r.server.Model.Requests())
		o.Left, o.Sent = r.server.Model.Left(), sent(r.server.Model.Requests(), r.before)
	}
	logs := eff.Config.Logging.Dir
	return o, errors.Join(r.trace(logs, st.TaskID, &o), r.audit(logs, st.TaskID, &o))
}

func (r *run) tasks(ctx context.Context, s *server) (st service.Status, err error) {
	if err := s.open(ctx); err != nil {
		return st, err
	}
	if err := s.work(ctx); err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, s.drain()) }()
	session := ""
	for _, request := range r.task.Before {
		if st, err = r.ask(ctx, s, service.RunRequest{Request: r.here(request), SessionID: session}); err != nil {
			return st, err
		}
		session = st.SessionID
	}
	if r.server != nil {
		r.before = len(r.server.Model.Requests())
	}
	req := service.RunRequest{Request: r.here(r.task.Request), SessionID: session, Temperature: r.task.Temperature}
	for _, name := range r.task.Images {
		b, err := fs.ReadFile(r.task.FS(), name)
		if err != nil {
			return st, err
		}
		req.Images = append(req.Images, b)
	}
	return r.ask(ctx, s, req)
}

// ask runs one Task to its end. A request that is refused at once is an end too.
func (r *run) ask(ctx context.Context, s *server, req service.RunRequest) (service.Status, error) {
	a, err := s.engine.Run(ctx, req)
	if err != nil {
		f := fault.From(err)
		text := s.eff.Catalog.Fault(f)
		return service.Status{State: service.Failed, Text: text, ErrorCode: string(f.Code), ErrorText: text, TaskID: "refused"}, nil
	}
	limited, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	if st, err := s.engine.Wait(limited, a.TaskID); err == nil || ctx.Err() != nil {
		return st, err
	}
	if err := s.engine.Cancel(ctx, a.TaskID); err != nil {
		return service.Status{}, err
	}
	return s.engine.Wait(ctx, a.TaskID)
}

func sent(requests []model.Request, before int) (out []evals.Request) {
	for i, q := range requests {
		r := evals.Request{Temperature: q.Options.Temperature, Think: "unset", LastTask: i >= before}
		switch {
		case q.Think.Level != "":
			r.Think = q.Think.Level
		case q.Think.Set:
			r.Think = strconv.FormatBool(q.Think.On)
		}
		for _, m := range q.Messages {
			r.Images += len(m.Images)
			if m.Role == model.System {
				r.System = m.Content
				continue
			}
			text := m.Content + m.Thinking
			for _, c := range m.ToolCalls {
				text += "\n" + c.Name + string(c.Arguments)
			}
			r.Messages = append(r.Messages, text)
		}
		out = append(out, r)
	}
	return out
}

// size is what the requests cost, the same on every host.
func (r *run) size(requests []model.Request) (n int) {
	host := strings.NewReplacer(append([]string{filepath.ToSlash(r.dir), "/place"}, r.known...)...)
	for _, q := range requests {
		for _, m := range q.Messages {
			text := m.Content + m.Thinking
			for _, c := range m.ToolCalls {
				text += c.Name + string(c.Arguments)
			}
			n += utf8.RuneCountInString(host.Replace(text))
		}
		for _, t := range q.Tools {
			n += len(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Schema)
		}
		n += utf8.RuneCount(q.Format)
	}
	return n / 4
}

// eachLine calls f for every line of a log, over its rotated parts; a log that was never written has none.
func eachLine(glob string, f func(string) error) error {
	files, err := filepath.Glob(glob)
	if err != nil {
		return err
	}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		in := bufio.NewScanner(file)
		in.Buffer(nil, 16<<20)
		for in.Scan() && err == nil {
			err = f(in.Text())
		}
		err = errors.Join(err, in.Err(), file.Close())
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

var (
	eventName = regexp.MustCompile(`^\S+ +\w+ +(\S+)`)
	causeOf   = regexp.MustCompile(` cause=("(?:[^"\\]|\\.)*"|\S+)`)
)

// trace counts what the app log and the token log say of a Task.
func (r *run) trace(dir, task string, o *evals.Outcome) error {
	names := map[string]string{
		"model.retry": "retries", "agent.replan": "replans", "agent.summary": "summaries", "agent.plan": "plans",
		"agent.completed": "completed", "agent.truncated": "truncated", "agent.budget": "budget", "agent.skills": "skills", "agent.skills_bad": "skills_bad",
		"agent.cap_raised": "cap_raised", "model.think_refused": "think_off", "agent.think_off": "think_off",
	}
	err := eachLine(filepath.Join(dir, "app*.log"), func(line string) error {
		m := eventName.FindStringSubmatch(line)
		if m == nil || !strings.Contains(line, "task="+task) {
			return nil
		}
		if n := names[m[1]]; n != "" {
			o.Counts[n]++
		}
		if c := causeOf.FindStringSubmatch(line); c != nil && m[1] == "agent.failure" {
			cause := c[1]
			if q, err := strconv.Unquote(cause); err == nil {
				cause = q
			}
			o.Counts[cause]++
		}
		return nil
	})
	return errors.Join(err, eachLine(filepath.Join(dir, "tokens*.jsonl"), func(line string) error {
		var e struct {
			Name, Task string
			Fields     struct{ Input, Output int }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return err
		}
		if e.Name == "task.tokens" && e.Task == task {
			o.Counts["input"], o.Counts["output"] = e.Fields.Input, e.Fields.Output
		}
		if e.Name == "call.tokens" && e.Task == task {
			o.Counts["replies"]++
		}
		return nil
	}))
}

// audit collects the Audit of a Task.
func (r *run) audit(dir, task string, o *evals.Outcome) error {
	return eachLine(filepath.Join(dir, "audit-*.jsonl"), func(line string) error {
		if !strings.Contains(line, task) {
			return nil
		}
		o.Audit = append(o.Audit, line)
		switch {
		case strings.Contains(line, `"kind":"tool.call"`):
			o.Counts["calls"]++
		case strings.Contains(line, `"kind":"access.denied"`):
			o.Counts["denied"]++
		}
		return nil
	})
}
