// Package session is the machine of all Tasks and Sessions of one process (spec sections 2 and 7; SES-01..04, MCP-RUN-02,
// MCP-STS-03, REC-04, REC-05): who may enter, who is next, who is cancelled, and what a Session remembers.
//
// It is pure. Apply turns (state, event) into (state, effects); times and ids arrive in events; a State is a value that
// is never mutated, so old copies stay valid. It never asks a model, never runs a tool, never waits.
//
// The caller's duties, in this order:
//
//  1. Keep one State, guarded by one lock; feed every event through Apply and store the returned State before performing
//     any effect. Perform the effects in their order.
//  2. Feed Submitted for every agent_run with fresh ids. Exactly one of Accepted and Refused answers it; hand that to the
//     client at once (MCP-ASY-01). Check images and sizes before.
//  3. On Start: take the turn that instances share (feed Waiting while somebody else has it), then run the Task with the
//     Memory in the effect, feeding Moved for every agent.Progress. The Task stays `queued` until the first Moved.
//  4. On Cancel: cancel what the Task is doing. It still ends through Finished; nothing else ends a started Task.
//  5. Feed Finished only when the Task's resources are gone and the turn is given back: the next Start comes out of it
//     (at most one Task holds Task Resources; PRF-02). Feed it exactly once per Start, also when a Start could not run.
//  6. On Ended: a Task reached a final state; wake who waits for it and write the audit record. Ended comes once per
//     accepted Task, also for one that never started.
//  7. On shutdown feed Stopping and wait for Drained.
//  8. Broken means that an event broke the rules (a bug of the caller): report it. The state did not change, except that a
//     Finished in an illegal state still ends the Task, as failed.
package session
