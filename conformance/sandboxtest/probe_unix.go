//go:build unix

package sandboxtest

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Orphan makes the probe ignore what ends ordinary programs and write a line to file until it is killed.
func (realSystem) Orphan(file string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	for i := 0; ; i++ {
		_ = os.WriteFile(file, []byte(fmt.Sprint(i)), 0o600)
		time.Sleep(2 * time.Millisecond)
	}
}

func (realSystem) Daemon(file string) error {
	c := self("write|"+file+"|start", "orphan|"+file)
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	for {
		if b, err := os.ReadFile(file); err == nil && len(b) > 0 && b[0] != 's' {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
}

func (realSystem) Crash() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// crashSignal is what ends the probe when it crashes.
const crashSignal = "SIGKILL"
