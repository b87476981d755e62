package lp

import (
	"cmp"
	"context"
	"math/big"
	"math/bits"

	"optratio/internal/arith"
	"optratio/number"
)

// theorems are what is known of a question without any program.
type theorems struct {
	low, high *big.Rat // the optimum lies between them
	proof     string   // of low; empty where that is 0 for want of a theorem
	pfOptimal *bool    // whether permute-and-flip attains the optimum; nil where no theorem tells
	// flip and exponential are the objectives of these mechanisms; no numbers where no theorem gives them.
	flip, exponential number.Number
	most              *big.Rat // no objective exceeds it
}

// trivial is what is known without any work: no objective exceeds the loss of the deepest candidate.
func (q *Request) trivial() *theorems {
	most := q.lossAt(q.depths())
	return &theorems{low: new(big.Rat), high: most, most: most}
}

// maxClosedBits bounds the length of rationals in closed forms; beyond it they are enclosed.
const maxClosedBits = 1 << 16

// theorems evaluates the theorems of research/docs/threshold.md, research/docs/minimax.md and research/docs/approximate.md, exactly where z^{1/L} is rational and the numbers are not too long,
// else with the given precision in bits. They are about
//
//   - means under a product prior (the uniform one is), of any loss: permute-and-flip's at every L, and the optimum for L = 1;
//   - the worst score vector where the loss is 0 up to some depth and constant from there on, as tails and top1 are;
//   - the published question.
func (q *Request) theorems(ctx context.Context, prec uint) *theorems {
	c := q.trivial()
	if q.published() {
		c.published(ctx, q, prec)
		return c
	}
	losses := q.losses()
	var factors []*big.Rat
	var product bool
	if long := q.Prior.kind == "geometric" && q.depths()*(q.Prior.rho.Num().BitLen()+q.Prior.rho.Denom().BitLen()) > maxClosedBits; !q.Worst && !long {
		factors, product = q.Prior.product(q)
	}
	z, rational := q.Epsilon.Z()
	if length := q.N * q.K; rational && q.parts() == 1 && length <= maxClosedBits && length*(z.Denom().BitLen()+bits.Len(uint(q.K))) <= maxClosedBits {
		fill(c, q, arith.Rat{}, losses, factors, product, func(v int) *big.Rat {
			x, _ := q.Epsilon.ExpNegRat(big.NewRat(int64(v), 1))
			return x
		}, number.Exact)
		return c
	}
	zero := number.FromInt(0, prec)
	fill(c, q, arith.Interval{Prec: prec}, losses, factors, product, func(v int) number.Interval {
		return q.Epsilon.ExpNeg(q.depth(v), prec)
	}, func(x number.Interval) number.Number { return number.Enclosed(x.Max(zero)) })
	return c
}

// fill evaluates the theorems in one arithmetic. power returns z^{v/L}.
func fill[T any](c *theorems, q *Request, f arith.Field[T], losses, factors []*big.Rat, product bool, power func(v int) T, bounds func(T) number.Number) {
	uniform := f.Mul(f.FromRat(c.most), f.FromRat(big.NewRat(int64(q.N-1), int64(q.N)))) // no vector costs more
	switch {
	case q.Worst:
		if first, ok := step2(losses); ok {
			tail(c, q, f, first, power, bounds)
		}
	case product:
		means(c, q, f, losses, factors, power, bounds)
		uniform = uniformMean(f, q.N, losses, factors)
	}
	if q.Delta != nil && q.Delta.Sign() > 0 {
		weaken(c, q, f, uniform, power(q.parts()), bounds)
	}
}

// uniformMean returns the mean loss of the uniform choice, Σ g(u) c(u) (G^{n-1} - G'^{n-1}) / (G^n - G'^n) with the sums of means.
func uniformMean[T any](f arith.Field[T], n int, losses, factors []*big.Rat) T {
	if n == 1 {
		return f.Zero()
	}
	low, sum := f.Zero(), f.Zero()
	for v := 1; v < len(factors); v++ {
		g := f.FromRat(factors[v])
		low, sum = f.Add(low, g), f.Add(sum, f.Mul(g, f.FromRat(losses[v])))
	}
	high := f.Add(low, f.FromRat(factors[0]))
	return f.Quo(f.Mul(sum, arith.DifferenceQuotient(f, high, low, n-1)), arith.DifferenceQuotient(f, high, low, n))
}

