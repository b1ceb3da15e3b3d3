package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/model"
	"github.com/agent-mcp/agent-mcp/ports/sandbox"
	"github.com/agent-mcp/agent-mcp/ports/settings"
)

// layer reads JSON with its lines: what the core sees does not depend on how a file is written.
func layer(t testing.TB, name, text string) settings.Layer {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	path := "/etc/agent/" + name
	line := func() int { return 1 + bytes.Count([]byte(text)[:dec.InputOffset()], []byte("\n")) }
	var value func() settings.Node
	value = func() settings.Node {
		tok, err := dec.Token()
		require.NoError(t, err, text)
		n := settings.Node{File: path, Line: line(), Column: 1}
		switch v := tok.(type) {
		case bool:
			n.Kind, n.Bool = settings.Bool, v
		case string:
			n.Kind, n.String = settings.String, v
			if v == ".nan" {
				n.Kind, n.Float = settings.Float, math.NaN()
			}
		case json.Number:
			n.String = v.String()
			if i, err := v.Int64(); err == nil {
				n.Kind, n.Int = settings.Int, i
			} else {
				n.Kind = settings.Float
				n.Float, _ = v.Float64()
			}
		case json.Delim:
			n.Kind = settings.List
			if v == '{' {
				n.Kind = settings.Map
			}
			for dec.More() {
				if v == '[' {
					n.Items = append(n.Items, value())
					continue
				}
				key, err := dec.Token()
				require.NoError(t, err)
				at := line()
				n.Fields = append(n.Fields, settings.Field{Key: key.(string), Line: at, Column: 1, Value: value()})
			}
			_, err = dec.Token()
			require.NoError(t, err)
		}
		return n
	}
	return settings.Layer{Path: path, Bytes: []byte(text), Root: value()}
}

var host = config.Host{Home: "/home/ann"}

const minimal = `{"schema_version": 2, "ollama": {"model": "qwen3:8b"}, "sandbox": {"workspace": "./ws", "execution": {"entries": [{"alias": "sh", "path": "/bin/sh"}]}}}`

func build(t testing.TB, texts ...string) (config.Config, []*fault.Error, error) {
	t.Helper()
	var layers []settings.Layer
	for i, text := range texts {
		layers = append(layers, layer(t, []string{"agent.yaml", "agent.local.yaml"}[i], text))
	}
	return config.Build(layers, host)
}

func ptr[T any](v T) *T { return &v }

func TestBuild_Defaults(t *testing.T) { // MCP-TR-01: stdio; NET-01: no network; CFG-04
	cfg, warnings, err := build(t, minimal)
	require.NoError(t, err)
	require.Empty(t, warnings)
	want := config.Config{
		Path: "/etc/agent/agent.yaml", Dir: "/etc/agent", Fingerprint: cfg.Fingerprint,
		Application: config.Application{Language: "en", StateDir: "/home/ann/.local/state/agent-mcp"},
		MCP: config.MCP{
			Transport: "stdio", MaxQueued: 64,
			HTTP:  config.HTTP{Listen: []string{"127.0.0.1:8765", "[::1]:8765"}, Path: "/mcp", MaxBodyBytes: 33554432},
			Tasks: config.Tasks{TTL: 24 * time.Hour, PollInterval: 2 * time.Second, MaxKept: 1000},
		},
		Ollama: config.Ollama{
			BaseURL: "http://127.0.0.1:11434", Model: "qwen3:8b", KeepAlive: "5m",
			ConnectTimeout: 5 * time.Second, FirstChunkTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute,
			Retry:   config.Retry{Attempts: 3, Backoff: 500 * time.Millisecond, MaxBackoff: 10 * time.Second},
			Options: model.Options{NumCtx: ptr(16384), Temperature: ptr(0.2)},
		},
		Agent: config.Agent{
			MaxIterations: 128, MaxTasks: 32, SameFailureLimit: 5, MaxReplans: 3, SummarizeAt: 0.8,
			ToolOutput: config.ToolOutput{ReadBytes: 65536, SearchMatches: 200, TailLines: 400, ProcessBytes: 65536},
			Edit:       config.Edit{MemoryBackupBytes: 8388608},
			Vision:     config.Vision{MaxImages: 4, MaxImageBytes: 5242880, MaxTotalBytes: 10485760},
		},
		Sandbox: config.Sandbox{
			Profile: "development", Workspace: "/etc/agent/ws",
			Entries:   []config.Entry{{Alias: "sh", Path: "/bin/sh", Place: "agent.yaml:1"}},
			Network:   config.Network{Mode: sandbox.NetworkNone},
			Resources: config.Resources{Profile: "normal", MemoryMiB: 4096, Processes: 16, Timeout: 1800 * time.Second},
			Require:   sandbox.Approximate,
		},
		Logging: config.Logging{Level: "info", Dir: "/home/ann/.local/state/agent-mcp/logs", MaxFileBytes: 20971520, MaxFiles: 5, LLM: true, HTTP: true},
	}
	require.Equal(t, want, cfg)
	require.Len(t, cfg.Fingerprint, 64)
}

