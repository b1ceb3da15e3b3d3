package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// SocketPair makes a control channel that keeps message borders: unix(7), SOCK_SEQPACKET.
func SocketPair() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, err
	}
	return p[0], p[1], nil
}

// MaxPassed is how many descriptors one message may carry (SCM_MAX_FD is 253).
const MaxPassed = 200

// Send writes one message, with descriptors.
func Send(socket int, message []byte, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	return retry(func() error { return unix.Sendmsg(socket, message, oob, nil, unix.MSG_NOSIGNAL) })
}

// Receive reads one message into b. n is 0 when the other side is gone. The caller owns the descriptors.
func Receive(socket int, b []byte) (n int, fds []int, err error) {
	oob := make([]byte, unix.CmsgSpace(4*MaxPassed))
	var oobn, flags int
	err = retry(func() error {
		n, oobn, flags, _, err = unix.Recvmsg(socket, b, oob, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	if oobn > 0 {
		messages, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return n, nil, err
		}
		for i := range messages {
			got, err := unix.ParseUnixRights(&messages[i])
			if err == nil {
				fds = append(fds, got...)
			}
		}
	}
	if flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		return n, fds, fmt.Errorf("message was cut")
	}
	return n, fds, nil
}

// SealedFile puts bytes of any size into an anonymous file that nobody can change: memfd_create(2).
func SealedFile(name string, content []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err = f.Write(content); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ProgramCopy puts a program into a sealed anonymous file that every user may execute.
func ProgramCopy(path string) (*os.File, error) {
	fd, err := unix.MemfdCreate("agent-mcp", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("agent-mcp", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return nil, err
	}
	out := os.NewFile(uintptr(fd), "program")
	in, err := os.Open(path)
	if err == nil {
		_, err = io.Copy(out, in)
		_ = in.Close()
	}
	if err == nil {
		err = unix.Fchmod(fd, 0o755)
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		_ = out.Close()
		return nil, err
	}
	return out, nil
}
