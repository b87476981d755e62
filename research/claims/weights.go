package claims

import (
	"context"
	"iter"
	"math/big"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/combin"

	"optratio/internal/arith"
	"optratio/mechanisms"
	"optratio/number"
)

func rat(a, b int64) *big.Rat { return big.NewRat(a, b) }

func add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
func sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
func mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }
func quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }
func inv(x *big.Rat) *big.Rat    { return new(big.Rat).Inv(x) }

var zero, one, two = new(big.Rat), rat(1, 1), rat(2, 1)

func less(x, y *big.Rat) bool { return x.Cmp(y) < 0 }

// largest returns the largest of some numbers.
func largest(xs ...*big.Rat) *big.Rat { return slices.MaxFunc(xs, (*big.Rat).Cmp) }

func smaller(x, y *big.Rat) *big.Rat { return slices.MinFunc([]*big.Rat{x, y}, (*big.Rat).Cmp) }

func sum(xs []*big.Rat) *big.Rat {
	total := new(big.Rat)
	for _, x := range xs {
		total.Add(total, x)
	}
	return total
}

// power returns x^n, n >= 0.
func power(x *big.Rat, n int) *big.Rat {
	e := big.NewInt(int64(n))
	return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
}

// text writes rationals as (1/2, 1).
func text(xs []*big.Rat) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = x.RatString()
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// short writes x as a fraction where that is short, and otherwise as a decimal, cut and not rounded.
func short(x *big.Rat) string {
	if s := x.RatString(); len(s) <= 24 {
		return s
	}
	return number.Exact(x).Format(8)
}

// A score vector is given here by its weights p_r = e^{ε(q_r - q*)/2Δ}, in (0, 1] and the largest 1. Every vector of rational weights belongs to real scores, and the
// mechanisms' probabilities at it are rational. Errors (2Δ/ε) ln(1/p_r) are in units of 2Δ/ε, and two of them are compared by comparing weights.

var pf, em = mechanisms.PermuteAndFlip().(weighted), mechanisms.Exponential().(weighted)

// weighted is a mechanism whose probabilities depend on the weights e^{-ε·depth} alone.
type weighted interface {
	mechanisms.Mechanism
	WeightedExact(weights []*big.Rat, counts []int) []*big.Rat
	WeightedEnclose(weights []number.Interval, counts []int) []number.Interval
}

// logarithmic is a mechanism whose probabilities are a + b·ln z with rational a and b.
type logarithmic interface {
	LogExact(in *mechanisms.Instance) ([]arith.LogRat, error)
}

// distribution returns m's probabilities at the weights.
func distribution(m weighted, p []*big.Rat) []*big.Rat {
	distinct := slices.Clone(p)
	slices.SortFunc(distinct, func(x, y *big.Rat) int { return y.Cmp(x) })
	distinct = slices.CompactFunc(distinct, func(x, y *big.Rat) bool { return x.Cmp(y) == 0 })
	place := func(x *big.Rat) int {
		return slices.IndexFunc(distinct, func(y *big.Rat) bool { return x.Cmp(y) == 0 })
	}
	counts := make([]int, len(distinct))
	for _, x := range p {
		counts[place(x)]++
	}
	values := m.WeightedExact(distinct, counts)
	out := make([]*big.Rat, len(p))
	for i, x := range p {
		out[i] = values[place(x)]
	}
	return out
}

// grid yields every nondecreasing weight vector of length n with entries from the given numbers, the last of which is 1.
func grid(n int, from ...*big.Rat) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		for p := range tuples(slices.Repeat([][]*big.Rat{from}, n-1)...) {
			if slices.IsSortedFunc(p, (*big.Rat).Cmp) && !yield(append(p, one)) {
				return
			}
		}
	}
}

// precision is that of enclosures, in bits.
const precision = 160

// enclose returns x as an interval, log the interval of its logarithm.
func enclose(x *big.Rat) number.Interval { return number.FromRat(x, precision) }
func log(x *big.Rat) number.Interval     { return number.LogRat(x, precision) }

// meanError returns Σ_r x_r ln(1/p_r), the expected error in units of 2Δ/ε of a mechanism that takes candidate r with probability x_r.
func meanError(p, x []*big.Rat) number.Interval {
	total := number.FromInt(0, precision)
	for r := range p {
		total = total.Sub(enclose(x[r]).Mul(log(p[r])))
	}
	return total
}

// tail returns Σ x_r over the candidates with p_r <= most: Pr[error >= (2Δ/ε) ln(1/most)].
func tail(p, x []*big.Rat, most *big.Rat) *big.Rat {
	total := new(big.Rat)
	for r := range p {
		if p[r].Cmp(most) <= 0 {
			total.Add(total, x[r])
		}
	}
	return total
}

// wide are weights from far below the top to the top itself.
var wide = []*big.Rat{rat(1, 1000000), rat(1, 1000), rat(1, 20), rat(1, 5), rat(1, 2), rat(9, 10), rat(1, 1)}

const wideDomain = "weights from {10^-6, 10^-3, 1/20, 1/5, 1/2, 9/10, 1}"

// vectors yields grid(n, wide…) for n = 1, …, most, until ctx ends.
func vectors(ctx context.Context, most int) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		for n := 1; n <= most; n++ {
			for p := range grid(n, wide...) {
				if ctx.Err() != nil || !yield(p) {
					return
				}
			}
		}
	}
}

// tuples yields every choice of a number from each list, the last one changing first.
func tuples(lists ...[]*big.Rat) iter.Seq[[]*big.Rat] {
	return func(yield func([]*big.Rat) bool) {
		if len(lists) == 0 {
			yield(nil)
			return
		}
		sizes := make([]int, len(lists))
		for i, l := range lists {
			sizes[i] = len(l)
		}
		for _, at := range combin.Cartesian(sizes) {
			out := make([]*big.Rat, len(lists))
			for i, j := range at {
				out[i] = lists[i][j]
			}
			if !yield(out) {
				return
			}
		}
	}
}

// rats reads rationals.
func rats(ss ...string) (out []*big.Rat) {
	for _, s := range ss {
		x, ok := new(big.Rat).SetString(s)
		if !ok {
			panic(s) // a constant of this package
		}
		out = append(out, x)
	}
	return out
}

// whole is a small integer.
func whole(x *big.Rat) int { return int(x.Num().Int64()) }

// below reports whether x < y is certain.
func below(x, y number.Interval) bool {
	c, ok := x.Cmp(y)
	return ok && c < 0
}

// named returns a registered mechanism.
func named(name string) mechanisms.Mechanism { return must(mechanisms.Lookup(name)) }

// epsilonOf reads a decimal ε, expOf takes an e^ε.
func epsilonOf(s string) number.Epsilon { return must(number.ParseEpsilon(s)) }
func expOf(e *big.Rat) number.Epsilon   { return must(number.FromExp(e)) }
