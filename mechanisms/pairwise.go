package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"optratio/internal/arith"
	"optratio/number"
)

var comparisons = &pairwise{
	info: epsDPEach("pairwise", "each pair compared with exponential noise at its own scale, drawn again until somebody beats all others, at a parameter proved to be ε-DP",
		"this project, research/docs/unequal.md, Theorems 3, 4 and 9"),
	same: flipPair,
}

// pairwise draws independent exponential E_r of rate ε₀. Candidate r beats s iff (h_r - h_s) + (Δ_r+Δ_s)(E_r - E_s) > 0, and is taken if it beats all
// others; if nobody does, all is drawn again. With g_rs = (h_s - h_r)/(Δ_r+Δ_s) the probability that r beats all others is
//
//	f_r = ∫ Π_{s≠r} (1 - u e^{ε₀ g_rs}) du  over u from 0 to e^{-ε₀ max(0, max_s g_rs)},
//
// and the mechanism takes r with probability f_r/Σf. h_r = q_r - Δ_r for three candidates and more. For two, and where sensitivities are nearly equal, it is pf-pair; for two
// and for equal ones that is the same at h = q. research/docs/unequal.md proves which ε₀ is ε-DP for all scores.
type pairwise struct {
	info Info
	same *overDepths
}

func (m *pairwise) Info() Info { return m.info }

// plain reports whether the instance is left to pf-pair: whether there are two candidates or fewer, or the least sum of two sensitivities exceeds
// 9/10 of the largest one, so that all scales are as good as one.
func (in *Instance) plain() bool {
	each := slices.SortedFunc(slices.Values(in.eachSensitivity()), (*big.Rat).Cmp)
	n := len(each)
	if n <= 2 {
		return true
	}
	least, most := new(big.Rat).Add(each[0], each[1]), new(big.Rat).Add(each[n-2], each[n-1])
	return least.Cmp(most.Mul(most, big.NewRat(9, 10))) > 0
}

// pairwiseCircles are kept by sensitivities: a bound takes a fraction of a second.
var pairwiseCircles sync.Map

// The sensitivities for which circles are bounded; for more, half of ε is used.
const (
	mostPairwise = 12 // candidates, if they have two different sensitivities at most
	mostVaried   = 5  // candidates otherwise
)

// circles returns bounds that hold for the sensitivities; most = 1, slope = 1 is always one.
func (in *Instance) circles() circles {
	each := slices.SortedFunc(slices.Values(in.eachSensitivity()), (*big.Rat).Cmp)
	if len(each) > mostPairwise {
		return circles{1, 1}
	}
	// Quotients are rounded, by a relative 2^-53: circleWiden makes up for that.
	names, deltas, unit := make([]string, len(each)), make([]float64, len(each)), each[len(each)-1]
	for i, d := range each {
		quotient := new(big.Rat).Quo(d, unit)
		names[i] = quotient.RatString()
		deltas[i], _ = quotient.Float64()
		if d.Sign() > 0 && deltas[i] == 0 {
			return circles{1, 1}
		}
	}
	if len(each) > mostVaried && distinct(deltas) > 2 {
		return circles{1, 1}
	}
	key := strings.Join(names, " ")
	if known, ok := pairwiseCircles.Load(key); ok {
		return known.(circles)
	}
	out := circlesOf(deltas)
	pairwiseCircles.Store(key, out)
	return out
}

// pairwiseParameter returns ε₀ = max(ε/2, ε/(1+L), ε + ln(1-η)) or slightly less: a multiple of 2^-64.
func (in *Instance) pairwiseParameter() number.Epsilon {
	if in.plain() || in.Epsilon.IsZero() || in.Epsilon.Check() != nil {
		return in.Epsilon
	}
	const prec = 160
	c, eps, one := in.circles(), in.Epsilon.Value(prec), number.FromInt(1, prec)
	best := eps.Quo(one.Add(number.FromFloat(min(1, c.slope), prec)))
	if c.most < 1 {
		best = best.Max(eps.Add(number.Log(one.Sub(number.FromFloat(c.most, prec)))))
	}
	low, _ := best.Lo().Rat(nil)
	whole := new(big.Int).Lsh(low.Num(), 64)
	safe, err := number.FromEpsilon(new(big.Rat).SetFrac(whole.Quo(whole, low.Denom()), new(big.Int).Lsh(oneInt, 64)))
	if err != nil {
		panic(err) // best >= ε/(1+L) >= 0
	}
	return safe
}

// lead is g_rs; sign is that of an infinite one between public candidates, and 0 otherwise.
type lead struct {
	g    *big.Rat
	sign int
}

// leadOver returns the lead of s over r.
func leadOver(r, s candidate) lead {
	gap, sum := new(big.Rat).Sub(s.q, r.q), new(big.Rat).Add(s.d, r.d)
	gap.Add(gap, new(big.Rat).Sub(r.d, s.d)) // h = q - Δ
	if sum.Sign() == 0 {
		return lead{new(big.Rat), gap.Sign()}
	}
	return lead{g: gap.Quo(gap, sum)}
}

