//go:build !unix

package audit

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup ends the command; there are no process groups here.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