// with merges more keys over the minimal configuration, as the local file does.
func with(t testing.TB, text string) (config.Config, []*fault.Error, error) {
	return build(t, minimal, text)
}

// CFG-03: maps recursively, the rest replaced; null is the default again.
func TestBuild_Merge(t *testing.T) {
	base := `{"schema_version": 2, "ollama": {"model": "a", "options": {"num_ctx": 4096, "stop": ["x", "y"]}, "keep_alive": "1m"}, "sandbox": {"workspace": "/w", "execution": {"entries": [{"alias": "a", "path": "/a"}, {"alias": "b", "path": "/b"}]}}}`
	cfg, _, err := build(t, base, `{"ollama": {"options": {"stop": ["z"], "seed": 7}, "keep_alive": null}, "sandbox": {"execution": {"entries": [{"alias": "c", "path": "c"}]}}}`)
	require.NoError(t, err)
	require.Equal(t, "a", cfg.Ollama.Model)
	require.Equal(t, 4096, *cfg.Ollama.Options.NumCtx)
	require.Equal(t, 7, *cfg.Ollama.Options.Seed)
	require.Equal(t, []string{"z"}, cfg.Ollama.Options.Stop)
	require.Equal(t, "5m", cfg.Ollama.KeepAlive)
	require.Equal(t, []config.Entry{{Alias: "c", Path: "/etc/agent/c", Place: "agent.local.yaml:1"}}, cfg.Sandbox.Entries)

	same, _, err := build(t, base)
	require.NoError(t, err)
	require.NotEqual(t, same.Fingerprint, cfg.Fingerprint, "a local file is part of the fingerprint")
}

