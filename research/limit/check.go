package limit

import (
	"context"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Limit is what is known of the limit of the best private success.
type Limit struct {
	// Success encloses the limit: the law of a private rule from below, multipliers of the privacy rows from above.
	Success number.Number `json:"success"`
	// Starts are the times, in [0,1], from which on the best rule found takes relative ranks 1, 2, ….
	Starts []float64 `json:"starts"`
	// Tight is the number of ranks k with q_k = e^ε q_{k+1}, q_k being the probability of taking the k-th best.
	Tight int `json:"tight"`
	// Rate is c with V_n = V + c/n + o(1/n), V_n being the best success among n candidates and V its limit: an estimate from the starts and multipliers, left out
	// where the enclosure is wider than was asked for.
	Rate *number.Number `json:"rate,omitempty"`
}

// Gap returns (upper-lower)/upper of the enclosure.
func (l *Limit) Gap() float64 {
	lower, _ := l.Success.Lower()
	upper, _ := l.Success.Upper()
	if upper.Sign() == 0 {
		return 0
	}
	gap := new(big.Rat).Sub(upper, lower)
	g, _ := gap.Quo(gap, upper).Float64()
	return g
}

// boundBits is the precision of the rational bounds for an irrational e^ε.
const boundBits = 160

// maxMultipliers bounds the work on one limit; as many suffice from ε = 0.36 on.
const maxMultipliers = 90

// Best encloses lim V_n, V_n being the best success among n candidates for l = 1 and δ = 0 (research/docs/stopping.md, Theorem 2). The enclosure holds whatever
// floating point proposed; it is meant to be no wider than gap, and is wide where the context ended.
func Best(ctx context.Context, eps number.Epsilon, gap float64) *Limit {
	lo, hi := eps.ExpBounds(boundBits)
	e, _ := hi.Float64()
	// Theorem 1's bound at ζ >= e^-ε from below, the best rule without privacy from above.
	z, _ := new(big.Rat).Inv(lo).Float64()
	lower := new(big.Rat)
	if zeta := max(math.Nextafter(z, 1), 0.534); zeta < 1 {
		lower, _ = steady(number.FromFloat(zeta, 128)).Lo().Rat(nil)
	}
	upper, _ := number.Exp(number.FromInt(-1, 128)).Hi().Rat(nil)
	out := &Limit{}
	p := proposeLimit(ctx, e, gap/4, maxMultipliers)
	if p != nil && ctx.Err() == nil {
		for _, y := range p.left {
			out.Starts = append(out.Starts, 1-y)
		}
		out.Tight = len(p.lambda)
		if q, ok := p.private(lo); ok {
			lower = larger(lower, q, 1)
		}
		if v := p.bound(ctx, hi); v != nil {
			upper = larger(upper, v, -1)
		}
	}
	out.Success = number.Bounds(lower, upper)
	if p != nil && out.Gap() <= gap {
		rate := number.Estimate(p.rate(e), "first order in 1/n")
		out.Rate = &rate
	}
	return out
}

// steady encloses the success of the rule with the constant rate: (1-ζ)(1 - e^{-ζ/(1-ζ)}).
func steady(zeta number.Interval) number.Interval {
	one := number.FromInt(1, zeta.Prec())
	less := one.Sub(zeta)
	return less.Mul(one.Sub(number.Exp(zeta.Quo(less).Neg())))
}

// larger is the larger one of two numbers, or with sign -1 the smaller one.
func larger(x *big.Rat, y *big.Float, sign int) *big.Rat {
	if r, _ := y.Rat(nil); r.Cmp(x) == sign {
		return r
	}
	return x
}

// limitCheck decides in outward-rounded arithmetic what a proposal proves.
type limitCheck struct {
	*proposal
	bits   uint
	starts []number.Interval // t_j
}

func (p *proposal) check(bits uint) *limitCheck {
	c := &limitCheck{proposal: p, bits: bits}
	for _, y := range p.left {
		c.starts = append(c.starts, c.rat(new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFloat64(y))))
	}
	return c
}

