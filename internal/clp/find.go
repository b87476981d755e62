package clp

import (
	"fmt"

	"optratio/internal/linear"
)

// Find returns the solver of a name, "clp" or "embedded", which "auto" stands for in every build: answers do not depend on the build. CLP is for a second opinion: on large
// programs it takes longer than the embedded solver, which has better starts (docs/development/performance.md).
func Find(name string) (linear.Solver, error) {
	switch name {
	case "auto", "embedded":
		return linear.Embedded{}, nil
	case "clp":
		return New()
	}
	return nil, fmt.Errorf("solver %q is not one of auto, clp, embedded", name)
}
