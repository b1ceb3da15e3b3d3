package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
)

// streams tells whether the pieces go out before the fault.
func (f *Fault) streams() bool {
	w := f.wire("")
	return w.Status == 0
}

// wire is the fault in one of its wire forms; a fault that names only a code gets the form a real server uses.
func (f *Fault) wire(name string) Fault {
	if f.Status != 0 || f.Raw != "" || f.Line != "" || f.End || f.Cut || f.Stall {
		w := *f
		if w.Status != 0 && w.Body == "" && w.Detail != "" {
			w.Body = errorBody(w.Detail)
		}
		return w
	}
	status := func(code int, text string) Fault {
		if f.Detail != "" {
			text = f.Detail
		}
		return Fault{Code: f.Code, Status: code, Body: errorBody(text)}
	}
	line := func(text string) Fault {
		if f.Detail != "" {
			text = f.Detail
		}
		return Fault{Code: f.Code, Line: text}
	}
	switch f.Code {
	case model.CodeUnreachable, model.CodeConnectTimeout:
		return Fault{Code: f.Code, Status: -1, Cut: true}
	case model.CodeFirstChunk:
		return Fault{Code: f.Code, Status: -1, Stall: true}
	case model.CodeIdle:
		return Fault{Code: f.Code, Stall: true}
	case model.CodeIncomplete:
		return Fault{Code: f.Code, End: true}
	case model.CodeRunnerDied:
		return line("an error was encountered while running the model: unexpected EOF")
	case model.CodeBrokenCall:
		return line(`error parsing tool call: raw='{"path": "a"}]', err=invalid character ']' after top-level value`)
	case model.CodeBusy:
		return status(503, "server busy, please try again.  maximum pending requests exceeded")
	case model.CodeContextOverflow:
		return status(400, "the input length exceeds the context length")
	case model.CodeRepetition:
		return status(500, "prediction aborted, token repeat limit reached")
	case model.CodeNotFound:
		return status(404, fmt.Sprintf("model '%s' not found", name))
	case model.CodeNoTools:
		return status(400, fmt.Sprintf("registry.ollama.ai/library/%s does not support tools", tagged(name)))
	case model.CodeNoThinking:
		return status(400, fmt.Sprintf("%q does not support thinking", name))
	case model.CodeNoVision:
		return status(400, "this model does not support image input")
	case model.CodeBadRequest:
		return status(400, "invalid model name")
	case model.CodeForbidden:
		return Fault{Code: f.Code, Status: 403}
	case model.CodeQuota:
		return status(429, "you have reached your session usage limit, upgrade for higher limits: https://ollama.com/upgrade")
	case model.CodeSignIn:
		return Fault{Code: f.Code, Status: 401, Body: `{"error":"unauthorized","signin_url":"https://ollama.com/connect?name=x"}`}
	case model.CodeProtocol:
		return Fault{Code: f.Code, Status: 200, ContentType: "text/html", Body: "<html><body>Sign in to the network</body></html>"}
	}
	return status(500, "internal server error")
}

// err is the fault as the direct Model answers it.
func (f *Fault) err(name string) error {
	code := f.Code
	if code == "" {
		switch {
		case f.Status >= 500:
			code = model.CodeServer
		case f.Status >= 400:
			code = model.CodeBadRequest
		case f.Line != "":
			code = model.CodeRunnerDied
		case f.End, f.Cut:
			code = model.CodeIncomplete
		default:
			code = model.CodeProtocol
		}
	}
	w := f.wire(name)
	detail := f.Detail
	if detail == "" {
		detail = w.Body + w.Line + w.Raw
	}
	switch code {
	case model.CodeNotFound, model.CodeNoTools, model.CodeNoVision, model.CodeNoThinking:
		return fault.New(code, "model", name)
	case model.CodeUnreachable:
		return fault.New(code, "url", "scripted", "detail", detail)
	case model.CodeConnectTimeout:
		return fault.New(code, "url", "scripted", "limit", "0s")
	case model.CodeFirstChunk, model.CodeIdle:
		return fault.New(code, "limit", "0s")
	case model.CodeSignIn:
		return fault.New(code, "url", "https://ollama.com/connect?name=x")
	case model.CodeServer, model.CodeBadRequest:
		return fault.New(code, "status", max(w.Status, 0), "detail", detail)
	}
	return fault.New(code, "detail", detail)
}

func errorBody(text string) string {
	b, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return `{"error":"unprintable"}`
	}
	return string(b)
}
