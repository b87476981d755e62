package compose

import (
	"context"
	"math"
	"sort"

	"optratio/number"
)

// Equal is the attack that asks the same question at each of so many selections of a kind, of two candidates whose scores are X·2Δ/ε apart before and
// ε-X the other way after, and looks whether the trailing one is selected at most Most times.
type Equal struct {
	Kind  Kind
	Times int
	X     float64
	Most  int
}

// law returns bounds of the probability of the event under P and under Q. Terms are summed from the last one down; what is left out once their quotient
// is below 1/2 is at most the last of them.
func (e *Equal) law(f []number.Interval) (p, q number.Interval) {
	a, b, _ := e.Kind.pair(exact(min(e.X, down(e.Kind.eps()))))
	ways := f[e.Times].Quo(f[e.Most]).Quo(f[e.Times-e.Most])
	tail := func(a, b number.Interval) number.Interval {
		term := ways.Mul(a.Pow(e.Times - e.Most)).Mul(b.Pow(e.Most))
		sum, quotient := term, a.Quo(b)
		for k := e.Most; k > 0; k-- {
			factor := quotient.Mul(number.FromInt(int64(k), prec)).Quo(number.FromInt(int64(e.Times-k+1), prec))
			term = term.Mul(factor)
			sum = sum.Add(term)
			if f := factor.Near(); f < 0.5 && term.Quo(sum).Near() < 0x1p-80 {
				return number.Hull(sum, sum.Add(term))
			}
		}
		return sum
	}
	return tail(a.p, b.p), tail(a.q, b.q)
}

// spread returns the best x for the event: for em by the formula of Dong, Durfee & Rogers (2020), for pf the root of
// (T-1-l)h(x) - l·h(ε-x) - s - 2x + ε, which falls by at least 2 for each unit of x.
func (k Kind) spread(times, most int, s float64) float64 {
	e := k.Eps.Float()
	switch k.Mechanism {
	case "em":
		return min(max(0, e-(s+float64(float64(most+1)*e))/float64(times+1)), e)
	case "pf":
		loss := func(x float64) float64 { return e - x + math.Log(2-math.Exp(-x)) }
		low, high := 0.0, e
		for range 60 {
			x := float64((low + high) / 2)
			if float64(float64(times-1-most)*loss(x))-float64(float64(most)*loss(e-x))-s-float64(2*x)+e > 0 {
				low = x
			} else {
				high = x
			}
		}
		return high
	}
	return 0
}

// logs returns the logarithms of the probabilities of a pair, about.
func (k Kind) logs(x float64) (p, notP, q, notQ float64) {
	e := k.Eps.Float()
	switch k.Mechanism {
	case "em":
		all := math.Log(-math.Expm1(-e))
		p, notQ = math.Log(-math.Expm1(-x))-all, math.Log(-math.Expm1(x-e))-all
		return p, notQ - x, p + x - e, notQ
	case "pf":
		return math.Log1p(-math.Exp(-x) / 2), -x - math.Ln2, x - e - math.Ln2, math.Log1p(-math.Exp(x-e) / 2)
	}
	a, b, _ := k.pair(exact(0))
	return math.Log(a.p.Near()), math.Log(b.p.Near()), math.Log(a.q.Near()), math.Log(b.q.Near())
}

// advantage returns about Pr_P - e^s Pr_Q of the event "at most l outcomes B" at its best x.
func (k Kind) advantage(times, most int, s float64) (delta, x float64) {
	x = k.spread(times, most, s)
	p, notP, q, notQ := k.logs(x)
	ways := logFactorial(times) - logFactorial(most) - logFactorial(times-most)
	tail := func(a, b, more float64) float64 {
		term := math.Exp(ways + float64(float64(times-most)*a) + float64(float64(most)*b) + more)
		sum, quotient := term, math.Exp(a-b)
		for l := most; l > 0; l-- {
			factor := quotient * float64(l) / float64(times-l+1)
			term = float64(term * factor)
			sum += term
			if factor < 1 && term < 1e-18*sum {
				break
			}
		}
		return sum
	}
	if math.IsInf(p, -1) || math.IsInf(notP, -1) || math.IsInf(notQ, -1) {
		return 0, x
	}
	return tail(p, notP, 0) - tail(q, notQ, s), x
}

func logFactorial(n int) float64 {
	l, _ := math.Lgamma(float64(n) + 1)
	return l
}

