//go:build !linux

package audit

import "os/exec"

// Only Linux gives a process all orphans among its descendants. Elsewhere the audit ends the process group of a program where there are process groups,
// and the program alone where there are none: what leaves the group goes on, and so does what runs when the audit itself is killed, until
// it notices that its input has ended.

// guard holds on to a command.
type guard struct{ cmd *exec.Cmd }

func guarded(command string) (*guard, error) {
	cmd := exec.Command("sh", "-c", command)
	ownGroup(cmd)
	return &guard{cmd}, nil
}

func (g *guard) start() error { return g.cmd.Start() }
func (g *guard) kill()        { killGroup(g.cmd) }

// wait returns when the program has ended. The error says how, nil for status 0.
func (g *guard) wait() error {
	state, _ := g.cmd.Process.Wait()
	killGroup(g.cmd) // what it left behind; its number is not in use again yet
	return endedAs(state)
}

// ProgramsMemory returns 0: what programs under audit hold is known on Linux alone.
func ProgramsMemory() int64 { return 0 }