// Every refusal: the key, its place and the code. MCP-TR-02, AT-02: loopback only; MCP-TR-03, MCP-TR-05, AT-03: no transport but
// stdio and http; CFG-04: an entry is one record; OLL-01: no other backend can be named.
func TestBuild_Refuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"applicatio": {}}`:                      "config.unknown_key applicatio → application",
		`{"model": "x"}`:                          "config.unknown_key model → ollama.model",
		`{"ollama": {"modell": "x"}}`:             "config.unknown_key ollama.modell → ollama.model",
		`{"ollama": {"options": {"num_cxt": 1}}}`: "config.unknown_key ollama.options.num_cxt → ollama.options.num_ctx",
		`{"zzzzzzzzz": 1}`:                        "config.unknown_key_plain zzzzzzzzz",
		`{"sandbox": {"mounts": [{"name": "d", "path": "d", "access": "read_only", "acess": 1}]}}`: "config.unknown_key sandbox.mounts[0].acess → sandbox.mounts[0].access",
		`{"ollama": []}`:                                                                "config.want_map ollama",
		`{"ollama": {"model": 3}}`:                                                      "config.want_text ollama.model",
		`{"ollama": {"model": " "}}`:                                                    "config.required ollama.model",
		`{"ollama": {"model": null}}`:                                                   "config.required ollama.model",
		`{"ollama": {"base_url": "localhost:11434"}}`:                                   "config.bad_url ollama.base_url",
		`{"ollama": {"base_url": "http://u:secret@h/"}}`:                                "config.bad_url ollama.base_url",
		`{"ollama": {"base_url": "http://h:99999"}}`:                                    "config.bad_url ollama.base_url",
		`{"ollama": {"think": "hard"}}`:                                                 "config.choice ollama.think",
		`{"ollama": {"think": 1}}`:                                                      "config.choice ollama.think",
		`{"ollama": {"keep_alive": "soon"}}`:                                            "config.bad_keep_alive ollama.keep_alive",
		`{"ollama": {"keep_alive": -2}}`:                                                "config.bad_keep_alive ollama.keep_alive",
		`{"ollama": {"idle_timeout": 30}}`:                                              "config.want_duration ollama.idle_timeout",
		`{"ollama": {"idle_timeout": "30"}}`:                                            "config.want_duration ollama.idle_timeout",
		`{"ollama": {"idle_timeout": "-1s"}}`:                                           "config.out_of_range ollama.idle_timeout",
		`{"ollama": {"retry": {"backoff": "20s", "max_backoff": "10s"}}}`:               "config.backoff_order ollama.retry.max_backoff",
		`{"ollama": {"options": {"num_ctx": 0}}}`:                                       "config.out_of_range ollama.options.num_ctx",
		`{"ollama": {"options": {"num_ctx": -1}}}`:                                      "config.out_of_range ollama.options.num_ctx",
		`{"ollama": {"options": {"num_ctx": 99999999999999999999}}}`:                    "config.out_of_range ollama.options.num_ctx",
		`{"ollama": {"options": {"num_ctx": 4096.5}}}`:                                  "config.want_integer ollama.options.num_ctx",
		`{"ollama": {"options": {"num_predict": 0}}}`:                                   "config.choice ollama.options.num_predict",
		`{"ollama": {"options": {"temperature": ".nan"}}}`:                              "config.out_of_range ollama.options.temperature",
		`{"ollama": {"options": {"temperature": -0.1}}}`:                                "config.out_of_range ollama.options.temperature",
		`{"ollama": {"options": {"temperature": "0.2"}}}`:                               "config.want_number ollama.options.temperature",
		`{"ollama": {"options": {"top_p": 1.01}}}`:                                      "config.out_of_range ollama.options.top_p",
		`{"ollama": {"options": {"use_mmap": "yes"}}}`:                                  "config.want_bool ollama.options.use_mmap",
		`{"ollama": {"options": {"stop": "x"}}}`:                                        "config.want_list ollama.options.stop",
		`{"ollama": {"options": {"stop": [1]}}}`:                                        "config.want_text ollama.options.stop[0]",
		`{"ollama": {"options": {"stop": [""]}}}`:                                       "config.required ollama.options.stop[0]",
		`{"application": {"language": "japanese!"}}`:                                    "config.bad_tag application.language",
		`{"application": {"language": "e"}}`:                                            "config.bad_tag application.language",
		`{"application": {"state_dir": "~bob/x"}}`:                                      "config.no_home application.state_dir",
		`{"application": {"state_dir": "a\u0000b"}}`:                                    "config.bad_path application.state_dir",
		`{"mcp": {"transport": "sse"}}`:                                                 "config.choice mcp.transport",
		`{"mcp": {"transport": "websocket"}}`:                                           "config.choice mcp.transport",
		`{"ollama": {"provider": "openai"}}`:                                            "config.unknown_key_plain ollama.provider",
		`{"openai": {"model": "x"}}`:                                                    "config.unknown_key_plain openai",
		`{"mcp": {"http": {"listen": ["0.0.0.0:1"]}}}`:                                  "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": [":8765"]}}}`:                                      "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["localhost:1"]}}}`:                                "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["[::]:1"]}}}`:                                     "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["127.0.0.2:1"]}}}`:                                "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["[::ffff:127.0.0.1]:1"]}}}`:                       "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["[::1%lo]:1"]}}}`:                                 "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["192.168.1.2:1"]}}}`:                              "config.not_loopback mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": ["127.0.0.1"]}}}`:                                  "config.bad_listen mcp.http.listen[0]",
		`{"mcp": {"http": {"listen": []}}}`:                                             "config.required mcp.http.listen",
		`{"mcp": {"http": {"listen": ["127.0.0.1:1", "127.0.0.1:1"]}}}`:                 "config.same_endpoint mcp.http.listen[1]",
		`{"mcp": {"http": {"path": "mcp"}}}`:                                            "config.bad_url_path mcp.http.path",
		`{"mcp": {"max_queued": -1}}`:                                                   "config.out_of_range mcp.max_queued",
		`{"agent": {"summarize_at": 0.96}}`:                                             "config.out_of_range agent.summarize_at",
		`{"agent": {"vision": {"max_total_bytes": 10}}}`:                                "config.image_order agent.vision.max_total_bytes",
		`{"skills": {"directories": [""]}}`:                                             "config.required skills.directories[0]",
		`{"sandbox": {"profile": "production"}}`:                                        "config.choice sandbox.profile",
		`{"sandbox": {"workspace": null}}`:                                              "config.null sandbox.workspace",
		`{"sandbox": {"mounts": [{"name": "d", "path": null, "access": "read_only"}]}}`: "config.null sandbox.mounts[0].path",
		`{"schema_version": "2"}`:                                                       "config.bad_version schema_version",
		`{"schema_version": 0}`:                                                         "config.bad_version schema_version",
		`{"schema_version": null}`:                                                      "config.no_version schema_version",
		`{"mcpServers": {"a": {}}}`:                                                     "config.client mcpServers",
		`{"sandbox": {"workspace": ""}}`:                                                "config.required sandbox.workspace",
		`{"sandbox": {"cache": "Build"}}`:                                               "config.bad_cache sandbox.cache",
		`{"sandbox": {"cache": "a/b"}}`:                                                 "config.bad_cache sandbox.cache",
		`{"sandbox": {"cache": ".."}}`:                                                  "config.bad_cache sandbox.cache",
		`{"sandbox": {"cache": "abcdefghijklmnopqrstuvwxyz0123456"}}`:                   "config.bad_cache sandbox.cache",
		`{"sandbox": {"cache": "com1"}}`:                                                "config.reserved_name sandbox.cache",
		`{"sandbox": {"cache": true}}`:                                                  "config.want_text sandbox.cache",
		`{"sandbox": {"cach": "build"}}`:                                                "config.unknown_key sandbox.cach → sandbox.cache",
		`{"sandbox": {"require": "some"}}`:                                              "config.choice sandbox.require",
		`{"sandbox": {"mounts": [{"name": "d", "path": "d"}]}}`:                         "config.required sandbox.mounts[0].access",
		`{"sandbox": {"mounts": [{"name": "d", "path": "d", "access": "execute"}]}}`:    "config.choice sandbox.mounts[0].access",
		`{"sandbox": {"mounts": [{"name": "d", "path": "d", "access": "read_only"}, {"name": "d", "path": "e", "access": "read_only"}]}}`: "config.same_name sandbox.mounts[1].name",
		`{"sandbox": {"mounts": [{"name": "workspace", "path": "d", "access": "read_only"}]}}`:                                            "config.reserved_name sandbox.mounts[0].name",
		`{"sandbox": {"execution": {"entries": [{"alias": "sh", "path": "/a"}, {"alias": "sh", "path": "/b"}]}}}`:                         "config.same_alias sandbox.execution.entries[1].alias",
		`{"sandbox": {"execution": {"entries": [{"alias": "nul.exe", "path": "/a"}]}}}`:                                                   "config.reserved_name sandbox.execution.entries[0].alias",
		`{"sandbox": {"execution": {"entries": [{"alias": "../x", "path": "/a"}]}}}`:                                                      "config.bad_name sandbox.execution.entries[0].alias",
		`{"sandbox": {"execution": {"entries": [{"path": "/a"}]}}}`:                                                                       "config.required sandbox.execution.entries[0].alias",
		`{"sandbox": {"execution": {"entries": [{"alias": "a"}]}}}`:                                                                       "config.required sandbox.execution.entries[0].path",
		`{"sandbox": {"execution": {"entries": ["/bin/sh"]}}}`:                                                                            "config.want_map sandbox.execution.entries[0]",
		`{"sandbox": {"network": {"mode": "open"}}}`:                                                                                      "config.choice sandbox.network.mode",
		`{"sandbox": {"network": {"mode": "local"}}}`:                                                                                     "config.endpoints_empty sandbox.network.endpoints",
		`{"sandbox": {"network": {"mode": "local", "endpoints": []}}}`:                                                                    "config.endpoints_empty sandbox.network.endpoints",
		`{"sandbox": {"network": {"endpoints": [80]}}}`:                                                                                   "config.endpoints_unused sandbox.network.endpoints",
		`{"sandbox": {"network": {"mode": "local", "endpoints": [0]}}}`:                                                                   "config.bad_port sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "local", "endpoints": ["a:80"]}}}`:                                                              "config.bad_port sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "local", "endpoints": [80, 80]}}}`:                                                              "config.same_endpoint sandbox.network.endpoints[1]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": [80]}}}`:                                                             "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["*.a.com:443"]}}}`:                                                  "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["https://a.com:443"]}}}`:                                            "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["a.com"]}}}`:                                                        "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["a.com:0443"]}}}`:                                                   "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["10.0.0:1"]}}}`:                                                     "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["0.0.0.0:1"]}}}`:                                                    "config.bad_endpoint sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["LocalHost:1"]}}}`:                                                  "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["[::1]:1"]}}}`:                                                      "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["169.254.169.254:80"]}}}`:                                           "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["100.100.100.200:80"]}}}`:                                           "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["[64:ff9b::7f00:1]:443"]}}}`:                                        "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["[::ffff:127.0.0.1]:443"]}}}`:                                       "config.endpoint_local sandbox.network.endpoints[0]",
		`{"sandbox": {"network": {"mode": "restricted", "endpoints": ["A.com:1", "a.com:1"]}}}`:                                           "config.same_endpoint sandbox.network.endpoints[1]",
		`{"sandbox": {"resources": {"memory_mib": 0}}}`:                                                                                   "config.out_of_range sandbox.resources.memory_mib",
		`{"sandbox": {"resources": {"timeout": "0s"}}}`:                                                                                   "config.out_of_range sandbox.resources.timeout",
		`{"sandbox": {"resources": {"profile": "huge"}}}`:                                                                                 "config.choice sandbox.resources.profile",
		`{"logging": {"level": "loud"}}`:                                                                                                  "config.choice logging.level",
		`{"logging": {"llm": "false"}}`:                                                                                                   "config.want_bool logging.llm",
	} {
		_, _, err := with(t, text)
		require.Error(t, err, text)
		f := fault.From(err)
		require.Equal(t, config.CodeInvalid, f.Code, text)
		require.Len(t, f.Reasons, 1, "%s: %v", text, f)
		r := f.Reasons[0]
		got := fmt.Sprintf("%s %v", r.Code, r.Args["key"])
		if r.Args["nearest"] != nil {
			got += fmt.Sprintf(" → %v", r.Args["nearest"])
		}
		require.Equal(t, want, got, text)
		require.Regexp(t, `^agent(\.local)?\.yaml:1$`, r.Args["place"], text)
		require.NotContains(t, f.Error(), "secret", "a password never reaches a message")
	}
}