func (c *limitCheck) rat(x *big.Rat) number.Interval { return number.FromRat(x, c.bits) }
func (c *limitCheck) whole(i int) number.Interval    { return number.FromInt(int64(i), c.bits) }
func (c *limitCheck) float(x float64) number.Interval {
	return number.FromFloat(x, c.bits)
}
func (c *limitCheck) binomial(n, k int) number.Interval {
	return arith.FromBig(new(big.Int).Binomial(int64(n), int64(k)), c.bits)
}

// power is the integral of x^p from a to b, 0 < a < b.
func (c *limitCheck) power(a, b number.Interval, p int) number.Interval {
	raised := func(x number.Interval) number.Interval {
		if p+1 < 0 {
			return number.FromInt(1, x.Prec()).Quo(x.Pow(-p - 1))
		}
		return x.Pow(p + 1)
	}
	if p == -1 {
		return number.Log(b.Quo(a))
	}
	return raised(b).Sub(raised(a)).Quo(c.whole(p + 1))
}

// law encloses what times from start number first on, counted from 1, contribute to q_1, …, q_K. The probability of not having stopped by time x, between t_r and
// t_{r+1}, is S(x) = S(t_r)(t_r/x)^r, and q_k = ∫ S(x) Pr[Bin(k-1, x) <= r-1] dx. As
//
//	Pr[Bin(k-1, x) <= r-1] = 1 + Σ_{p>=r} C(k-1,p) (-1)^{p-r+1} C(p-1,r-1) x^p,
//
// q_k = D_0 + Σ_{p<k} C(k-1,p) D_p.
func (c *limitCheck) law(first, ranks int) []number.Interval {
	d := make([]number.Interval, ranks)
	for p := range d {
		d[p] = c.whole(0)
	}
	stay := c.whole(1)
	for i, a := range c.starts {
		r, b := i+1, c.whole(1)
		if r < len(c.starts) {
			b = c.starts[r]
		}
		if r >= first {
			scale := stay.Mul(a.Pow(r))
			d[0] = d[0].Add(scale.Mul(c.power(a, b, -r)))
			for p := r; p < ranks; p++ {
				term := scale.Mul(c.binomial(p-1, r-1)).Mul(c.power(a, b, p-r))
				if (p-r)%2 == 0 {
					term = term.Neg()
				}
				d[p] = d[p].Add(term)
			}
		}
		stay = stay.Mul(a.Quo(b).Pow(r))
	}
	q := make([]number.Interval, ranks)
	for k := range q {
		sum := number.NewAccumulator(c.bits)
		for p := range k + 1 {
			sum.AddMul(c.binomial(k, p), d[p])
		}
		q[k] = sum.Value()
	}
	return q
}

// private returns a lower bound on the success of the rule, mixed with a share of the rule with the constant rate, if that is private at e^ε >= e.
//
// q_k falls with k, so the rows q_k <= e^ε q_{k+1} are what is left; the constant rate's law is Cζ^{k-1}. Rows are checked up to K. From K on, with u = 1-x and B_k =
// Pr[Bin(k-1, x) <= r-1], B_{k+1} >= u·B_k, so that q_{k+1} - z q_k >= ∫ S B_k (u-z) dx. Before the second start B_k = u^{k-1}, where u > γ grows by γ at least from k to
// k+1; the negative part, u < z, grows by z < γ at most there and after the second start by u k/(k-r+1), which is checked to be at most γ. So if the integral over u > γ
// outweighs the negative part at K, it does for all larger k.
func (p *proposal) private(e *big.Rat) (success *big.Float, ok bool) {
	z, _ := new(big.Rat).Inv(e).Float64()
	gamma := (z + p.left[0]) / 2
	for ranks := 3*len(p.left) + 24; ranks < 3000; ranks *= 2 {
		c := p.check(uint(128 + 3*ranks))
		one, e := c.whole(1), c.rat(e)
		if !c.dwindles(number.FromInt(1, e.Prec()).Quo(e), gamma, ranks) {
			continue
		}
		q := c.law(1, ranks)
		share, zeta := c.float(p.share), c.float(p.zeta)
		rest, constant := one.Sub(share), share.Mul(steady(zeta))
		slack := constant.Mul(e.Mul(zeta).Sub(one))
		for k := range ranks - 1 {
			if holds, decided := rest.Mul(q[k].Sub(e.Mul(q[k+1]))).LessEq(slack); !holds || !decided {
				return nil, false
			}
			slack = slack.Mul(zeta)
		}
		return rest.Mul(q[0]).Add(constant).Lo(), true
	}
	return nil, false
}

