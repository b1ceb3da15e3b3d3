// Package sandboxtest is the contract suite of ports/sandbox (spec sections 8 and 12, FS-*, PRC-*, NET-01, RES-01). An
// adapter's author writes a Harness and calls Run; the adapter passes when it does. The suite never knows the adapter:
// what a run did is told by a probe, a program whose arguments are verbs ("write|/path|text") and whose output says how
// each one came out.
//
// An adapter that starts real programs uses its own test binary as the probe: TestMain calls RunProbeIfAsked, and the
// Harness's Entry is that binary with the name ProbeName. A simulated adapter interprets the same verbs with Interpret
// over its own System. Tests that need a real operating system run when Harness.Real says so.
//
//	func TestMain(m *testing.M) {
//		sandboxtest.RunProbeIfAsked() // before anything else
//		os.Exit(m.Run())
//	}
//
//	func TestSandbox_Contract(t *testing.T) {
//		sandboxtest.Run(t, sandboxtest.Harness{New: newBox, Entry: probe, EntryRoots: roots, Host: disk{}, Real: true, Network: …})
//	}
//
// For network local and restricted the Harness brings a Network: servers on this machine's loopback, and an Internet whose
// names and addresses lead there, which the adapter under test uses in place of the real resolver and dialer. What an
// adapter's Report does not claim (Networks, Strength) is checked to be refused. What a level cannot give at all is named in
// Harness.Cannot, so that no gap is a silent skip.
package sandboxtest
