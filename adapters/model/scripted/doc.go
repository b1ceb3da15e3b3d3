// Package scripted is a language model that plays a script: directly as a model.Model, and as an HTTP server that speaks
// Ollama's wire (/api/chat, /api/show, /api/ps, /api/tags, /api/version), so that a real client can be tried against it
// without a GPU, a download or a network. It answers the same way every time; faults are steps like any other.
//
// It never thinks, never reaches the network, and never keeps a request from its recorder. Spec section 4, REC-01.
//
// A script in Go:
//
//	m := scripted.New(scripted.Script{Steps: []scripted.Step{
//		{When: scripted.Match{Format: scripted.Yes}, Reply: scripted.JSON(plan)},
//		{Reply: scripted.Use(scripted.Tool("write_file", map[string]any{"path": "a.txt", "content": "hi"}))},
//		{When: scripted.Match{Tool: "write_file"}, Reply: scripted.Say("Done.")},
//	}})
//
// The same as a file for Parse: {"steps": [{"when": {"format": true}, "reply": {"json": {…}}}, …]}.
package scripted
