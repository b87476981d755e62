package evaluate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

// Problem is a score vector on which mechanisms are rated, at any number of ε. Make one with New or NewRational.
type Problem struct {
	n           int
	scores      []*big.Rat // nil where ints has them
	ints        []int64
	sensitivity *big.Rat
	monotonic   bool
	// Candidates of equal scores form a class. gaps are the distances from the best score in ascending order, gaps[0] = 0, in units of unit, and
	// counts the sizes of the classes; nil where the scores have no such unit.
	gaps   []int64
	counts []int
	unit   *big.Rat
}

// maxGap bounds gaps in units, so that no difference of scores overflows.
const maxGap = 1 << 62

// New returns the problem of integer scores. With monotonic, neighbours move all scores one way, by at most the sensitivity, and each
// mechanism runs with mechanisms.MonotonicSensitivities. The error wraps ErrInput.
func New(scores []int64, sensitivity *big.Rat, monotonic bool) (*Problem, error) {
	p := &Problem{n: len(scores), ints: scores, sensitivity: sensitivity, monotonic: monotonic, unit: big.NewRat(1, 1)}
	if err := p.check(); err != nil {
		return nil, err
	}
	least, best := slices.Min(scores), slices.Max(scores)
	if least < -maxGap/2 || best > maxGap/2 {
		return nil, fmt.Errorf("%w: scores beyond 2^61", ErrInput)
	}
	p.classify(slices.Clone(scores))
	return p, nil
}

// NewRational is New for rational scores.
func NewRational(scores []*big.Rat, sensitivity *big.Rat, monotonic bool) (*Problem, error) {
	p := &Problem{n: len(scores), scores: scores, sensitivity: sensitivity, monotonic: monotonic}
	if err := p.check(); err != nil {
		return nil, err
	}
	if ints, den, ok := commonUnit(scores); ok {
		p.unit = new(big.Rat).SetFrac(big.NewInt(1), den)
		p.classify(ints)
	}
	return p, nil
}

func (p *Problem) check() error {
	if p.n == 0 {
		return fmt.Errorf("%w: no scores", ErrInput)
	}
	if p.sensitivity.Sign() <= 0 {
		return fmt.Errorf("%w: the sensitivity is %s, want > 0", ErrInput, p.sensitivity.RatString())
	}
	return nil
}

// commonUnit returns the scores as integers over a common denominator, where these are not too large.
func commonUnit(scores []*big.Rat) (ints []int64, den *big.Int, ok bool) {
	den = big.NewInt(1)
	rest := new(big.Int)
	for _, q := range scores {
		rest.GCD(nil, nil, den, q.Denom())
		if den.Mul(den, rest.Quo(q.Denom(), rest)); den.BitLen() > 62 {
			return nil, nil, false
		}
	}
	ints = make([]int64, len(scores))
	x := new(big.Int)
	for i, q := range scores {
		if x.Mul(q.Num(), den).Quo(x, q.Denom()); x.BitLen() > 60 {
			return nil, nil, false
		}
		ints[i] = x.Int64()
	}
	return ints, den, true
}

// classify sets gaps and counts. It sorts its argument.
func (p *Problem) classify(scores []int64) {
	slices.SortFunc(scores, func(a, b int64) int { return cmp.Compare(b, a) })
	for i, q := range scores {
		if i == 0 || q != scores[i-1] {
			p.gaps, p.counts = append(p.gaps, scores[0]-q), append(p.counts, 0)
		}
		p.counts[len(p.counts)-1]++
	}
}

// Candidates returns how many there are.
func (p *Problem) Candidates() int { return p.n }

// Classes returns how many different scores there are, 0 where that was not counted.
func (p *Problem) Classes() int { return len(p.gaps) }

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
func (p *Problem) ExpectedError(m mechanisms.Mechanism, eps mechanisms.Epsilon) (number.Number, error) {
	sensitivity, err := p.sensitivityFor(m)
	if err != nil {
		return number.Number{}, err
	}
	if err := eps.Check(); err != nil {
		return number.Number{}, err
	}
	if w, ok := m.(mechanisms.Weighted); ok && p.gaps != nil && p.n > exactCandidates {
		return p.classError(w, sensitivity, eps), nil
	}
	a, err := mechanisms.Ask(m, p.instance(sensitivity, eps))
	if err != nil {
		return number.Number{}, err
	}
	return a.ExpectedError, nil
}

// instance returns the problem as one question to a mechanism.
func (p *Problem) instance(sensitivity *big.Rat, eps mechanisms.Epsilon) *mechanisms.Instance {
	in := &mechanisms.Instance{Scores: p.scores, Sensitivities: []*big.Rat{sensitivity}, Epsilon: eps}
	for _, q := range p.ints {
		in.Scores = append(in.Scores, new(big.Rat).SetInt64(q))
	}
	return in
}
