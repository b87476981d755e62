package grid

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/decimal"
)

// ErrRange is wrapped by errors about ranges of values.
var ErrRange = errors.New("not a range")

// MaxValues bounds the values of one parameter.
const MaxValues = 100_000

// Range reads values and ranges separated by commas, as decimal.ParseListBy does. They are returned in increasing order, each once.
func Range(text string, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	values, err := decimal.ParseListBy(text, MaxValues, parse)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRange, err)
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	return slices.CompactFunc(values, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }), nil
}