// dwindles reports whether rows from this rank on hold.
func (c *limitCheck) dwindles(z number.Interval, limit float64, ranks int) bool {
	gamma := c.float(limit)
	for i, y := range c.left[1:] {
		if r := i + 2; y*float64(ranks)*(1+1e-9) > limit*float64(ranks-r+1) {
			return false
		}
	}
	if c.left[0] <= limit || (len(c.left) > 1 && c.left[1] >= limit) {
		return false
	}
	if holds, ok := z.LessEq(gamma); !holds || !ok {
		return false
	}
	// ∫ over times from a to b before the second start of S B_K (u - z), S = t_1/x: of u^K/x - z u^{K-1}/x.
	plain := func(a, b number.Interval, power int) number.Interval {
		sum := c.power(a, b, -1)
		for p := 1; p <= power; p++ {
			term := c.binomial(power, p).Mul(c.power(a, b, p-1))
			if p%2 == 1 {
				term = term.Neg()
			}
			sum = sum.Add(term)
		}
		return sum
	}
	before := func(a, b number.Interval) number.Interval {
		return c.starts[0].Mul(plain(a, b, ranks).Sub(z.Mul(plain(a, b, ranks-1))))
	}
	end := c.whole(1)
	if len(c.starts) > 1 {
		end = c.starts[1]
	}
	negative := before(c.whole(1).Sub(z), end).Neg().Add(z.Mul(c.law(2, ranks)[ranks-1]))
	holds, ok := negative.LessEq(before(c.starts[0], c.whole(1).Sub(gamma)))
	return holds && ok
}

// stoppingValue is the value of a rule of the limit model for payoffs on ranks 1 to m that takes relative rank j from time t_j on, given that nobody was taken before
// time x: between t_r and t_{r+1} it satisfies -x v' = Σ_{j<=r} G_j - r v, where G_j(x) = Σ_k w_k C(k-1,j-1) x^j (1-x)^{k-j} is the worth of taking relative rank j.
type stoppingValue struct {
	*limitCheck
	worth [][]number.Interval // of rank j: coefficients of x^0, x^1, …
	sum   [][]number.Interval // of the first r ranks
	slope [][]number.Interval // of worth
	c     []number.Interval
}

func (c *limitCheck) value(w []number.Interval) *stoppingValue {
	m := len(w)
	v := &stoppingValue{limitCheck: c, sum: [][]number.Interval{make([]number.Interval, m+1)}, c: make([]number.Interval, m+1)}
	moment := make([]number.Interval, m+1) // Σ_k w_k C(k-1,p-1)
	for p := range moment {
		v.sum[0][p], moment[p] = c.whole(0), c.whole(0)
		for k := max(p, 1); p > 0 && k <= m; k++ {
			moment[p] = moment[p].Add(w[k-1].Mul(c.binomial(k-1, p-1)))
		}
	}
	for j := 1; j <= m; j++ {
		worth, total, slope := make([]number.Interval, m+1), make([]number.Interval, m+1), make([]number.Interval, m)
		for p := range worth {
			worth[p] = c.whole(0)
			if p >= j {
				if worth[p] = moment[p].Mul(c.binomial(p-1, j-1)); (p-j)%2 == 1 {
					worth[p] = worth[p].Neg()
				}
			}
			total[p] = v.sum[j-1][p].Add(worth[p])
			if p > 0 {
				slope[p-1] = worth[p].Mul(c.whole(p))
			}
		}
		v.worth, v.sum, v.slope = append(v.worth, worth), append(v.sum, total), append(v.slope, slope)
	}
	v.c[m] = c.whole(0)
	v.c[m] = v.at(m, c.whole(1)).Neg() // v(1) = 0
	for r := m - 1; r >= 1; r-- {
		x := c.starts[r]
		v.c[r] = c.whole(0)
		v.c[r] = v.at(r+1, x).Sub(v.at(r, x)).Quo(x.Pow(r))
	}
	return v
}