// bestEqual returns about the best equal queries at s. The search takes their advantage to have one maximum over l.
func (k Kind) bestEqual(times int, s float64) (e Equal, delta float64) {
	low, high := 0, times-1
	value := func(most int) float64 { d, _ := k.advantage(times, most, s); return d }
	if s >= float64(times)*k.Eps.Float() {
		return Equal{Kind: k, Times: times}, 0
	}
	for high-low > 2 {
		m := (low + high) / 2
		if a, b := value(m), value(m+1); a < b {
			low = m + 1
		} else if a > b || a > 0 {
			high = m
		} else { // both are nothing: the event is too large or too small
			if _, x := k.advantage(times, m, s); x <= 0 {
				high = m
			} else {
				low = m + 1
			}
		}
	}
	for most := low; most <= high; most++ {
		if d, x := k.advantage(times, most, s); d > delta || most == low {
			e, delta = Equal{k, times, x, most}, d
		}
	}
	return e, delta
}

// equalAt returns about the best equal queries at the s where they have the advantage delta.
func (k Kind) equalAt(times int, delta float64) Equal {
	most := float64(times) * k.Eps.Float()
	const parts = 1 << 44
	at := sort.Search(parts, func(i int) bool {
		_, d := k.bestEqual(times, most*float64(i)/parts)
		return d <= delta
	})
	e, _ := k.bestEqual(times, most*max(0, float64(at)-0.5)/parts)
	return e
}

// noMore reports whether all equal queries have at most limit at s, if at most so many ranges of x show it. Where x is in [x, y] the losses of a
// selection are at most a = h(x) and at least -b = -h(ε-y), so of all f-divergences, of which the T selections' is one after the other, the greatest is that of
// two outcomes with these losses.
func (k Kind) noMore(ctx context.Context, ways []number.Interval, s number.Interval, limit float64) bool {
	const ranges = 1 << 16
	scale, e := number.Exp(s), down(k.eps())
	open := [][2]float64{{0, e}}
	for n := 0; len(open) > 0; n++ {
		r := open[len(open)-1]
		open = open[:len(open)-1]
		x, y := exact(r[0]), exact(r[1])
		if r[1] == e {
			y = k.eps()
		}
		a, b := k.loss(x), k.loss(k.eps().Sub(y))
		over, under := number.Expm1(b), number.Expm1(a.Neg()).Neg()
		p := over.Quo(over.Add(under))
		notP := under.Quo(over.Add(under))
		if exceeds(outcome{p, p.Mul(number.Exp(a.Neg()))}, outcome{notP, notP.Mul(number.Exp(b))}, ways, s, scale, a, b, limit) {
			middle := (r[0] + r[1]) / 2
			if n > ranges || middle <= r[0] || middle >= r[1] || ctx.Err() != nil {
				return false
			}
			open = append(open, [2]float64{r[0], middle}, [2]float64{middle, r[1]})
		}
	}
	return true
}

// exceeds reports whether the events "at most l outcomes B" may have more than the limit. The best has l = (Ta-s)/(a+b), rounded down; more than one is
// looked at where that is hardly known.
func exceeds(a, b outcome, ways []number.Interval, s, scale, lossA, lossB number.Interval, limit float64) bool {
	times := len(ways) - 1
	low, high := number.FromInt(int64(times), prec).Mul(lossA).Sub(s).Quo(lossA.Add(lossB)).Float64()
	if !(high-low < 1) {
		return true // losses are hardly known
	}
	for l := max(0, int(math.Floor(low-1e-6))); l <= min(times, int(math.Floor(high+1e-6))); l++ {
		p := ways[times].Quo(ways[l]).Quo(ways[times-l])
		q := p.Mul(a.q.Pow(times - l)).Mul(b.q.Pow(l)).Mul(scale)
		p = p.Mul(a.p.Pow(times - l)).Mul(b.p.Pow(l))
		if !(terms(up(p), up(a.p.Quo(b.p)), times, l, true)-terms(down(q), down(a.q.Quo(b.q)), times, l, false) <= limit*(1-4*ulp)) {
			return true
		}
	}
	return false
}

// factorials returns n! for 0 <= n <= most.
func factorials(most int) []number.Interval {
	f := []number.Interval{one}
	for n := 1; n <= most; n++ {
		f = append(f, f[n-1].Mul(number.FromInt(int64(n), prec)))
	}
	return f
}

// terms bounds the sum of a binomial law's terms from l down to 0, given that of l and the quotient of the two probabilities.
func terms(term, quotient float64, times, l int, upper bool) float64 {
	if term < 0x1p-900 { // what follows may be far greater, and numbers below the least normal one hardly grow
		term = 0
		if upper {
			term = 0x1p-900
		}
	}
	sum := term
	n := 0
	for ; l > 0; l-- {
		factor := quotient * float64(l) / float64(times-l+1)
		term = float64(term * factor)
		sum += term
		n++
		if factor < 0.5 && term < 1e-20*sum {
			if upper {
				sum += float64(2 * term)
			}
			break
		}
	}
	if upper {
		return float64(sum*(1+float64(float64(6*n+8)*ulp))) + 0x1p-1000
	}
	return sum * (1 - float64(float64(6*n+8)*ulp))
}
