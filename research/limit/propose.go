package limit

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// The limit of the best private success as n grows, for l = 1 and δ = 0: research/docs/stopping.md, Theorem 2. In the limit model candidates come at uniform times
// in [0,1], and a rule takes relative rank j from a start t_j on, t_1 < t_2 < …. Here is the proposal, in floating point; times are kept as what is left, 1 - t.

// proposal is a rule of the limit model that is best for the payoffs that multipliers λ_k of the rows q_k <= e^ε q_{k+1} make: 1 - λ_1, e^ε λ_1 - λ_2, …, e^ε λ_M.
type proposal struct {
	lambda []float64
	left   []float64 // 1 - t_j
	law    []float64 // q_1, q_2, …
	value  float64   // of the payoffs, an upper bound on the limit
	// share of the rule with the constant rate (1-ζ)^-1 that makes the law private, and the success of both together.
	share, zeta, success float64
	// curve is d law/d payoffs: Σ_j c_j a_j a_jᵀ, a_j being what taking relative rank j at its start gains in each rank over going on.
	curve [][]float64
}

// nodes and weights of Gauss and Legendre on [-1,1].
var nodes, weights = func() (x, w [24]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

// backwards passes through the limit model from time 1 to time 0.
type backwards struct {
	rows [][]float64 // Pr[Bin(k-1, x) = i]
	law  []float64   // of the rank that is taken, if nobody is before time 1 - left
	left float64
	gain []float64
}

func newBackwards(ranks int) *backwards {
	b := &backwards{rows: make([][]float64, ranks), law: make([]float64, ranks), gain: make([]float64, ranks)}
	for k := range b.rows {
		b.rows[k] = make([]float64, k+1)
	}
	return b
}

func (b *backwards) binomials(y float64) {
	b.rows[0][0] = 1
	for k := 1; k < len(b.rows); k++ {
		less, row := b.rows[k-1], b.rows[k]
		row[0], row[k] = less[0]*y, less[k-1]*(1-y)
		for i := 1; i < k; i++ {
			row[i] = float64(less[i]*y) + float64(less[i-1]*(1-y))
		}
	}
}

// from is the law from time left y on, if relative ranks up to r are taken until the time that b has.
func (b *backwards) from(y float64, r int) []float64 {
	out := make([]float64, len(b.law))
	stay := math.Pow((1-y)/(1-b.left), float64(r))
	for k := range out {
		out[k] = stay * b.law[k]
	}
	half := (y - b.left) / 2
	for i, node := range nodes {
		at := b.left + float64(half*(1+node))
		b.binomials(at)
		weight := half * weights[i] * math.Pow((1-y)/(1-at), float64(r))
		for k := range out {
			for j := range min(r, k+1) {
				out[k] += float64(weight * b.rows[k][j])
			}
		}
	}
	return out
}

// excess is what taking relative rank r at time left y gains over going on, and its gain in each rank.
func (b *backwards) excess(payoffs []float64, y float64, r int) (sum float64) {
	law := b.from(y, r)
	b.binomials(y)
	for k := range law {
		b.gain[k] = -law[k]
		if k >= r-1 {
			b.gain[k] += float64((1 - y) * b.rows[k][r-1])
		}
		if k < len(payoffs) {
			sum += float64(payoffs[k] * b.gain[k])
		}
	}
	return sum
}

// start is the time left from which on it is best to take relative rank r.
func (b *backwards) start(payoffs []float64, r int) (y float64, ok bool) {
	lo, hi := b.left, max(1.2*b.left, 1e-9)
	low, high := b.excess(payoffs, lo, r), b.excess(payoffs, hi, r)
	for ; high > 0; high = b.excess(payoffs, hi, r) {
		if lo, low, hi = hi, high, min(1.3*hi, (1+hi)/2); hi > 0.9999 {
			return 0, false
		}
	}
	if low <= 0 {
		return 0, false
	}
	for range 200 { // Illinois
		y = hi - high*(hi-lo)/(high-low)
		if !(y > lo && y < hi) {
			break
		}
		if v := b.excess(payoffs, y, r); v > 0 {
			lo, low, high = y, v, high/2
		} else {
			hi, high, low = y, v, low/2
		}
	}
	return (lo + hi) / 2, true
}

// payoffs are what the multipliers make of taking each rank.
func payoffs(e float64, lambda []float64) []float64 {
	out := make([]float64, len(lambda)+1)
	out[0] = 1
	for k, l := range lambda {
		out[k] -= l
		out[k+1] += float64(e * l)
	}
	return out
}

// rule returns the best rule for the payoffs that the multipliers make, and its law on so many ranks; not ok if it is not one with starts in the order of ranks.
func rule(e float64, lambda []float64, ranks int) (p *proposal, ok bool) {
	payoffs := payoffs(e, lambda)
	if slices.Min(payoffs) <= 0 {
		return nil, false
	}
	m := len(payoffs)
	p = &proposal{lambda: lambda, left: make([]float64, m), curve: make([][]float64, m)}
	b, gains, slopes := newBackwards(max(m, ranks)), make([][]float64, m), make([]float64, m)
	for r := m; r >= 1; r-- {
		y, ok := b.start(payoffs, r)
		if !ok {
			return nil, false
		}
		h := float64(1e-5 * y)
		slopes[r-1] = (b.excess(payoffs, y-h, r) - b.excess(payoffs, y+h, r)) / (2 * h)
		b.excess(payoffs, y, r)
		gains[r-1] = slices.Clone(b.gain[:m])
		b.law = b.from(y, r)
		p.left[r-1], b.left = y, y
	}
	p.law = b.law
	reach := 1.0 // nobody was taken before the start
	for r, y := range p.left {
		if r > 0 {
			reach *= math.Pow((1-p.left[r-1])/(1-y), float64(r))
		}
		for i := range m {
			if r == 0 {
				p.curve[i] = make([]float64, m)
			}
			for j := range m {
				p.curve[i][j] += float64(reach / ((1 - y) * slopes[r]) * gains[r][i] * gains[r][j])
			}
		}
	}
	for k, w := range payoffs {
		p.value += float64(w * p.law[k])
	}
	return p, true
}

// excesses are q_k - e^ε q_{k+1} for the ranks that have multipliers: what the derivative of the value by λ_k is, times -1.
func (p *proposal) excesses(e float64) []float64 {
	out := make([]float64, len(p.lambda))
	for k := range out {
		out[k] = p.law[k] - float64(e*p.law[k+1])
	}
	return out
}

// rate is c with V_n = V + c/n + o(1/n), V_n being the best success among n candidates and V its limit, if the starts and multipliers are the best ones
// (research/docs/stopping.md, Theorem 3):
//
//	c = S(1) Σ_k w_k / 2 + ∫ S(x)/x (Σ_{j<=r(x)} g_j(x) - r(x) u'(x)/2) dx    from x = t_1 to 1,
//	g_j(x) = x/2 Σ_k w_k Pr[Bin(k-1, x) = j-1] (k(k-1) - j(j-1)/x - (k-j)(k-j-1)/(1-x)),
//
// where the rule with the starts t has not stopped by x with probability S(x), takes relative ranks up to r(x) then, and is worth u(x) from then on for the payoffs w.
func (p *proposal) rate(e float64) (c float64) {
	w := payoffs(e, p.lambda)
	for _, v := range w {
		c += float64(v / 2)
	}
	b := newBackwards(len(w))
	for r := len(p.left); r >= 1; r-- {
		y := p.left[r-1]
		c *= math.Pow((1-y)/(1-b.left), float64(r))
		half := (y - b.left) / 2
		for i, node := range nodes {
			at := b.left + float64(half*(1+node))
			c += float64(half * weights[i] * math.Pow((1-y)/(1-at), float64(r)) * b.firstOrder(w, at, r))
		}
		b.law, b.left = b.from(y, r), y
	}
	return c
}

// firstOrder is (Σ_{j<=r} g_j - r u'/2)/x at the time that leaves y, where relative ranks up to r are taken (see rate).
func (b *backwards) firstOrder(w []float64, y float64, r int) (sum float64) {
	law, x := b.from(y, r), 1-y
	b.binomials(y)
	half := float64(r) / 2
	for k, v := range w {
		sum -= float64(half * float64(r) * v * law[k] / (x * x))
		for j := range min(r, k+1) {
			second := float64(k*(k+1)) - float64(j*(j+1))/x - float64((k-j)*(k-j-1))/y
			sum += float64(v * b.rows[k][j] * (half/x + float64(second/2)))
		}
	}
	return sum
}

// improve minimises the value, which is convex in λ, by Newton's method.
func (p *proposal) improve(ctx context.Context, e float64) *proposal {
	for range 50 {
		excess := p.excesses(e)
		curve := make([][]float64, len(excess)) // d²value/dλ²
		for i := range curve {
			curve[i] = make([]float64, len(excess))
			for j := range curve[i] {
				curve[i][j] = p.curve[i][j] - float64(e*p.curve[i+1][j]) - float64(e*p.curve[i][j+1]) + float64(e*e*p.curve[i+1][j+1])
			}
		}
		step, better := solvePositive(curve, excess), false
		for size := 1.0; size > 1e-4 && !better && ctx.Err() == nil; size /= 2 {
			next := slices.Clone(p.lambda)
			for k := range next {
				next[k] = max(next[k]/4, next[k]+float64(size*step[k]))
			}
			if q, ok := rule(e, next, 0); ok && q.value < p.value+1e-13 &&
				(q.value < p.value-1e-13 || squares(q.excesses(e)) < squares(excess)) {
				p, better = q, true
			}
		}
		if !better {
			break
		}
	}
	return p
}

func squares(x []float64) (sum float64) {
	for _, v := range x {
		sum += float64(v * v)
	}
	return sum
}

// solvePositive solves a x = b for a positive definite matrix, which it overwrites, by Cholesky's factors.
func solvePositive(a [][]float64, b []float64) []float64 {
	x := slices.Clone(b)
	for i := range a {
		for j := range i + 1 {
			sum := a[i][j]
			for k := range j {
				sum -= float64(a[i][k] * a[j][k])
			}
			if i == j {
				a[i][i] = math.Sqrt(max(sum, 1e-18*a[i][i])) // what rounding made of a small pivot
			} else {
				a[i][j] = sum / a[j][j]
			}
		}
		for k := range i {
			x[i] -= float64(a[i][k] * x[k])
		}
		x[i] /= a[i][i]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := i + 1; k < len(a); k++ {
			x[i] -= float64(a[k][i] * x[k])
		}
		x[i] /= a[i][i]
	}
	return x
}

// longer has more multipliers, as far as they are not 0.
func (p *proposal) longer(ctx context.Context, e float64, more int) (q *proposal, ok bool) {
	for first := 0.5; !ok && first > 1e-6; first /= 2 {
		lambda, last := slices.Clone(p.lambda), 0.5
		if m := len(lambda); m > 0 {
			last = lambda[m-1]
		}
		for range more {
			last *= first
			lambda = append(lambda, last)
		}
		q, ok = rule(e, lambda, 0)
	}
	if !ok {
		return nil, false
	}
	q = q.improve(ctx, e)
	m := len(q.lambda)
	for m > len(p.lambda) && q.left[m] < 1e-7 { // this rank is as good as never taken
		m--
	}
	if m == len(q.lambda) {
		return q, true
	}
	if m == len(p.lambda) {
		return p, true
	}
	if q, ok = rule(e, q.lambda[:m], 0); ok {
		q = q.improve(ctx, e)
	}
	return q, ok
}

// settle extends the law and finds how much of the rule with a constant rate makes it private.
func (p *proposal) settle(e float64) {
	ranks := 3*len(p.left) + 20
	q, ok := rule(e, p.lambda, ranks)
	if !ok {
		return
	}
	p.law = q.law
	z := 1 / e
	for _, zeta := range []float64{(float64(3*z) + 1) / 4, (z + 1) / 2, (z + 3) / 4, (z + 9) / 10} {
		constant, worst := steadySuccess(zeta), 0.0
		for k := range ranks - 1 {
			if over := p.law[k] - float64(e*p.law[k+1]); over > -1e-14 {
				worst = max(worst, (over+1e-14)/(constant*math.Pow(zeta, float64(k))*(float64(e*zeta)-1)))
			}
		}
		share := float64(worst / (1 + worst) * (1 + 1e-6))
		if success := float64((1-share)*p.law[0]) + float64(share*constant); success > p.success {
			p.share, p.zeta, p.success = share, zeta, success
		}
	}
}

// steadySuccess is the success of the rule of the limit model that stops at the rate 1/(1-ζ) from time 1-ζ on: (1-ζ)(1 - e^{-ζ/(1-ζ)}).
func steadySuccess(zeta float64) float64 { return (1 - zeta) * -math.Expm1(-zeta/(1-zeta)) }

// proposeLimit proposes a rule and multipliers whose values differ by little.
func proposeLimit(ctx context.Context, e, gap float64, most int) (best *proposal) {
	p, ok := rule(e, nil, 2)
	for more := 1; ok && ctx.Err() == nil; {
		if p.settle(e); best == nil || p.value-p.success < best.value-best.success {
			best = p
		}
		m := len(p.lambda)
		if p.value-p.success <= gap || m >= most || p.law[m] <= e*p.law[m+1] {
			break
		}
		q, found := p.longer(ctx, e, more)
		switch {
		case found && len(q.lambda) == m+more:
			more = 1 + len(q.lambda)/4
		case more == 1: // no more are needed
			return best
		default:
			more = 1
		}
		if found {
			p = q
		}
	}
	return best
}
