//go:build unix

package sweep

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file for this process, until it is closed or the process ends. Where the file system knows no locks it does nothing.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return err
	}
	return nil
}
