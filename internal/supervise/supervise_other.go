//go:build !linux

package supervise

import "os/exec"

// Only Linux gives a process all orphans among its descendants. Elsewhere the process group of a program is ended where there are process groups,
// and the program alone where there are none: what leaves the group goes on, and so does what runs when this process is killed, until
// it notices that its input has ended.

// Enable does nothing where there are no supervisors.
func Enable() {}

// Guard holds on to a command.
type Guard struct{ Cmd *exec.Cmd }

// Command returns a command for the shell that can be ended with its process group.
func Command(command string) (*Guard, error) {
	cmd := exec.Command("sh", "-c", command)
	ownGroup(cmd)
	return &Guard{cmd}, nil
}

// Start starts the command.
func (g *Guard) Start() error { return g.Cmd.Start() }

// Kill ends the process group.
func (g *Guard) Kill() { killGroup(g.Cmd) }

// Wait returns when the program has ended. The error says how, nil for status 0.
func (g *Guard) Wait() error {
	state, _ := g.Cmd.Process.Wait()
	killGroup(g.Cmd) // what it left behind; its number is not in use again yet
	return endedAs(state)
}

// Memory returns 0: what programs hold is known on Linux alone.
func Memory() int64 { return 0 }
