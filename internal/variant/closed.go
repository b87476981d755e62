package variant

import (
	"math/big"
	"math/bits"

	"optratio/internal/arith"
	"optratio/internal/table"
	"optratio/number"
)

// Closed is what theorems say of a question without any program.
type Closed struct {
	Optimum   table.Bounds // always an enclosure, if a poor one
	Theorem   bool         // whether Low comes from a theorem
	PFOptimal *bool        // whether permute-and-flip attains the optimum; nil where no theorem tells
	// PermuteAndFlip and Exponential are the objectives of these mechanisms; nil where no theorem gives them.
	PermuteAndFlip, Exponential *table.Bounds
	MaxLoss                     *big.Rat // no objective exceeds it
}

// maxClosedBits bounds the length of rationals in closed forms; beyond it they are enclosed.
const maxClosedBits = 1 << 16

// Closed evaluates the theorems of research/docs/threshold.md, research/docs/minimax.md and docs/results/approximate.md, exactly where z^{1/L} is rational and the numbers are not too long,
// else with the given precision in bits. They are about
//
//   - means under a product prior (the uniform one is), of any loss: permute-and-flip's at every L, and the optimum for L = 1;
//   - the worst score vector where the loss is 0 up to some depth and constant from there on, as tails and top1 are.
func (q Question) Closed(prec uint) (*Closed, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	losses, err := q.Loss.of(&q)
	if err != nil {
		return nil, err
	}
	c := &Closed{MaxLoss: losses[len(losses)-1]}
	c.Optimum = table.Bounds{Low: new(big.Rat), High: c.MaxLoss}
	var factors []*big.Rat
	var product bool
	if long := q.Prior.kind == "geometric" && q.Depths()*(q.Prior.rho.Num().BitLen()+q.Prior.rho.Denom().BitLen()) > maxClosedBits; !q.Worst && !long {
		if factors, product, err = q.Prior.product(&q); err != nil {
			return nil, err
		}
	}
	z, rational := q.Epsilon.Z()
	if length := q.N * q.K; rational && q.L == 1 && length <= maxClosedBits && length*(z.Denom().BitLen()+bits.Len(uint(q.K))) <= maxClosedBits {
		fill(c, &q, arith.Rat{}, losses, factors, product, func(v int) *big.Rat {
			x, _ := q.Epsilon.ExpNegRat(big.NewRat(int64(v), 1))
			return x
		}, func(x *big.Rat) table.Bounds { return table.Bounds{Low: x, High: x} })
		return c, nil
	}
	zero := number.FromInt(0, prec)
	fill(c, &q, arith.Interval{Prec: prec}, losses, factors, product, func(v int) number.Interval {
		return q.Epsilon.ExpNeg(q.depth(v), prec)
	}, func(x number.Interval) table.Bounds {
		low, high := table.Ends(x.Max(zero))
		return table.Bounds{Low: low, High: high}
	})
	return c, nil
}

