// Package prompt builds what a model reads (spec section 7; PRM-01, OLL-08, SEC-INV-09, I18N-08): the four layers Fixed
// System Prompt > User System Prompt > Runtime Context > Conversation, the instructions of each phase, and the estimate of
// what a request costs in tokens.
//
// It is pure text: it never decides, never calls a model and never grants anything. Text that came from files, programs or
// tools is wrapped by Data, which marks it as material and not as orders. The Fixed System Prompt is a constant; no value
// of Layers replaces, reorders or precedes it.
package prompt
