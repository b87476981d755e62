package lp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/lattice"
	"optratio/lp/integral"
	"optratio/mechanisms"
	"optratio/number/arith"
	"optratio/number/interval"
)

// value is a nonnegative quantity: exact, enclosed, or an estimate.
type value struct {
	exact    *big.Rat
	box      interval.Interval
	estimate float64
	method   string // of the estimate, empty for rigorous values
}

func exactValue(r *big.Rat) value        { return value{exact: r} }
func boxValue(x interval.Interval) value { return value{box: x} }
func (v value) rigorous() bool           { return v.method == "" }
func (v value) enclosure(prec uint) interval.Interval {
	if v.exact != nil {
		return interval.FromRat(v.exact, prec)
	}
	return v.box
}

// over returns v/d for a positive integer d.
func (v value) over(d *big.Int, prec uint) value {
	switch {
	case !v.rigorous():
		f, _ := new(big.Float).SetInt(d).Float64()
		return value{estimate: v.estimate / f, method: v.method}
	case v.exact != nil:
		return exactValue(new(big.Rat).Quo(v.exact, new(big.Rat).SetInt(d)))
	}
	return boxValue(v.box.Quo(interval.FromBig(d, prec)))
}

// Limits on exact totals: beyond these the rational has too many digits to be of use.
const (
	exactBits        = 1 << 19 // size of permute-and-flip's closed form
	exactOrbits      = 4000    // orbits whose different denominators are multiplied up
	exactDenominator = 1 << 22 // bits of their product
)

// ErrTooLarge is wrapped where a computation would not fit in time or memory. The message has the estimate and the remedy.
var ErrTooLarge = errors.New("too large")

// maxSum is the number of orbits from which an integral encloses the exponential mechanism's error sooner than a sum.
const maxSum = 10_000

// maxEnumerate bounds the orbits that a mechanism's error is summed over.
const maxEnumerate = 20_000_000

// permuteAndFlipValue returns the closed form, exactly where that is rational and of moderate size.
func permuteAndFlipValue(ctx context.Context, n, k int, o lattice.Objective, eps mechanisms.Epsilon, prec uint) value {
	if z, ok := eps.Z(); ok {
		if bits := z.Denom().BitLen() + 1; float64(n)*float64(k)*float64(bits) < exactBits {
			return exactValue(PermuteAndFlipTotalExact(n, k, o, z))
		}
	}
	return boxValue(flipTotal(ctx, n, k, o, eps, prec))
}

// total returns a mechanism's total expected error over the lattice, in steps of 2Δ, weighed by the objective. The
// level is for mechanisms that are made from a program, lp-optimal.
func total(ctx context.Context, m mechanisms.Mechanism, n, k int, o lattice.Objective, level Level, eps mechanisms.Epsilon, prec uint) (value, error) {
	if n == 1 {
		return exactValue(new(big.Rat)), nil
	}
	m = mechanisms.Within(ctx, m)
	if m == mechanisms.PermuteAndFlip() {
		return permuteAndFlipValue(ctx, n, k, o, eps, prec), ctx.Err()
	}
	if m == mechanisms.Exponential() && lattice.Orbits(n, k).Cmp(big.NewInt(maxSum)) > 0 {
		z := func(prec uint) interval.Interval { return eps.ExpNeg(big.NewRat(1, 1), prec) }
		x, err := integral.ExponentialTotal(ctx, n, k, z, o, math.Ldexp(1, -int(min(prec/5, 200))))
		return boxValue(x), err
	}
	lat, err := lattice.New(n, k)
	if err != nil || lat.Len() > maxEnumerate {
		return value{}, fmt.Errorf("%w: the error of %s needs a sum over %s orbits; leave it out with --mechanism pf",
			ErrTooLarge, m.Info().Name, lattice.Orbits(n, k))
	}
	w, ok := m.(mechanisms.Weighted)
	if !ok {
		v, err := totalOfInstances(ctx, OnLattice(m, k, o, level), lat, o, eps, prec)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s: %w", m.Info().Name, err)
		}
		return v, err
	}
	if z, rational := eps.Z(); rational && lat.Len() <= exactOrbits && lat.Len()*k*z.Denom().BitLen() <= exactDenominator {
		return totalExact(ctx, w, lat, o, z)
	}
	f := arith.Interval{Prec: prec}
	powers := arith.Powers(f, eps.ExpNeg(big.NewRat(1, 1), prec), k+1)
	sum := interval.NewAccumulator(prec)
	err = eachOrbit(ctx, lat, func(m []int, depths, counts []int) error {
		weights := make([]interval.Interval, len(depths))
		for i, v := range depths {
			weights[i] = powers[v]
		}
		pmf := w.WeightedEnclose(weights, counts)
		orbit := f.Zero()
		for i, v := range depths {
			orbit = f.Add(orbit, f.Mul(f.FromInt(int64(v*counts[i])), pmf[i]))
		}
		sum.AddMul(interval.FromBig(o.Weight(m), prec), orbit)
		return nil
	})
	return boxValue(sum.Value()), err
}

