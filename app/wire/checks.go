package wire

import (
	"context"

	"github.com/agent-mcp/agent-mcp/core/config"
	"github.com/agent-mcp/agent-mcp/ports/fault"
	"github.com/agent-mcp/agent-mcp/ports/service"
)

// listSkills names the skills of every configured directory; what is wrong with one is checkSkills' to tell.
func listSkills(ctx context.Context, cfg config.Config) []service.SkillRow {
	all, _, _ := loadSkills(ctx, cfg)
	var rows []service.SkillRow
	for _, dir := range cfg.Skills.Directories {
		row := service.SkillRow{Directory: dir}
		for _, k := range all.all.All() {
			if k.File.Root == dir {
				row.Names = append(row.Names, k.Name)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// checkTransport refuses what this version does not serve: at apply, in show, and at every start.
func checkTransport(_ context.Context, cfg config.Config) ([]*fault.Error, error) {
	if t := cfg.MCP.Transport; t != config.TransportStdio {
		return nil, fault.New(CodeTransport, "transport", t)
	}
	return nil, nil
}
