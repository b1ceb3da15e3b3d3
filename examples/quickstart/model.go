package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agent-mcp/agent-mcp/adapters/model/scripted"
)

const (
	modelEnv      = "AGENT_MCP_OLLAMA_URL"
	defaultURL    = "http://127.0.0.1:11434"
	scriptedModel = "scripted:latest"
)

// brain is the model server that agent-mcp will talk to.
type brain struct {
	url, model string
	scripted   bool
	close      func()
}

// chooseModel takes the owner's Ollama when there is one with a tool-capable model, else a scripted model that is served
// over the same HTTP interface. It always says which.
func chooseModel(ctx context.Context, say *speaker, only bool) (*brain, error) {
	if only {
		return playScript(ctx, say)
	}
	url, asked := os.Getenv(modelEnv), os.Getenv(modelEnv) != ""
	if !asked {
		url = defaultURL
	}
	url = strings.TrimRight(url, "/")
	name, err := toolModel(ctx, url)
	if err == nil {
		say.line("model.real", "url", url, "model", name)
		return &brain{url: url, model: name, close: func() {}}, nil
	}
	if asked {
		return nil, fmt.Errorf("%s", say.text("model.unusable", "url", url, "error", err.Error()))
	}
	return playScript(ctx, say)
}

func playScript(ctx context.Context, say *speaker) (*brain, error) {
	exe, _ := findPython(ctx)
	srv, err := scripted.NewServer(story(say, exe != ""))
	if err != nil {
		return nil, err
	}
	say.line("model.scripted", "url", srv.URL)
	return &brain{url: srv.URL, model: scriptedModel, scripted: true, close: srv.Close}, nil
}

// toolModel returns the first model of a server that can call tools.
func toolModel(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var tags struct {
		Models []struct{ Name string }
	}
	if err := getJSON(ctx, http.MethodGet, url+"/api/tags", "", &tags); err != nil {
		return "", err
	}
	for _, m := range tags.Models {
		var show struct{ Capabilities []string }
		body, _ := json.Marshal(map[string]string{"model": m.Name})
		if err := getJSON(ctx, http.MethodPost, url+"/api/show", string(body), &show); err == nil && slices.Contains(show.Capabilities, "tools") {
			return m.Name, nil
		}
	}
	return "", fmt.Errorf("%d models, none with tools", len(tags.Models))
}

func getJSON(ctx context.Context, method, url, body string, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", res.Status)
	}
	return json.NewDecoder(res.Body).Decode(into)
}
