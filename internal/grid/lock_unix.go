//go:build unix

package grid

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for this process, until it is closed or the process ends; where another process holds it, it waits or fails. Where the file system knows no
// locks it does nothing.
func lock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	err := syscall.EINTR
	for errors.Is(err, syscall.EINTR) {
		err, _ = syscall.Flock(int(f.Fd()), how).(syscall.Errno)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return err
	}
	return nil
}