// fill evaluates the theorems in one arithmetic. power returns z^{v/L}.
func fill[T any](c *Closed, q *Question, f arith.Field[T], losses, factors []*big.Rat, product bool, power func(v int) T, bounds func(T) table.Bounds) {
	uniform := f.Mul(f.FromRat(c.MaxLoss), f.FromRat(big.NewRat(int64(q.N-1), int64(q.N)))) // no vector costs more
	switch {
	case q.Worst:
		if first, ok := step2(losses); ok {
			tail(c, q, f, first, power, bounds)
		}
	case product:
		means(c, q, f, losses, factors, power, bounds)
		uniform = uniformMean(f, q.N, losses, factors)
	}
	if q.approximate() {
		approximate(c, q, f, uniform, power(q.L), bounds)
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

// approximate turns bounds for δ = 0 into those for the question's δ by docs/results/approximate.md: with U the uniform choice's objective,
//
//	opt(0) - nδ z/(1-z) (U - opt(0)) <= opt(δ) <= (1-δ) opt(0).
func approximate[T any](c *Closed, q *Question, f arith.Field[T], uniform, z T, bounds func(T) table.Bounds) {
	one, delta := f.One(), f.FromRat(q.Delta)
	if q.N > 1 {
		c.PFOptimal = nil
		if flip := c.PermuteAndFlip; flip != nil && flip.Low.Sign() > 0 && q.Delta.Sign() > 0 {
			c.PFOptimal = new(false)
		}
	}
	low := c.Optimum.Low
	c.Optimum.Low = new(big.Rat)
	if c.Theorem && !q.Epsilon.IsZero() {
		share := f.Quo(f.Mul(f.Mul(f.FromInt(int64(q.N)), delta), z), f.Sub(one, z))
		at := f.FromRat(low)
		if b := bounds(f.Sub(at, f.Mul(share, f.Sub(uniform, at)))).Low; b.Sign() > 0 {
			c.Optimum.Low = b
		}
	}
	c.Optimum.High = bounds(f.Mul(f.FromRat(c.Optimum.High), f.Sub(one, delta))).High
}

// step2 returns the first depth with a loss where all later ones have the same; len(losses) where there is no loss at all.
func step2(losses []*big.Rat) (first int, ok bool) {
	for first < len(losses) && losses[first].Sign() == 0 {
		first++
	}
	return first, first == len(losses) || losses[first].Cmp(losses[len(losses)-1]) == 0
}

// raise takes a greater lower bound of the optimum.
func (c *Closed) raise(low *big.Rat) {
	c.Theorem = true
	if low.Cmp(c.Optimum.Low) > 0 {
		c.Optimum.Low = low
	}
}

// lower takes a smaller upper bound of the optimum.
func (c *Closed) lower(high *big.Rat) {
	if high != nil && high.Cmp(c.Optimum.High) < 0 {
		c.Optimum.High = high
	}
}

// tail is research/docs/minimax.md, Theorems 1 and 2, for a loss that begins at depth number first.
func tail[T any](c *Closed, q *Question, f arith.Field[T], first int, power func(v int) T, bounds func(T) table.Bounds) {
	if first > q.Depths() || q.N == 1 {
		none := table.Bounds{Low: new(big.Rat), High: new(big.Rat)}
		c.Optimum, c.Theorem, c.PermuteAndFlip, c.Exponential = none, true, &none, &none
		return
	}
	scale := func(x T) table.Bounds { return bounds(f.Mul(x, f.FromRat(c.MaxLoss))) }
	n, one := f.FromInt(int64(q.N)), f.One()
	others := f.FromInt(int64(q.N - 1))
	p := power(first)
	flip := scale(f.Sub(one, f.Quo(arith.DifferenceQuotient(f, one, f.Sub(one, p), q.N), n)))
	em := scale(f.Quo(f.Mul(others, p), f.Add(one, f.Mul(others, p))))
	c.PermuteAndFlip, c.Exponential = &flip, &em
	c.lower(flip.High)
	// The bounds are for multiples of 2Δ: a tail is no less likely than the one that begins at the next of them.
	whole := (first + q.L - 1) / q.L * q.L
	p = power(whole)
	if q.N == 2 {
		c.raise(scale(f.Quo(p, f.FromInt(2))).Low)
		if whole == first {
			c.Optimum, c.PFOptimal = flip, new(true)
		}
		return
	}
	rest := others
	if q.Monotone {
		rest = f.FromInt(int64(q.N - 2))
	}
	c.raise(scale(f.Quo(f.Mul(others, p), f.Add(f.FromInt(2), f.Mul(rest, p)))).Low)
	c.raise(scale(f.Sub(one, f.Quo(one, f.Mul(n, p)))).Low)
}

// means is research/docs/threshold.md for a prior of factors g. With c the loss, G = Σ g(u), G' = G - g(0), Z = Σ g(u) z^u, A = Σ z^u g(u) c(u),
// permute-and-flip's mean is
//
//	A · { [G^n - (G-Z)^n]/Z - [G'^n - (G-Z)^n]/Z' } / (G^n - G'^n),  Z' = Z - g(0),
//
// as threshold.md has it for g = 1, and for L = 1 no mechanism's is less than A/Z times the share of vectors with two or more best candidates.
func means[T any](c *Closed, q *Question, f arith.Field[T], losses, factors []*big.Rat, power func(v int) T, bounds func(T) table.Bounds) {
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
	flip := bounds(f.Quo(f.Mul(weighted, FlipDifference(f, high, low, rest, q.N)), mass))
	c.PermuteAndFlip = &flip
	c.lower(flip.High)
	optimal, decided := q.optimalAt(losses, factors)
	if decided && !q.Epsilon.IsZero() {
		c.PFOptimal = &optimal
	}
	if decided && optimal {
		c.Optimum, c.Theorem = flip, true
		return
	}
	if q.L != 1 {
		return
	}
	c.raise(bounds(f.Quo(f.Mul(weighted, Tied(f, high, low, first, q.N)), f.Mul(sum, mass))).Low)
}

// FlipDifference returns [G^n - r^n]/(G-r) - [G'^n - r^n]/(G'-r), which times Σ_u z^u g(u) c(u) is the total loss of permute-and-flip over the
// vectors that have somebody at depth 0, under the product of factors g; G is their sum, G' that without g(0), r = Σ_u (1-z^u) g(u).
func FlipDifference[T any](f arith.Field[T], high, low, rest T, n int) T {
	return f.Sub(arith.DifferenceQuotient(f, high, rest, n), arith.DifferenceQuotient(f, low, rest, n))
}

// Tied returns G^n - G'^n - n g G'^{n-1}, the weight of the vectors with two or more best candidates, without cancellation; g = G - G'.
func Tied[T any](f arith.Field[T], high, low, g T, n int) T {
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

// Where says at which ε > 0 permute-and-flip is optimal.
type Where int

const (
	Unknown    Where = iota // no theorem tells
	Everywhere              // at every ε
	Nowhere                 // at none
	FromSomeOn              // from some ε > 0 on, and not below
)

// FlipOptimal says by research/docs/threshold.md, Theorem 1, and docs/results/resolution.md, Theorem 5, where permute-and-flip has the least mean loss under
// the question's prior, at whatever level of constraints: on the lattice of step 2Δ for product priors, on finer ones where it never is.
func (q Question) FlipOptimal() (Where, error) {
	if err := q.check(); err != nil {
		return Unknown, err
	}
	losses, err := q.Loss.of(&q)
	if err != nil || q.Worst {
		return Unknown, err
	}
	factors, product, err := q.Prior.product(&q)
	if err != nil || !product {
		return Unknown, err
	}
	return q.flipOptimal(losses, factors), nil
}

func (q *Question) flipOptimal(losses, factors []*big.Rat) Where {
	costly, between := false, false // depths that weigh and cost: any, and any that are no multiple of 2Δ
	rest := new(big.Rat)
	for v, g := range factors {
		if g.Sign() > 0 && losses[v].Sign() > 0 {
			costly, between = true, between || v%q.L != 0
		}
		if v > 0 {
			rest.Add(rest, g)
		}
	}
	switch {
	case !costly || q.N == 1:
		return Everywhere
	case between:
		return Nowhere
	case q.L > 1:
		return Unknown
	case q.N == 2 || rest.Cmp(factors[0]) <= 0:
		return Everywhere
	}
	return FromSomeOn
}

// optimalAt decides whether permute-and-flip is optimal at the question's ε > 0: where it is from some ε on, iff Σ_{u>=1} z^u g(u) <= g(0).
func (q *Question) optimalAt(losses, factors []*big.Rat) (optimal, decided bool) {
	switch q.flipOptimal(losses, factors) {
	case Everywhere:
		return true, true
	case Nowhere:
		return false, true
	case Unknown:
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
