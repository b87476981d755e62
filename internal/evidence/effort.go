package evidence

import (
	"context"
	"math"
	"math/big"
)

// Effort counts what a check has cost, so that no file costs more than the limits allow.
type Effort struct {
	ctx    context.Context
	steps  int   // that are left, each some nanoseconds
	polled int   // those left at the last look at the context
	memory int64 // what is left
	most   int64 // bytes
}

// pollSteps are from one look at the context to the next.
const pollSteps = 1 << 12

func NewEffort(o Options) *Effort {
	return &Effort{ctx: o.Context, memory: o.MaxMemory, most: o.MaxMemory, steps: o.MaxSteps, polled: o.MaxSteps + pollSteps}
}

// Spend counts steps, and looks at the context now and then.
func (e *Effort) Spend(steps int) {
	if e.steps -= steps; e.steps < 0 {
		Limit("the check takes too many steps")
	}
	if e.polled-e.steps > pollSteps {
		e.polled = e.steps
		Stop(e.ctx.Err())
	}
}

// Keep counts bytes.
func (e *Effort) Keep(bytes int) {
	if e.memory -= int64(bytes); e.memory < 0 {
		Limit("the check takes more memory than allowed")
	}
}

// Hold stops where so many numbers of so many bits take more memory than allowed at a time.
func (e *Effort) Hold(count, bits int) {
	if need := float64(count) * float64(bits/8+64); need > float64(e.most) {
		Limit("%d numbers of %d bits take about %.3g bytes; the limit is %d", count, bits, need, e.most)
	}
}

// Multiply counts the product, or the quotient, of numbers with so many bits.
func (e *Effort) Multiply(a, b int) { e.Spend((1 + a/64) * (1 + b/64)) }

// reduce counts what it costs to bring a fraction, of parts with so many bits, to lowest terms.
func (e *Effort) reduce(num, den int) { e.Spend(16 + (1+num/64)*(1+den/64)) }

// Sum adds a product to x.
func (e *Effort) Sum(x *big.Rat, factors ...*big.Rat) {
	term := factors[0]
	num, den := Length(term)
	for _, f := range factors[1:] {
		n, d := Length(f)
		e.reduce(num+n, den+d)
		term = new(big.Rat).Mul(term, f)
		num, den = Length(term)
	}
	n, d := Length(x)
	e.reduce(max(num+d, n+den), den+d)
	x.Add(x, term)
}

// Length returns how many bits the parts of a fraction have.
func Length(x *big.Rat) (num, den int) { return x.Num().BitLen(), x.Denom().BitLen() }

// stepsPerVariable is what a variable of an enumeration costs at the least.
const stepsPerVariable = 256

// StepsPerDepth is what a count vector costs for each depth, whether there are candidates or not.
const StepsPerDepth = 4

// BytesPerVariable is what the check needs for each variable, beside what long exact numbers and precisions above
// 192 bits take.
const BytesPerVariable = 500

// Sized stops where a check takes more steps than allowed, by its own estimate.
func Sized(o Options, steps float64) {
	if steps > float64(o.MaxSteps) {
		Limit("the check takes about %.3g steps; the limit is %.3g", steps, float64(o.MaxSteps))
	}
}

// Fits stops where enumerating the lattice exceeds the memory or the steps allowed.
func Fits(o Options, n, k int) {
	variables := VariableCount(n, k)
	words := factorialWords(n)
	need := float64(variables*BytesPerVariable) + float64(float64(n+1)*float64(k+1)*16) + float64(float64(n)*words*8)
	steps := float64(variables*stepsPerVariable) + float64(OrbitCount(n, k)*(float64(float64(k)*StepsPerDepth)+float64(words*words/8)))
	if need > float64(o.MaxMemory) || steps > float64(o.MaxSteps) {
		Limit("n = %d, k = %d has about %.3g variables, and takes about %.3g bytes and %.3g steps; the limits are %d and %d", n, k, variables, need, steps, o.MaxMemory, o.MaxSteps)
	}
}

// factorialWords returns about how many words n! has. The square is what a multiplicity takes.
func factorialWords(n int) float64 { return float64(float64(n)*math.Log2(float64(n+1))) / 64 }

// Multiplicity counts what the number of score vectors of a count vector of n candidates takes.
func (e *Effort) Multiplicity(n int) {
	words := factorialWords(n)
	e.Spend(1 + int(words*words/8))
}

// OrbitCount returns C(n+k-1, k), the number of count vectors.
func OrbitCount(n, k int) float64 { return Binomial(n+k-1, k) }

// VariableCount returns the number of variables: those at depth 0 are as many as the count vectors, and those at any other depth C(n+k-2, k), the vectors left
// without a candidate there.
func VariableCount(n, k int) float64 {
	return OrbitCount(n, k) + float64(float64(k)*Binomial(n+k-2, k))
}

// Binomial returns C(a, b) but for rounding; of what is above 10^18 only that it is more.
func Binomial(a, b int) float64 {
	b = min(b, a-b)
	if b < 0 {
		return 0
	}
	r := 1.0
	for i := 1; i <= b && r < 1e18; i++ {
		r = float64(r*float64(a-b+i)) / float64(i)
	}
	return math.Round(r)
}
