package lp

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/decimal"
)

// Loss is what choosing a candidate costs, as a function of its depth. The zero value is the depth itself, in steps of 2Δ. Losses are nonnegative and
// nondecreasing in the depth, and 0 at depth 0.
type Loss struct {
	kind   string // "" for mean
	tail   *big.Rat
	values []*big.Rat // kind "file": by number of the depth
}

// Losses is the loss with the given values at the lattice's depths 0, 1/L, 2/L, …, in steps of 2Δ.
func Losses(values []*big.Rat) (Loss, error) {
	for v, x := range values {
		if v == 0 && x.Sign() != 0 {
			return Loss{}, fmt.Errorf("%w: the loss of the best candidate is %s, want 0", errRequest, x.RatString())
		}
		if v > 0 && x.Cmp(values[v-1]) < 0 {
			return Loss{}, fmt.Errorf("%w: loss %d is %s, below the one before it; want losses that do not fall with the depth", errRequest, v, x.RatString())
		}
	}
	return Loss{kind: "file", values: values}, nil
}

// ParseLoss reads "mean", which is the depth in steps of 2Δ, "square", its square, "top1", which is 1 unless a best candidate is chosen, or "tail:T", which is 1 where the
// depth is at least T steps of 2Δ, T a fraction or a decimal.
func ParseLoss(s string) (Loss, error) {
	switch name, rest, _ := strings.Cut(s, ":"); name {
	case "", "mean":
		return Loss{}, nil
	case "square", "top1":
		return Loss{kind: name}, nil
	case "tail":
		t, err := decimal.ParseNumber(rest)
		if err != nil {
			return Loss{}, fmt.Errorf("%w: loss %q: %w", errRequest, s, err)
		}
		if t.Sign() <= 0 {
			return Loss{}, fmt.Errorf("%w: the tail begins at %s, want a depth above 0", errRequest, t.RatString())
		}
		return Loss{kind: "tail", tail: t}, nil
	}
	return Loss{}, fmt.Errorf("%w: loss %q is not one of mean, square, top1, tail:T", errRequest, s)
}

// String names the loss as ParseLoss reads it; a loss given by values is "file".
func (l Loss) String() string {
	switch l.kind {
	case "":
		return "mean"
	case "tail":
		return "tail:" + l.tail.RatString()
	}
	return l.kind
}

// check reports what does not fit the lattice.
func (l Loss) check(q *Request) error {
	if want := q.depths() + 1; l.kind == "file" && len(l.values) != want {
		return fmt.Errorf("%w: %d losses for the depths 0, 1/%d, …, %d, want %d", errRequest, len(l.values), q.parts(), q.K, want)
	}
	return nil
}

// lossAt returns the loss at depth number v.
func (q *Request) lossAt(v int) *big.Rat {
	depth, one := q.depth(v), false
	switch q.Loss.kind {
	case "":
		return depth
	case "square":
		return depth.Mul(depth, depth)
	case "file":
		return q.Loss.values[v]
	case "top1":
		one = v > 0
	case "tail":
		one = depth.Cmp(q.Loss.tail) >= 0
	}
	if one {
		return big.NewRat(1, 1)
	}
	return new(big.Rat)
}

// losses returns those of all depths of the lattice.
func (q *Request) losses() []*big.Rat {
	out := make([]*big.Rat, q.depths()+1)
	for v := range out {
		out[v] = q.lossAt(v)
	}
	return out
}
