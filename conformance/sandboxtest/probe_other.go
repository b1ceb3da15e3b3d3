//go:build !unix

package sandboxtest

import (
	"errors"
	"os"
)

func (realSystem) Daemon(string) error { return errors.ErrUnsupported }

func (realSystem) Crash() { os.Exit(3) }

func (realSystem) Orphan(string) {}