// Style rule 10: one look at the message is enough to repair the file.
func TestBuild_CollectsEveryProblemInOrder(t *testing.T) {
	_, _, err := build(t, `{"schema_version": 2,
"logging": {"level": 3},
"zzzzzzzz": 1,
"sandbox": {"workspace": 5,
  "network": {"mode": "x"}}}`, `{"agent": {"max_tasks": 0}}`)
	f := fault.From(err)
	var got []string
	for _, r := range f.Reasons {
		got = append(got, fmt.Sprint(r.Args["place"], " ", r.Args["key"]))
	}
	require.Equal(t, []string{
		"agent.yaml:1 ollama.model", "agent.yaml:2 logging.level", "agent.yaml:3 zzzzzzzz", "agent.yaml:4 sandbox.workspace",
		"agent.yaml:5 sandbox.network.mode", "agent.local.yaml:1 agent.max_tasks",
	}, got)
	require.Equal(t, 6, f.Args["count"])
}

func TestBuild_Accepts(t *testing.T) {
	cfg, warnings, err := with(t, `{"application": {"language": "zh-Hant-TW", "state_dir": "~/s"}, "mcp": {"http": {"listen": ["127.0.0.1:0", "[::1]:1"]}},
"ollama": {"base_url": "http://[::1]:11434/", "think": "high", "keep_alive": -1, "options": {"num_predict": -2, "use_mmap": false, "min_p": 1}},
"agent": {"vision": {"max_image_bytes": 20000000}},
"sandbox": {"require": "exact", "profile": "readonly", "network": {"mode": "restricted", "endpoints": ["b.example.com:443", "[2001:db8::1]:80", "A-1.example.com:443"]},
"resources": {"profile": "constrained", "processes": 7}, "execution": {"entries": [{"alias": "g++", "path": "~/bin/g++", "runtime_root": "../rt/"}]}}}`)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t, "/home/ann/s", cfg.Application.StateDir)
	require.Equal(t, "/home/ann/s/logs", cfg.Logging.Dir)
	require.Equal(t, "http://[::1]:11434", cfg.Ollama.BaseURL)
	require.Equal(t, model.Think{Set: true, On: true, Level: "high"}, cfg.Ollama.Think)
	require.Equal(t, "-1", cfg.Ollama.KeepAlive)
	require.Equal(t, false, *cfg.Ollama.Options.UseMmap)
	require.Equal(t, 1.0, *cfg.Ollama.Options.MinP)
	require.Equal(t, int64(20000000), cfg.Agent.Vision.MaxTotalBytes, "the default total holds one image at least")
	require.Equal(t, []string{"[2001:db8::1]:80", "a-1.example.com:443", "b.example.com:443"}, cfg.Sandbox.Network.Hosts)
	require.Equal(t, config.Resources{Profile: "constrained", MemoryMiB: 1024, Processes: 7, Timeout: 300 * time.Second}, cfg.Sandbox.Resources)
	require.Equal(t, sandbox.Exact, cfg.Sandbox.Require)
	require.Equal(t, "/home/ann/bin/g++", cfg.Sandbox.Entries[0].Path)
	require.Equal(t, "/etc/rt", cfg.Sandbox.Entries[0].RuntimeRoot)
}

