package integral

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"optratio/lattice"
	"optratio/number/interval"
)

// ErrInput is wrapped by errors about arguments that make no sense.
var ErrInput = errors.New("total error of the exponential mechanism")

// ErrPrecision says that the enclosures of e^{-ε} are too wide for the accuracy asked for.
var ErrPrecision = errors.New("e^-ε is not known precisely enough")

const (
	attempts  = 4    // rounds of more bits
	maxPanels = 4000 // far more than any n, k and ε need
)

// ExponentialTotal encloses the total error of the exponential mechanism over the lattice, in steps of 2Δ: the sum over all orbits m of
// W(m) E[depth], W(m) their weights under the objective. z returns enclosures of e^{-ε} > 0 at a given precision, and
// the result's relative width is at most rel.
//
// The time grows with k (log n + bits), not with the size of the lattice. The error is that of the context where it ends,
// ErrInput, or ErrPrecision.
func ExponentialTotal(ctx context.Context, n, k int, z func(prec uint) interval.Interval, objective lattice.Objective, rel float64) (interval.Interval, error) {
	if n < 1 || k < 1 {
		return interval.Interval{}, fmt.Errorf("%w: n = %d and k = %d must both be at least 1", ErrInput, n, k)
	}
	if !(rel > 0 && rel < 1) {
		return interval.Interval{}, fmt.Errorf("%w: relative width %g, want it between 0 and 1", ErrInput, rel)
	}
	digits := -math.Log2(rel)
	prec := uint(digits) + uint(bits.Len(uint(n))) + 2*uint(bits.Len(uint(k))) + 32
	if n == 1 {
		return interval.FromInt(0, prec), nil
	}
	inner := rel
	for range attempts {
		zs := z(prec)
		if !zs.IsFinite() || zs.Lo().Sign() <= 0 || zs.Lo().Cmp(big.NewFloat(1)) > 0 {
			return interval.Interval{}, fmt.Errorf("%w: e^-ε = %v, want it in (0, 1]", ErrInput, zs)
		}
		r, err := gauss(8+int(digits/3), prec)
		if err != nil {
			return interval.Interval{}, err
		}
		q := &quadrature{
			rule:  r,
			g:     newIntegrand(n, k, zs.SetPrec(prec), objective),
			rough: newIntegrand(n, k, zs.SetPrec(64), objective),
		}
		total, err := q.integrate(ctx, inner)
		if err != nil {
			return interval.Interval{}, err
		}
		if total.RelWidth() <= rel {
			return total, nil
		}
		prec += 64
		inner /= 4
	}
	return interval.Interval{}, fmt.Errorf("%w: for a relative width of %g", ErrPrecision, rel)
}

// quadrature integrates g over [0, ∞), panel by panel.
type quadrature struct {
	rule  rule
	g     *integrand
	rough *integrand // g at a precision good enough for bounds on the error
}

// integrate encloses the integral with a relative width of about rel, as far as the precision allows. Panels double in length
// while their error bound permits.
func (q *quadrature) integrate(ctx context.Context, rel float64) (interval.Interval, error) {
	sum := interval.FromInt(0, q.g.prec())
	from, length := new(big.Rat), big.NewRat(1, 1)
	two := big.NewRat(2, 1)
	share := interval.FromFloat(rel/4, 64)
	for range maxPanels {
		half := new(big.Rat).Quo(length, two)
		center := new(big.Rat).Add(from, half)
		// g is convex, so its value at the centre is at most its mean over the panel.
		own := q.rough.at(interval.FromRat(center, 64)).Mul(interval.FromRat(length, 64))
		allowed := share.Mul(own.Add(sum.SetPrec(64).Mul(interval.FromFloat(1.0/64, 64))))
		errorBound := truncation(q.rough.at, center, half, len(q.rule.nodes))
		if errorBound.Hi().Cmp(allowed.Lo()) > 0 {
			length.Quo(length, two)
			if ctx.Err() != nil {
				return interval.Interval{}, ctx.Err()
			}
			continue
		}
		value, err := q.rule.apply(ctx, q.g.at, center, half)
		if err != nil {
			return interval.Interval{}, err
		}
		sum = sum.Add(upTo(value, errorBound))
		from.Add(from, length)
		length.Mul(length, two)
		// Every exponent of g is at least 1, so the rest of the integral is at most g(from).
		tail := q.rough.at(interval.FromRat(from, 64))
		if tail.Hi().Cmp(share.Mul(sum.SetPrec(64)).Lo()) <= 0 {
			return upTo(sum, tail), nil
		}
	}
	return interval.Interval{}, fmt.Errorf("%w: no end after %d panels", ErrPrecision, maxPanels)
}

// upTo returns x + [0, more].
func upTo(x, more interval.Interval) interval.Interval {
	return x.Add(interval.Hull(interval.FromInt(0, more.Prec()), more))
}

// apply encloses the rule's value for f on [center-half, center+half], half Σ w_i f(center + half x_i). Where all even
// derivatives of f are nonnegative, as for sums of exponentials, it is at most the integral.
func (r rule) apply(ctx context.Context, f func(interval.Interval) interval.Interval, center, half *big.Rat) (interval.Interval, error) {
	prec := r.nodes[0].Prec()
	c, h := interval.FromRat(center, prec), interval.FromRat(half, prec)
	sum := interval.NewAccumulator(prec)
	for i, x := range r.nodes {
		if err := ctx.Err(); err != nil {
			return interval.Interval{}, err
		}
		sum.AddMul(r.weights[i], f(c.Add(h.Mul(x))))
	}
	return sum.Value().Mul(h), nil
}

// truncation bounds the error of the rule of m >= 2 nodes on [center-half, center+half] for a function f that is entire with
// |f(w)| <= f(Re w) and decreasing on the real line, as sums of decaying exponentials with positive coefficients are.
//
// On the Bernstein ellipse with parameter ρ such an f is bounded by M, its value at the leftmost point, center - half (ρ+1/ρ)/2.
// So its Chebyshev coefficients are at most 2Mρ^-j (Trefethen 2013, Thm. 8.1). The rule is exact up to degree 2m-1 and
// for odd degrees, and on the Chebyshev polynomial of even degree j >= 2m its error is at most 2 + 2/(j²-1) <= 32/15, hence
//
//	|error| <= half · 2M · 32/15 · Σ_{j=2m,2m+2,…} ρ^-j = half · (64/15) M ρ^-2m / (1 - ρ^-2).
//
// The least of these over a few ρ is returned.
func truncation(f func(interval.Interval) interval.Interval, center, half *big.Rat, m int) interval.Interval {
	const prec = 64
	var best interval.Interval
	for i, rho := range []int64{3, 6, 12, 24} {
		reach := new(big.Rat).Mul(half, big.NewRat(rho*rho+1, 2*rho))
		worst := f(interval.FromRat(reach.Sub(center, reach), prec))
		ratio := interval.FromRat(big.NewRat(1, rho*rho), prec)
		bound := interval.FromRat(half, prec).Mul(interval.FromRat(big.NewRat(64, 15), prec)).Mul(worst).
			Mul(ratio.Pow(m)).Quo(interval.FromInt(1, prec).Sub(ratio))
		if i == 0 || bound.Hi().Cmp(best.Hi()) < 0 {
			best = bound
		}
	}
	return best
}
