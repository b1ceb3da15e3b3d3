// Package plan turns the words of a plan reply into Planner Tasks (spec section 6; PLN-01..03, PLN-07, PLN-08, AGT-08): Read
// takes the JSON out of a reply, Repair makes whole tasks of it by the fixed rules R1 to R9, Revise merges a replan into the
// graph, Same tells whether a replan changed anything.
//
// A near-valid plan is repaired by these rules, in this order, without asking anybody; each says what it did in the log, and each is a
// row of TestRepair_Rules:
//
//	R1  no task            one task with the request as its title, effects left open
//	R2  no title or id     the id stands for the title; ids keep A-Z a-z 0-9 . _ -; a missing one becomes t<n>
//	R3  duplicates         an equal task is dropped; an equal id of another task gets -2, -3, …
//	R4  too many           the first max-1 stay, the rest becomes one task that expects all that they expected
//	R5  dangling           a dependency on an unknown task or on itself is dropped; a title may stand for an id
//	R6  cycles             dependencies are taken in their order; one that would close a cycle is dropped
//	R7  O, M, P            what is missing comes from what is there, else from the class; then they are sorted
//	R8  class              at least 8K, and the smallest that holds P; P is cut at the largest class
//	R9  effects            a removal in the title is expected as one; an unapproved program stands for any; an action without effects is open
//
// What no rule repairs is asked back once by core/agent; after that the request itself is a plan of one task.
//
// It never asks a model again, never accepts a plan and never grants anything: what to do with a plan that can not be read,
// or that changes nothing, is core/agent's, and what a task may do is the policy's. Equal replies give equal plans.
package plan