func TestBuild_Warnings(t *testing.T) {
	for text, want := range map[string]fault.Code{
		`{"ollama": {"model": "gpt-oss:120b-cloud"}}`:       config.WarnCloud,
		`{"ollama": {"model": "library/x:cloud"}}`:          config.WarnCloud,
		`{"ollama": {"model": "X:Cloud"}}`:                  config.WarnCloud,
		`{"ollama": {"extra_options": {"num_cxt": 1}}}`:     config.WarnExtraNear,
		`{"ollama": {"extra_options": {"Top_K": 1}}}`:       config.WarnExtraNear,
		`{"ollama": {"base_url": "http://10.0.0.5:11434"}}`: config.WarnRemote,
		`{"ollama": {"extra_options": {"num_ctx": 1}}}`:     config.WarnExtraKnown,
		`{"sandbox": {"execution": {"entries": []}}}`:       config.WarnNoEntries,
	} {
		_, warnings, err := with(t, text)
		require.NoError(t, err, text)
		require.Len(t, warnings, 1, text)
		require.Equal(t, want, warnings[0].Code)
	}
}

// OLL-05
func TestBuild_ExtraOptions(t *testing.T) {
	cfg, _, err := with(t, `{"ollama": {"extra_options": {"num_ctx": 1, "mirostat": 2, "deep": {"a": [true, null, 1.5]}}}}`)
	require.NoError(t, err)
	require.Equal(t, 16384, *cfg.Ollama.Options.NumCtx)
	require.Equal(t, map[string]any{"mirostat": int64(2), "deep": map[string]any{"a": []any{true, nil, 1.5}}}, cfg.Ollama.Options.Extra)
	_, err = json.Marshal(cfg.Ollama.Options.Extra)
	require.NoError(t, err)

	cfg, warnings, err := with(t, `{"ollama": {"extra_options": {"num_gqa": 8, "use_mlock": true, "off": null}}}`)
	require.NoError(t, err)
	require.Empty(t, warnings, "other options are the server's business")
	require.Equal(t, map[string]any{"num_gqa": int64(8), "use_mlock": true}, cfg.Ollama.Options.Extra, "null takes back what a base file said")
	_, _, err = with(t, `{"ollama": {"extra_options": {"deep": {"a": [1, ".nan"]}}}}`)
	require.Equal(t, config.CodeFinite, fault.From(err).Reasons[0].Code, "what JSON cannot hold is refused, not turned into text")
	require.Equal(t, "ollama.extra_options.deep.a[1]", fault.From(err).Reasons[0].Args["key"])
}

