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
package windows
