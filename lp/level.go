package lp

import (
	"fmt"
	"math/big"

	"optratio/internal/table"
)

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
	// Full: all of them. Its optimum is Monotone's: see eachCut.
	Full
)

// Approximate is the name of the rows that a request with a Delta has.
const Approximate = "approximate"

var levelNames = [...]string{"paper", "dp", "monotone", "full"}

// ParseLevel reads "paper", "dp", "monotone" or "full".
func ParseLevel(s string) (Level, error) {
	for l, name := range levelNames {
		if s == name {
			return Level(l), nil
		}
	}
	return 0, fmt.Errorf("constraints %q are none of paper, dp, monotone, full", s)
}

func (l Level) String() string { return levelNames[l] }

// cut is the row x_Above >= z x_Below, or without Private x_Above >= x_Below, between two variables
// of the program; Below is -1 for x_Above >= 0. With w = N(m) m_v it is scaled to
// u_Above - (z) (w_Above/w_Below) u_Below >= 0.
type cut = table.Row

// chainWeight returns w = N(m) m_v of variable j, the factor between u and x.
func (p *program) chainWeight(j int32) *big.Int {
	w := big.NewInt(int64(p.vars.Count[j]))
	return w.Mul(w, p.mass[p.vars.Orbit[j]])
}

// weightRatio returns w_Above/w_Below.
func (p *program) weightRatio(c cut) *big.Rat {
	return new(big.Rat).SetFrac(p.chainWeight(c.Above), p.chainWeight(c.Below))
}

// slackOf returns the cut's left side at u.
func slackOf[T any](p *program, f ordered[T], z T, u []T, c cut) T {
	if c.Below < 0 {
		return u[c.Above]
	}
	below := u[c.Below]
	if c.Private {
		below = f.Mul(z, below)
	}
	if w := p.weightRatio(c); !w.IsInt() || w.Num().Cmp(one) != 0 {
		below = f.Mul(f.FromRat(w), below)
	}
	return f.Sub(u[c.Above], below)
}

var one = big.NewInt(1)

// cutCosts returns what the proposal's cuts add to the costs c_i of the variables.
func cutCosts[T any](p *program, f ordered[T], z T, prop *proposal) map[int32]T {
	extra := map[int32]T{}
	add := func(j int32, x T) {
		if old, ok := extra[j]; ok {
			x = f.Add(old, x)
		}
		extra[j] = x
	}
	for i, c := range prop.Cuts {
		mu := prop.Multiplier[i]
		if mu == nil || mu.Sign() <= 0 {
			continue
		}
		m := f.FromRat(mu)
		add(c.Above, f.Neg(m))
		m = f.Mul(m, f.FromRat(p.weightRatio(c)))
		if c.Private {
			m = f.Mul(m, z)
		}
		add(c.Below, m)
	}
	return extra
}

// strict visits the rows that a point made of injections need not satisfy: (T), u >= 0 at
// the head of each chain, and those of the level. It stops when visit returns false, and reports whether it never did.
func (p *program) strict(visit func(cut) bool) bool {
	for i := range p.orbits() {
		j := p.vars.First[i]
		if !visit(cut{Above: j, Below: p.vars.Up[j], Private: true}) {
			return false
		}
	}
	return p.eachCut(visit)
}

// eachCut visits rows that, with the paper's, are equivalent to the level's; some of them more than once.
//
// Monotonicity with the paper's rows implies all of DP's, so that Full needs no more than Monotone. Let q' = q + s with s in {0,1}^n
// after a shift, both in Q(n,k). Where s_r = 1, shift by -1: r stays and the others do not rise, so x_r(q') >= x_r(q) >= z x_r(q). Where
// s_r = 0 and r is not at the top of q', q'+e_r is in Q(n,k), x_r(q') >= z x_r(q'+e_r) by (P), and x_r(q'+e_r) >= x_r(q), again after a shift by -1.
// Where s_r = 0 and r is at the top of q', it is at the top of q as well, q-e_r is in Q(n,k), and
// x_r(q') >= x_r(q-e_r) >= z x_r(q), the others being no higher in q' than in q-e_r after a shift by +1.
func (p *program) eachCut(visit func(cut) bool) bool {
	rows := table.Lattice{Vars: p.vars, L: 1}
	switch p.Level {
	case Monotone, Full:
		return rows.Monotone(visit)
	case DP:
		return rows.Neighbors(func(c cut) bool { return p.isLink(c.Above, c.Below) || visit(c) })
	}
	return true
}

// isLink reports whether a follows b on a chain, so that x_a >= z x_b is a row (P) or (T) already.
func (p *program) isLink(a, b int32) bool { return p.vars.Up[a] == b }
