// Package report writes what a person reads after a Task: one Markdown text with the request, the plan, what was done with
// its differences, what was refused, the tokens and the answer (spec sections 2, 5; NFR-07). It is pure: the caller collects
// the facts and stores the text.
//
// What a model, a program or a file said is foreign: it stands in code blocks that it cannot close, without control
// characters, bounded. A line that looks like a credential is left out (core/audit.Secret), and thinking, Internal Tool texts and
// process output never come in.
package report
