//go:build !unix

package supervise

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the command; there are no process groups here.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
