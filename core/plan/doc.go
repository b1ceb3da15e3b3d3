// Package plan turns the words of a plan reply into Planner Tasks (spec section 6; PLN-01..03, PLN-07, PLN-08, AGT-08): Read
// takes the JSON out of a reply, Repair makes whole tasks of it by the fixed rules R1 to R9, Revise merges a replan into the
// graph, Same tells whether a replan changed anything.
//
// It never asks a model again, never accepts a plan and never grants anything: what to do with a plan that can not be read,
// or that changes nothing, is core/agent's, and what a task may do is the policy's. Equal replies give equal plans.
package plan
