// Package agent is the loop that turns a request into observed work (spec sections 5, 6, 7; AGT-01..09, PLN-*, SES-05/06,
// OLL-07..14): plan → select skills → act → observe → check → replan or finish, and the guards that weak models need.
//
// It is pure. Step turns (state, event) into (state, effects). It never asks a model, runs a tool, reads a skill, a clock
// or a random number itself; equal events give equal bytes. A State is a value that is never mutated: feeding a copy of it
// gives the same answer. What the model says never raises a right: calls go out as Act and app's Broker judges each.
//
// The caller's duties, in this order:
//
//  1. state, effects := Step(State{}, Began{…}) once per Task. Began carries everything that is known at the start.
//  2. Perform the effects in their order. Progress, Note: hand on (session.Moved; audit, LLM log, app log). Exactly one of
//     Ask, Act, Look, LoadSkills, Done is the last effect of every step: it says what the machine waits for.
//  3. On Ask: call the model with Request as it is, with the configured retries around it (REC-01: the machine treats a
//     transient failure as already retried, and fails). Run a guard.Stream over the chunks; when it trips, cancel the call and
//     answer ModelFailed with model.CodeRepetition. Answer Replied or ModelFailed with the same CallID.
//  4. On Act: perform the calls one after the other in their order, each through the Broker, and answer Observed with one
//     Result per call in the same order. A failed or denied call is a Result with a Fault, never a missing one.
//     Continue after a failed call: the machine decides what it means.
//     On Look: look at the paths through the Broker, without side effects, and answer Looked with one tool.Seen per path. What
//     cannot be looked at, or may not be read, is not Known; then only what the results of the calls told counts.
//  5. On LoadSkills: read the bodies, answer SkillsLoaded; what cannot be read is left out and named in Failed.
//  6. To cancel: cancel what is being performed, wait until it returned, and feed Cancelled with the Results that an Act
//     already has. The answer is Done.
//  7. On Done: clean up the Task Resources, then feed session.Finished. A State that is done answers nothing any more.
//  8. Never log thinking (OLL-14); Ask.Request may hold some in the assistant message that a tool call continues: log
//     guard.Redacted(Ask.Request) and guard.RedactedReply(Reply) instead.
//  9. An event that does not answer what the machine waits for (an old CallID) is ignored: same state, no effects.
//
// What goes wrong is counted under its cause; five of one cause in a row end the Task as CodeSameFailure (AGT-03). A counter falls
// back only after a different call that worked. No cause leads to a completed Task: that needs every Planner Task's effects observed.
//
//	cause                       what it is                                     what follows
//	transport, server_5xx       no reply, after the configured retries         the end: CodeModel
//	context_overflow            refused, or cut without a word (by its count)  a summary, or shorter results, and once more
//	cut                         done_reason length                             never read; once more with a larger num_predict, then CodeCut
//	empty_response              nothing at all                                 told so
//	swallowed_call              output was counted, and nothing came           told the names of the tools
//	unknown_tool:NAME           a call to what was not offered                 told the names of the tools
//	bad_arguments:TOOL:FIELD    a call that does not fit its schema            told field by field; nothing runs
//	text_tool_call              a call printed as text                         never run; told to use the tool interface
//	claimed_no_tool_call        said to be done, and not observed              told what is missing; a new plan; the end
//	repetition                  the same words without end                     cut off while it streams; told so
//	tool_error:TOOL:CODE        a tool failed                                  its result says why and what to do
//	denied:TOOL                 the policy said no                             told so; the same call again: CodeDeniedAgain
//	same_call                   the same call, the same result, over and over  told after the third; the end after the fifth
//	bad_plan                    no plan, or one where work was due             repaired by core/plan, else asked once more, else one task
//	prompt_revealed             the Fixed System Prompt in a reply             kept nowhere; told to go on without it
//
// Faults that no retry can cure (a model that is not pulled, a quota, a sign-in, a foreign host, our own mistake) end the Task at
// once as CodeModel, with the model's fault as the reason and its remedy for people.
package agent
