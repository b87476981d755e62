package lp

import "fmt"

// Level says which constraints the program holds. Each optimum is a lower bound on
// the error of every regular ε-DP mechanism on the lattice, and further constraints only raise it.
type Level int

const (
	// Paper: privacy towards the worst neighbor q + 2Δe_r only (McKenna & Sheldon 2020, App. D).
	Paper Level = iota
	// DP: privacy towards all neighbors: x_r(q') >= z x_r(q) for every two vectors of
	// Q(n,k) that differ by 0 or 1 step in each score, after a shift.
	DP
	// Monotone: the paper's, and x_r(q) <= x_r(q') whenever q, q' are in Q(n,k) and, after a
	// shift, q' has r no lower and every other candidate no higher.
	Monotone
	// Full: all of them. Its optimum is Monotone's: see eachRow.
	Full
)

var levelNames = [...]string{"paper", "dp", "monotone", "full"}

// ParseLevel reads "paper", "dp", "monotone" or "full".
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if s == name {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("constraints %q are not among paper, dp, monotone, full", s)
}

func (l Level) String() string { return levelNames[l] }
