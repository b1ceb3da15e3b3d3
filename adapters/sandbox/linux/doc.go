// Package linux runs commands confined by namespaces, Landlock and seccomp together, unprivileged, and reports what it
// really enforced (spec section 8; design: sandbox.md). It never decides a right, never writes into a user's root, and
// never runs anything when a layer is missing.
//
// One run: the Broker (this process) checks the Spec, hashes the entry and takes a helper. The helper is the same
// binary, started again in fresh user, mount, pid, net, ipc, uts and cgroup namespaces, where it is PID 1. It has built
// a private root with the read-only runtime; now it receives the order over a SOCK_SEQPACKET descriptor, binds the
// roots descriptor to descriptor, confines one locked thread (Landlock, capabilities, seccomp are per thread) and forks
// the entry from it. It keeps the number of processes, watches memory, answers what the filter asks, notes what was refused,
// reaps, kills all, and answers. A helper serves one run; the next one is prepared meanwhile.
//
// A network is made of listeners inside the network namespace whose descriptors the Broker gets: it accepts and dials on the
// host (internal/relay), and no process of the tree ever holds a way out. Before a connect to a listed endpoint goes on,
// the Broker has dialled, so that a refusal is an ordinary one.
//
// On hosts without user namespaces the same helper confines with Landlock and seccomp alone (L1: shared.go says what that
// cannot give). judge.go turns what preflight found into the level and the reasons against a higher one.
//
// Where a control group can be had (cgroup.go decides, cgroup_home.go acts), each helper is moved into one of its own while it
// is prepared, and the kernel bounds memory and tasks exactly (L3). On a delegated version 2 hierarchy the Broker moves into
// a leaf and enables memory and pids in its own directory; no other setting of the host is changed. The directories are in
// the Recovery Journal before they exist, and Undoer removes what a killed Broker left.
//
// main and TestMain call RunHelperIfAsked first. x/sys is used by internal/kernel alone.
package linux
