package stopping

import (
	"math/big"
	"strings"
	"testing"

	"optratio/internal/slowtest"
	"optratio/number/interval"
)

// The limit of the best private success at ε = 1/2, l = 1, δ = 0 (docs/results/stopping.md): from below by a rule of the limit model whose law is private, from above by
// multipliers of privacy rows and the value of optimal stopping in the limit model for the payoffs that they make. Both were found in floating point; here they are
// checked in outward-rounded arithmetic. Times are given as what is left, 1 - t.
const (
	limitLower, limitUpper = "0.343676844", "0.343676847"
	limitBits              = 320

	// limitRule are the times left from which on relative ranks 1, 2, … are taken.
	limitRule = `0.680163806704257 0.257365185995348 0.178931825779297 0.128220045531765 0.0919517838587232 0.0651651367932726 0.0453020547672532
		0.0307491702646057 0.0203238644641943 0.0130700815418437 0.00818446044976809 0.00499998959403142 0.00298683587900196 0.00174799641346377
		0.00100306106966471 0.00056399464359745 0.000309878009378752 0.000165420797666487 8.48839808667199e-05 4.10122442357126e-05
		1.78231400214316e-05 6.08006229060808e-06 5.22291330084124e-07`
	// limitMultipliers are those of q_k <= e^ε q_{k+1}, k = 1, 2, ….
	limitMultipliers = `0.2907365661547136 0.22942184701614224 0.17962211307084422 0.13733630479155157 0.10180048743222463 0.07287196832418497 0.050297799853806786
		0.03348976923691244 0.021555327223503017 0.013454114589233462 0.008172530408348649 0.004846505537519835 0.0028116780714619364
		0.0015963405498051954 0.0008851441156707276 0.0004764219855218092 0.00024526788336670197 0.00011600581890369995 4.333447295553745e-05`
	// limitStarts are the times from which on it is best to take relative ranks 1, 2, … for the payoffs that they make.
	limitStarts = `0.31981362638595906 0.7426420818055103 0.8210758536608188 0.8717875528755497 0.9080554308502009 0.934841473402343 0.9547037927259379
		0.9692558200041712 0.9796802412594724 0.9869331768155928 0.9918180396199981 0.995001872581014 0.9970145177130662 0.9982529691019956
		0.9989976181592263 0.9994364785422765 0.9996904494381927 0.9998348047836435 0.9999152709655115 0.9999590939828144`
)

func ratsOf(t *testing.T, text string) (out []*big.Rat) {
	t.Helper()
	for _, s := range strings.Fields(text) {
		out = append(out, rat(t, s))
	}
	return out
}

func box(x *big.Rat) interval.Interval { return interval.FromRat(x, limitBits) }
func whole(i int) interval.Interval    { return interval.FromInt(int64(i), limitBits) }

// laurent is Σ c_p x^p, with powers from low on.
type laurent struct {
	low int
	c   []*big.Int
}

// over integrates a Laurent polynomial from a to b, 0 < a < b.
func (f laurent) over(a, b interval.Interval) interval.Interval {
	sum := whole(0)
	for i, c := range f.c {
		term := interval.Log(b.Quo(a))
		if p := f.low + i + 1; p != 0 {
			term = power(b, p).Sub(power(a, p)).Quo(whole(p))
		}
		sum = sum.Add(interval.FromBig(c, limitBits).Mul(term))
	}
	return sum
}

func power(x interval.Interval, p int) interval.Interval {
	if p < 0 {
		return x.Pow(-p).Inv()
	}
	return x.Pow(p)
}

// fewer are the coefficients of Pr[Bin(k-1, x) <= r-1] = Σ_{i<r} C(k-1,i) x^i (1-x)^{k-1-i}.
func fewer(k, r int) []*big.Int {
	out := make([]*big.Int, k)
	for p := range out {
		out[p] = new(big.Int)
		for i := 0; i < r && i <= p; i++ {
			c := new(big.Int).Mul(new(big.Int).Binomial(int64(k-1), int64(i)), new(big.Int).Binomial(int64(k-1-i), int64(p-i)))
			if (p-i)%2 == 1 {
				c.Neg(c)
			}
			out[p].Add(out[p], c)
		}
	}
	return out
}

