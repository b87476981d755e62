// Package supervise runs programs and leaves nothing of them once they are ended, or once this process has ended, even by SIGKILL. Only Linux can do
// that, and only in a process whose main calls Enable; otherwise a program is ended with its process group.
package supervise

import "os"

// Status says how a program ended that did not end with status 0.
type Status struct {
	text string // such as "exit status 3" or "signal: killed"
	Code int    // -1 after a signal
}

func (s *Status) Error() string { return s.text }

// endedAs returns what a process's state says of its end, nil for status 0.
func endedAs(state *os.ProcessState) error {
	if state == nil || state.Success() {
		return nil
	}
	return &Status{state.String(), state.ExitCode()}
}
