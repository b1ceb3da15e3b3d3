// Package guard looks at what a model wrote, and only at that (spec sections 5 and 7; AGT-04, AGT-05, AGT-07, AGT-09, OLL-11,
// OLL-14): endless repetition, a call printed as text, words that claim or announce what nobody observed, and what of a
// request, a reply or a call's arguments may be kept or logged.
//
// It judges text and never acts on it: nothing that it recognises is ever run, counted or sent back here. What follows from
// a finding is core/agent's. What it does not recognise grants nothing either; the Broker judges every call.
package guard
