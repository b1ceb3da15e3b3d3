// Package sandboxtest is the contract suite of ports/sandbox (spec sections 8 and 12, FS-*, PRC-*, NET-01, RES-01). An
// adapter's author writes a Harness and calls Run; the adapter passes when it does. The suite never knows the adapter:
// what a run did is told by a probe, a program whose arguments are verbs ("write|/path|text") and whose output says how
// each one came out.
//
// An adapter that starts real programs uses its own test binary as the probe: TestMain calls RunProbeIfAsked, and the
// Harness's Entry is that binary with the name ProbeName. A simulated adapter interprets the same verbs with Interpret
// over its own System. Tests that need a real operating system run when Harness.Real says so.
package sandboxtest
