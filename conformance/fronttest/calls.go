package fronttest

import (
	"encoding/base64"
	"strings"
)

// Image is the smallest thing whose magic bytes are a PNG's, in Base64.
var Image = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n and more"))

// NoTask is the id of no Task.
const NoTask = "00000000-0000-4000-8000-ffffffffffff"

func calls() []Exchange {
	run := func(arguments string) string { return Call("1", "agent_run", arguments) }
	return []Exchange{
		{Name: "agent_run", Send: run(`{"request":"hello"}`), ID: `1`, Modern: true, Text: "Task ID: 0000"},
		{Name: "legacy agent_run", Send: Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"}`), ID: `1`, Text: "Session ID: 0000"},
		{Name: "agent_run with the old task parameter", Send: Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"},"task":{"ttl":1}`), ID: `1`, Text: "Task ID: "},
		{Name: "unknown tool", Send: Call("1", "agent_apply", `{}`), Code: params, ID: `1`, Text: "mcp.unknown_tool tool=agent_apply"},
		{Name: "tool in other case", Send: Call("1", "Agent_run", `{"request":"x"}`), Code: params, ID: `1`},
		{Name: "no tool", Send: Request("1", "tools/call", `"arguments":{},`+Meta), Code: params, ID: `1`},
		{Name: "tool is a number", Send: Request("1", "tools/call", `"name":1,`+Meta), Code: params, ID: `1`},
		{Name: "tool twice", Send: Request("1", "tools/call", `"name":"agent_status","name":"agent_run",`+Meta), Code: params, ID: `1`, Text: "mcp.key_twice"},
		{Name: "tool smuggled by case", Send: Request("1", "tools/call", `"name":"agent_status","Name":"agent_run",`+Meta), Code: params, ID: `1`, Text: "mcp.key_case"},
		{Name: "arguments smuggled by case", Send: Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"},"ARGUMENTS":{},`+Meta), Code: params, ID: `1`},
		{Name: "empty request", Send: run(`{"request":""}`), ID: `1`, IsError: true, Text: "run.request_empty"},
		{Name: "blank request", Send: run(`{"request":" \n\t\u3000"}`), ID: `1`, IsError: true, Text: "run.request_empty"},
		{Name: "10 MiB request", Send: run(`{"request":"` + strings.Repeat("x", 10<<20) + `"}`), ID: `1`, IsError: true, Text: "run.request_too_big"},
		{Name: "invalid UTF-8 request", Send: run("{\"request\":\"a\xffb\"}"), ID: `1`, IsError: true, Text: "run.request_text"},
		{Name: "lone surrogate request", Send: run(`{"request":"a\udc00b"}`), ID: `1`, IsError: true, Text: "run.request_text"},
		{Name: "paired surrogates", Send: run(`{"request":"\ud83d\ude00"}`), ID: `1`, Text: "Task ID: "},
		{Name: "unknown session", Send: run(`{"request":"x","session_id":"` + NoTask + `"}`), ID: `1`, IsError: true, Text: "run.unknown_session"},
		{Name: "huge session", Send: run(`{"request":"x","session_id":"` + strings.Repeat("s", 1<<20) + `"}`), ID: `1`, IsError: true, Text: "run.unknown_session session=sss"},
		{Name: "temperature", Send: run(`{"request":"x","temperature":0.7}`), ID: `1`, Text: "Task ID: "},
		{Name: "temperature is integral", Send: run(`{"request":"x","temperature":1}`), ID: `1`, Text: "Task ID: "},
		{Name: "negative temperature", Send: run(`{"request":"x","temperature":-0.1}`), ID: `1`, IsError: true, Text: "run.temperature"},
		{Name: "huge temperature", Send: run(`{"request":"x","temperature":1e300}`), ID: `1`, IsError: true, Text: "run.temperature"},
		{Name: "temperature beyond a float", Send: run(`{"request":"x","temperature":1e999}`), ID: `1`, IsError: true, Text: "mcp.argument_number"},
		{Name: "temperature NaN", Send: run(`{"request":"x","temperature":NaN}`), Code: parse},
		{Name: "temperature is text", Send: run(`{"request":"x","temperature":"hot"}`), ID: `1`, IsError: true, Text: "mcp.argument_type name=temperature want=number"},
		{Name: "status of no Task", Send: Call("1", "agent_status", `{"task_id":"`+NoTask+`"}`), ID: `1`, IsError: true, Text: "status.unknown_task"},
		{Name: "task id is no UUID", Send: Call("1", "agent_status", `{"task_id":"7"}`), ID: `1`, IsError: true, Text: "status.bad_task_id"},
		{Name: "huge task id", Send: Call("1", "agent_status", `{"task_id":"`+strings.Repeat("t", 1<<20)+`"}`), ID: `1`, IsError: true, Text: "status.bad_task_id task=ttt"},
	}
}

func arguments() []Exchange {
	run := func(arguments string) string { return Call("1", "agent_run", arguments) }
	image := func(s string) string { return run(`{"request":"x","images":` + s + `}`) }
	bad := func(name, send, text string) Exchange {
		return Exchange{Name: name, Send: send, ID: `1`, IsError: true, Modern: true, Text: text}
	}
	return []Exchange{
		bad("no arguments", Request("1", "tools/call", `"name":"agent_run",`+Meta), "mcp.argument_missing name=request"),
		bad("null arguments", run(`null`), "mcp.argument_missing name=request"),
		bad("arguments are a list", run(`[1]`), "mcp.arguments_object"),
		bad("arguments are text", run(`"x"`), "mcp.arguments_object"),
		bad("unknown argument", run(`{"request":"x","model":"big"}`), "mcp.argument_unknown known=request, session_id, temperature, images name=model"), // MCP-RUN-05
		bad("argument in other case", run(`{"Request":"x"}`), "name=Request"),
		bad("argument twice", run(`{"request":"x","request":"y"}`), "mcp.argument_twice name=request"),
		bad("argument twice by an escape", run(`{"request":"x","\u0072equest":"y"}`), "mcp.argument_twice name=request"),
		bad("request is a number", run(`{"request":1}`), "mcp.argument_type name=request want=string"),
		bad("request is null", run(`{"request":null}`), "mcp.argument_missing name=request"),
		bad("every reason at once", run(`{"temperature":"x","a":1}`), "name=a mcp.argument_missing name=request mcp.argument_type name=temperature"),
		bad("too many arguments", run(`{`+many(2000)+`"request":"x"}`), "mcp.too_many"),
		bad("status without a task", Call("1", "agent_status", `{}`), "mcp.argument_missing name=task_id"),
		bad("status with more", Call("1", "agent_status", `{"task_id":"`+NoTask+`","verbose":true}`), "mcp.argument_unknown"),
		bad("100 images", image(`["`+strings.Repeat(Image+`","`, 99)+Image+`"]`), "run.image_count count=100 limit=4"),
		bad("a million images", image(`[`+strings.Repeat(`0,`, 1_000_000)+`0]`), "mcp.argument_type name=images[0] want=string"),
		bad("images are text", image(`"`+Image+`"`), "mcp.argument_type name=images want=array"),
		bad("image is null", image(`[null]`), "mcp.argument_type name=images[0]"),
		bad("image is not Base64", image(`["`+Image+`","%%%"]`), "run.image_encoding index=1"),
		bad("image is empty", image(`[""]`), "run.image_encoding index=0"),
		bad("image is a link", image(`["https://example.com/a.png"]`), "run.image_encoding index=0"),
		bad("image is a data URL without Base64", image(`["data:image/png,abcd"]`), "run.image_encoding index=0"),
		bad("image is not an image", image(`["aGVsbG8gd29ybGQ="]`), "run.image_kind index=0"),
		bad("image of 6 MiB", image(`["`+strings.Repeat("A", 8<<20)+`"]`), "run.image_size index=0"),
		bad("images of 16 MiB", image(`[`+strings.Repeat(`"`+strings.Repeat("A", 16<<20/3)+`",`, 3)+`"AAAA"]`), "run.image_total"),
		{Name: "no images", Send: image(`[]`), ID: `1`, Text: "Task ID: "},
		{Name: "images are null", Send: image(`null`), ID: `1`, Text: "Task ID: "},
		{Name: "an image", Send: image(`["` + Image + `"]`), ID: `1`, Text: "Task ID: "},
		{Name: "an image as a data URL", Send: image(`["data:image/png;base64,` + Image + `"]`), ID: `1`, Text: "Task ID: "},
		{Name: "an image without padding", Send: image(`["` + strings.TrimRight(Image, "=") + `"]`), ID: `1`, Text: "Task ID: "},
		{Name: "an image with escaped slashes", Send: image(`["` + strings.ReplaceAll(Image, "/", `\/`) + `"]`), ID: `1`, Text: "Task ID: "},
	}
}
