// Package hostfile makes and locks the files of the state directory: readable by their owner only, never through a
// symlink, locked between processes. The adapters that keep files share it (journal, ledger, trace, turn, instance); it
// knows nothing of what they keep. What differs between systems is in the _linux, _windows and _other files.
package hostfile
