package fronttest

import (
	"strconv"
	"strings"
)

// Meta is params._meta of a 2026-07-28 client without capabilities, TasksMeta of one that declares the Tasks extension.
const (
	Meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	TasksMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
)

// Request makes one request line; params are the members of its params, "" = none.
func Request(id, method, params string) string {
	if params == "" {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + `}}`
}

// Call makes a tools/call line of the 2026-07-28 era.
func Call(id, tool, arguments string) string {
	return Request(id, "tools/call", `"name":"`+tool+`","arguments":`+arguments+`,`+Meta)
}

// Exchanges are the rules of design/mcp.md section 1 that hold on every transport, one message each.
func Exchanges() []Exchange {
	var all []Exchange
	for _, group := range [][]Exchange{envelopes(), ids(), eras(), methods(), calls(), arguments()} {
		all = append(all, group...)
	}
	return all
}

const (
	parse, invalid, noMethod, params = -32700, -32600, -32601, -32602
	missingCapability, badVersion    = -32021, -32022
)

func envelopes() []Exchange {
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	return []Exchange{
		{Name: "not JSON", Send: `{"jsonrpc":`, Code: parse, Text: "mcp.parse"},
		{Name: "trailing text", Send: `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, Code: parse},
		{Name: "two messages on one line", Send: Request("1", "ping", "") + Request("2", "ping", ""), Code: parse},
		{Name: "batch", Send: `[` + Request("1", "ping", "") + `]`, Code: invalid, Text: "mcp.batch"},
		{Name: "empty batch", Send: `[]`, Code: invalid, Text: "mcp.batch"},
		{Name: "scalar", Send: `"ping"`, Code: invalid, Text: "mcp.not_object"},
		{Name: "empty object is a notification without a method", Send: `{}`, Code: invalid},
		{Name: "wrong jsonrpc", Send: `{"jsonrpc":"1.0","id":1,"method":"ping"}`, Code: invalid, ID: `1`},
		{Name: "no jsonrpc", Send: `{"id":1,"method":"ping"}`, Code: invalid, ID: `1`},
		{Name: "no method", Send: `{"jsonrpc":"2.0","id":1}`, Code: invalid, ID: `1`},
		{Name: "empty method", Send: Request("1", "", ""), Code: invalid, ID: `1`},
		{Name: "method is a number", Send: `{"jsonrpc":"2.0","id":1,"method":7}`, Code: invalid, ID: `1`},
		{Name: "params is text", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, Code: invalid, ID: `1`},
		{Name: "params is an array", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, Code: params, ID: `1`},
		{Name: "params is null", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, ID: `1`},
		{Name: "key twice", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`, Code: invalid, ID: `1`, Text: "mcp.key_twice key=method"},
		{Name: "key twice by an escape", Send: `{"jsonrpc":"2.0","method":"ping","m\u0065thod":"ping","id":1}`, Code: invalid, ID: `1`, Text: "mcp.key_twice"},
		{Name: "id twice", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`, Code: invalid, Text: "mcp.key_twice key=id"},
		{Name: "unknown key twice", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","x":1,"x":1}`, Code: invalid, ID: `1`},
		{Name: "other case", Send: `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, Code: invalid, ID: `1`},
		{Name: "smuggled case", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`, Code: invalid, ID: `1`, Text: "mcp.key_case key=Method want=method"},
		{Name: "smuggled Unicode case", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{}}`, Code: invalid, ID: `1`, Text: "want=params"},
		{Name: "unknown key", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","trace":"x"}`, ID: `1`},
		{Name: "request and answer at once", Send: `{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, Code: invalid, ID: `1`},
		{Name: "9,000 levels", Send: Request("1", "ping", `"x":`+deep), Code: invalid, ID: `1`, Text: "mcp.too_deep"},
		{Name: "unterminated levels", Send: strings.Repeat(`{"a":`, 10_000), Code: parse},
		{Name: "too many keys", Send: `{"jsonrpc":"2.0","id":1,` + many(2000) + `"method":"ping"}`, Code: invalid, ID: `1`, Text: "mcp.too_many"},
		{Name: "answer to nothing", Send: `{"jsonrpc":"2.0","id":1,"result":{}}`, Silent: true, Stdio: true},
		{Name: "error to nothing", Send: `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, Silent: true, Stdio: true},
		{Name: "white space around", Send: " \t" + Request("1", "ping", "") + " \r", ID: `1`},
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"k` + strconv.Itoa(i) + `":0,`)
	}
	return b.String()
}

func ids() []Exchange {
	all := []Exchange{
		{Name: "id above 2^53", Send: Request("9007199254740993", "ping", ""), ID: `9007199254740993`},
		{Name: "id above 2^64", Send: Request("123456789012345678901234567890", "ping", ""), ID: `123456789012345678901234567890`},
		{Name: "negative id", Send: Request("-7", "ping", ""), ID: `-7`},
		{Name: "zero id", Send: Request("0", "ping", ""), ID: `0`},
		{Name: "text id", Send: Request(`"a<b>\u0041\/é😀"`, "ping", ""), ID: `"a<b>\u0041\/é😀"`},
		{Name: "empty text id", Send: Request(`""`, "ping", ""), ID: `""`},
		{Name: "id with U+2028", Send: Request("\"a\u2028b\"", "ping", ""), ID: `"a\u2028b"`},
		{Name: "id comes last", Send: `{"method":"ping","jsonrpc":"2.0","id":3}`, ID: `3`},
		{Name: "id of a refused request", Send: Request("9007199254740993", "no/such", Meta), Code: noMethod, ID: `9007199254740993`},
	}
	for name, id := range map[string]string{
		"null id": `null`, "float id": `1.5`, "integral float id": `1.0`, "exponent id": `1e3`, "boolean id": `true`,
		"object id": `{}`, "array id": `[1]`, "lone surrogate id": `"\ud800"`, "invalid UTF-8 id": "\"\xff\"",
		"huge id": `"` + strings.Repeat("x", 5000) + `"`,
	} {
		all = append(all, Exchange{Name: name, Send: Request(id, "ping", ""), Code: invalid, Text: "mcp.id"})
	}
	return all
}

func eras() []Exchange {
	const (
		version = `"io.modelcontextprotocol/protocolVersion":`
		caps    = `"io.modelcontextprotocol/clientCapabilities":`
	)
	meta := func(members string) string { return `"_meta":{` + members + `}` }
	list := func(members string) string { return Request("1", "tools/list", meta(members)) }
	all := []Exchange{
		{Name: "modern list", Send: list(version + `"2026-07-28",` + caps + `{}`), ID: `1`, Modern: true, Text: `"ttlMs":`},
		{Name: "optional keys", Send: list(version + `"2026-07-28",` + caps + `{},"progressToken":9007199254740993,"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"traceparent":"00-x"`), ID: `1`, Modern: true},
		{Name: "no version", Send: list(caps + `{}`), Code: params, ID: `1`, Text: "protocolVersion"},
		{Name: "version is a number", Send: list(version + `20260728,` + caps + `{}`), Code: params, ID: `1`},
		{Name: "version is null", Send: list(version + `null,` + caps + `{}`), Code: params, ID: `1`},
		{Name: "no capabilities", Send: list(version + `"2026-07-28"`), Code: params, ID: `1`, Text: "clientCapabilities"},
		{Name: "capabilities are a list", Send: list(version + `"2026-07-28",` + caps + `[]`), Code: params, ID: `1`},
		{Name: "extensions are text", Send: list(version + `"2026-07-28",` + caps + `{"extensions":"x"}`), Code: params, ID: `1`},
		{Name: "older unknown version", Send: list(version + `"1900-01-01",` + caps + `{}`), Code: badVersion, ID: `1`, Text: `"requested":"1900-01-01"`},
		{Name: "newer unknown version", Send: list(version + `"2099-01-01"`), Code: badVersion, ID: `1`, Text: `"supported":["2026-07-28"`},
		{Name: "discover without _meta", Send: Request("1", "server/discover", ""), Code: params, ID: `1`},
		{Name: "_meta is text", Send: Request("1", "tools/list", `"_meta":"x"`), Code: params, ID: `1`},
		{Name: "version twice", Send: list(version + `"2026-07-28",` + version + `"2025-11-25",` + caps + `{}`), Code: params, ID: `1`, Text: "mcp.key_twice"},
		{Name: "version in other case", Send: list(`"IO.modelcontextprotocol/protocolVersion":"2026-07-28",` + caps + `{}`), Code: params, ID: `1`, Text: "mcp.key_case"},
		{Name: "_meta in other case", Send: Request("1", "tools/list", `"_Meta":{}`), Code: params, ID: `1`, Text: "mcp.key_case"},
		{Name: "_meta twice", Send: Request("1", "tools/list", Meta+`,`+Meta), Code: params, ID: `1`, Text: "mcp.key_twice"},
		{Name: "capabilities twice inside", Send: list(version + `"2026-07-28",` + caps + `{"extensions":{},"extensions":{}}`), Code: params, ID: `1`},
		{Name: "legacy list", Send: Request("1", "tools/list", ""), ID: `1`, Text: `"tools":[`},
		{Name: "legacy _meta", Send: Request("1", "tools/list", `"_meta":{"progressToken":"x"}`), ID: `1`},
		{Name: "progress for who asks", Send: Request("1", "tools/call", `"name":"agent_run","arguments":{"request":"x"},"_meta":{"progressToken":"x"}`), ID: `1`, Before: "notifications/progress"},
		{Name: "no progress of what was refused", Send: Request("1", "tools/call", `"name":"agent_run","arguments":{},"_meta":{"progressToken":"x"}`), ID: `1`, IsError: true},
		{Name: "progress token is null", Send: Request("1", "tools/list", `"_meta":{"progressToken":null}`), ID: `1`},
		{Name: "progress token is a float", Send: Request("1", "tools/list", `"_meta":{"progressToken":1.5}`), Code: params, ID: `1`},
		{Name: "progress token is an object", Send: list(version + `"2026-07-28",` + caps + `{},"progressToken":{}`), Code: params, ID: `1`},
	}
	for _, v := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		all = append(all, Exchange{
			Name: "initialize " + v, ID: `1`, Text: `"protocolVersion":"` + v + `"`,
			Send: Request("1", "initialize", `"protocolVersion":"`+v+`","capabilities":{},"clientInfo":{"name":"c","version":"1"}`),
		})
	}
	return append(all,
		Exchange{Name: "initialize with an unknown version", Send: Request("1", "initialize", `"protocolVersion":"1.0"`), ID: `1`, Text: `"protocolVersion":"2025-11-25"`},
		Exchange{Name: "initialize with the modern version", Send: Request("1", "initialize", `"protocolVersion":"2026-07-28","capabilities":{}`), ID: `1`, Text: `"protocolVersion":"2025-11-25"`},
		Exchange{Name: "initialize with a number", Send: Request("1", "initialize", `"protocolVersion":1`), Code: params, ID: `1`})
}

