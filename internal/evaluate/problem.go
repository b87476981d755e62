package evaluate

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

// Problem is a score vector on which mechanisms are rated, at any number of ε. Make one with New or NewRational.
type Problem struct {
	n           int
	scores      func(i int) *big.Rat
	sensitivity *big.Rat
	monotonic   bool
	// Candidates of equal scores form a class, best first. gap is how far below the best score a class lies, near the same in float64, and
	// counts are the sizes.
	gap    func(class int) *big.Rat
	near   []float64
	counts []int
}

// New returns the problem of integer scores. With monotonic, neighbors move all scores one way, by at most the sensitivity, and each
// mechanism runs with mechanisms.MonotonicSensitivities.
func New(scores []int64, sensitivity *big.Rat, monotonic bool) (*Problem, error) {
	if len(scores) > 0 && (slices.Min(scores) < -2*MaxTotal || slices.Max(scores) > 2*MaxTotal) {
		return nil, inputf("a score beyond 2^61")
	}
	p := &Problem{sensitivity: sensitivity, monotonic: monotonic, scores: func(i int) *big.Rat { return new(big.Rat).SetInt64(scores[i]) }}
	return p, classify(p, scores, cmp.Compare[int64], func(best, q int64) *big.Rat { return new(big.Rat).SetInt64(best - q) })
}

// NewRational is New for rational scores.
func NewRational(scores []*big.Rat, sensitivity *big.Rat, monotonic bool) (*Problem, error) {
	// In float64 most comparisons are quick, and what rounds to different numbers is ordered like them.
	type score struct {
		near  float64
		exact *big.Rat
	}
	rounded := make([]score, len(scores))
	for i, q := range scores {
		rounded[i].near, _ = q.Float64()
		rounded[i].exact = q
	}
	p := &Problem{sensitivity: sensitivity, monotonic: monotonic, scores: func(i int) *big.Rat { return scores[i] }}
	return p, classify(p, rounded, func(a, b score) int {
		if c := cmp.Compare(a.near, b.near); c != 0 {
			return c
		}
		return a.exact.Cmp(b.exact)
	}, func(best, q score) *big.Rat { return new(big.Rat).Sub(best.exact, q.exact) })
}

// classify puts candidates of equal scores into classes.
func classify[T any](p *Problem, scores []T, compare func(a, b T) int, gap func(best, q T) *big.Rat) error {
	if p.n = len(scores); p.n == 0 {
		return inputf("no scores")
	}
	if p.sensitivity.Sign() <= 0 {
		return inputf("the sensitivity is %s, want > 0", p.sensitivity.RatString())
	}
	ordered := slices.Clone(scores)
	slices.SortFunc(ordered, func(a, b T) int { return compare(b, a) })
	best, different := ordered[0], ordered[:0]
	for _, q := range ordered {
		if len(different) == 0 || compare(q, different[len(different)-1]) != 0 {
			different = append(different, q)
			near, _ := gap(best, q).Float64()
			p.near, p.counts = append(p.near, near), append(p.counts, 0)
		}
		p.counts[len(p.counts)-1]++
	}
	if math.IsInf(p.near[len(p.near)-1], 0) {
		return inputf("scores further apart than float64 can hold")
	}
	p.gap = func(class int) *big.Rat { return gap(best, different[class]) }
	return nil
}

// OneWay is the problem with neighbors that move all scores one way.
func (p *Problem) OneWay() *Problem {
	q := *p
	q.monotonic = true
	return &q
}

// Classes returns how many different scores there are.
func (p *Problem) Classes() int { return len(p.counts) }

// sensitivityFor returns the sensitivity with which a mechanism runs.
func (p *Problem) sensitivityFor(m mechanisms.Mechanism) (*big.Rat, error) {
	if !p.monotonic {
		return p.sensitivity, nil
	}
	s, err := mechanisms.MonotonicSensitivities(m, []*big.Rat{p.sensitivity})
	if err != nil {
		return nil, err
	}
	return s[0], nil
}

// ExpectedError returns a mechanism's E[q* - q_M] in the units of the scores: exact for few candidates where it is rational, else enclosed, else
// an estimate.
func (p *Problem) ExpectedError(m mechanisms.Mechanism, eps number.Epsilon) (number.Number, error) {
	sensitivity, err := p.sensitivityFor(m)
	if err != nil {
		return number.Number{}, err
	}
	if err := eps.Check(); err != nil {
		return number.Number{}, err
	}
	if w, ok := m.(weighted); ok && p.n > exactCandidates {
		return p.classError(w, sensitivity, eps), nil
	}
	a, err := mechanisms.Ask(m, p.instance(sensitivity, eps))
	if err != nil {
		return number.Number{}, err
	}
	return a.ExpectedError, nil
}

// instance returns the problem as one question to a mechanism.
func (p *Problem) instance(sensitivity *big.Rat, eps number.Epsilon) *mechanisms.Instance {
	in := &mechanisms.Instance{Scores: make([]*big.Rat, p.n), Sensitivities: []*big.Rat{sensitivity}, Epsilon: eps}
	for i := range in.Scores {
		in.Scores[i] = p.scores(i)
	}
	return in
}

// Ratio returns a/b for errors a and b, 1 where both are 0, +∞ where b alone is. It is an estimate where one of them is.
func Ratio(a, b number.Number) number.Number {
	if a.IsRigorous() && b.IsRigorous() {
		return a.Over(b)
	}
	if y := b.Float64(); y > 0 {
		return number.Estimate(a.Float64()/y, "ratio of estimates")
	}
	return number.Bounds(new(big.Rat), nil)
}