// wins returns f_r for one candidate of each class, from the leads of the classes over it. It is 0 where a public candidate is ahead of a public one for good.
func wins[T any](classes []candidate, counts []int, zero T, beatsAll func(top *big.Rat, gaps []*big.Rat, counts []int) T) []T {
	out := make([]T, len(classes))
	for r, c := range classes {
		top, never := new(big.Rat), false
		leads := make([]lead, len(classes))
		for s, other := range classes {
			l := leadOver(c, other)
			leads[s], never = l, never || l.sign > 0
			if l.g.Cmp(top) > 0 {
				top = l.g
			}
		}
		if out[r] = zero; never {
			continue
		}
		var gaps []*big.Rat
		var many []int
		for s, l := range leads {
			n := counts[s]
			if s == r {
				n--
			}
			if n > 0 && l.sign == 0 {
				gaps, many = append(gaps, new(big.Rat).Sub(top, l.g)), append(many, n)
			}
		}
		out[r] = beatsAll(top, gaps, many)
	}
	return out
}

// Exact is that of pf-pair where the instance is left to it; otherwise e^{-ε₀} is not rational.
func (m *pairwise) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.plain() {
		return m.same.Exact(in)
	}
	return nil, ErrNotRational
}

// Symbolic likewise.
func (m *pairwise) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.plain() {
		return m.same.Symbolic(in, unit)
	}
	return nil, ErrNotRational
}

// Enclose multiplies out the product over the other candidates, as permuteAndFlip does: nothing cancels.
func (m *pairwise) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.plain() {
		return m.same.Enclose(in, prec)
	}
	if len(in.Scores) > manyCandidates {
		return nil, fmt.Errorf("%w: %s with more than %d candidates", ErrNoEnclosure, m.info.Name, manyCandidates)
	}
	work := prec + 32
	f, eps := arith.Interval{Prec: work}, in.pairwiseParameter()
	classes, counts, class := in.choices()
	p := wins(classes, counts, f.Zero(), func(top *big.Rat, gaps []*big.Rat, counts []int) number.Interval {
		product := []number.Interval{f.One()}
		for s, g := range gaps {
			product = times(f, product, eps.ExpNeg(g, work), counts[s])
		}
		sum := f.Zero()
		for j, c := range product {
			sum = sum.Add(c.Quo(f.FromInt(int64(j + 1))))
		}
		return eps.ExpNeg(top, work).Mul(sum)
	})
	total := f.Zero()
	for r, x := range p {
		total = total.Add(x.Mul(f.FromInt(int64(counts[r]))))
	}
	for r := range p {
		p[r] = clampUnit(p[r].Quo(total)).SetPrec(prec)
	}
	return scatter(class, p), nil
}

// Float takes O(n²) operations, some dozens each for the pairs whose comparison is not decided.
func (m *pairwise) Float(exact *Instance) ([]float64, error) {
	in, err := exact.floats()
	if err != nil {
		return nil, err
	}
	if exact.plain() {
		return m.same.Float(exact)
	}
	eps, n := exact.pairwiseParameter().Float(), len(in.Scores)
	p, total := make([]float64, n), compensated{}
	exponents, weights, ones := make([]float64, n), make([]float64, 0, n), slices.Repeat([]int{1}, n)
	for r, q := range in.Scores {
		top, d := 0.0, in.sensitivity(r)
		for s, other := range in.Scores {
			gap, sum := (other-q)+(d-in.sensitivity(s)), d+in.sensitivity(s)
			switch {
			case s == r || gap == 0 && sum == 0:
				exponents[s] = 0
			case sum == 0:
				exponents[s] = math.Inf(int(math.Copysign(1, gap)))
			default:
				exponents[s] = eps * (gap / sum)
			}
			top = max(top, exponents[s])
		}
		if math.IsInf(top, 1) {
			continue
		}
		weights = append(weights[:0], 1) // the first one stands for r
		for s, x := range exponents {
			if w := math.Exp(x - top); s != r && w > 1e-22 { // the others together change no factor by 1e-16
				weights = append(weights, w)
			}
		}
		u, g := permuteAndFlipNodes(weights, ones[:len(weights)])
		sum := 0.0
		for i := range g { // without r's own factor 1 - t
			sum += g[i] / u[i]
		}
		p[r] = math.Exp(-top) * sum
		total.add(p[r])
	}
	for r := range p {
		p[r] /= total.value()
	}
	return p, nil
}

// relativeError is that of exponentials of rounded leads, below which all gaps are.
func (m *pairwise) relativeError(in *floatInstance) float64 {
	worst := 1.0
	for i, q := range in.Scores {
		if d := in.sensitivity(i); d > 0 {
			worst = max(worst, in.Epsilon*(math.Abs(q)/d+2))
		}
	}
	return 1e-11 + float64(0x1p-48*worst)
}
