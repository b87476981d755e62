package lp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/decimal"
	"optratio/internal/totals"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// MeanError returns a mechanism's mean expected error over the lattice Q(n,k) in steps of 2Δ, weighed by the prior: exactly where that is rational and of
// moderate size, otherwise to a relative 1e-12 where the mechanism's probabilities can be enclosed so well. It is what Ratio divides by the optimum.
// Errors are those of bad input, of the mechanism, ErrTooLarge, and the context's.
func MeanError(ctx context.Context, m mechanisms.Mechanism, n, k int, prior Prior, eps number.Epsilon) (number.Number, error) {
	q := Request{N: n, K: k, Epsilon: eps, Prior: prior, Mechanisms: []mechanisms.Mechanism{m}}
	if err := q.complete(); err != nil {
		return number.Number{}, err
	}
	for prec := q.precision(); ; prec *= 2 {
		x, err := q.objective(ctx, m, prec)
		if err != nil || arith.IsExact(x) || !x.IsRigorous() || approximate(m) || prec >= 1<<12 || x.Within(big.NewRat(1, 1e12)) {
			return x, err
		}
	}
}

// precision returns how many bits enclosures begin with.
func (q *Request) precision() uint {
	prec := 192 + 2*uint(bitLength(q.N)+bitLength(q.K))
	if !q.published() { // whose bounds are as close as asked with fewer, or have programs of their own precision
		prec += uint(q.Gap.Denom().BitLen())
	}
	return prec
}

// Limits on exact objectives: beyond these the rational has too many digits to be of use.
const (
	exactOrbits      = 4000    // orbits whose different denominators are multiplied up
	exactDenominator = 1 << 22 // bits of their product
)

// maxSum is the number of orbits from which an integral encloses the exponential mechanism's error sooner than a sum.
const maxSum = 10_000

// maxEnumerate bounds the orbits that a mechanism's objective is summed over.
const maxEnumerate = 20_000_000

// objective returns a mechanism's mean loss under the prior, or its largest loss of a score vector, with enclosures of prec bits: by theorem, but for a request for the
// program, which is a route of its own, or from its probabilities on the lattice.
func (q *Request) objective(ctx context.Context, m mechanisms.Mechanism, prec uint) (number.Number, error) {
	if q.N == 1 { // whatever it answers is right, if it is an answer
		_, err := mechanisms.Ask(m, q.instance([]int{0}))
		return number.Int(0), err
	}
	if geo, _ := mechanisms.Lookup("geo"); m == geo && q.parts() == 1 {
		m = mechanisms.PermuteAndFlip() // which it is on the lattice of step 2Δ (research/docs/resolution.md)
	}
	if q.published() || q.Method != methodLP || q.beyond() != "" {
		if x, err := q.byTheorem(ctx, m, prec); err != nil || x.IsValid() {
			return x, err
		}
	}
	if m == mechanisms.Exponential() && !q.Worst && q.parts() == 1 && q.Loss.kind == "" && q.Prior.flat() && lattice.Orbits(q.N, q.K).Cmp(big.NewInt(maxSum)) > 0 {
		z := func(prec uint) number.Interval { return q.Epsilon.ExpNeg(big.NewRat(1, 1), prec) }
		x, err := totals.Exponential(ctx, q.N, q.K, z, q.Prior.box(), math.Ldexp(1, -int(min(prec/5, 200))))
		if err != nil {
			return number.Number{}, err
		}
		return number.Enclosed(x).Quo(q.vectors()), nil
	}
	lat, err := lattice.New(q.N, q.depths())
	if err != nil || lat.Len() > maxEnumerate || !q.published() && q.hasMore(maxTabled) {
		return number.Number{}, fmt.Errorf("%w: the error of %s needs a sum over %s score vectors up to order; take fewer candidates or a smaller depth, or leave it out",
			ErrTooLarge, m.Info().Name, decimal.Count(lattice.Orbits(q.N, q.depths())))
	}
	if vectors := lattice.Vectors(q.N, q.depths(), false); !m.Info().Symmetric && vectors.Cmp(big.NewInt(maxEnumerate)) > 0 {
		return number.Number{}, fmt.Errorf("%w: the error of %s needs a sum over %s score vectors, as its Info does not say that it is Symmetric; take fewer candidates or a smaller depth, or leave it out",
			ErrTooLarge, m.Info().Name, decimal.Count(vectors))
	}
	if w, ok := m.(weighted); ok && q.parts() == 1 {
		return q.ofWeights(ctx, w, lat, prec)
	}
	if q.published() {
		m = onLattice(m, q.K, q.Prior, q.Level)
	}
	x, err := q.ofInstances(ctx, mechanisms.Within(ctx, m), lat, prec)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", m.Info().Name, err)
	}
	return x, err
}

