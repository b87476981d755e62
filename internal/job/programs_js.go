package job

import (
	"context"

	"optratio/internal/audit"
)

// Pages start no programs, and the engine has none of what asks them.

func (*Stated) rival(bool, audit.Options) (*audit.Subject, error) {
	return nil, refuse("{pmf-exec}: a page starts no programs")
}

func (*Audit) examineProgram(context.Context, audit.Options) (*audit.Report, error) {
	return nil, refuse("{pmf-exec}: a page starts no programs")
}
