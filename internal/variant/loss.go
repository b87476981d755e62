package variant

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/decimal"
)

// Loss is what choosing a candidate costs, as a function of its depth. The zero value is Mean. Losses are nonnegative and
// nondecreasing in the depth, and 0 at depth 0.
type Loss struct {
	kind   string // "" for mean
	tail   *big.Rat
	values []*big.Rat // kind "file": by number of the depth
}

// Mean is the depth itself, in steps of 2Δ: its expectation is the mean error.
func Mean() Loss { return Loss{} }

// Square is the depth squared.
func Square() Loss { return Loss{kind: "square"} }

// Top1 is 1 unless a best candidate is chosen.
func Top1() Loss { return Loss{kind: "top1"} }

// Tail is 1 where the depth is at least t steps of 2Δ, t > 0: its expectation is Pr[error >= 2Δt].
func Tail(t *big.Rat) (Loss, error) {
	if t.Sign() <= 0 {
		return Loss{}, fmt.Errorf("%w: the tail begins at %s, want a depth above 0", ErrQuestion, t.RatString())
	}
	return Loss{kind: "tail", tail: new(big.Rat).Set(t)}, nil
}

// Losses is the loss with the given values at the lattice's depths 0, 1/L, 2/L, …, in steps of 2Δ.
func Losses(values []*big.Rat) (Loss, error) {
	for v, x := range values {
		if v == 0 && x.Sign() != 0 {
			return Loss{}, fmt.Errorf("%w: the loss of the best candidate is %s, want 0", ErrQuestion, x.RatString())
		}
		if v > 0 && x.Cmp(values[v-1]) < 0 {
			return Loss{}, fmt.Errorf("%w: loss %d is %s, below the one before it; want losses that do not fall with the depth", ErrQuestion, v, x.RatString())
		}
	}
	return Loss{kind: "file", values: values}, nil
}

// ParseLoss reads "mean", "square", "top1" or "tail:T", T a fraction or a decimal.
func ParseLoss(s string) (Loss, error) {
	switch name, rest, _ := strings.Cut(s, ":"); name {
	case "", "mean":
		return Mean(), nil
	case "square":
		return Square(), nil
	case "top1":
		return Top1(), nil
	case "tail":
		t, err := decimal.ParseNumber(rest)
		if err != nil {
			return Loss{}, fmt.Errorf("%w: loss %q: %w", ErrQuestion, s, err)
		}
		return Tail(t)
	}
	return Loss{}, fmt.Errorf("%w: loss %q is none of mean, square, top1, tail:T", ErrQuestion, s)
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

// IsMean reports whether the loss is the depth itself.
func (l Loss) IsMean() bool { return l.kind == "" }

// of returns the losses of all depths of the question's lattice.
func (l Loss) of(q *Question) ([]*big.Rat, error) {
	out := make([]*big.Rat, q.Depths()+1)
	if l.kind == "file" && len(l.values) != len(out) {
		return nil, fmt.Errorf("%w: %d losses for the depths 0, 1/%d, …, %d, want %d", ErrQuestion, len(l.values), q.L, q.K, len(out))
	}
	one := func(yes bool) *big.Rat {
		if yes {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	}
	for v := range out {
		depth := q.depth(v)
		switch l.kind {
		case "":
			out[v] = depth
		case "square":
			out[v] = depth.Mul(depth, depth)
		case "top1":
			out[v] = one(v > 0)
		case "tail":
			out[v] = one(depth.Cmp(l.tail) >= 0)
		case "file":
			out[v] = l.values[v]
		}
	}
	return out, nil
}
