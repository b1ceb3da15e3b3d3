// Package kernel holds the raw system calls of osroot, one small function for each thing osroot needs. It decides nothing:
// no function follows a symlink, takes a path of more than one component (OpenRoot and Descend apart) or retries anything but EINTR and
// EAGAIN. Errors are the system's own. See openat2(2), renameat2(2), statx(2).
package kernel
