package certificate

import (
	"math"
	"math/big"

	"optratio/internal/evidence"
	"optratio/number"
)

// costs returns the coefficients of the objective after the cuts' rows have been taken off it with their
// multipliers, as far as these change them: u_a - ρ (w_a/w_b) u_b >= 0 takes μ from c_a and adds
// ρ (w_a/w_b) μ to c_b.
func costs[T any](p *program, r evidence.Ring[T]) map[int]T {
	if len(p.cuts) == 0 {
		return nil
	}
	c := make(map[int]T)
	at := func(m []int, v int) (int, T) {
		i := p.Variable(p.Rank(m), m, v)
		if x, ok := c[i]; ok {
			return i, x
		}
		return i, r.Int(big.NewInt(int64(p.factor(m) * v)))
	}
	for _, q := range p.cuts {
		a, ca := at(q.M, q.V)
		c[a] = r.Sub(ca, r.Rat(q.Mu))
		b, cb := at(q.L, q.W)
		x := r.Rat(evidence.Shift(q, p.Lattice))
		if q.Privacy {
			x = r.Z(x)
		}
		c[b] = r.Add(cb, x)
	}
	return c
}

// lower returns the lower bound on the program's minimum that the multipliers give: the value of the Lagrangian
// dual, Σ N(m) y'(m), where λ_i = max(0, c_i + z λ_{i+1} - y_i) along each chain from its deep end, λ = 0 at its first
// position, and y'(m) is the least c_i + z λ_{i+1} - λ_i among the variables of m. For every u that meets (E), (P), (T)
// and the cuts' rows, Σ c_i u_i >= Σ_i (c_i + z λ_{i+1} - λ_i) u_i >= Σ_m y'(m) Σ_v u[m][v].
func lower[T any](p *program, r evidence.Ring[T]) T {
	w := evidence.NewWalk(r, p.dual)
	total := w.Zero
	changed := costs(p, r)
	plain := make(map[int]T)
	for chain := range p.Chains() {
		evidence.Stop(p.ctx.Err())
		lambda := w.Zero
		for at := range chain {
			rank, depths := p.Rank(at.M), p.factor(at.M)*at.V
			c, ok := plain[depths]
			if !ok {
				c = r.Int(big.NewInt(int64(depths)))
				plain[depths] = c
			}
			if len(changed) > 0 {
				if x, ok := changed[p.Variable(rank, at.M, at.V)]; ok {
					c = x
				}
			}
			lambda = w.Step(rank, c, lambda, at.First)
		}
	}
	for rank, m := range p.Orbits() {
		total = r.Add(total, r.Scale(w.Least[rank], p.Multiplicity(m)))
	}
	return total
}

// primal is the point that injections give, and permute-and-flip.
type primal[T any] struct {
	u, flip   []T // per variable
	total     T   // the objective at u
	totalFlip T
	theta     number.Number // weight of permute-and-flip in the mixture that is feasible
	mixed     number.Number // the objective there
}

// point returns the primal point: u_i = z u_{i-1} + s_i at depths >= 1, and the rest of (E) at depth 0; and
// permute-and-flip, for which s = 0. The variable before (m, v) on its chain is (m^{v→v-1}, v-1),
// which belongs to a count vector of lower rank.
func point[T any](p *program, r evidence.Ring[T]) *primal[T] {
	zero := r.Int(new(big.Int))
	size := len(p.Start)
	if size == 0 {
		panic("certificate: variables not numbered")
	}
	x := &primal[T]{total: zero, totalFlip: zero}
	inject := p.inject
	for rank, m := range p.Orbits() {
		evidence.Stop(p.ctx.Err())
		first := len(x.u)
		f := p.factor(m)
		all := r.Int(p.Multiplicity(m))
		x.u, x.flip = append(x.u, all), append(x.flip, all)
		for v := 1; v <= p.K; v++ {
			if m[v] == 0 {
				continue
			}
			m[v]--
			m[v-1]++
			before := p.Variable(p.Rank(m), m, v-1)
			m[v]++
			m[v-1]--
			u, flip := r.Z(x.u[before]), r.Z(x.flip[before])
			if len(inject) > 0 && inject[0].rank == rank && inject[0].v == v {
				u = r.Add(u, r.Rat(inject[0].s))
				inject = inject[1:]
			}
			x.u[first] = r.Sub(x.u[first], u)
			x.flip[first] = r.Sub(x.flip[first], flip)
			x.u, x.flip = append(x.u, u), append(x.flip, flip)
			fv := big.NewInt(int64(f * v))
			x.total = r.Add(x.total, r.Scale(u, fv))
			x.totalFlip = r.Add(x.totalFlip, r.Scale(flip, fv))
		}
	}
	if len(inject) > 0 {
		panic("certificate: injections out of order")
	}
	return x
}

