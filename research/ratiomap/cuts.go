package ratiomap

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"

	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// cut is the row x_above >= x_below of monotonicity with its multiplier, in units of 2^-unitBits; variables are those of the lattice's numbering.
type cut struct {
	above, below int32
	mu           int64
}

// monotone is the program with the rows of monotonicity, over the orbits of one lattice.
type monotone struct {
	lat   *lattice.Lattice
	vars  *lattice.Numbering
	class []int32 // of the form, of each orbit
	at    []int32 // position of the form, of each variable
}

// MaxMonotone bounds the variables of lattices on which rows of monotonicity are made use of.
const MaxMonotone = 6_000

// newMonotone ties a form whose classes are the orbits to the lattice.
func newMonotone(f *form) (*monotone, error) {
	l, err := lattice.New(f.n, f.k)
	if err != nil {
		return nil, err
	}
	m := &monotone{lat: l, vars: l.Number(), class: make([]int32, l.Len())}
	orbit := make([]int, len(f.classes))
	for i, counts := range f.classes {
		orbit[i] = int(m.vars.Orbit[m.vars.Find(counts, 0)])
		m.class[orbit[i]] = int32(i)
	}
	m.at = make([]int32, len(m.vars.Orbit))
	for i, class := range f.class {
		// A count vector has one variable at each of its depths, and each variable one position.
		counts := f.classes[class]
		j := m.vars.First[orbit[class]]
		for _, c := range counts[:f.depth[i]] {
			if c > 0 {
				j++
			}
		}
		m.at[j] = int32(i)
	}
	return m, nil
}

// solve finds multipliers at one z with package lp, those of rows of monotonicity included. It returns nil where no program had to be solved, or
// where its multipliers are too large to be true.
func (m *monotone) solve(ctx context.Context, p *prover, z int64) (*dual, error) {
	const digits = 1e12
	eps, err := number.FromEpsilon(big.NewRat(int64(math.Round(-math.Log(float64(z)/(1<<zBits))*digits)), digits))
	if err != nil {
		return nil, err
	}
	gap := new(big.Rat).SetFloat64(p.options.solverGap())
	a, err := lp.Ratio(ctx, lp.Request{
		N: p.n, K: p.k, Epsilon: eps, Level: lp.Monotone, Method: "lp", Gap: gap, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
	})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	short := func(r *big.Rat) int64 {
		if r == nil {
			return 0
		}
		f, _ := r.Float64()
		return units(f)
	}
	y := make([]int64, len(m.class))
	var cuts []cut
	if !a.Multipliers(func(orbit int, r *big.Rat) { y[m.class[orbit]] = short(r) }, func(above, below int32, r *big.Rat) {
		if mu := short(r); mu > 0 {
			cuts = append(cuts, cut{above, below, mu})
		}
	}) {
		return nil, nil
	}
	cuts = m.sorted(cuts)
	cost, ok := m.costs(p.form, cuts)
	if !ok {
		return nil, nil
	}
	d := walk(p.form, z, y, cost)
	d.cuts = cuts
	return d, nil
}

// sorted puts rows in the order of certificates, each once.
func (m *monotone) sorted(cuts []cut) []cut {
	compare := func(a, b cut) int { // numbers of variables are in the order of orbits, then depths
		return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(a.below, b.below))
	}
	slices.SortFunc(cuts, compare)
	kept := cuts[:0]
	for _, c := range cuts {
		if last := len(kept) - 1; last >= 0 && compare(kept[last], c) == 0 {
			kept[last].mu += c.mu
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// costs returns c_i with the rows taken off with their multipliers: with w = N(m) m_v, the row u_a >= (w_a/w_b) u_b takes μ from c_a and adds (w_a/w_b) μ to c_b. What
// is added is rounded down, as u_b >= 0 allows. It reports false where a cost is too large for the walk.
func (m *monotone) costs(f *form, cuts []cut) (cost []int64, ok bool) {
	cost = make([]int64, len(f.class))
	for i, v := range f.depth {
		cost[i] = int64(v) << unitBits
	}
	small := func(x int64) bool { return x <= maxUnits && x >= -maxUnits }
	weight := func(j int32) *big.Int {
		w := big.NewInt(int64(m.vars.Count[j]))
		return w.Mul(w, f.mass[m.class[m.vars.Orbit[j]]])
	}
	for _, c := range cuts {
		added := new(big.Int).Mul(weight(c.above), big.NewInt(c.mu))
		if added.Quo(added, weight(c.below)); added.CmpAbs(big.NewInt(maxUnits)) > 0 {
			return nil, false
		}
		cost[m.at[c.below]] += added.Int64()
		cost[m.at[c.above]] -= c.mu
		if !small(cost[m.at[c.below]]) || !small(cost[m.at[c.above]]) {
			return nil, false
		}
	}
	return cost, true
}
