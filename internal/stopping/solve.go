package stopping

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/secretary"
)

// Options steer Solve. The zero value is usable.
type Options struct {
	Solvers []linear.Solver // propose, each one where those before it give no answer; nil for linear.Embedded
	Gap     float64         // wanted (upper-lower)/upper, 0 for 1e-9
	Rounds  int             // at most so many master programs, 0 for 2000
	Report  func(Progress)
}

// Progress is what Solve reports after each round, in floating point.
type Progress struct {
	Round        int
	Lower, Upper float64 // Lower is the master's value, which may still break privacy rows
}

// Solution is a certified answer: Rule is exactly (ε, δ)-private and gains exactly
// Lower; no private rule gains more than Upper. Law is Rule's outcome law.
type Solution struct {
	Lower, Upper *big.Rat
	Rule         *secretary.Rule
	Law          []*big.Rat
	Free         []*big.Rat // the law of a best rule without privacy
	Rounds       int
	Pivots       int
	Solver       string // the name of the one that had the last word
	Stopped      error  // what ended the search early: the context, the solver, or nil

	problem     *Problem
	multipliers multipliers // that Upper follows from; none where it is the optimum without privacy
}

// Gap returns (Upper-Lower)/Upper, 0 where the two are equal.
func (s *Solution) Gap() float64 { return relativeGap(s.Lower, s.Upper) }

func relativeGap(lower, upper *big.Rat) float64 {
	if upper.Cmp(lower) == 0 {
		return 0
	}
	gap := new(big.Rat).Sub(upper, lower)
	if upper.Sign() == 0 {
		return math.Inf(1)
	}
	g, _ := gap.Quo(gap, new(big.Rat).Abs(upper)).Float64()
	return g
}

// smoothing lists how far the multipliers that are priced are pulled towards the best ones so
// far (Wentges 1997); without it the last digits take many more rounds.
var smoothing = [...]float64{0.95, 0.85, 0.7, 0.5, 0.25, 0}

// Solve finds the best private rule and certifies it. It returns an error for a
// malformed problem or if no rule was found at all; an early end (the context, the number
// of rounds) still gives what is certified so far.
func Solve(ctx context.Context, p *Problem, o Options) (*Solution, error) {
	p, err := p.complete()
	if err != nil {
		return nil, err
	}
	if o.Solvers == nil {
		o.Solvers = []linear.Solver{linear.Embedded{}}
	}
	if o.Gap <= 0 {
		o.Gap = 1e-9
	}
	if o.Rounds <= 0 {
		o.Rounds = 2000
	}
	start := time.Now()
	sol, err := p.withoutSearch()
	if err != nil {
		return nil, err
	}
	// What is found at the end takes as long to certify. Whoever interrupts does not wait for it.
	rest := time.Since(start)
	search, cancel := leaving(ctx, rest)
	defer cancel()
	s := newSearch(p, o)
	sol.Stopped = s.run(search)
	if errors.Is(sol.Stopped, context.Canceled) && rest > hurry {
		return sol, nil
	}
	if err := s.certify(sol); err != nil {
		return nil, err
	}
	return sol, nil
}

// hurry is the longest certification after an interruption: a second signal ends the process two seconds after the first one.
const hurry = time.Second / 4

// leaving returns a context that ends so long before the deadline of ctx, if it has one.
func leaving(ctx context.Context, rest time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, deadline.Add(-rest), fmt.Errorf("the time limit was reached but for what the certificate takes (%w)", context.DeadlineExceeded))
}

// patience is the number of rounds without progress that the search accepts.
const patience = 15

// search is the state of the column generation.
type search struct {
	p      *Problem
	o      Options
	m      *master
	center multipliers // the best multipliers so far
	upper  float64     // their bound
	last   *flow
	rounds int
}

func newSearch(p *Problem, o Options) *search {
	return &search{p: p, o: o, m: newMaster(p, o.Solvers), upper: math.Inf(1), center: multipliers{}}
}

// price bounds the optimum by multipliers, keeps them if they are the best so far, and adds the
// patterns of their best rule.
func (s *search) price(ctx context.Context, lambda multipliers) (added int) {
	payoff, offset := s.m.adjusted(lambda)
	value, stops := secretary.BestFloat(payoff)
	if bound := value + offset; bound < s.upper {
		s.upper, s.center = bound, lambda
	}
	return s.m.addPatterns(ctx, stops)
}

