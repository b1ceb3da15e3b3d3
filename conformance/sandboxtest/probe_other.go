//go:build !unix && !windows

package sandboxtest

import (
	"errors"
	"os"
)

func (realSystem) Daemon(string) error { return errors.ErrUnsupported }

func (realSystem) Crash() { os.Exit(3) }

func (realSystem) Orphan(string) {}

// crashSignal is what ends the probe when it crashes.
const crashSignal = "SIGKILL"
