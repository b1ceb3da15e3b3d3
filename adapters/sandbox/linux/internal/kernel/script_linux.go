package kernel

import (
	"io"

	"golang.org/x/sys/unix"
)

// MakeScript creates an executable file that nobody writes any more. On error it may be there in part.
func MakeScript(dir int, name string, content []byte) error {
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o500)
	if err != nil {
		return err
	}
	defer Close(fd)
	for len(content) > 0 {
		n := 0
		err := retry(func() (err error) { n, err = unix.Write(fd, content); return err })
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		content = content[n:]
	}
	return unix.Fchmod(fd, 0o555) // whatever the umask
}