// weaken turns bounds for δ = 0 into those for the question's δ by research/docs/approximate.md: with U the uniform choice's objective,
//
//	opt(0) - nδ z/(1-z) (U - opt(0)) <= opt(δ) <= (1-δ) opt(0).
func weaken[T any](c *theorems, q *Request, f arith.Field[T], uniform, z T, bounds func(T) number.Number) {
	one, delta := f.One(), f.FromRat(q.Delta)
	if q.N > 1 {
		c.pfOptimal = nil
		if c.proof == proofRecurrence {
			c.proof = proofClosedForm
		}
		if flip, ok := c.flip.Lower(); ok && flip.Sign() > 0 {
			c.pfOptimal = new(false)
		}
	}
	at := f.FromRat(c.low)
	c.low = new(big.Rat)
	if c.proof != "" && !q.Epsilon.IsZero() {
		share := f.Quo(f.Mul(f.Mul(f.FromInt(int64(q.N)), delta), z), f.Sub(one, z))
		c.raise(bounds(f.Sub(at, f.Mul(share, f.Sub(uniform, at)))))
	}
	c.high, _ = bounds(f.Mul(f.FromRat(c.high), f.Sub(one, delta))).Upper()
}

// step2 returns the first depth with a loss where all later ones have the same; len(losses) where there is no loss at all.
func step2(losses []*big.Rat) (first int, ok bool) {
	for first < len(losses) && losses[first].Sign() == 0 {
		first++
	}
	return first, first == len(losses) || losses[first].Cmp(losses[len(losses)-1]) == 0
}

// raise takes a bound that a theorem gives, where it is greater.
func (c *theorems) raise(bound number.Number) {
	c.proof = cmp.Or(c.proof, proofClosedForm)
	if low, ok := bound.Lower(); ok && low.Cmp(c.low) > 0 {
		c.low = low
	}
}

// attain takes the objective of a mechanism, which bounds the optimum from above.
func (c *theorems) attain(objective number.Number) {
	if high, ok := objective.Upper(); ok && high.Cmp(c.high) < 0 {
		c.high = high
	}
}

// flipIsBest takes permute-and-flip's objective for the optimum.
func (c *theorems) flipIsBest() {
	c.low, _ = c.flip.Lower()
	c.high, _ = c.flip.Upper()
	c.proof, c.pfOptimal = proofRecurrence, new(true)
}

// tail is research/docs/minimax.md, Theorems 1 and 2, for a loss that begins at depth number first.
func tail[T any](c *theorems, q *Request, f arith.Field[T], first int, power func(v int) T, bounds func(T) number.Number) {
	if first > q.depths() || q.N == 1 {
		none := number.Int(0)
		c.high, c.proof, c.flip, c.exponential = new(big.Rat), proofClosedForm, none, none
		return
	}
	scale := func(x T) number.Number { return bounds(f.Mul(x, f.FromRat(c.most))) }
	n, one := f.FromInt(int64(q.N)), f.One()
	others := f.FromInt(int64(q.N - 1))
	p := power(first)
	c.flip = scale(f.Sub(one, f.Quo(arith.DifferenceQuotient(f, one, f.Sub(one, p), q.N), n)))
	c.exponential = scale(f.Quo(f.Mul(others, p), f.Add(one, f.Mul(others, p))))
	c.attain(c.flip)
	// The bounds are for multiples of 2Δ: a tail is no less likely than the one that begins at the next of them.
	whole := (first + q.parts() - 1) / q.parts() * q.parts()
	p = power(whole)
	if q.N == 2 {
		c.raise(scale(f.Quo(p, f.FromInt(2))))
		if whole == first {
			c.flipIsBest()
		}
		return
	}
	rest := others
	if q.Level.monotone() {
		rest = f.FromInt(int64(q.N - 2))
	}
	c.raise(scale(f.Quo(f.Mul(others, p), f.Add(f.FromInt(2), f.Mul(rest, p)))))
	c.raise(scale(f.Sub(one, f.Quo(one, f.Mul(n, p)))))
}

// means is research/docs/threshold.md for a prior of factors g. With c the loss, G = Σ g(u), G' = G - g(0), Z = Σ g(u) z^u, A = Σ z^u g(u) c(u),
// permute-and-flip's mean is
//
//	A · { [G^n - (G-Z)^n]/Z - [G'^n - (G-Z)^n]/Z' } / (G^n - G'^n),  Z' = Z - g(0),
//
// as threshold.md has it for g = 1, and for L = 1 no mechanism's is less than A/Z times the share of vectors with two or more best candidates.
func means[T any](c *theorems, q *Request, f arith.Field[T], losses, factors []*big.Rat, power func(v int) T, bounds func(T) number.Number) {
	first := f.FromRat(factors[0])
	high, low, rest, sum, weighted := first, f.Zero(), f.Zero(), first, f.Zero() // G, G', G - Z, Z, A
	for v := 1; v < len(factors); v++ {
		g, z := f.FromRat(factors[v]), power(v)
		gz := f.Mul(g, z)
		high, low, sum = f.Add(high, g), f.Add(low, g), f.Add(sum, gz)
		rest = f.Add(rest, f.Sub(g, gz))
		weighted = f.Add(weighted, f.Mul(gz, f.FromRat(losses[v])))
	}
	mass := f.Mul(first, arith.DifferenceQuotient(f, high, low, q.N)) // G^n - G'^n
	c.flip = bounds(f.Quo(f.Mul(weighted, flipDifference(f, high, low, rest, q.N)), mass))
	c.attain(c.flip)
	optimal, decided := q.optimalAt(losses, factors)
	if decided && optimal {
		c.flipIsBest()
	}
	switch {
	case decided && !q.Epsilon.IsZero():
		c.pfOptimal = &optimal
	case decided && optimal: // at ε = 0, which the theorem is not about
		c.pfOptimal, c.proof = nil, proofClosedForm
	}
	if q.parts() == 1 && !optimal {
		c.raise(bounds(f.Quo(f.Mul(weighted, tied(f, high, low, first, q.N)), f.Mul(sum, mass))))
	}
}

