package prompt

import (
	"encoding/json"

	"github.com/agent-mcp/agent-mcp/ports/model"
)

// Marshalled is what runes/4 is measured over for the pinned budget of fixed prompt and tools: their JSON.
func Marshalled(tools []model.Tool) (string, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	}
	type wire struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	list := make([]wire, len(tools))
	for i, t := range tools {
		list[i] = wire{"function", function{t.Name, t.Description, t.Schema}}
	}
	b, err := json.Marshal(map[string]any{"system": fixed, "tools": list})
	return string(b), err
}