// byTheorem returns a mechanism's objective where a theorem gives it, else no number.
func (q *Request) byTheorem(ctx context.Context, m mechanisms.Mechanism, prec uint) (number.Number, error) {
	pf, em := m == mechanisms.PermuteAndFlip(), m == mechanisms.Exponential()
	switch {
	case pf && q.published():
		return q.flipError(ctx, prec)
	case q.published() || !pf && !em:
		return number.Number{}, nil
	}
	t := q.theorems(ctx, prec)
	if pf {
		return t.flip, nil
	}
	return t.exponential, nil
}

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	WeightedExact(weights []*big.Rat, counts []int) []*big.Rat
	WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
}

// ofWeights is the objective of a mechanism whose probabilities are functions of the weights z^depth.
func (q *Request) ofWeights(ctx context.Context, w weighted, lat *lattice.Lattice, prec uint) (number.Number, error) {
	_, k := lat.Size()
	if z, rational := q.Epsilon.Z(); rational && lat.Len() <= exactOrbits && lat.Len()*k*z.Denom().BitLen() <= exactDenominator {
		return exactObjective(ctx, q, lat, asked(arith.Powers(arith.Rat{}, z, k), w.WeightedExact))
	}
	powers := arith.Powers(arith.Interval{Prec: prec}, q.Epsilon.ExpNeg(big.NewRat(1, 1), prec), k)
	return enclosedObjective(ctx, q, lat, prec, asked(powers, w.WeightedEnclose))
}

// ofInstances asks a mechanism for each orbit's probabilities: exact on moderate lattices where they are rational, else enclosed, else as estimates.
func (q *Request) ofInstances(ctx context.Context, m mechanisms.Mechanism, lat *lattice.Lattice, prec uint) (number.Number, error) {
	symmetric := m.Info().Symmetric
	if q.Worst || lat.Len() <= exactOrbits {
		x, err := exactObjective(ctx, q, lat, instances(q, symmetric, func(in *mechanisms.Instance) ([]*big.Rat, error) {
			return mechanisms.ExactDistribution(m, in)
		}))
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return x, err
		}
	}
	x, err := enclosedObjective(ctx, q, lat, prec, instances(q, symmetric, func(in *mechanisms.Instance) ([]number.Interval, error) {
		return mechanisms.EnclosedDistribution(m, in, prec)
	}))
	if !errors.Is(err, mechanisms.ErrNoEnclosure) {
		return x, err
	}
	return estimatedObjective(ctx, q, lat, instances(q, symmetric, m.Float))
}

// distribution is what a mechanism says of a score vector: the probability of one candidate at each of some depths, and how many candidates it stands for.
type distribution[T any] struct {
	depths, counts []int
	pmf            []T
}

// asker visits the distributions at the score vectors of an orbit: at one of them where the mechanism is known to be symmetric, at all otherwise.
type asker[T any] func(m []int, visit func(distribution[T]) error) error

// asked asks for the probabilities at the weights of an orbit's occupied depths.
func asked[T any](powers []T, pmf func(weights []T, counts []int) []T) asker[T] {
	return func(m []int, visit func(distribution[T]) error) error {
		var d distribution[T]
		var weights []T
		for v, c := range m {
			if c > 0 {
				d.depths, d.counts, weights = append(d.depths, v), append(d.counts, c), append(weights, powers[v])
			}
		}
		d.pmf = pmf(weights, d.counts)
		return visit(d)
	}
}

// instances asks for the probabilities of the candidates, one by one.
func instances[T any](q *Request, symmetric bool, pmf func(in *mechanisms.Instance) ([]T, error)) asker[T] {
	counts := slices.Repeat([]int{1}, q.N)
	return func(m []int, visit func(distribution[T]) error) error {
		for depths := range arrangements(m) {
			p, err := pmf(q.instance(depths))
			if err == nil {
				err = visit(distribution[T]{depths, counts, p})
			}
			if err != nil || symmetric {
				return err
			}
		}
		return nil
	}
}

// arrangements yields the depths of every score vector that m stands for, Depths(m) first, in lexicographic order. The slice is the same each time.
func arrangements(m []int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for d := lattice.Depths(m); yield(d); {
			// The next one: the last depth with a larger one right behind it is exchanged with the last larger one, and what is behind is turned round.
			i := len(d) - 2
			for i >= 0 && d[i] >= d[i+1] {
				i--
			}
			if i < 0 {
				return
			}
			j := len(d) - 1
			for d[j] <= d[i] {
				j--
			}
			d[i], d[j] = d[j], d[i]
			slices.Reverse(d[i+1:])
		}
	}
}

