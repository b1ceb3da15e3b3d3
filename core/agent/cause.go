package agent

import (
	"github.com/agent-mcp/agent-mcp/core/tool"
	"github.com/agent-mcp/agent-mcp/ports/fault"
)

// Causes of failures that are judged the same (AGT-03). Their texts never name an Internal Tool (MCP-STS-03); the args do,
// for the logs.
const (
	CauseTransport    fault.Code = "cause.transport"            // the server could not be reached or broke off
	CauseServer       fault.Code = "cause.server_5xx"           // the server failed
	CauseContext      fault.Code = "cause.context_overflow"     // the prompt did not fit
	CauseEmpty        fault.Code = "cause.empty_response"       // nothing at all
	CauseSwallowed    fault.Code = "cause.swallowed_call"       // a broken call that the server dropped
	CauseUnknownTool  fault.Code = "cause.unknown_tool"         // args: tool
	CauseBadArguments fault.Code = "cause.bad_arguments"        // args: tool, field
	CauseTextCall     fault.Code = "cause.text_tool_call"       // a call printed as text
	CauseClaimed      fault.Code = "cause.claimed_no_tool_call" // said it was done, and nothing was observed (AGT-04, AGT-07)
	CauseRepetition   fault.Code = "cause.repetition"           // the same words over and over
	CauseToolError    fault.Code = "cause.tool_error"           // args: tool, code
	CauseDenied       fault.Code = "cause.denied"               // args: tool
	CauseSameCall     fault.Code = "cause.same_call"            // the same call with the same result again and again
	CauseCut          fault.Code = "cause.cut"                  // done_reason length: the reply was cut
	CauseBadPlan      fault.Code = "cause.bad_plan"             // no plan could be read from the reply, or a plan came where work or words were due
	CauseRevealed     fault.Code = "cause.prompt_revealed"      // the reply held a part of the Fixed System Prompt (SEC-INV-09)
)

// Causes are all of them, in the order above.
func Causes() []fault.Code {
	return []fault.Code{
		CauseTransport, CauseServer, CauseContext, CauseEmpty, CauseSwallowed, CauseUnknownTool, CauseBadArguments, CauseTextCall,
		CauseClaimed, CauseRepetition, CauseToolError, CauseDenied, CauseSameCall, CauseCut, CauseBadPlan, CauseRevealed,
	}
}

// Cause is one kind of failure. Two failures have the same cause when their Causes are equal.
type Cause struct {
	Code  fault.Code
	Tool  tool.Name // unknown_tool, bad_arguments, tool_error, denied
	Field string    // bad_arguments: the field; tool_error: the fault's code
}

// String is the stable form for logs: "tool_error:run_process:sandbox.failed".
func (c Cause) String() string {
	s := string(c.Code)
	if len(s) > 6 && s[:6] == "cause." {
		s = s[6:]
	}
	if c.Tool != "" {
		s += ":" + string(c.Tool)
	}
	if c.Field != "" {
		s += ":" + c.Field
	}
	return s
}

// Fault is the cause as a reason of the Task's fault.
func (c Cause) Fault() *fault.Error {
	switch {
	case c.Code == "":
		return nil
	case c.Tool == "":
		return fault.New(c.Code)
	case c.Code == CauseToolError:
		return fault.New(c.Code, "tool", string(c.Tool), "code", c.Field)
	case c.Field != "":
		return fault.New(c.Code, "tool", string(c.Tool), "field", c.Field)
	}
	return fault.New(c.Code, "tool", string(c.Tool))
}

// Codes of a failed Task.
const (
	CodeMaxIterations fault.Code = "agent.max_iterations" // args: limit (AGT-02)
	CodeSameFailure   fault.Code = "agent.same_failure"   // args: count; reason: the cause (AGT-03)
	CodeDeniedAgain   fault.Code = "agent.denied_again"   // the same denied call once more (AGT-08); reason: the denial
	CodeUnchangedPlan fault.Code = "agent.unchanged_plan" // a replan changed nothing (AGT-08)
	CodeNoRunnable    fault.Code = "agent.no_runnable"    // no Planner Task can start (AGT-08)
	CodeReplanFailed  fault.Code = "agent.replan_failed"  // no plan could be read (AGT-08)
	CodeMaxReplans    fault.Code = "agent.max_replans"    // args: limit (AGT-08)
	CodeCut           fault.Code = "agent.reply_cut"      // cut again after the cap was raised; args: limit
	CodeContext       fault.Code = "agent.context"        // does not fit after summarising; args: tokens, limit
	CodeModel         fault.Code = "agent.model_failed"   // reason: the model's fault (REC-01)
)
