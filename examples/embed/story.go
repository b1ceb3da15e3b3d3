package main

import "github.com/agent-mcp/agent-mcp/adapters/model/scripted"

// story is what the scripted model does: plan, write a program, run it, report.
func story() scripted.Script {
	type m = map[string]any
	return scripted.Script{Steps: []scripted.Step{
		{When: scripted.Match{Format: scripted.Yes}, Reply: scripted.JSON(m{"tasks": []m{{
			"id": "t1", "title": "Greet", "depends_on": []string{}, "o": 100, "m": 300, "p": 900, "budget": "8K",
			"expects": []m{{"kind": "file", "path": "greet"}, {"kind": "process"}},
		}}})},
		{Reply: scripted.Use(scripted.Tool("write_file", m{"path": "greet", "content": "#!/bin/sh\necho hello \"$@\"\n", "executable": true}))},
		{Reply: scripted.Use(scripted.Tool("run_process", m{"command": "./greet", "args": []string{"Ada"}}))},
		{Reply: scripted.Say("The program greet says hello to Ada.")},
	}}
}