// limitLaw encloses the part that [from, 1] contributes to q_k, for the rule that takes relative rank j from time t_j on. The probability of not having stopped by
// time x, between t_r and t_{r+1}, is S(x) = S(t_r)(t_r/x)^r, and q_k = ∫ S(x) Pr[Bin(k-1, x) <= r-1] dx.
func limitLaw(starts []interval.Interval, k int, from interval.Interval) interval.Interval {
	sum, left := whole(0), whole(1)
	for i, a := range starts {
		r, b := i+1, whole(1)
		if r < len(starts) {
			b = starts[r]
		}
		if begin := a.Max(from); begin.Hi().Cmp(b.Lo()) < 0 {
			sum = sum.Add(left.Mul(a.Pow(r)).Mul(laurent{-r, fewer(k, r)}.over(begin, b)))
		}
		left = left.Mul(a.Quo(b).Pow(r))
	}
	return sum
}

// TestLimitFromBelow: the law of the rule is private for all ranks, and it takes the best often enough.
//
// q_k falls with k, so the rows q_k <= e^ε q_{k+1} are what is left. They are checked up to k = 60. From K = 60 on, with u = 1-x and B_k = Pr[Bin(k-1, x) <= r-1],
// B_{k+1} >= u·B_k, so that q_{k+1} - z q_k >= ∫ S B_k (u-z) dx. Before the second start B_k = u^{k-1}, where u > γ grows by γ at least from k to k+1; the negative part,
// u < z, grows by z < γ at most there and after the second start by u k/(k-r+1), which is checked to be at most γ. So if the integral over u > γ outweighs the negative part at K, it does for
// all larger k.
func TestLimitFromBelow(t *testing.T) {
	slowtest.Only(t)
	var starts []interval.Interval
	left := ratsOf(t, limitRule)
	one := big.NewRat(1, 1)
	for _, y := range left {
		starts = append(starts, box(new(big.Rat).Sub(one, y)))
	}
	const last = 60
	e, whole0 := interval.ExpRat(big.NewRat(1, 2), limitBits), whole(0)
	q := make([]interval.Interval, last+1)
	for k := 1; k <= last; k++ {
		q[k] = limitLaw(starts, k, whole0)
	}
	if q[1].Lo().Cmp(box(rat(t, limitLower)).Hi()) < 0 {
		t.Errorf("q_1 = %s", q[1])
	}
	for k := 1; k < last; k++ {
		if holds, ok := q[k].LessEq(e.Mul(q[k+1])); !holds || !ok {
			t.Errorf("q_%d = %s, q_%d = %s", k, q[k], k+1, q[k+1])
		}
	}
	z, gamma := interval.ExpRat(big.NewRat(-1, 2), limitBits), rat(t, "0.62")
	for i, y := range left[1:] {
		r := i + 2
		if new(big.Rat).Mul(y, big.NewRat(last, int64(last-r+1))).Cmp(gamma) > 0 {
			t.Errorf("rank %d grows too fast", r)
		}
	}
	// ∫ over times from a to b before the second start of S B_K (u - z), S = t_1/x.
	first := func(a, b interval.Interval) interval.Interval {
		plain, times := laurent{-1, fewer(last, 1)}, laurent{-1, fewer(last+1, 1)} // u^{K-1}/x, u^K/x
		return starts[0].Mul(times.over(a, b).Sub(z.Mul(plain.over(a, b))))
	}
	edge := whole(1).Sub(z)
	positive := first(starts[0], box(new(big.Rat).Sub(one, gamma)))
	negative := first(edge, starts[1]).Neg().Add(z.Mul(limitLaw(starts, last, starts[1])))
	if holds, ok := negative.LessEq(positive); !holds || !ok {
		t.Errorf("beyond rank %d: %s against %s", last, positive, negative)
	}
}

// stoppingValue is the value of a rule of the limit model for payoffs on ranks 1 to m that takes relative rank j from time t_j on, given that nobody was taken before
// time x: between t_r and t_{r+1} it satisfies -x v' = Σ_{j<=r} G_j - r v, where G_j(x) = Σ_k w_k C(k-1,j-1) x^j (1-x)^{k-j} is the worth of taking relative rank j.
type stoppingValue struct {
	starts []interval.Interval
	worth  [][]interval.Interval // of rank j: coefficients of x^0, x^1, …
	sum    [][]interval.Interval // of the first r ranks
	c      []interval.Interval
}

