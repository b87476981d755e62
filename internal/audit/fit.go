package audit

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/number"
	"optratio/verify"
)

// fitShare is the part of the budget that is set aside, at every score vector of the domain the same number, for a comparison
// with a named mechanism.
const fitShare = 0.25

// fewestForFit is the fewest samples at one score vector that a test of fit is made of, where there are more vectors.
const fewestForFit = 20

// sample is what was drawn for the test of fit at a place: as many draws as were planned.
type sample struct {
	place  int
	counts []int64
	total  int64
}

// drawForFit draws the same number of samples at every score vector of the domain, or at some drawn at random where the budget is small.
func (s *statistics) drawForFit(places []int) error {
	budget := int64(fitShare * float64(s.o.Budget))
	places = slices.Clone(places)
	slices.Sort(places)
	places = slices.Compact(places)
	if most := int(max(1, budget/fewestForFit)); len(places) > most {
		s.rng.Shuffle(len(places), func(a, b int) { places[a], places[b] = places[b], places[a] })
		places = places[:most]
	}
	s.planned = int64(len(places))
	each := budget / s.planned
	for _, i := range places {
		counts, err := s.draw(i, each)
		if err != nil {
			return err
		}
		if counts != nil {
			s.samples = append(s.samples, sample{i, counts, sumOf(counts)})
		}
	}
	return nil
}

// fit tests whether samples are those of the named mechanism: at every planned score vector, for every candidate, both tails, sharing
// alpha. How many draws there are was fixed before the first. The witness is the strongest evidence.
func (s *statistics) fit(alpha *big.Rat) (*verify.Result, error) {
	name := s.o.Against.Info().Name
	res := &verify.Result{Name: Against, Verdict: verify.Undecided, Reason: "the samples fit " + name}
	named, err := s.o.named(s.space)
	if err != nil {
		return nil, err
	}
	tests := 2 * s.planned * int64(len(s.field.places[0].q))
	strongest := newStrongest(alpha, tests)
	for _, t := range s.samples {
		q := s.field.places[t.place].q
		want, err := named.Answer(q)
		if err != nil {
			return nil, err
		}
		for r, x := range t.counts {
			res.Checked++
			p := want.P[r].Enclose(binomialBits)
			if !strongest.refutes(tailOf(t.total, x, p)) {
				continue
			}
			res.Verdict = verify.Violated
			res.Reason = fmt.Sprintf("the samples are not those of %s: candidate %d was taken %d times of %d, p <= %s in %d tests together",
				name, r, x, t.total, strongest.text(), tests)
			res.Witness = &verify.Witness{
				Scores: s.space.Scores(q), Candidate: &r, P: frequency(x, t.total), PExpected: want.P[r].Number(),
			}
		}
	}
	if len(s.samples) == 0 {
		res.Reason = "no score vector was sampled as often as planned"
	}
	return res, nil
}

// strongest is the least of the tails of a number of tests, which share a level.
type strongest struct {
	tail, level number.Interval
	tests       int64
}

func newStrongest(alpha *big.Rat, tests int64) *strongest {
	share := new(big.Rat).Quo(alpha, big.NewRat(max(1, tests), 1))
	return &strongest{number.FromInt(1, binomialBits), number.FromRat(share, binomialBits), tests}
}

// refutes reports whether a tail is the least so far, and at most a test's share of the level.
func (s *strongest) refutes(tail number.Interval) bool {
	if less, ok := tail.Cmp(s.tail); !ok || less >= 0 {
		return false
	}
	s.tail = tail
	holds, ok := tail.LessEq(s.level)
	return ok && holds
}

// text writes a bound on the p-value of all tests together, rounded up.
func (s *strongest) text() string {
	_, hi := s.tail.Mul(number.FromInt(s.tests, binomialBits)).Float64()
	if hi < 1e-300 {
		return "1e-300"
	}
	return fmt.Sprintf("%.1e", hi*1.05)
}

// tailOf bounds from above the probability that a binomial count of n draws is x or further from n·p on the same side. What
// lies within two standard deviations is 1.
func tailOf(n, x int64, p number.Interval) number.Interval {
	mid := p.Near()
	deviation := float64(x) - float64(float64(n)*mid)
	one := number.FromInt(1, binomialBits)
	if math.Abs(deviation) < 2*math.Sqrt(float64(n)*mid*(1-mid)) {
		return one
	}
	switch {
	case deviation > 0 && p.Hi().Sign() == 0, deviation < 0 && p.Lo().Cmp(one.Lo()) == 0:
		return number.FromInt(0, binomialBits)
	case deviation > 0:
		return upperTail(n, x, number.Point(p.Hi()))
	case deviation < 0:
		return upperTail(n, n-x, one.Sub(number.Point(p.Lo())))
	}
	return one
}
