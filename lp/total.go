package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Limits on exact totals: beyond these the rational has too many digits to be of use.
const (
	exactBits        = 1 << 19 // size of permute-and-flip's closed form
	exactOrbits      = 4000    // orbits whose different denominators are multiplied up
	exactDenominator = 1 << 22 // bits of their product
)

// ErrTooLarge is wrapped where a computation would not fit in time or memory. The message has the estimate and the remedy.
var ErrTooLarge error = number.InputError("too large")

// maxSum is the number of orbits from which an integral encloses the exponential mechanism's error sooner than a sum.
const maxSum = 10_000

// maxEnumerate bounds the orbits that a mechanism's error is summed over.
const maxEnumerate = 20_000_000

// permuteAndFlipValue returns the closed form, exactly where that is rational and of moderate size.
func permuteAndFlipValue(ctx context.Context, n, k int, o totals.Objective, eps number.Epsilon, prec uint) value {
	if z, ok := eps.Z(); ok {
		if bits := z.Denom().BitLen() + 1; float64(n)*float64(k)*float64(bits) < exactBits {
			return exactValue(flipTotalExact(n, k, o, z))
		}
	}
	return boxValue(flipTotal(ctx, n, k, o, eps, prec))
}

// total returns a mechanism's total expected error over the lattice, in steps of 2Δ, weighed by the objective. The
// level is for mechanisms that are made from a program, lp-optimal.
func total(ctx context.Context, m mechanisms.Mechanism, n, k int, o totals.Objective, level Level, eps number.Epsilon, prec uint) (value, error) {
	switch {
	case n == 1:
		return exactValue(new(big.Rat)), nil
	case m == mechanisms.PermuteAndFlip():
		return permuteAndFlipValue(ctx, n, k, o, eps, prec), ctx.Err()
	case m == mechanisms.Exponential() && lattice.Orbits(n, k).Cmp(big.NewInt(maxSum)) > 0:
		z := func(prec uint) number.Interval { return eps.ExpNeg(big.NewRat(1, 1), prec) }
		x, err := totals.Exponential(ctx, n, k, z, o, math.Ldexp(1, -int(min(prec/5, 200))))
		return boxValue(x), err
	}
	lat, err := lattice.New(n, k)
	if err != nil || lat.Len() > maxEnumerate {
		return value{}, fmt.Errorf("%w: the error of %s needs a sum over %s orbits; leave it out of the mechanisms",
			ErrTooLarge, m.Info().Name, decimal.Count(lattice.Orbits(n, k)))
	}
	if w, ok := m.(weighted); ok {
		return totalOfWeights(ctx, w, lat, o, eps, prec)
	}
	if err := arrangeable(m, n, k); err != nil {
		return value{}, err
	}
	v, err := totalOfInstances(ctx, OnLattice(m, k, o, level), lat, o, eps, prec)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", m.Info().Name, err)
	}
	return v, err
}

// arrangeable reports a mechanism that is not known to treat candidates alike, and so is asked about every score vector, where these are too many.
func arrangeable(m mechanisms.Mechanism, n, k int) error {
	if vectors := lattice.Vectors(n, k, false); !m.Info().Symmetric && vectors.Cmp(big.NewInt(maxEnumerate)) > 0 {
		return fmt.Errorf("%w: the error of %s needs a sum over %s score vectors, as its Info does not say that it is Symmetric; leave it out of the mechanisms",
			ErrTooLarge, m.Info().Name, decimal.Count(vectors))
	}
	return nil
}

// An answer is what a mechanism says of an orbit: the probability of one candidate at each of some depths, and how many candidates it
// stands for.
type answer[T any] struct {
	depths, counts []int
	pmf            []T
}

// eachOrbit visits the orbits until the context ends, with their weights and the expected depths that the answers mean.
func eachOrbit[T any](ctx context.Context, f arith.Field[T], lat *lattice.Lattice, o totals.Objective, ask func(m []int) (answer[T], error), visit func(weight *big.Int, mean T)) error {
	for i, m := range lat.All() {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		a, err := ask(m)
		if err != nil {
			return err
		}
		sum := f.Zero()
		for i, v := range a.depths {
			sum = f.Add(sum, f.Mul(f.FromInt(int64(v*a.counts[i])), a.pmf[i]))
		}
		visit(o.Weight(m), sum)
	}
	return nil
}

// exactTotal sums rationals, in pairs of pairs, so that the common denominator grows once.
func exactTotal(ctx context.Context, lat *lattice.Lattice, o totals.Objective, ask func(m []int) (answer[*big.Rat], error)) (value, error) {
	var terms []*big.Rat
	err := eachOrbit(ctx, arith.Rat{}, lat, o, ask, func(weight *big.Int, mean *big.Rat) {
		terms = append(terms, mean.Mul(mean, new(big.Rat).SetInt(weight)))
	})
	if err != nil {
		return value{}, err
	}
	return exactValue(pairwiseSum(ctx, terms)), ctx.Err()
}

// pairwiseSum returns the sum of the terms, unless the context ends.
func pairwiseSum(ctx context.Context, terms []*big.Rat) *big.Rat {
	if len(terms) == 1 || ctx.Err() != nil {
		return terms[0]
	}
	half := len(terms) / 2
	return new(big.Rat).Add(pairwiseSum(ctx, terms[:half]), pairwiseSum(ctx, terms[half:]))
}

