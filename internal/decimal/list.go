package decimal

import (
	"fmt"
	"math/big"
	"strings"
)

// ParseList reads numbers and ranges, separated by commas: 0.1,0.5 or 0.1:1.0:0.1, which is from:to:step with a step of 1 where none is given. A range
// goes up from its first number as long as it does not exceed the second, in exact decimals: 0.1:1.0:0.1 has ten. The error
// says what is wrong with which item; there may be at most most numbers in all.
func ParseList(text string, most int) ([]*big.Rat, error) {
	return ParseListBy(text, most, ParseNumber)
}

// ParseListBy is ParseList with numbers that parse reads.
func ParseListBy(text string, most int, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	var out []*big.Rat
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		parts := strings.Split(item, ":")
		if len(parts) > 3 {
			return nil, fmt.Errorf("%s: not a range, which is from:to or from:to:step", quote(item))
		}
		numbers := []*big.Rat{nil, nil, big.NewRat(1, 1)}
		for i, part := range parts {
			var err error
			if numbers[i], err = parse(strings.TrimSpace(part)); err != nil {
				return nil, err
			}
		}
		from, to, step := numbers[0], numbers[1], numbers[2]
		if len(parts) == 1 {
			to = from
		}
		switch {
		case step.Sign() <= 0:
			return nil, fmt.Errorf("the step is %s, want more than 0", parts[2])
		case to.Cmp(from) < 0:
			return nil, fmt.Errorf("it ends at %s, before its beginning %s", parts[1], parts[0])
		}
		width := new(big.Rat).Sub(to, from)
		if width.Quo(width, step).Cmp(big.NewRat(int64(most-len(out)), 1)) >= 0 {
			return nil, fmt.Errorf("more than %d numbers", most)
		}
		for x := from; x.Cmp(to) <= 0; x = new(big.Rat).Add(x, step) {
			out = append(out, x)
		}
	}
	return out, nil
}