// at is the value at x by the formula between t_r and t_{r+1}.
func (v *stoppingValue) at(r int, x number.Interval) number.Interval {
	if r == 0 {
		return v.at(1, v.starts[0])
	}
	value, power := v.c[r].Mul(x.Pow(r)), v.whole(1)
	for p, h := range v.sum[r] {
		if p == r {
			value = value.Sub(h.Mul(power).Mul(number.Log(x)))
		} else {
			value = value.Add(h.Mul(power).Quo(v.whole(r - p)))
		}
		power = power.Mul(x)
	}
	return value
}

func horner(c []number.Interval, x number.Interval) number.Interval {
	sum := c[len(c)-1]
	for p := len(c) - 2; p >= 0; p-- {
		sum = sum.Mul(x).Add(c[p])
	}
	return sum
}

// excess bounds ∫ max(0, what the best decision on rank j gains over the rule's)/x dx over a cell on which the rule takes rank j, or does not.
func (v *stoppingValue) excess(ctx context.Context, j, r int, a, b *big.Float, taken bool) number.Interval {
	x := number.NewInterval(a, b)
	middle := number.Point(x.Mid())
	// G_j - v over the cell, by the mean-value theorem: v' = (r v - Σ G)/x.
	slope := horner(v.slope[j-1], x)
	gain := horner(v.worth[j-1], middle).Sub(v.at(r, middle))
	if r > 0 {
		slope = slope.Sub(v.whole(r).Mul(v.at(r, x)).Sub(horner(v.sum[r], x)).Quo(x))
	}
	gain = gain.Add(slope.Mul(x.Sub(middle)))
	if taken {
		gain = gain.Neg()
	}
	if gain.Hi().Sign() <= 0 || ctx.Err() != nil {
		return v.whole(0)
	}
	width := number.Point(b).Sub(number.Point(a))
	within2 := new(big.Float).Mul(gain.Lo(), big.NewFloat(2)).Cmp(gain.Hi()) >= 0
	if within2 || width.Hi().Cmp(big.NewFloat(0x1p-22)) < 0 {
		return width.Mul(number.Point(gain.Hi())).Quo(x)
	}
	half := middle.Lo()
	return v.excess(ctx, j, r, a, half, taken).Add(v.excess(ctx, j, r, half, b, taken))
}

// bound is an upper bound on the limit at e^ε <= e: no rule of the limit model gains more for the payoffs 1 - λ_1, e λ_1 - λ_2, …. It is nil where a payoff is negative or the context ends.
func (p *proposal) bound(ctx context.Context, e *big.Rat) *big.Float {
	c := p.check(uint(128 + 12*len(p.left)))
	w := []number.Interval{c.whole(1)}
	for k, l := range c.lambda {
		if l < 0 {
			return nil
		}
		w[k] = w[k].Sub(c.float(l))
		w = append(w, c.rat(e).Mul(c.float(l)))
	}
	for _, x := range w {
		if x.Lo().Sign() < 0 {
			return nil
		}
	}
	v := c.value(w)
	bound := v.at(0, c.whole(0))
	for j := 1; j <= len(w); j++ {
		for r := 0; r <= len(c.starts); r++ {
			a, b := c.whole(0).Lo(), c.whole(1).Hi()
			if r > 0 {
				a = c.starts[r-1].Lo()
			}
			if r < len(c.starts) {
				b = c.starts[r].Hi()
			}
			bound = bound.Add(v.excess(ctx, j, r, a, b, r >= j))
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return bound.Hi()
}
