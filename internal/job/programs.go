//go:build !js

package job

import (
	"context"
	"encoding/json"

	"optratio/internal/audit"
)

// program is the program.
func (s *Stated) program() audit.Program {
	return audit.Program{Command: s.Exec, Timeout: s.Timeout, CleanEnv: s.CleanEnv}
}

// rows asks the program about inputs.
func (s *Stated) rows(ctx context.Context, inputs []json.RawMessage, o audit.Options) (*audit.Table, error) {
	return s.program().Rows(ctx, inputs, o)
}

// rival is the program as a mechanism to be rated.
func (s *Stated) rival(symmetric bool, o audit.Options) (*audit.Subject, error) {
	return s.program().Subject(symmetric, o)
}

// examineProgram does the audit of a program.
func (q *Audit) examineProgram(ctx context.Context, o audit.Options) (*audit.Report, error) {
	program := q.program()
	if program.Children = q.Children; q.SampleExec != "" {
		program.Command = q.SampleExec
		return program.Samples(ctx, o)
	}
	return program.PMF(ctx, o)
}