// enclosedTotal sums enclosures.
func enclosedTotal(ctx context.Context, lat *lattice.Lattice, o totals.Objective, prec uint, ask func(m []int) (answer[number.Interval], error)) (value, error) {
	sum := number.NewAccumulator(prec)
	err := eachOrbit(ctx, arith.Interval{Prec: prec}, lat, o, ask, func(weight *big.Int, mean number.Interval) { sum.AddMul(number.FromBig(weight, prec), mean) })
	return boxValue(sum.Value()), err
}

// estimatedTotal sums floating-point numbers.
func estimatedTotal(ctx context.Context, lat *lattice.Lattice, o totals.Objective, ask func(m []int) (answer[float64], error)) (value, error) {
	sum := 0.0
	err := eachOrbit(ctx, arith.Float{}, lat, o, ask, func(weight *big.Int, mean float64) {
		w, _ := new(big.Float).SetInt(weight).Float64()
		sum += float64(w * mean)
	})
	return value{estimate: sum, method: "floating-point sum over the lattice"}, err
}

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	WeightedExact(weights []*big.Rat, counts []int) []*big.Rat
	WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
}

// totalOfWeights is the total of a mechanism whose probabilities are functions of the weights z^depth.
func totalOfWeights(ctx context.Context, w weighted, lat *lattice.Lattice, o totals.Objective, eps number.Epsilon, prec uint) (value, error) {
	if z, rational := eps.Z(); rational && lat.Len() <= exactOrbits && lat.Len()*lat.K()*z.Denom().BitLen() <= exactDenominator {
		return exactTotal(ctx, lat, o, asked(arith.Powers(arith.Rat{}, z, lat.K()), w.WeightedExact))
	}
	powers := arith.Powers(arith.Interval{Prec: prec}, eps.ExpNeg(big.NewRat(1, 1), prec), lat.K())
	return enclosedTotal(ctx, lat, o, prec, asked(powers, w.WeightedEnclose))
}

// asked asks for the probabilities at the weights of an orbit's occupied depths.
func asked[T any](powers []T, pmf func(weights []T, counts []int) []T) func(m []int) (answer[T], error) {
	return func(m []int) (answer[T], error) {
		var a answer[T]
		var weights []T
		for v, c := range m {
			if c > 0 {
				a.depths, a.counts, weights = append(a.depths, v), append(a.counts, c), append(weights, powers[v])
			}
		}
		a.pmf = pmf(weights, a.counts)
		return a, nil
	}
}

// totalOfInstances asks a mechanism for each orbit's probabilities: exact on moderate lattices where they are
// rational, else enclosed, else as estimates.
func totalOfInstances(ctx context.Context, m mechanisms.Mechanism, lat *lattice.Lattice, o totals.Objective, eps number.Epsilon, prec uint) (value, error) {
	m = mechanisms.Within(ctx, m)
	if lat.Len() <= exactOrbits {
		v, err := exactTotal(ctx, lat, o, instances(ctx, m, arith.Rat{}, eps, func(in *mechanisms.Instance) ([]*big.Rat, error) {
			return mechanisms.ExactDistribution(m, in)
		}))
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return v, err
		}
	}
	v, err := enclosedTotal(ctx, lat, o, prec, instances(ctx, m, arith.Interval{Prec: prec}, eps, func(in *mechanisms.Instance) ([]number.Interval, error) {
		return mechanisms.EnclosedDistribution(m, in, prec)
	}))
	if !errors.Is(err, mechanisms.ErrNoEnclosure) {
		return v, err
	}
	return estimatedTotal(ctx, lat, o, instances(ctx, m, arith.Float{}, eps, m.Float))
}

// instances asks for the probabilities of an orbit's candidates, one by one. Of a mechanism that is not known to be symmetric they are the means over all
// arrangements of the orbit, of the probability that a candidate of that depth is taken.
func instances[T any](ctx context.Context, m mechanisms.Mechanism, f arith.Field[T], eps number.Epsilon, pmf func(in *mechanisms.Instance) ([]T, error)) func(m []int) (answer[T], error) {
	if !m.Info().Symmetric {
		return arranged(ctx, f, eps, pmf)
	}
	return func(m []int) (answer[T], error) {
		a := answer[T]{depths: lattice.Depths(m)}
		a.counts = slices.Repeat([]int{1}, len(a.depths))
		var err error
		a.pmf, err = pmf(mechanisms.OnLattice(a.depths, eps))
		return a, err
	}
}

func arranged[T any](ctx context.Context, f arith.Field[T], eps number.Epsilon, pmf func(in *mechanisms.Instance) ([]T, error)) func(m []int) (answer[T], error) {
	return func(m []int) (answer[T], error) {
		var a answer[T]
		for v := range m {
			a.depths, a.counts, a.pmf = append(a.depths, v), append(a.counts, 1), append(a.pmf, f.Zero())
		}
		many := int64(0)
		for depths := range lattice.Arrangements(m) {
			p, err := pmf(mechanisms.OnLattice(depths, eps))
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return a, err
			}
			for r, v := range depths {
				a.pmf[v] = f.Add(a.pmf[v], p[r])
			}
			many++
		}
		for v := range a.pmf {
			a.pmf[v] = f.Quo(a.pmf[v], f.FromInt(many))
		}
		return a, nil
	}
}