// CFG-01: one message, with the new form of what was found.
func TestBuild_Migration(t *testing.T) {
	_, _, err := build(t, `{"schema_version": 1, "execution": {"executables": {"python": "/usr/bin/python3", "git": {"path": "/usr/bin/git", "runtime_root": "/usr/lib/git"}},
"shells": ["/bin/sh"]}, "filesystem": {"workspace": "./ws", "read": ["/data"], "write": [{"path": "C:\\x y"}]},
"process": {"approvals": [{"alias": "go", "path": "/usr/local/go/bin/go", "sha256": "00"}]}, "nonsense": 1}`)
	f := fault.From(err)
	require.Equal(t, config.CodeMigrate, f.Code)
	require.Empty(t, f.Reasons)
	require.Equal(t, `schema_version: 2
sandbox:
  workspace: ./ws
  mounts:
    - {name: mount1, path: /data, access: read_only}
    - {name: mount2, path: "C:\\x y", access: read_write}
  execution:
    entries:
      - {alias: python, path: /usr/bin/python3}
      - {alias: git, path: /usr/bin/git, runtime_root: /usr/lib/git}
      - {alias: sh, path: /bin/sh}
      - {alias: go, path: /usr/local/go/bin/go}
`, f.Args["example"])
	require.Equal(t, "schema_version: 1 (agent.yaml:1), execution.executables (agent.yaml:1), execution.shells (agent.yaml:2), filesystem (agent.yaml:2), process.approvals (agent.yaml:3)", f.Args["found"])

	for text, want := range map[string]fault.Code{
		`{"schema_version": 1}`:                                           config.CodeMigrate,
		`{"filesystem": {"workspace": "x"}}`:                              config.CodeMigrate,
		`{"mcpServers": {"agent": {"command": "agent-mcp"}}}`:             config.CodeClient,
		`{"schema_version": 2, "mcpServers": {}}`:                         config.CodeInvalid,
		`{"ollama": {"model": "x"}, "sandbox": {"workspace": "x"}}`:       config.CodeInvalid,
		`{"schema_version": -1}`:                                          config.CodeInvalid,
		`{"schema_version": 2, "sandbox": {"execution": {"shells": []}}}`: config.CodeMigrate,
		`{"schema_version": 2, "sandbox": {"filesystem": "weird"}}`:       config.CodeMigrate,
		`{"schema_version": 3}`:                                           config.CodeNewerVersion,
		`{"schema_version": 3, "filesystem": {}}`:                         config.CodeMigrate,
		`["a list"]`: config.CodeInvalid,
		`"text"`:     config.CodeInvalid,
	} {
		_, _, err := build(t, text)
		require.Equal(t, want, fault.CodeOf(err), text)
	}
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]string{
		`{"application": {"language": "ja"}, "broken": 1}`: "ja",
		`{"application": {"language": 1}}`:                 "",
		`{"application": []}`:                              "",
		`[]`:                                               "",
	} {
		tag, at, _ := config.Language([]settings.Layer{layer(t, "agent.yaml", text)}, host)
		require.Equal(t, want, tag, text)
		require.Equal(t, want != "", at == "agent.yaml:1", text)
	}
	tag, _, dir := config.Language(nil, host)
	require.Empty(t, tag+dir)
	_, _, dir = config.Language([]settings.Layer{layer(t, "agent.yaml", `{"application": {"locales_dir": "l", "state_dir": 1}}`)}, host)
	require.Equal(t, "/etc/agent/l", dir)
}

