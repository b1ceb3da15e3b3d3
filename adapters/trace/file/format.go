package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/ports/trace"
)

const timeForm = "2006-01-02T15:04:05.000Z"

// appendText writes an event as one line for people: time, level, name, then name=value. Values that could break the
// line or play with a terminal are quoted.
func appendText(b []byte, e trace.Event) []byte {
	b = e.At.UTC().AppendFormat(b, timeForm)
	b = fmt.Appendf(b, " %-5s ", level(e.Level))
	b = append(b, word(e.Name)...)
	for _, id := range ids(e) {
		if id.value != "" {
			b = fmt.Appendf(b, " %s=%s", id.name, word(id.value))
		}
	}
	for _, f := range e.Fields {
		b = fmt.Appendf(b, " %s=%s", word(f.Name), word(text(f.Value)))
	}
	return append(b, '\n')
}

// appendJSON writes an event as one line of JSON, fields in their order. A duration becomes milliseconds, and its name
// ends in _ms.
func appendJSON(b []byte, e trace.Event) []byte {
	b = append(b, `{"at":"`...)
	b = e.At.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","level":`...)
	b = appendValue(b, level(e.Level))
	b = append(b, `,"name":`...)
	b = appendValue(b, e.Name)
	for _, id := range ids(e) {
		if id.value != "" {
			b = fmt.Appendf(b, `,"%s":`, id.name)
			b = appendValue(b, id.value)
		}
	}
	b = append(b, `,"fields":{`...)
	for i, f := range e.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		name, value := f.Name, f.Value
		if d, ok := value.(time.Duration); ok {
			name, value = name+"_ms", float64(d)/float64(time.Millisecond)
		}
		b = append(appendValue(b, name), ':')
		b = appendValue(b, value)
	}
	return append(b, "}}\n"...)
}

// appendValue never fails: what JSON cannot hold is written as text.
func appendValue(b []byte, v any) []byte {
	if t, ok := v.(time.Time); ok {
		v = t.UTC()
	}
	if s, ok := v.(fmt.Stringer); ok {
		if _, isTime := v.(time.Time); !isTime {
			v = s.String()
		}
	}
	if err, ok := v.(error); ok {
		v = err.Error()
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		buf.Reset()
		_ = enc.Encode(fmt.Sprint(v)) // a string always encodes
	}
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}

type id struct{ name, value string }

func ids(e trace.Event) [4]id {
	return [4]id{{"session", e.Session}, {"task", e.Task}, {"planner_task", e.PlannerTask}, {"call", e.Call}}
}

func level(l trace.Level) string {
	switch l {
	case trace.Debug:
		return "debug"
	case trace.Info:
		return "info"
	case trace.Warn:
		return "warn"
	case trace.Error:
		return "error"
	}
	return "level" + strconv.Itoa(int(l))
}

func text(v any) string {
	switch v := v.(type) {
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	case []string:
		return strings.Join(v, ",")
	}
	return fmt.Sprint(v)
}

// word quotes what is not one plain word.
func word(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r == ' ' || r == '"' || r == '=' || r == '\\' || r == '\uFFFD' || !strconv.IsPrint(r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}
