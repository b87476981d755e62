// Package limit has the limits of private stopping as the number of candidates grows: of the p-mix of the secretary rule, with the region in which it is private, and of
// the best private rule's success. research/docs/stopping.md has the theorems. For n candidates there are internal/secretary and internal/stopping.
package limit

import (
	"cmp"
	"fmt"
	"math/big"

	"optratio/internal/secretary"
	"optratio/number"
)

// The limit of the p-mix of the secretary rule as n grows: q_k → p·a_k/e for every fixed rank k (AsymptoticEnclosure has a_k). A law that has these values in its first ranks is
// (ε, δ)-private there under d_l iff
//
//	p a_1/e <= e^ε p a_{l+1}/e + δ,   a_1 = 1,
//
// since a_k = ∫ u^{k-1}/(1-u) du from 0 to 1-1/e is log-convex in k, so that a_k/a_{k+l} is largest at k = 1, and a_{k+l} <= a_{l+1}. That is the asymptotic region of
// Grining, Klonowski & Sulkowska. It says nothing of ranks that grow with n.
//
// The comparisons below are between numbers that are never equal, as e and its powers are linearly independent over the rationals (Lindemann), but for l = 1 and ε = 1,
// where a_2 = 1/e; so they are decided at some precision. mostBits bounds it all the same.
const mostBits = 1 << 14

// logBits is the precision of printed numbers.
const logBits = 192

// decide refines until compare knows the order of two numbers.
func decide(compare func(prec uint) (c int, ok bool)) (c int, prec uint, err error) {
	for prec = logBits; prec <= mostBits; prec *= 2 {
		if c, ok := compare(prec); ok {
			return c, prec, nil
		}
	}
	return 0, 0, fmt.Errorf("%d bits do not decide a comparison of the limit", mostBits)
}

// euler encloses e.
func euler(prec uint) number.Interval { return number.Exp(number.FromInt(1, prec)) }

// Law returns the limits p·a_k/e of q_1 to q_ranks.
func Law(p *big.Rat, ranks int) ([]number.Number, error) {
	out := make([]number.Number, ranks)
	for k := range out {
		a, err := secretary.AsymptoticEnclosure(k+1, logBits)
		if err != nil {
			return nil, err
		}
		out[k] = number.Enclosed(a.Mul(number.FromRat(p, logBits)).Quo(euler(logBits)))
	}
	return out, nil
}

func checkLimit(l int, delta *big.Rat) error {
	if l < 1 {
		return fmt.Errorf("l = %d: %w, need at least 1", l, secretary.ErrRange)
	}
	return secretary.CheckDelta(delta)
}

// Eps returns the least ε >= 0 of the region for a δ, max(0, ln((p - eδ)/(p a_{l+1}))).
func Eps(p, delta *big.Rat, l int) (number.Number, error) {
	if err := checkLimit(l, delta); err != nil || p.Sign() == 0 {
		return number.Exact(new(big.Rat)), err
	}
	sides := func(prec uint) (excess, floor number.Interval) {
		a, _ := secretary.AsymptoticEnclosure(l+1, prec)
		weight := number.FromRat(p, prec)
		return weight.Sub(euler(prec).Mul(number.FromRat(delta, prec))), weight.Mul(a)
	}
	c, prec, err := decide(func(prec uint) (int, bool) {
		excess, floor := sides(prec)
		return excess.Cmp(floor)
	})
	if err != nil || c <= 0 {
		return number.Exact(new(big.Rat)), err
	}
	excess, floor := sides(prec)
	return number.Enclosed(number.Log(excess.Quo(floor))), nil
}

// free reports whether p = 1 is private for δ = 0, ε >= ln(1/a_{l+1}), and a precision that shows it.
func free(l int, eps number.Epsilon) (yes bool, prec uint, err error) {
	if err := cmp.Or(checkLimit(l, new(big.Rat)), eps.Check()); err != nil {
		return false, 0, err
	}
	if e := eps.Eps(); l == 1 && e != nil && e.Cmp(big.NewRat(1, 1)) == 0 {
		return true, logBits, nil
	}
	c, prec, err := decide(func(prec uint) (int, bool) {
		a, _ := secretary.AsymptoticEnclosure(l+1, prec)
		return eps.Value(prec).Cmp(number.Log(a).Neg())
	})
	return c > 0, prec, err
}

// shortfall encloses 1 - a_{l+1} e^ε.
func shortfall(l int, eps number.Epsilon, prec uint) number.Interval {
	a, _ := secretary.AsymptoticEnclosure(l+1, prec)
	return number.FromInt(1, prec).Sub(a.Mul(number.Exp(eps.Value(prec))))
}

// Delta returns the boundary of the region, the least δ >= 0 for an ε: max(0, (p/e)(1 - a_{l+1} e^ε)).
func Delta(p *big.Rat, l int, eps number.Epsilon) (number.Number, error) {
	yes, prec, err := free(l, eps)
	if err != nil || yes || p.Sign() == 0 {
		return number.Exact(new(big.Rat)), err
	}
	return number.Enclosed(shortfall(l, eps, prec).Mul(number.FromRat(p, prec)).Quo(euler(prec))), nil
}

// P returns the largest p whose mix is in the region, min(1, eδ/(1 - a_{l+1} e^ε)); 1 where a_{l+1} e^ε >= 1. For δ = 0 it is 0 otherwise: the best p vanishes as n grows.
func P(l int, eps number.Epsilon, delta *big.Rat) (number.Number, error) {
	if err := secretary.CheckDelta(delta); err != nil {
		return number.Number{}, err
	}
	yes, _, err := free(l, eps)
	if err != nil || yes {
		return number.Int(1), err
	}
	if delta.Sign() == 0 {
		return number.Int(0), nil
	}
	sides := func(prec uint) (budget, need number.Interval) {
		return euler(prec).Mul(number.FromRat(delta, prec)), shortfall(l, eps, prec)
	}
	c, prec, err := decide(func(prec uint) (int, bool) {
		budget, need := sides(prec)
		return budget.Cmp(need)
	})
	if err != nil || c >= 0 {
		return number.Int(1), err
	}
	budget, need := sides(prec)
	return number.Enclosed(budget.Quo(need)), nil
}