func TestNearestTag(t *testing.T) {
	for tag, want := range map[string]string{"jp": "ja", "jp-JP": "ja", "eng": "en", "fr": "", "zh-CN": ""} {
		require.Equal(t, want, config.NearestTag(tag, []string{"en", "ja"}), tag)
	}
}

// A current file that lacks its first line gets that one line as the remedy, beside its other problems.
func TestBuild_NoVersion(t *testing.T) {
	_, _, err := build(t, strings.Replace(minimal, `"schema_version": 2, `, "\n", 1))
	f := fault.From(err)
	require.Equal(t, config.CodeInvalid, f.Code)
	require.Len(t, f.Reasons, 1)
	require.Equal(t, config.CodeNoVersion, f.Reasons[0].Code)
	require.Equal(t, "agent.yaml:1", f.Reasons[0].Args["place"])
}

func TestBuild_HostPaths(t *testing.T) {
	base := layer(t, "agent.yaml", minimal)
	cfg, _, err := config.Build([]settings.Layer{base}, config.Host{StateHome: "/state"})
	require.NoError(t, err)
	require.Equal(t, "/state/agent-mcp", cfg.Application.StateDir)
	_, _, err = config.Build([]settings.Layer{base}, config.Host{})
	require.Equal(t, config.CodeNoStateHome, fault.From(err).Reasons[0].Code, "no home, no state_dir: it must be given")
	require.Equal(t, "HOME", fault.From(err).Reasons[0].Args["variable"])
	local := layer(t, "agent.local.yaml", `{"sandbox": {"workspace": "%Data%/w"}}`)
	win := config.Host{Windows: true, LocalAppData: "/lad", Env: map[string]string{"DATA": "/d"}}
	cfg, _, err = config.Build([]settings.Layer{base, local}, win)
	require.NoError(t, err)
	require.Equal(t, "/d/w", cfg.Sandbox.Workspace)
	require.Equal(t, "/lad/agent-mcp", cfg.Application.StateDir)
	win.Env = nil
	_, _, err = config.Build([]settings.Layer{base, local}, win)
	require.Equal(t, config.CodeNoVariable, fault.From(err).Reasons[0].Code)
}

func TestID_IsStableAndShort(t *testing.T) {
	require.Equal(t, config.ID("/a/agent.yaml"), config.ID("/a/agent.yaml"))
	require.NotEqual(t, config.ID("/a/agent.yaml"), config.ID("/b/agent.yaml"))
	require.Regexp(t, "^[0-9a-f]{32}$", config.ID("/a"))
}

func FuzzBuild(f *testing.F) {
	f.Add(minimal, `{"ollama": {"options": {"stop": [null]}}}`)
	f.Add(`{"schema_version": 1, "execution": {"executables": [{"path": 1}, "x", null]}}`, `{"sandbox": {"mounts": [{}]}}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !object(a) || !object(b) {
			return
		}
		layers := []settings.Layer{layer(t, "agent.yaml", a), layer(t, "agent.local.yaml", b)}
		_, _, one := config.Build(layers, host)
		_, _, two := config.Build(layers, host)
		require.Equal(t, fmt.Sprint(one), fmt.Sprint(two), "equal input, equal bytes")
	})
}

func object(s string) bool {
	var v map[string]any
	return json.Unmarshal([]byte(s), &v) == nil
}