func newStoppingValue(w, starts []interval.Interval) *stoppingValue {
	m := len(w)
	v := &stoppingValue{starts: starts, sum: [][]interval.Interval{make([]interval.Interval, m+1)}, c: make([]interval.Interval, m+1)}
	for p := range m + 1 {
		v.sum[0][p] = whole(0)
	}
	for j := 1; j <= m; j++ {
		g := make([]interval.Interval, m+1)
		total := make([]interval.Interval, m+1)
		for p := range g {
			g[p] = whole(0)
			for k := max(j, p); p >= j && k <= m; k++ {
				c := new(big.Int).Mul(new(big.Int).Binomial(int64(k-1), int64(j-1)), new(big.Int).Binomial(int64(k-j), int64(p-j)))
				if (p-j)%2 == 1 {
					c.Neg(c)
				}
				g[p] = g[p].Add(interval.FromBig(c, limitBits).Mul(w[k-1]))
			}
			total[p] = v.sum[j-1][p].Add(g[p])
		}
		v.worth, v.sum = append(v.worth, g), append(v.sum, total)
	}
	v.c[m] = whole(0)
	v.c[m] = v.at(m, whole(1)).Neg() // v(1) = 0
	for r := m - 1; r >= 1; r-- {
		x := starts[r]
		v.c[r] = whole(0)
		v.c[r] = v.at(r+1, x).Sub(v.at(r, x)).Quo(x.Pow(r))
	}
	return v
}

// at is the value at x by the formula between t_r and t_{r+1}.
func (v *stoppingValue) at(r int, x interval.Interval) interval.Interval {
	if r == 0 {
		return v.at(1, v.starts[0])
	}
	value, power := v.c[r].Mul(x.Pow(r)), whole(1)
	for p, h := range v.sum[r] {
		if p == r {
			value = value.Sub(h.Mul(power).Mul(interval.Log(x)))
		} else {
			value = value.Add(h.Mul(power).Quo(whole(r - p)))
		}
		power = power.Mul(x)
	}
	return value
}

func horner(c []interval.Interval, x interval.Interval) interval.Interval {
	sum := whole(0)
	for p := len(c) - 1; p >= 0; p-- {
		sum = sum.Mul(x).Add(c[p])
	}
	return sum
}

func derivative(c []interval.Interval) (out []interval.Interval) {
	for p := 1; p < len(c); p++ {
		out = append(out, c[p].Mul(whole(p)))
	}
	return out
}

// excess bounds ∫ max(0, what the best decision on rank j gains over the rule's)/x dx over a cell on which the rule takes rank j, or does not.
func (v *stoppingValue) excess(j, r int, a, b *big.Float, taken bool) interval.Interval {
	x := interval.New(a, b)
	middle := interval.Point(x.Mid())
	// G_j - v over the cell, by the mean-value theorem: v' = (r v - Σ G)/x.
	slope := horner(derivative(v.worth[j-1]), x)
	gain := horner(v.worth[j-1], middle).Sub(v.at(r, middle))
	if r > 0 {
		slope = slope.Sub(whole(r).Mul(v.at(r, x)).Sub(horner(v.sum[r], x)).Quo(x))
	}
	gain = gain.Add(slope.Mul(x.Sub(middle)))
	if taken {
		gain = gain.Neg()
	}
	width := interval.Point(b).Sub(interval.Point(a))
	if gain.Hi().Sign() <= 0 {
		return whole(0)
	}
	if width.Hi().Cmp(big.NewFloat(0x1p-22)) < 0 {
		return width.Mul(interval.Point(gain.Hi())).Quo(x)
	}
	half := middle.Lo()
	return v.excess(j, r, a, half, taken).Add(v.excess(j, r, half, b, taken))
}

// TestLimitFromAbove: no rule of the limit model gains more for the payoffs 1 - λ_1, e^ε λ_1 - λ_2, …, and so no limit of private rules takes the best more often.
func TestLimitFromAbove(t *testing.T) {
	slowtest.Only(t)
	var starts []interval.Interval
	for _, x := range ratsOf(t, limitStarts) {
		starts = append(starts, box(x))
	}
	e := interval.Point(interval.ExpRat(big.NewRat(1, 2), limitBits).Hi())
	w := []interval.Interval{whole(1)}
	for k, l := range ratsOf(t, limitMultipliers) {
		w[k] = w[k].Sub(box(l))
		w = append(w, e.Mul(box(l)))
	}
	for k, x := range w {
		if x.Lo().Sign() < 0 {
			t.Fatalf("payoff %d is negative, so the value of the rule may be", k+1)
		}
	}
	v := newStoppingValue(w, starts)
	bound := v.at(0, whole(0))
	for j := 1; j <= len(w); j++ {
		for r := 0; r <= len(starts); r++ {
			a, b := big.NewFloat(0).SetPrec(limitBits), whole(1).Hi()
			if r > 0 {
				a = starts[r-1].Lo()
			}
			if r < len(starts) {
				b = starts[r].Hi()
			}
			bound = bound.Add(v.excess(j, r, a, b, r >= j))
		}
	}
	if bound.Hi().Cmp(box(rat(t, limitUpper)).Lo()) > 0 {
		t.Errorf("at most %s", bound)
	}
}