// run alternates the master and the pricing until the bounds meet, nothing new is found, or something stops it.
func (s *search) run(ctx context.Context) error {
	start, err := s.m.lawMultipliers(ctx)
	if err != nil {
		return err
	}
	s.price(ctx, start)
	s.price(ctx, multipliers{})
	s.m.addRows(s.m.felt(start))
	least, idle, fresh := math.Inf(1), 0, false
	for s.rounds = 1; s.rounds <= s.o.Rounds; s.rounds++ {
		f, broken, err := s.settled(ctx)
		if err != nil {
			if fresh || ctx.Err() != nil {
				return err
			}
			s.m.basis, fresh = nil, true
			continue
		}
		s.last, fresh = f, false
		added, err := s.priceAround(ctx, f)
		if err != nil {
			return err
		}
		added += broken
		if s.o.Report != nil {
			s.o.Report(Progress{Round: s.rounds, Lower: f.value, Upper: s.upper})
		}
		gap := s.upper - f.value
		if gap <= s.o.Gap/4*math.Abs(s.upper) && broken == 0 {
			return nil
		}
		// Progress is a smaller gap, or new rows while the gap is still wide.
		if gap < 0.9*least || broken > 0 && gap > 100*s.o.Gap*math.Abs(s.upper) {
			least, idle = gap, 0
		}
		if idle++; added > 0 && idle < patience {
			continue
		}
		if s.m.scale == sharpScale {
			return nil // nothing more to be had in this precision
		}
		s.m.scale, idle = sharpScale, 0
	}
	return fmt.Errorf("%d rounds without reaching the gap", s.o.Rounds)
}

// priceAround prices at multipliers between the best ones so far and those of a flow, and at the flow itself, and returns how many patterns were new.
func (s *search) priceAround(ctx context.Context, f *flow) (added int, err error) {
	center := s.center
	for _, t := range smoothing {
		if ctx.Err() != nil {
			return added, context.Cause(ctx)
		}
		added += s.price(ctx, blend(center, f.lambda, t))
	}
	return added + s.m.addPatterns(ctx, s.m.priced(f)), nil
}

// settled solves the master until its law breaks no privacy row that it does not have, and returns how many were new.
func (s *search) settled(ctx context.Context) (f *flow, broken int, err error) {
	for {
		if f, err = s.m.solve(ctx); err != nil {
			return nil, broken, err
		}
		added := s.m.addRows(s.m.violated(f.law, s.tolerance()))
		if broken += added; added == 0 {
			return f, broken, nil
		}
	}
}

// tolerance is what a privacy row may be broken by before it enters the master.
func (s *search) tolerance() float64 { return max(1e-12, s.o.Gap/8*(s.m.e-1)) / float64(s.p.N()) }

// blend returns t·a + (1-t)·b.
func blend(a, b multipliers, t float64) multipliers {
	out := make(multipliers, len(a)+len(b))
	for r, x := range a {
		out[r] += float64(t * x)
	}
	for r, x := range b {
		out[r] += float64((1 - t) * x)
	}
	return out
}

// withoutSearch bounds the optimum by the best rule without privacy, and by its best p-mix with the blind choice. So an answer
// exists whatever becomes of the search.
func (p *Problem) withoutSearch() (*Solution, error) {
	value, stops, err := secretary.Best(p.Payoff)
	if err != nil {
		return nil, err
	}
	free, err := stops.Rule()
	if err != nil {
		return nil, err
	}
	sol := &Solution{Upper: value, Free: free.Law(), problem: p}
	return sol, sol.consider(p, free, sol.Free)
}

// certify turns the last flow and the best multipliers into exact bounds, where they are better than what sol has.
func (s *search) certify(sol *Solution) error {
	sol.Rounds, sol.Pivots, sol.Solver = min(s.rounds, s.o.Rounds), s.m.pivots, s.m.solvers[0].Name()
	if len(s.center) > 0 {
		upper, err := s.p.upperBound(s.center)
		if err != nil {
			return err
		}
		if upper.Cmp(sol.Upper) < 0 {
			sol.Upper, sol.multipliers = upper, s.center
		}
	}
	if s.last != nil {
		found, err := s.m.rule(s.last)
		if err != nil {
			return err
		}
		if err := sol.consider(s.p, found, found.Law()); err != nil {
			return err
		}
	}
	pair, err := secretary.Violated(sol.Law, s.p.L, s.p.Eps, s.p.Delta)
	if err != nil {
		return err
	}
	if pair != (secretary.Pair{}) {
		panic(fmt.Sprintf("stopping: the repaired rule breaks privacy at ranks %d, %d", pair.I, pair.J))
	}
	return nil
}

