package totals

import (
	"fmt"
	"math/big"

	"optratio/lattice"
)

// Objective says how a total over the lattice weighs an orbit.
type Objective int

const (
	// Paper weighs an orbit with N(m), the number of score vectors of Q(n,k)
	// that it stands for (McKenna & Sheldon 2020, App. D).
	Paper Objective = iota
	// Box weighs an orbit with the number of vectors of {-k..0}^n whose
	// normalisation to best score 0 lies in it, N(m)·(k - deepest(m) + 1).
	Box
)

// ParseObjective reads "paper" or "box".
func ParseObjective(s string) (Objective, error) {
	switch s {
	case "paper":
		return Paper, nil
	case "box":
		return Box, nil
	}
	return 0, fmt.Errorf("objective %q is neither paper nor box", s)
}

func (o Objective) String() string {
	if o == Box {
		return "box"
	}
	return "paper"
}

// Total returns the sum of the weights: |Q(n,k)| for Paper, (k+1)^n for Box.
func (o Objective) Total(n, k int) *big.Int { return lattice.Vectors(n, k, o == Box) }

// Factor returns W(m)/N(m) under the objective, for depths up to k = len(m)-1.
func (o Objective) Factor(m []int) int64 {
	if o == Box {
		return int64(len(m) - lattice.Deepest(m))
	}
	return 1
}

// Weight returns W(m) under the objective, for depths up to k = len(m)-1.
func (o Objective) Weight(m []int) *big.Int {
	w := lattice.Multiplicity(m)
	return w.Mul(w, big.NewInt(o.Factor(m)))
}
