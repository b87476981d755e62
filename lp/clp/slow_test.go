//go:build clp && slow

package clp

import "testing"

func TestLatticeReference88(t *testing.T) { checkLattice(t, 8, 8, 1.00919474282, 1e-11) }
