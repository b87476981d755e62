package mechanisms

import (
	"cmp"
	"math"
	"sync"

	"optratio/internal/arith"
	"optratio/internal/quadrature"
	"optratio/number"
)

// calculus is a field with elementary functions, sums, rules of quadrature and upper bounds: enclosures, or float64.
type calculus[T any] struct {
	arith.Field[T]
	exp, expm1, log func(T) T
	interval        func(number.Interval) T
	upper, near     func(T) float64
	proves          bool
	least, most     func(a, b T) T
	cmp             func(a, b T) (sign int, proved bool) // float64 takes its rounding for proved
	upTo            func(T) T                            // what stands for a number between 0 and x; 0 in float64
	sum             func(start T, x, y []T) T            // start + Σ xy
	account         func() account[T]
	rule            func(nodes int) *rule[T]
	prec            uint
}

// account is a sum that starts at 0.
type account[T any] interface {
	Add(x T)
	Value() T
}

// rule is a quadrature.Rule in the numbers of a calculus.
type rule[T any] struct {
	x, rest, weight []T
	missed          map[int]T // what it misses at most of a function that is at most 1 on the ellipse of parameter 4 or 6
}

func newRule[T any](nodes int, prec uint, convert func(number.Interval) T) *rule[T] {
	of, out := quadrature.Legendre(nodes, prec), &rule[T]{missed: map[int]T{}}
	for i, x := range of.X {
		out.x, out.rest, out.weight = append(out.x, convert(x)), append(out.rest, convert(of.Rest[i])), append(out.weight, convert(of.Weight[i]))
	}
	for _, ellipse := range []int{4, 6} {
		out.missed[ellipse] = convert(of.Error(number.FromInt(1, prec), ellipse))
	}
	return out
}

// miss is what stands for an error of at most x.
func (c *calculus[T]) miss(x T) T {
	some := c.upTo(x)
	return c.Sub(some, some)
}

func enclosedCalculus(prec uint) calculus[number.Interval] {
	same := func(x number.Interval) number.Interval { return x }
	return calculus[number.Interval]{
		arith.Interval{Prec: prec}, number.Exp, number.Expm1, number.Log, same,
		func(x number.Interval) float64 {
			_, high := x.Float64()
			return high
		},
		number.Interval.Near, true,
		number.Interval.Min, number.Interval.Max, number.Interval.Cmp,
		func(x number.Interval) number.Interval { return number.Hull(number.FromInt(0, prec), x) },
		func(start number.Interval, x, y []number.Interval) number.Interval {
			sum := number.NewAccumulator(prec)
			sum.Add(start)
			for i := range x {
				sum.AddMul(x[i], y[i])
			}
			return sum.Value()
		},
		func() account[number.Interval] { return number.NewAccumulator(prec) },
		func(nodes int) *rule[number.Interval] { return newRule(nodes, prec, same) }, prec,
	}
}

func floatCalculus() calculus[float64] {
	same := func(x float64) float64 { return x }
	return calculus[float64]{
		arith.Float{}, math.Exp, math.Expm1, math.Log, number.Interval.Near,
		same, same, false, math.Min, math.Max,
		func(a, b float64) (int, bool) { return cmp.Compare(a, b), true },
		func(float64) float64 { return 0 },
		func(start float64, x, y []float64) float64 {
			for i := range x {
				start += float64(x[i] * y[i])
			}
			return start
		},
		func() account[float64] { return new(compensated) }, floatRule, 64,
	}
}

var floatRules sync.Map // of nodes to *rule[float64]

// floatRule rounds a rule.
func floatRule(nodes int) *rule[float64] {
	if r, ok := floatRules.Load(nodes); ok {
		return r.(*rule[float64])
	}
	out := newRule(nodes, 64, number.Interval.Near)
	floatRules.Store(nodes, out)
	return out
}

// compensated is a sum with its rounding errors carried along (Neumaier 1974), each by the six operations of Knuth's TwoSum, which need no branch.
type compensated struct{ sum, lost float64 }

// Add adds x.
func (c *compensated) Add(x float64) {
	x = float64(x) // rounded here, on processors that would fuse a product with the sums, too
	s := c.sum + x
	part := s - c.sum
	c.lost += (c.sum - (s - part)) + (x - part)
	c.sum = s
}

// Value returns the sum.
func (c *compensated) Value() float64 { return c.sum + c.lost }
