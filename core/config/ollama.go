package config

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/core/near"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

func (d *decoder) ollama(s *scope) (o Ollama) {
	o.BaseURL = d.baseURL(s)
	name, n := s.text("model", "")
	s.required("model")
	o.Model = strings.TrimSpace(name)
	if cloud(o.Model) {
		d.warn(WarnCloud, s.key("model"), n, "model", clip(o.Model))
	}
	o.Think = d.think(s)
	o.KeepAlive = d.keepAlive(s)
	o.ConnectTimeout, _ = s.duration("connect_timeout", 5*time.Second, 100*time.Millisecond, 5*time.Minute)
	o.FirstChunkTimeout, _ = s.duration("first_chunk_timeout", 10*time.Minute, time.Second, 24*time.Hour)
	o.IdleTimeout, _ = s.duration("idle_timeout", 2*time.Minute, time.Second, 24*time.Hour)
	r := s.child("retry")
	o.Retry.Attempts = r.integer("attempts", 3, 0, 20)
	o.Retry.Backoff, _ = r.duration("backoff", 500*time.Millisecond, time.Millisecond, 5*time.Minute)
	limit, at := r.duration("max_backoff", max(10*time.Second, o.Retry.Backoff), time.Millisecond, time.Hour)
	if limit < o.Retry.Backoff {
		d.bad(CodeBackoffOrder, r.key("max_backoff"), at, "value", show(at), "min", short(o.Retry.Backoff))
	}
	o.Retry.MaxBackoff = limit
	r.done()
	opts := s.child("options")
	o.Options = d.options(opts)
	o.Options.Extra = d.extra(s, opts.keys)
	s.done()
	return o
}

// cloud reports a model that runs elsewhere through the local server: a tag of `cloud` or ending in `-cloud`, in any case.
func cloud(name string) bool {
	name = strings.ToLower(name)
	_, tag, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	return tag == "cloud" || strings.HasSuffix(tag, "-cloud")
}

func (d *decoder) think(s *scope) model.Think {
	n, ok := s.get("think")
	levels := []string{"low", "medium", "high", "max"}
	switch {
	case !ok:
		return model.Think{}
	case n.Kind == settings.Bool:
		return model.Think{Set: true, On: n.Bool}
	case n.Kind == settings.String && slices.Contains(levels, n.String):
		return model.Think{Set: true, On: true, Level: n.String}
	}
	d.bad(CodeChoice, s.key("think"), n, "value", show(n), "choices", "null, true, false, "+strings.Join(levels, ", "))
	return model.Think{}
}

// keepAlive accepts what the server does: a duration, or seconds as an integer; negative means for ever.
func (d *decoder) keepAlive(s *scope) string {
	n, ok := s.get("keep_alive")
	switch {
	case !ok:
		return "5m"
	case n.Kind == settings.Int && n.Int >= -1 && n.Int <= math.MaxInt32:
		return strconv.FormatInt(n.Int, 10)
	case n.Kind == settings.String:
		if _, err := time.ParseDuration(n.String); err == nil {
			return n.String
		}
		if v, err := strconv.ParseInt(n.String, 10, 32); err == nil && v >= -1 {
			return n.String
		}
	}
	d.bad(CodeBadKeepAlive, s.key("keep_alive"), n, "value", show(n))
	return "5m"
}

// Ranges of the known options. num_ctx has no room for prompt and tools below 2048; 0 and negative values would make the
// server use 4 tokens.
const (
	minCtx     = 2048
	maxCtx     = 4 << 20
	maxPredict = 1 << 20
)

