package ollama

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// midStream stands for the status of an error line inside a stream.
const midStream = 0

// classify turns a response that is no 200 into a fault.
func classify(res *http.Response, body []byte, name string) *fault.Error {
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		return fault.New(model.CodeProtocol, "detail", "redirect ("+strconv.Itoa(res.StatusCode)+") to "+clean(res.Header.Get("Location")))
	}
	var e struct {
		Error     json.RawMessage `json:"error"`
		SigninURL string          `json:"signin_url"`
	}
	text, ours := "", false
	if json.Unmarshal(body, &e) == nil {
		text, ours = errorText(e.Error)
	}
	if res.StatusCode == http.StatusUnauthorized {
		return fault.New(model.CodeSignIn, "url", clean(e.SigninURL))
	}
	if !ours {
		text = detail(body)
		switch s := res.StatusCode; {
		case s == http.StatusForbidden || s == http.StatusTooManyRequests || s == http.StatusRequestEntityTooLarge || s >= 500:
		default: // 404 page not found, 405, somebody's HTML
			return fault.New(model.CodeProtocol, "detail", strings.TrimSpace(strconv.Itoa(s)+" "+strings.TrimPrefix(text, strconv.Itoa(s)+" ")))
		}
	}
	return classifyText(text, res.StatusCode, name)
}

// marks are texts that tell a failure whatever its status, the first that fits wins. All words of a mark must occur.
var marks = []struct {
	code  fault.Code
	words []string
}{
	{model.CodeContextOverflow, []string{"exceed_context_size"}},
	{model.CodeContextOverflow, []string{"exceed", "context length"}},
	{model.CodeContextOverflow, []string{"exceed", "context size"}},
	{model.CodeContextOverflow, []string{"exceed", "context window"}},
	{model.CodeContextOverflow, []string{"longer than", "context length"}},
	{model.CodeContextOverflow, []string{"prompt is too long"}},
	{model.CodeRepetition, []string{"token repeat limit"}},
	{model.CodeBrokenCall, []string{"pars", "tool call"}},
	{model.CodeBrokenCall, []string{"xml syntax error"}},
	{model.CodeQuota, []string{"usage limit"}},
	{model.CodeQuota, []string{"requires a subscription"}},
	{model.CodeQuota, []string{"payment required"}},
	{model.CodeNoThinking, []string{"does not support thinking"}},
	{model.CodeNoThinking, []string{"think value", "not supported"}},
	{model.CodeNoTools, []string{"does not support tools"}},
	{model.CodeNoVision, []string{"does not support image"}},
	{model.CodeNoVision, []string{"does not support vision"}},
	{model.CodeNoVision, []string{"image input is not supported"}},
	{model.CodeBadRequest, []string{"option ", "must be of type"}},
	{model.CodeBadRequest, []string{"invalid format"}},
	{model.CodeBadRequest, []string{"failed to parse grammar"}},
	{model.CodeBadRequest, []string{"invalid duration"}},
	{model.CodeBadRequest, []string{"failed to load image"}},
	{model.CodeBadRequest, []string{"image: unknown format"}},
	{model.CodeBusy, []string{"server busy"}},
	{model.CodeBusy, []string{"overloaded"}},
	{model.CodeRunnerDied, []string{"running the model"}},
	{model.CodeRunnerDied, []string{"runner process"}},
}

// classifyText turns an error text and its status into a fault.
func classifyText(text string, status int, name string) *fault.Error {
	low := strings.ToLower(text)
	for _, m := range marks {
		if all(low, m.words) {
			return coded(m.code, text, status, name)
		}
	}
	return coded(byStatus(low, status), text, status, name)
}

func byStatus(low string, status int) fault.Code {
	switch status {
	case midStream:
		return model.CodeRunnerDied
	case http.StatusUnauthorized:
		return model.CodeSignIn
	case http.StatusPaymentRequired:
		return model.CodeQuota
	case http.StatusForbidden:
		if strings.Contains(low, "upgrade") || strings.Contains(low, "subscription") {
			return model.CodeQuota
		}
		return model.CodeForbidden
	case http.StatusNotFound:
		if strings.Contains(low, "not found") {
			return model.CodeNotFound
		}
		return model.CodeBadRequest
	case http.StatusGone:
		return model.CodeNotFound
	case http.StatusTooManyRequests:
		if strings.Contains(low, "upgrade") || strings.Contains(low, "quota") {
			return model.CodeQuota
		}
		return model.CodeBusy
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return model.CodeBusy
	}
	if status >= 500 {
		return model.CodeServer
	}
	return model.CodeBadRequest
}

func coded(code fault.Code, text string, status int, name string) *fault.Error {
	text = clean(unthought(text))
	switch code {
	case model.CodeNotFound, model.CodeNoTools, model.CodeNoVision, model.CodeNoThinking:
		return fault.New(code, "model", name, "detail", text)
	case model.CodeServer, model.CodeBadRequest:
		return fault.New(code, "status", status, "detail", text)
	case model.CodeSignIn:
		return fault.New(code, "url", "")
	}
	return fault.New(code, "detail", text)
}

// unthought takes leaked reasoning out of an error text, which may repeat what the model wrote (OLL-14).
func unthought(text string) string {
	open, end := strings.Index(text, openTag), strings.LastIndex(text, closeTag)
	switch {
	case end >= 0 && open >= 0 && open < end:
		text = text[:open] + "…" + text[end+len(closeTag):]
	case end >= 0:
		text = "…" + text[end+len(closeTag):]
	}
	if open = strings.Index(text, openTag); open >= 0 {
		text = text[:open] + "…"
	}
	return text
}

func all(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// errorText reads an "error" member: a string, or an object with a message; a string may hold such an object again.
func errorText(raw json.RawMessage) (text string, present bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, text != ""
	}
	var o struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	}
	if json.Unmarshal(raw, &o) == nil && o.Message != "" {
		return strings.TrimSpace(o.Message + " " + o.Type), true
	}
	return string(raw), true
}

var tags = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>`)

// detail is a short text for people from a body of any kind.
func detail(body []byte) string {
	s := strings.TrimSpace(string(body))
	if strings.HasPrefix(s, "<") {
		return clean("HTML: " + tags.ReplaceAllString(s, " "))
	}
	return clean(s)
}

// clean bounds a foreign text and takes what could move a terminal out of it.
func clean(s string) string {
	const most = 400
	s = strings.ToValidUTF8(s, "�")
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}
