package sandboxtest

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

const (
	detachedProcess = 0x0008
	newProcessGroup = 0x0200
	accessViolation = 0xc0000005
)

// crashSignal is what ends the probe when it crashes.
const crashSignal = "STATUS_ACCESS_VIOLATION"

// Orphan writes to file until it is killed.
func (realSystem) Orphan(file string) {
	for i := 0; ; i++ {
		_ = os.WriteFile(file, []byte(strconv.Itoa(i)), 0o600)
		time.Sleep(2 * time.Millisecond)
	}
}

func (realSystem) Daemon(file string) error {
	c := self("write|"+file+"|start", "orphan|"+file)
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | newProcessGroup}
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
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		_ = syscall.TerminateProcess(self, accessViolation)
	}
	select {}
}
