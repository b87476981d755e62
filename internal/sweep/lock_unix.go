//go:build unix

package sweep

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for this process, until it is closed or the process ends, and fails where another process holds it. Where the file system knows no locks it
// does nothing.
func lock(f *os.File) error {
	err := syscall.EINTR
	for errors.Is(err, syscall.EINTR) {
		err, _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB).(syscall.Errno)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return err
	}
	return nil
}