func methods() []Exchange {
	all := []Exchange{
		{Name: "discover", Send: Request("1", "server/discover", Meta), ID: `1`, Modern: true, Text: `"capabilities":{"tools":{}`},
		{Name: "discover caching", Send: Request("1", "server/discover", Meta), ID: `1`, Modern: true, Text: `"cacheScope":"`},
		{Name: "legacy ping", Send: Request("1", "ping", ""), ID: `1`, Text: `"result":{}`},
		{
			Name: "listen to nothing", Send: Request("1", "subscriptions/listen", `"notifications":{},`+Meta), ID: `1`, Modern: true,
			Before: "notifications/subscriptions/acknowledged", Text: `"io.modelcontextprotocol/subscriptionId":1`,
		},
		{
			Name: "listen to Tasks without the extension", Send: Request("1", "subscriptions/listen", `"notifications":{"taskIds":["x"]},`+Meta), Code: missingCapability, ID: `1`,
			Text: `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
		},
		{Name: "listen without a filter", Send: Request("1", "subscriptions/listen", Meta), Code: params, ID: `1`},
		{Name: "cursor that nobody gave out", Send: Request("1", "tools/list", `"cursor":"eA==",`+Meta), Code: params, ID: `1`},
		{Name: "notification", Send: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, Silent: true},
		{Name: "unknown notification", Send: `{"jsonrpc":"2.0","method":"no/such","params":{"x":1}}`, Silent: true},
		{Name: "notification with bad params", Send: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}`, Silent: true},
		{Name: "notification of 9,000 levels", Send: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}}`, Silent: true},
		{Name: "request without an id", Send: `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"agent_run","arguments":{"request":"x"}}}`, Silent: true},
	}
	for _, m := range []string{
		"initialize", "ping", "logging/setLevel", "resources/subscribe", "tasks/result", "tasks/list",
		"resources/list", "prompts/list", "no/such", "Tools/list",
	} {
		all = append(all, Exchange{Name: "modern " + m, Send: Request("1", m, Meta), Code: noMethod, ID: `1`})
	}
	for _, m := range []string{"logging/setLevel", "resources/list", "prompts/get", "completion/complete", "tasks/list", "no/such"} {
		all = append(all, Exchange{Name: "legacy " + m, Send: Request("1", m, ""), Code: noMethod, ID: `1`})
	}
	return all
}
