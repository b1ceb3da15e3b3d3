package main

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	repository  = "https://" + module
	summary     = "A local AI agent that can touch only what you allowed, enforced by the operating system"
	summaryJa   = "許可したものにしか触れないローカル AI エージェント。制限は OS が強制します。"
	longSummary = `You give agent-mcp work in plain language; a local model (Ollama) plans and decides, and the operating system enforces what it may touch.

Before you install it: unpack the release bundle of the same version, set agent.local.yaml, and run "agent-mcp apply" in a terminal. Only you can do that: no client and no model can. Then choose that folder's agent.yaml here. Without it, or when anything has changed since, the server refuses to start and says why in its log.`
	longSummaryJa = `agent-mcp には、ふだんの言葉で作業を頼みます。計画と判断はローカルのモデル (Ollama) が行い、触れてよい範囲は OS が強制します。

インストールの前に、同じバージョンのリリースバンドルを展開し、agent.local.yaml を設定して、ターミナルで「agent-mcp apply」を実行してください。これはあなただけができ、クライアントやモデルにはできません。そのあと、ここでそのフォルダーの agent.yaml を選びます。適用していない場合や、適用後に何かが変わった場合は、サーバーは起動せず、理由をログに残します。`
)

// mcpb packs the .mcpb of a target: the program and a manifest, by https://github.com/modelcontextprotocol/mcpb. The program
// takes one argument, the configuration that its owner has applied; everything else is set there (CLI-01), so there is
// nothing else to ask for.
func mcpb(files []file, src source, t target) ([]byte, error) {
	exe := "server/" + t.exe
	manifest, err := indented(map[string]any{
		"manifest_version": "0.3",
		"name":             "agent-mcp",
		"display_name":     "agent-mcp",
		"version":          src.version,
		"description":      summary,
		"long_description": longSummary,
		"author":           map[string]string{"name": "agent-mcp", "url": repository},
		"repository":       map[string]string{"type": "git", "url": repository},
		"license":          "Apache-2.0",
		"keywords":         []string{"agent", "sandbox", "ollama", "local"},
		"localization":     map[string]string{"resources": "mcpb-resources/${locale}.json", "default_locale": "en-US"},
		"server": map[string]any{
			"type": "binary", "entry_point": exe,
			"mcp_config": map[string]any{"command": "${__dirname}/" + exe, "args": []string{"${user_config.config}"}, "env": map[string]string{}},
		},
		"tools": []map[string]string{
			{"name": "agent_run", "description": "Give the agent work; answers at once with a task ID"},
			{"name": "agent_status", "description": "State, plan and answer of a task"},
		},
		"compatibility": map[string]any{"platforms": []string{t.platform}},
		"user_config": map[string]any{"config": map[string]any{
			"type": "file", "title": "Configuration file", "required": true,
			"description": "The agent.yaml that you allowed with `agent-mcp apply`. It names the workspace and everything the agent may touch.",
		}},
	})
	if err != nil {
		return nil, err
	}
	japanese, err := json.MarshalIndent(map[string]any{
		"description": summaryJa, "long_description": longSummaryJa,
		"tools": []map[string]string{
			{"name": "agent_run", "description": "エージェントに作業を頼みます。タスク ID がすぐに返ります"},
			{"name": "agent_status", "description": "タスクの状態、計画、回答を返します"},
		},
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	out := []file{
		{name: "manifest.json", mode: 0o644, data: manifest},
		{name: "mcpb-resources/ja-JP.json", mode: 0o644, data: append(japanese, '\n')},
	}
	for _, f := range files {
		switch {
		case f.name == t.exe:
			out = append(out, file{name: exe, mode: f.mode, data: f.data})
		case slices.Contains([]string{nameLicence, nameParty, nameSBOM}, f.name):
			out = append(out, f)
		}
	}
	return zipped("", out, src.at)
}

// published is an .mcpb as a release page offers it.
type published struct{ name, sha256 string }

// serverJSON describes the server for the public MCP registry. It names the files of the release page, so it belongs there and
// not into the sources.
func serverJSON(src source, packages []published) ([]byte, error) {
	list := make([]map[string]any, 0, len(packages))
	for _, p := range packages {
		list = append(list, map[string]any{
			"registryType": "mcpb", "identifier": repository + "/releases/download/v" + src.version + "/" + p.name, "fileSha256": p.sha256,
			"version": src.version, "transport": map[string]string{"type": "stdio"},
		})
	}
	owner, name, _ := strings.Cut(strings.TrimPrefix(module, "github.com/"), "/")
	return indented(map[string]any{
		"$schema":     "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		"name":        "io.github." + owner + "/" + name,
		"title":       "agent-mcp",
		"description": summary,
		"version":     src.version,
		"repository":  map[string]string{"url": repository, "source": "github"},
		"packages":    list,
	})
}