// eachLoss visits the orbits until the context ends, with their expected losses: the mean of those at their score vectors or, with Worst, the largest.
func eachLoss[T any](ctx context.Context, q *Request, lat *lattice.Lattice, f arith.Field[T], larger func(a, b T) T, ask asker[T], visit func(m []int, loss T)) error {
	var losses []T
	for _, c := range q.losses() {
		losses = append(losses, f.FromRat(c))
	}
	for _, m := range lat.All() {
		loss, many := f.Zero(), int64(0)
		err := ask(m, func(d distribution[T]) error {
			at := f.Zero()
			for i, v := range d.depths {
				x := f.Mul(losses[v], d.pmf[i])
				if c := d.counts[i]; c > 1 {
					x = f.Mul(f.FromInt(int64(c)), x)
				}
				at = f.Add(at, x)
			}
			if many++; q.Worst {
				loss = larger(loss, at)
			} else {
				loss = f.Add(loss, at)
			}
			return context.Cause(ctx)
		})
		if err != nil {
			return err
		}
		if !q.Worst && many > 1 {
			loss = f.Quo(loss, f.FromInt(many))
		}
		visit(m, loss)
	}
	return nil
}

// orbitWeight returns the weight of an orbit, that of one of its vectors times their number.
func (q *Request) orbitWeight() func(m []int) *big.Rat {
	of := q.Prior.weigher(q)
	return func(m []int) *big.Rat {
		w := new(big.Rat).SetInt(lattice.Multiplicity(m))
		return w.Mul(w, of(m))
	}
}

// total returns the sum of the weights.
func (q *Request) total(ctx context.Context, lat *lattice.Lattice) *big.Rat {
	if q.Prior.flat() {
		return new(big.Rat).SetInt(lattice.Vectors(q.N, q.depths(), q.Prior.box()))
	}
	var weights []*big.Rat
	of := q.orbitWeight()
	for _, m := range lat.All() {
		weights = append(weights, of(m))
	}
	return pairwiseSum(ctx, weights)
}

// exactObjective sums rationals, in pairs of pairs, so that the common denominator grows once.
func exactObjective(ctx context.Context, q *Request, lat *lattice.Lattice, ask asker[*big.Rat]) (number.Number, error) {
	var terms []*big.Rat
	most, weight := new(big.Rat), q.orbitWeight()
	err := eachLoss(ctx, q, lat, arith.Rat{}, arith.Larger, ask, func(m []int, loss *big.Rat) {
		if most = arith.Larger(most, loss); !q.Worst {
			w := weight(m)
			terms = append(terms, w.Mul(w, loss))
		}
	})
	if err == nil && !q.Worst {
		most = pairwiseSum(ctx, terms)
		most.Quo(most, q.total(ctx, lat))
		err = context.Cause(ctx)
	}
	return number.Exact(most), err
}

// pairwiseSum returns the sum of the terms, unless the context ends.
func pairwiseSum(ctx context.Context, terms []*big.Rat) *big.Rat {
	if len(terms) == 1 || ctx.Err() != nil {
		return terms[0]
	}
	half := len(terms) / 2
	return new(big.Rat).Add(pairwiseSum(ctx, terms[:half]), pairwiseSum(ctx, terms[half:]))
}

// enclosedObjective sums enclosures.
func enclosedObjective(ctx context.Context, q *Request, lat *lattice.Lattice, prec uint, ask asker[number.Interval]) (number.Number, error) {
	f := arith.Interval{Prec: prec}
	sum, most, weight := number.NewAccumulator(prec), f.Zero(), q.orbitWeight()
	err := eachLoss(ctx, q, lat, f, number.Interval.Max, ask, func(m []int, loss number.Interval) {
		if q.Worst {
			most = most.Max(loss)
			return
		}
		w := weight(m)
		if w.IsInt() {
			sum.AddMul(arith.FromBig(w.Num(), prec), loss)
		} else {
			sum.AddMul(f.FromRat(w), loss)
		}
	})
	if err == nil && !q.Worst {
		most = sum.Value().Quo(f.FromRat(q.total(ctx, lat))).Max(most)
		err = context.Cause(ctx)
	}
	return number.Enclosed(most), err
}

// estimatedObjective sums floating-point numbers.
func estimatedObjective(ctx context.Context, q *Request, lat *lattice.Lattice, ask asker[float64]) (number.Number, error) {
	sum, most, weight, total := 0.0, 0.0, q.orbitWeight(), q.total(ctx, lat)
	err := eachLoss(ctx, q, lat, arith.Float{}, math.Max, ask, func(m []int, loss float64) {
		w := weight(m)
		share, _ := w.Quo(w, total).Float64()
		sum, most = sum+float64(share*loss), max(most, loss)
	})
	switch {
	case err != nil:
		return number.Number{}, err
	case q.Worst:
		sum = most
	}
	return number.Estimate(sum, "floating-point sum over the lattice"), nil
}
