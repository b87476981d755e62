//go:build !clp || !cgo

package clp

import (
	"errors"

	"optratio/internal/linear"
)

// Available says whether this build contains CLP.
const Available = false

// New returns an error: this build does not contain CLP.
func New() (linear.Solver, error) {
	return nil, errors.New("clp: this build does not contain CLP; build with -tags clp and CLP's development files (coinor-libclp-dev) installed")
}