func (d *decoder) options(s *scope) (o model.Options) {
	ctx, temp := 16384, 0.2
	o.NumCtx, o.Temperature = &ctx, &temp
	ints := []struct {
		name   string
		to     **int
		lo, hi int64
	}{
		{"num_ctx", &o.NumCtx, minCtx, maxCtx},
		{"num_predict", &o.NumPredict, -2, maxPredict}, // -1 without end, -2 until the context is full
		{"num_keep", &o.NumKeep, -1, maxCtx},
		{"seed", &o.Seed, -1, math.MaxInt32},
		{"top_k", &o.TopK, 0, 100_000},
		{"repeat_last_n", &o.RepeatLastN, -1, maxCtx},
		{"num_batch", &o.NumBatch, 1, 65_536},
		{"num_gpu", &o.NumGPU, -1, 1024},
		{"main_gpu", &o.MainGPU, 0, 63},
		{"num_thread", &o.NumThread, 0, 4096},
		{"draft_num_predict", &o.DraftNumPredict, 0, 1024},
	}
	for _, f := range ints {
		if v := s.maybeInt(f.name, f.lo, f.hi); v != nil {
			i := int(*v)
			*f.to = &i
		}
	}
	if n, _ := s.node.Get("num_predict"); o.NumPredict != nil && *o.NumPredict == 0 {
		d.bad(CodeChoice, s.key("num_predict"), n, "value", "0", "choices", "-2, -1, 1.."+strconv.Itoa(maxPredict))
	}
	floats := []struct {
		name   string
		to     **float64
		lo, hi float64
	}{
		{"temperature", &o.Temperature, 0, 2},
		{"top_p", &o.TopP, 0, 1},
		{"min_p", &o.MinP, 0, 1},
		{"typical_p", &o.TypicalP, 0, 1},
		{"repeat_penalty", &o.RepeatPenalty, 0, 10},
		{"presence_penalty", &o.PresencePenalty, -2, 2},
		{"frequency_penalty", &o.FrequencyPenalty, -2, 2},
	}
	for _, f := range floats {
		if v := s.maybeNumber(f.name, f.lo, f.hi); v != nil {
			*f.to = v
		}
	}
	if n, ok := s.node.Get("use_mmap"); ok && n.Kind != settings.Null {
		v := s.boolean("use_mmap", false)
		o.UseMmap = &v
	} else {
		s.get("use_mmap")
	}
	o.Stop, _ = s.texts("stop")
	for i, v := range o.Stop {
		if n, _ := s.node.Get("stop"); v == "" {
			d.bad(CodeRequired, s.key("stop")+"["+strconv.Itoa(i)+"]", n)
		}
	}
	s.done()
	return o
}

// extra reads extra_options, which are passed on as they are. A known option there loses, and what is one but for a slip of the
// pen does nothing at the server: both with a warning (OLL-05). null takes back what a base file said. Numbers that JSON cannot
// hold are refused.
func (d *decoder) extra(s *scope, known []string) map[string]any {
	e := s.child("extra_options")
	var out map[string]any
	for _, f := range e.node.Fields {
		if slices.Contains(known, f.Key) {
			at := settings.Node{File: f.Value.File, Line: f.Line, Column: f.Column}
			d.warn(WarnExtraKnown, e.key(f.Key), at)
			continue
		}
		if f.Value.Kind == settings.Null {
			continue
		}
		if key, bad, found := infinite(e.key(f.Key), f.Value); found {
			d.bad(CodeFinite, key, bad, "value", show(bad))
			continue
		}
		if i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, f.Key) || near.Distance(k, f.Key) == 1 }); i >= 0 {
			d.warn(WarnExtraNear, e.key(f.Key), f.Value, "known", "ollama.options."+known[i])
		}
		if out == nil {
			out = map[string]any{}
		}
		out[f.Key] = plain(f.Value)
	}
	return out
}

// infinite finds a number that is none, or has no end, inside a value.
func infinite(key string, n settings.Node) (at string, bad settings.Node, found bool) {
	switch n.Kind {
	case settings.Float:
		return key, n, math.IsNaN(n.Float) || math.IsInf(n.Float, 0)
	case settings.List:
		for i, item := range n.Items {
			if at, bad, found = infinite(key+"["+strconv.Itoa(i)+"]", item); found {
				return at, bad, true
			}
		}
	case settings.Map:
		for _, f := range n.Fields {
			if at, bad, found = infinite(key+"."+f.Key, f.Value); found {
				return at, bad, true
			}
		}
	}
	return "", settings.Node{}, false
}

// plain turns a node into the value that JSON encodes.
func plain(n settings.Node) any {
	switch n.Kind {
	case settings.Bool:
		return n.Bool
	case settings.Int:
		return n.Int
	case settings.Float:
		return n.Float
	case settings.String:
		return n.String
	case settings.List:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = plain(item)
		}
		return out
	case settings.Map:
		out := make(map[string]any, len(n.Fields))
		for _, f := range n.Fields {
			out[f.Key] = plain(f.Value)
		}
		return out
	}
	return nil
}