// eachOrbit visits the orbits with their occupied depths and the counts there, until the context ends.
func eachOrbit(ctx context.Context, lat *lattice.Lattice, visit func(m, depths, counts []int) error) error {
	var depths, counts []int
	for i, m := range lat.All() {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		depths, counts = depths[:0], counts[:0]
		for v, c := range m {
			if c > 0 {
				depths, counts = append(depths, v), append(counts, c)
			}
		}
		if err := visit(m, depths, counts); err != nil {
			return err
		}
	}
	return nil
}

// totalExact sums rationals pairwise, so that the common denominator grows once.
func totalExact(ctx context.Context, w mechanisms.Weighted, lat *lattice.Lattice, o lattice.Objective, z *big.Rat) (value, error) {
	powers := arith.Powers(arith.Rat{}, z, lat.K()+1)
	var terms []*big.Rat
	err := eachOrbit(ctx, lat, func(m, depths, counts []int) error {
		weights := make([]*big.Rat, len(depths))
		for i, v := range depths {
			weights[i] = powers[v]
		}
		orbit := new(big.Rat)
		for i, p := range w.WeightedExact(weights, counts) {
			orbit.Add(orbit, p.Mul(p, big.NewRat(int64(depths[i]*counts[i]), 1)))
		}
		terms = append(terms, orbit.Mul(orbit, new(big.Rat).SetInt(o.Weight(m))))
		return nil
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

// totalOfInstances asks the mechanism for each orbit's probabilities: exact on moderate lattices where they are
// rational, else enclosed, else as estimates.
func totalOfInstances(ctx context.Context, m mechanisms.Mechanism, lat *lattice.Lattice, o lattice.Objective, eps mechanisms.Epsilon, prec uint) (value, error) {
	at := func(counts []int) (depths []int, in *mechanisms.Instance, weight *big.Int) {
		depths = lattice.Depths(counts)
		return depths, mechanisms.OnLattice(depths, eps), o.Weight(counts)
	}
	if lat.Len() <= exactOrbits {
		var terms []*big.Rat
		err := eachOrbit(ctx, lat, func(counts, _, _ []int) error {
			depths, in, weight := at(counts)
			pmf, err := m.Exact(in)
			if err != nil {
				return err
			}
			orbit := new(big.Rat)
			for i, v := range depths {
				orbit.Add(orbit, new(big.Rat).Mul(pmf[i], big.NewRat(int64(v), 1)))
			}
			terms = append(terms, orbit.Mul(orbit, new(big.Rat).SetInt(weight)))
			return nil
		})
		if err == nil {
			return exactValue(pairwiseSum(ctx, terms)), ctx.Err()
		}
		if !errors.Is(err, mechanisms.ErrNotRational) {
			return value{}, err
		}
	}
	f := arith.Interval{Prec: prec}
	sum := interval.NewAccumulator(prec)
	err := eachOrbit(ctx, lat, func(counts, _, _ []int) error {
		depths, in, weight := at(counts)
		pmf, err := m.Enclose(in, prec)
		if err != nil {
			return err
		}
		orbit := f.Zero()
		for i, v := range depths {
			orbit = f.Add(orbit, f.Mul(f.FromInt(int64(v)), pmf[i]))
		}
		sum.AddMul(interval.FromBig(weight, prec), orbit)
		return nil
	})
	if err == nil {
		return boxValue(sum.Value()), nil
	}
	if !errors.Is(err, mechanisms.ErrNoEnclosure) {
		return value{}, err
	}
	estimate := 0.0
	err = eachOrbit(ctx, lat, func(counts, _, _ []int) error {
		depths, in, weight := at(counts)
		pmf, err := m.Float(in)
		if err != nil {
			return err
		}
		w, _ := new(big.Float).SetInt(weight).Float64()
		for i, v := range depths {
			estimate += w * float64(v) * pmf[i]
		}
		return nil
	})
	return value{estimate: estimate, method: "floating-point sum over the lattice"}, err
}
