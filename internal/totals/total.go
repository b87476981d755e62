package totals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"optratio/internal/quadrature"
	"optratio/number"
)

// ErrPrecision says that the enclosures of e^{-ε} are too wide for the accuracy asked for.
var ErrPrecision = errors.New("e^-ε is not known precisely enough")

const (
	attempts  = 4    // rounds of more bits
	maxPanels = 4000 // far more than any n, k and ε need
)

// Exponential encloses the total error of the exponential mechanism over the lattice, in steps of 2Δ: the sum over all orbits m of
// W(m) E[depth], W(m) their weights under the objective. z returns enclosures of e^{-ε} > 0 at a given precision, and
// the result's relative width is at most rel, 0 < rel < 1.
//
// The time grows with k (log n + bits), not with the size of the lattice. The error is that of the context where it ends,
// or ErrPrecision.
func Exponential(ctx context.Context, n, k int, z func(prec uint) number.Interval, box bool, rel float64) (number.Interval, error) {
	digits := -math.Log2(rel)
	prec := uint(digits) + uint(bits.Len(uint(n))) + 2*uint(bits.Len(uint(k))) + 32
	if n == 1 {
		return number.FromInt(0, prec), nil
	}
	inner := rel
	for range attempts {
		zs := z(prec)
		q := &panels{
			rule:  quadrature.Legendre(8+int(digits/3), prec),
			at:    newIntegrand(ctx, n, k, zs.SetPrec(prec), box).at,
			rough: newIntegrand(ctx, n, k, zs.SetPrec(64), box).at,
		}
		total, err := q.integrate(ctx, inner)
		if err != nil {
			return number.Interval{}, err
		}
		if total.RelWidth() <= rel {
			return total, nil
		}
		prec += 64
		inner /= 4
	}
	return number.Interval{}, fmt.Errorf("%w: for a relative width of %g", ErrPrecision, rel)
}

// panels integrates a function g over [0, ∞), panel by panel: a sum of decaying exponentials e^{-at} with positive coefficients and
// a >= 1.
type panels struct {
	rule  *quadrature.Rule
	at    func(number.Interval) number.Interval // g
	rough func(number.Interval) number.Interval // g at a precision good enough for bounds on the error
}

// integrate encloses the integral with a relative width of about rel, as far as the precision allows. Panels double in length
// while their error bound permits.
func (q *panels) integrate(ctx context.Context, rel float64) (number.Interval, error) {
	sum := number.FromInt(0, q.rule.X[0].Prec())
	from, length := new(big.Rat), big.NewRat(1, 1)
	two := big.NewRat(2, 1)
	share := number.FromFloat(rel/4, 64)
	for range maxPanels {
		// g is convex, so its value at the centre is at most its mean over the panel.
		center := new(big.Rat).Quo(length, two)
		center.Add(center, from)
		own := q.rough(number.FromRat(center, 64)).Mul(number.FromRat(length, 64))
		allowed := share.Mul(own.Add(sum.SetPrec(64).Mul(number.FromFloat(1.0/64, 64))))
		missed := q.missed(from, length)
		if ctx.Err() != nil {
			return number.Interval{}, ctx.Err()
		}
		if missed.Hi().Cmp(allowed.Lo()) > 0 {
			length.Quo(length, two)
			continue
		}
		value, err := q.value(ctx, from, length)
		if err != nil {
			return number.Interval{}, err
		}
		sum = sum.Add(upTo(value, missed))
		from.Add(from, length)
		length.Mul(length, two)
		// Every exponent of g is at least 1, so the rest of the integral is at most g(from).
		tail := q.rough(number.FromRat(from, 64))
		if tail.Hi().Cmp(share.Mul(sum.SetPrec(64)).Lo()) <= 0 {
			return upTo(sum, tail), ctx.Err()
		}
	}
	return number.Interval{}, fmt.Errorf("%w: no end after %d panels", ErrPrecision, maxPanels)
}

// upTo returns x + [0, more].
func upTo(x, more number.Interval) number.Interval {
	return x.Add(number.Hull(number.FromInt(0, more.Prec()), more))
}

// value encloses the rule's value for g on [from, from+length]. As all even derivatives of g are nonnegative, it is at most
// the integral (Abramowitz & Stegun 1964, 25.4.29: the remainder is a positive multiple of one of them).
func (q *panels) value(ctx context.Context, from, length *big.Rat) (number.Interval, error) {
	prec := q.rule.X[0].Prec()
	left, size := number.FromRat(from, prec), number.FromRat(length, prec)
	sum := number.NewAccumulator(prec)
	for i, x := range q.rule.X {
		if err := ctx.Err(); err != nil {
			return number.Interval{}, err
		}
		sum.AddMul(q.rule.Weight[i], q.at(left.Add(size.Mul(x))))
	}
	return sum.Value().Mul(size), ctx.Err()
}

// missed bounds what the rule misses on [from, from+length]. On the Bernstein ellipse with parameter ρ, |g| is at most its value at the
// leftmost point, from - length (ρ-1)²/4ρ, as |g(w)| <= g(Re w) and g decreases. The least of the bounds over a few ρ is
// returned.
func (q *panels) missed(from, length *big.Rat) number.Interval {
	const prec = 64
	var best number.Interval
	for i, rho := range []int64{3, 6, 12, 24} {
		reach := new(big.Rat).Mul(length, big.NewRat((rho-1)*(rho-1), 4*rho))
		bound := q.rule.Error(q.rough(number.FromRat(reach.Sub(from, reach), prec)), int(rho)).Mul(number.FromRat(length, prec))
		if i == 0 || bound.Hi().Cmp(best.Hi()) < 0 {
			best = bound
		}
	}
	return best
}
