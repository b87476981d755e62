package certificate

import (
	"context"
	"fmt"
	"math/big"
)

// effort counts what a check has cost, so that no file costs more than the limits allow. It keeps the first error.
type effort struct {
	ctx    context.Context
	steps  int   // that are left, each some nanoseconds
	polled int   // those left at the last look at the context
	memory int64 // what is left
	err    error
}

// pollSteps are from one look at the context to the next.
const pollSteps = 1 << 14

func newEffort(o Options) *effort {
	return &effort{ctx: o.Context, memory: o.MaxMemory, steps: o.MaxSteps, polled: o.MaxSteps + pollSteps}
}

func (e *effort) spend(steps int) error {
	if e.steps -= steps; e.steps < 0 && e.err == nil {
		e.steps, e.err = 0, fmt.Errorf("%w: the check takes too many steps", ErrLimit)
	}
	if e.polled-e.steps > pollSteps && e.err == nil {
		e.polled, e.err = e.steps, e.ctx.Err()
	}
	return e.err
}

func (e *effort) keep(bytes int) error {
	if e.memory -= int64(bytes); e.memory < 0 && e.err == nil {
		e.err = fmt.Errorf("%w: the check takes more memory than allowed", ErrLimit)
	}
	return e.err
}

// reduce counts what it costs to bring a fraction, of parts with so many bits, to lowest terms.
func (e *effort) reduce(num, den int) error { return e.spend(16 + (1+num/64)*(1+den/64)) }

// sum adds a product to x, unless an error has occurred.
func (e *effort) sum(x *big.Rat, factors ...*big.Rat) {
	term := factors[0]
	num, den := length(term)
	for _, f := range factors[1:] {
		n, d := length(f)
		if e.reduce(num+n, den+d) != nil {
			return
		}
		term = new(big.Rat).Mul(term, f)
		num, den = length(term)
	}
	n, d := length(x)
	if e.reduce(max(num+d, n+den), den+d) == nil {
		x.Add(x, term)
	}
}

// length returns how many bits the parts of a fraction have.
func length(x *big.Rat) (num, den int) { return x.Num().BitLen(), x.Denom().BitLen() }