// flipDifference returns [G^n - r^n]/(G-r) - [G'^n - r^n]/(G'-r), which times Σ_u z^u g(u) c(u) is the total loss of permute-and-flip over the
// vectors that have somebody at depth 0, under the product of factors g; G is their sum, G' that without g(0), r = Σ_u (1-z^u) g(u).
func flipDifference[T any](f arith.Field[T], high, low, rest T, n int) T {
	return f.Sub(arith.DifferenceQuotient(f, high, rest, n), arith.DifferenceQuotient(f, low, rest, n))
}

// tied returns G^n - G'^n - n g G'^{n-1}, the weight of the vectors with two or more best candidates, without cancellation; g = G - G'.
func tied[T any](f arith.Field[T], high, low, g T, n int) T {
	// With P = G^m, Q = G'^m, L = m g G'^{m-1} and R = P - Q - L: R_2m = R (P+Q) + L (L+R), R_{m+1} = G R + g L.
	p, q, l, r := f.One(), f.One(), f.Zero(), f.Zero()
	for bit := bits.Len(uint(n)) - 1; bit >= 0; bit-- {
		r = f.Add(f.Mul(r, f.Add(p, q)), f.Mul(l, f.Add(l, r)))
		l = f.Mul(f.FromInt(2), f.Mul(l, q))
		p, q = f.Mul(p, p), f.Mul(q, q)
		if n>>bit&1 == 1 {
			r = f.Add(f.Mul(high, r), f.Mul(g, l))
			l = f.Add(f.Mul(low, l), f.Mul(g, q))
			p, q = f.Mul(p, high), f.Mul(q, low)
		}
	}
	return r
}

// where says at which ε > 0 permute-and-flip is optimal.
type where int

const (
	optimalUnknown    where = iota // no theorem tells
	optimalEverywhere              // at every ε
	optimalNowhere                 // at none
	optimalFromSomeOn              // from some ε > 0 on, and not below
)

// flipOptimal says by research/docs/threshold.md, Theorem 1, and research/docs/resolution.md, Theorem 5, where permute-and-flip has the least mean loss under
// a prior of factors, at whatever level of constraints: on the lattice of step 2Δ, and on finer ones where it never is.
func (q *Request) flipOptimal(losses, factors []*big.Rat) where {
	costly, between := false, false // depths that weigh and cost: any, and any that are no multiple of 2Δ
	rest := new(big.Rat)
	for v, g := range factors {
		if g.Sign() > 0 && losses[v].Sign() > 0 {
			costly, between = true, between || v%q.parts() != 0
		}
		if v > 0 {
			rest.Add(rest, g)
		}
	}
	switch {
	case !costly || q.N == 1:
		return optimalEverywhere
	case between:
		return optimalNowhere
	case q.parts() > 1:
		return optimalUnknown
	case q.N == 2 || rest.Cmp(factors[0]) <= 0:
		return optimalEverywhere
	}
	return optimalFromSomeOn
}

// optimalAt decides whether permute-and-flip is optimal at the question's ε > 0: where it is from some ε on, iff Σ_{u>=1} z^u g(u) <= g(0).
func (q *Request) optimalAt(losses, factors []*big.Rat) (optimal, decided bool) {
	switch q.flipOptimal(losses, factors) {
	case optimalEverywhere:
		return true, true
	case optimalNowhere:
		return false, true
	case optimalUnknown:
		return false, false
	}
	if z, ok := q.Epsilon.Z(); ok {
		return excess(arith.Rat{}, z, factors).Sign() <= 0, true
	}
	for prec := uint(128); prec <= 4096; prec *= 2 {
		if s, ok := excess(arith.Interval{Prec: prec}, q.Epsilon.ExpNeg(big.NewRat(1, 1), prec), factors).Sign(); ok {
			return s <= 0, true
		}
	}
	return false, false
}

// excess returns Σ_{u>=1} z^u g(u) - g(0).
func excess[T any](f arith.Field[T], z T, factors []*big.Rat) T {
	sum := f.Zero()
	for v := len(factors) - 1; v >= 1; v-- {
		sum = f.Mul(z, f.Add(sum, f.FromRat(factors[v])))
	}
	return f.Sub(sum, f.FromRat(factors[0]))
}
