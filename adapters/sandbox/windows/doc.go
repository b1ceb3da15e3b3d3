// Package windows runs commands confined by a less privileged AppContainer (LPAC), lists of rights, the Windows Filtering
// Platform and a job, and reports what it really enforced (spec section 8; design: sandbox.md). It never decides a right, and
// never runs anything when a layer is missing.
//
// Everything that is decided is decided in files that build on every system, and is plain data: plan.go turns a Spec and what
// lies at its paths into an ordered list of calls, each with the record that must be durable before it; records.go turns a
// record back into the call that undoes it; firewall.go, start.go, cmdline.go, environment.go say what filters, job and
// process are given; inherit.go says what a list of rights becomes. machine.go performs calls over api.go, which lists the
// system's own functions one to one. Tests put a machine in memory in the place of those.
//
// One run: the profile is claimed machine-wide. Roots get entries for the profile's identifier: the first run of a Task pays
// for it, later ones find them standing, and Settle takes exactly these out again (hold.go). The firewall blocks the profile
// at every layer but for what is listed. The program is hashed while it is held open, created suspended in its job with a
// restricted token, and resumed only when its token is what was asked for. When it ends the job is ended, and waited for.
//
// What each part is proven by. "golden plan" and "fake" run on every system; "Wine" are the tests that .ci/run runs there;
// "Windows host" is what only a real Windows 11 shows: TestSandbox_Contract and TestReal_* as administrator.
//
//	part                                             proven by
//	Spec → entries, seals, pins, ways, refusals      golden plan (testdata/plans), Wine
//	network list → filters, judged addresses         golden plan, fake
//	job limits, attributes, flags, environment       golden plan
//	command line for programs and for cmd.exe        tests with a parser of their own, fuzz, Wine
//	lists of rights read and written byte by byte    known bytes, fuzz, Wine (owner and list of a real file)
//	identifiers of profile and capabilities          known values of public record
//	record before each step, taken back after it     fake: every call fails or is the last, before and after its effect
//	recovery, its own crash, moved and removed files fake
//	paths: case, 8.3, dots, streams, devices, UNC    tests of winpath, Wine (handles and their final paths)
//	open, list, hold, hash, remove, pipes, NUL       Wine
//	job: tree ends by hand and with the handle,      Wine (internal/win32)
//	  no breakaway, completion port, handle list
//	restricted token                                 Wine (it is made), Windows host (what it takes away)
//	profile, LPAC, capabilities, token check         Windows host: Wine has no AppContainer
//	that a list of rights binds the tree             Windows host: Wine stubs lists
//	filters, loopback exemption                      Windows host: Wine has no filter engine (FwpmEngineOpen0 fails)
//	process, memory and UI limits                    Windows host: Wine ignores them
//	console host in the job, NUL inside an LPAC      Windows host: preflight measures both
//	junctions and symbolic links                     fake, Windows host
package windows
