package sweep

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ErrRange is wrapped by errors about ranges of values.
var ErrRange = errors.New("not a range")

// MaxValues bounds the values of one parameter.
const MaxValues = 100_000

// Range reads values and ranges separated by commas, such as "3", "1,3", "0.1:1.0:0.1" and "2:4,8". A range from:to[:step] stands for from,
// from + step, … as far as to, which is one of them where the steps meet it; step is 1 unless it is given. Values are what parse makes of their text, and
// sums are exact. They are returned in increasing order, each once.
func Range(text string, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	var values []*big.Rat
	for item := range strings.SplitSeq(text, ",") {
		part, err := span(strings.TrimSpace(item), parse)
		if err != nil {
			return nil, err
		}
		if values = append(values, part...); len(values) > MaxValues {
			return nil, tooMany()
		}
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	return slices.CompactFunc(values, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }), nil
}

// span reads one value or range.
func span(text string, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	ends := strings.Split(text, ":")
	if len(ends) > 3 {
		return nil, fmt.Errorf("%w: %d colons, want from:to or from:to:step", ErrRange, len(ends)-1)
	}
	var x []*big.Rat
	for _, end := range ends {
		v, err := parse(strings.TrimSpace(end))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRange, err)
		}
		x = append(x, v)
	}
	if len(x) == 1 {
		return x, nil
	}
	from, to, step := x[0], x[1], big.NewRat(1, 1)
	if len(x) == 3 {
		step = x[2]
	}
	switch {
	case step.Sign() <= 0:
		return nil, fmt.Errorf("%w: the step is %s, want more than 0", ErrRange, ends[2])
	case from.Cmp(to) > 0:
		return nil, fmt.Errorf("%w: it ends at %s, before its beginning %s", ErrRange, ends[1], ends[0])
	}
	steps := new(big.Rat).Sub(to, from)
	steps.Quo(steps, step)
	count := new(big.Int).Quo(steps.Num(), steps.Denom())
	if count.Cmp(big.NewInt(MaxValues)) >= 0 {
		return nil, tooMany()
	}
	values := make([]*big.Rat, count.Int64()+1)
	for i := range values {
		v := new(big.Rat).Mul(step, new(big.Rat).SetInt64(int64(i)))
		values[i] = v.Add(v, from)
	}
	return values, nil
}

func tooMany() error { return fmt.Errorf("%w: more than %d values", ErrRange, MaxValues) }