// consider makes a rule of a given law private by mixing it with the blind choice just enough, and keeps it if it gains more than what
// sol has. The blind choice satisfies every privacy row, strictly unless ε = δ = 0.
func (sol *Solution) consider(p *Problem, rule *secretary.Rule, law []*big.Rat) error {
	keep, _, err := secretary.LargestP(secretary.ExactLaw(law), p.L, p.Eps, p.Delta)
	if err != nil {
		return err
	}
	if keep.Cmp(big.NewRat(1, 1)) < 0 {
		keep = roundDown(keep, weightBits) // a smaller weight is private, too: take one with a short denominator
		blindLaw, err := secretary.BlindLaw(arith.Rat{}, p.N())
		if err != nil {
			return err
		}
		law = secretary.Mix(arith.Rat{}, keep, law, blindLaw)
	}
	gain := dot(p.Payoff, law)
	if sol.Lower != nil && gain.Cmp(sol.Lower) <= 0 {
		return nil
	}
	if keep.Cmp(big.NewRat(1, 1)) < 0 {
		blind, err := secretary.ThresholdRule(p.N(), 1)
		if err != nil {
			return err
		}
		if rule, err = secretary.MixRules(keep, rule, blind); err != nil {
			return err
		}
	}
	sol.Rule, sol.Law, sol.Lower = rule, law, gain
	return nil
}

func dot(payoff, law []*big.Rat) *big.Rat {
	sum := new(big.Rat)
	for k, c := range payoff {
		if c.Sign() != 0 {
			sum.Add(sum, new(big.Rat).Mul(c, law[k]))
		}
	}
	return sum
}

// weightBits is the binary precision of the weights of a proposed rule.
const weightBits = 80

// roundDown returns the largest multiple of 2^-bits that is at most x >= 0.
func roundDown(x *big.Rat, bits uint) *big.Rat {
	scaled := new(big.Int).Lsh(x.Num(), bits)
	scaled.Quo(scaled, x.Denom())
	return new(big.Rat).SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), bits))
}

// snap is the relative distance at which a weight counts as 0 or as all that there is.
const snap = 1e-13

// shares returns, for each time, the summed weights of the patterns that take each relative rank there, and of all that reach it.
func (m *master) shares(f *flow) (share [][]float64, total []float64) {
	share, total = make([][]float64, m.p.N()), make([]float64, m.p.N())
	for i := range share {
		share[i] = make([]float64, i+1)
	}
	for c, w := range f.weights {
		if w == 0 {
			continue
		}
		for _, set := range m.patterns[c].sets {
			total[len(set)-1] += w
			passed := 0
			for j, taken := range set {
				if taken {
					share[len(set)-1][j] += w
				} else {
					passed++
				}
			}
			w *= float64(passed) / float64(len(set))
		}
	}
	return share, total
}

// rule returns the rule of a flow with exact weights: shares of the patterns'
// weights at each time of their blocks, clipped to what really reaches that time.
func (m *master) rule(f *flow) (*secretary.Rule, error) {
	n := m.p.N()
	share, total := m.shares(f)
	weight := make([][]*big.Rat, n)
	reach, zero := big.NewRat(1, 1), new(big.Rat)
	for i := range weight {
		row := make([]*big.Rat, i+1)
		for j, x := range share[i] {
			switch {
			case i == n-1 || x >= total[i]*(1-snap):
				row[j] = reach
			case x <= total[i]*snap:
				row[j] = zero
			default:
				w := roundDown(new(big.Rat).SetFloat64(x), weightBits)
				if w.Cmp(reach) > 0 {
					w = reach
				}
				row[j] = w
			}
			if j > 0 && row[j].Cmp(row[j-1]) == 0 {
				row[j] = row[j-1]
			}
		}
		weight[i] = row
		reach = secretary.ReachAfter(reach, row)
	}
	return secretary.NewRule(weight)
}
