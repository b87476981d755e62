//go:build !js

package job

import (
	"context"

	"optratio/internal/audit"
)

// rival is the program as a mechanism to be rated.
func (s *Stated) rival(symmetric bool, o audit.Options) (*audit.Subject, error) {
	return audit.Program{Command: s.Exec}.Subject(symmetric, o)
}

// examineProgram does the audit of a program.
func (q *Audit) examineProgram(ctx context.Context, o audit.Options) (*audit.Report, error) {
	program := audit.Program{Command: q.Exec, Timeout: q.Timeout, Children: q.Children}
	if q.SampleExec != "" {
		program.Command = q.SampleExec
		return program.Samples(ctx, o)
	}
	return program.PMF(ctx, o)
}
