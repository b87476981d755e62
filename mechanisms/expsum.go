package mechanisms

import (
	"errors"
	"math/big"
	"slices"

	"optratio/internal/arith"
)

// errTooManyTerms says that a closed form is too long to be of use.
var errTooManyTerms = errors.New("the closed form has too many terms")

// maxTerms bounds the length of an exponential sum, maxWork the operations on terms of one pmf.
const (
	maxTerms = 1 << 12
	maxWork  = 1 << 22
)

// exponentials computes with numbers T and with the powers of e^{-ε}.
type exponentials[T any] struct {
	arith.Field[T]
	pow func(x *big.Rat) T // e^{-εx}
}

// expsum is the function Σ_i coef_i e^{-ε·(exp_i/unit)·s} of s, for a unit known from the context:
// exponents ascending, lowest 0.
type expsum[T any] struct {
	exp  []*big.Int
	coef []T
}

// one returns the constant 1.
func (e exponentials[T]) one() expsum[T] {
	return expsum[T]{[]*big.Int{new(big.Int)}, []T{e.One()}}
}

// times returns q(s) · (1 - b e^{-ε·rate·s}), exponents in units as those of q.
func (e exponentials[T]) times(q expsum[T], b T, rate *big.Int) expsum[T] {
	shifted := make([]*big.Int, len(q.exp))
	for i, x := range q.exp {
		shifted[i] = new(big.Int).Add(x, rate)
	}
	var out expsum[T]
	minus := e.Neg(b)
	for i, j := 0, 0; i < len(q.exp) || j < len(shifted); {
		switch {
		case j == len(shifted) || i < len(q.exp) && q.exp[i].Cmp(shifted[j]) < 0:
			out.exp, out.coef = append(out.exp, q.exp[i]), append(out.coef, q.coef[i])
			i++
		case i == len(q.exp) || q.exp[i].Cmp(shifted[j]) > 0:
			out.exp, out.coef = append(out.exp, shifted[j]), append(out.coef, e.Mul(minus, q.coef[j]))
			j++
		default:
			out.exp = append(out.exp, q.exp[i])
			out.coef = append(out.coef, e.Add(q.coef[i], e.Mul(minus, q.coef[j])))
			i++
			j++
		}
	}
	return out
}

// feasible returns errTooManyTerms where the product of all factors 1 - b e^{-ε·rate·s}, or a partial product, has too many terms or
// takes too much work. It looks at the exponents alone. integer holds the rates in units, nil for candidates without noise, which give no factor.
func feasible(all []noisy, integer []*big.Int) error {
	q, work := []*big.Int{new(big.Int)}, 0
	for g := range all {
		if integer[g] == nil {
			continue
		}
		for range all[g].count {
			shifted := make([]*big.Int, len(q))
			for i, x := range q {
				shifted[i] = new(big.Int).Add(x, integer[g])
			}
			q = append(q, shifted...)
			slices.SortFunc(q, (*big.Int).Cmp)
			q = slices.CompactFunc(q, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
			if work += len(q); len(q) > maxTerms {
				return errTooManyTerms
			}
		}
		if work += len(q) * len(all); work > maxWork {
			return errTooManyTerms
		}
	}
	return nil
}

// without undoes times: it returns q(s)/(1 - b e^{-ε·rate·s}), where that is a factor. For 0 <= b <= 1/2
// enclosures widen no more than twofold, since the recurrence c'_σ = c_σ + b c'_{σ-rate} sums a geometric series.
func (e exponentials[T]) without(q expsum[T], b T, rate *big.Int) expsum[T] {
	top := new(big.Int).Sub(q.exp[len(q.exp)-1], rate)
	out := expsum[T]{coef: make([]T, 0, len(q.coef))}
	var at big.Int
	j := 0
	for i, x := range q.exp {
		if x.Cmp(top) > 0 {
			break
		}
		c := q.coef[i]
		for at.Sub(x, rate); j < len(out.coef) && q.exp[j].Cmp(&at) < 0; {
			j++
		}
		if j < len(out.coef) && q.exp[j].Cmp(&at) == 0 {
			c = e.Add(c, e.Mul(b, out.coef[j]))
		}
		out.coef = append(out.coef, c)
	}
	out.exp = q.exp[:len(out.coef)]
	return out
}

// advance returns q(s + h).
func (e exponentials[T]) advance(q expsum[T], unit, h *big.Rat) expsum[T] {
	out := expsum[T]{q.exp, make([]T, len(q.coef))}
	for i, c := range q.coef {
		out.coef[i] = e.Mul(c, e.pow(scaled(q.exp[i], unit, h)))
	}
	return out
}

// scaled returns (x/unit)·h.
func scaled(x *big.Int, unit, h *big.Rat) *big.Rat {
	r := new(big.Rat).SetInt(x)
	r.Quo(r, unit)
	return r.Mul(r, h)
}