// upper returns a feasible point and so an upper bound on the program's minimum.
//
// (E), and (P) with u >= 0 at depths >= 1, hold by construction at the point and at permute-and-flip. Each other row, that
// is (T), u >= 0 where m_k > 0 and the rows of the level, says g(u) >= 0 with g linear. It
// holds at permute-and-flip. Where it fails at the point, the mixture with weight θ of permute-and-flip
// meets it as soon as (1-θ) g(u) + θ g(flip) >= 0, and the largest such θ serves all.
func upper[T any](p *program, r evidence.Ring[T]) *primal[T] {
	x := point(p, r)
	x.theta = r.Value(r.Int(new(big.Int)))
	require := func(g func(u []T) T) {
		if at := g(x.u); !r.Nonneg(at) {
			x.theta = x.theta.Max(r.Repair(at, g(x.flip)))
		}
	}
	above := make([]int, p.K+1)
	for rank, m := range p.Orbits() {
		i := p.Start[rank]
		if m[p.K] > 0 && p.K > 0 {
			require(func(u []T) T { return u[i] })
			continue
		}
		// The others go down by one step.
		copy(above[1:], m)
		above[0] = 1
		if p.K > 0 {
			above[1]--
		}
		j := p.Start[p.Rank(above)]
		require(func(u []T) T { return r.Sub(u[i], r.Z(u[j])) })
	}
	if p.level != (evidence.Level{}) {
		p.Rows(p.level, levelRows(p, r, x, require))
	}
	total, flip := r.Value(x.total), r.Value(x.totalFlip)
	x.mixed = total.Add(x.theta.Mul(flip.Sub(total)))
	return x
}

// levelRows returns a visitor that requires a row of the level. Rows that hold by far are recognised by
// outward-rounded float64 bounds on the probabilities x = u/w.
func levelRows[T any](p *program, r evidence.Ring[T], x *primal[T], require func(func([]T) T)) func(evidence.Row) {
	lo, hi := make([]float64, len(x.u)), make([]float64, len(x.u))
	for rank, m := range p.Orbits() {
		i := p.Start[rank]
		for v, c := range m {
			if c > 0 {
				lo[i], hi[i] = probability(r.Bounds(x.u[i]), p.Weight(m, v))
				i++
			}
		}
	}
	one := r.Bounds(r.Z(r.Int(big.NewInt(1))))
	_, z := one.Float64()
	return func(q evidence.Row) {
		evidence.Stop(p.ctx.Err())
		rho := 1.0
		if q.Privacy {
			rho = z
		}
		if hi[q.B] >= 0 && lo[q.A] >= math.Nextafter(rho*hi[q.B], math.Inf(1)) {
			return
		}
		wa, wb := p.Weight(q.M, q.V), p.Weight(q.L, q.W)
		require(func(u []T) T {
			right := r.Scale(u[q.B], wa)
			if q.Privacy {
				right = r.Z(right)
			}
			return r.Sub(r.Scale(u[q.A], wb), right)
		})
	}
}

// probability returns float64 bounds on u/w, rounded outward.
func probability(u number.Interval, w *big.Int) (lo, hi float64) {
	return u.Quo(number.FromBig(w, u.Prec())).Float64()
}
