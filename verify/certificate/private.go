package certificate

import (
	"fmt"
	"math/big"

	"optratio/internal/evidence"
	"optratio/number"
)

// private is section private: probabilities that a table or a program stated, exactly or enclosed, of every outcome at finitely many inputs, and pairs of inputs that were
// said to be neighbors. What is decided is that every mechanism with such probabilities keeps (dε,δ)-DP on every pair at distance d, in its direction or in both:
//
//	Σ max(0, p - e^{dε} p') <= δ    over the outcomes, p being the upper end at one input and p' the lower end at the other
//
// which bounds Pr[S] - e^{dε} Pr'[S] for every set S of outcomes.
type private struct {
	explicit
	low, high [][]*big.Rat // of each input
}

func (t *private) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	t.cost = r.Cost
	t.Epsilon(r)
	t.delta = r.Number("delta")
	t.n = r.Whole("inputs", 1, evidence.MaxCandidates)
	t.outputs = r.Whole("outputs", 1, evidence.MaxCandidates)
	for range t.n {
		if r.Take("input") == "" {
			r.Failf("the input has no name")
		}
		t.row(r)
	}
	t.neighborhoods(r)
	if len(t.near) == 0 {
		r.Failf("no pairs")
	}
	t.Claims = []evidence.Claim{{On: "Σ max(0, p - e^ε p')", Value: number.Bounds(new(big.Rat), t.delta)}}
}

// row reads the probabilities at an input.
func (t *private) row(r *evidence.Reader) {
	var low, high []*big.Rat
	least, most, one := new(big.Rat), new(big.Rat), big.NewRat(1, 1)
	for _, s := range r.Fields("pmf", t.outputs) {
		lo, hi := probability(r, "pmf", s)
		t.cost.Sum(least, lo)
		t.cost.Sum(most, hi)
		low, high = append(low, lo), append(high, hi)
	}
	if least.Cmp(one) > 0 || most.Cmp(one) < 0 {
		r.Failf("pmf: the probabilities do not sum to 1")
	}
	t.low, t.high = append(t.low, low), append(t.high, high)
}

// Decide looks at every pair, at more and more bits.
func (t *private) Decide(o evidence.Options) {
	for prec := uint(128); ; prec *= 2 {
		open := ""
		var lows, highs []*big.Rat
		for _, d := range t.distances {
			low, high := t.Power(d, prec)
			lows, highs = append(lows, low), append(highs, high)
		}
		for _, q := range t.near {
			low, high := lows[q.distance], highs[q.distance]
			for _, ab := range [][2]int{{q.b, q.a}, {q.a, q.b}} {
				if q.directed && ab[0] == q.a {
					break
				}
				if t.keeps(ab[0], ab[1], high) {
					continue
				}
				if !t.keeps(ab[0], ab[1], low) {
					evidence.Refute("the probabilities at the inputs %d and %d are not known to be (ε,δ)-private", ab[0], ab[1])
				}
				open = fmt.Sprintf("the inputs %d and %d are too close to the bound to tell at %d bits", ab[0], ab[1], prec)
			}
		}
		switch {
		case open == "":
			t.Claims[0].Follows = true
			return
		case prec >= o.MaxPrecision:
			evidence.Stop(fmt.Errorf("%w: %s", evidence.ErrUndecided, open))
		}
	}
}

// keeps reports whether Σ max(0, z p_a - p_b) <= zδ.
func (t *private) keeps(a, b int, z *big.Rat) bool {
	sum, minus := new(big.Rat), big.NewRat(-1, 1)
	for k, p := range t.high[a] {
		over := new(big.Rat)
		t.cost.Sum(over, z, p)
		if t.cost.Sum(over, minus, t.low[b][k]); over.Sign() > 0 {
			t.cost.Sum(sum, over)
		}
	}
	return sum.Cmp(new(big.Rat).Mul(z, t.delta)) <= 0
}

func (t *private) About(p *evidence.Problem) bool {
	if len(t.Claims) == 0 {
		return false
	}
	p.Proof, p.Constraints = "table", "dp"
	t.Describe(p)
	p.About = fmt.Sprintf("the probabilities that this file states at %d inputs keep (ε,δ)-DP with δ = %s on its %d pairs of neighbors", t.n, t.delta.RatString(), len(t.near))
	return true
}
