package command

import (
	"math/big"
	"regexp"
	"slices"
	"strings"

	"optratio/internal/decimal"
	"optratio/internal/escape"
	"optratio/internal/job"
)

// RangeHelp says in a flag's help what Range reads.
const RangeHelp = "values and ranges from:to[:step], separated by commas"

// mostValues bounds the values of one parameter.
const mostValues = 100_000

// dashed finds ranges written as nothing here reads them.
var dashed = regexp.MustCompile(`^[0-9.]+-[0-9.]+$`)

// Range reads a flag's values and ranges, and returns them in increasing order, each once.
func Range(flag, text, example string, parse func(string) (*big.Rat, error)) ([]*big.Rat, error) {
	if dashed.MatchString(text) {
		return nil, Usagef("%s %s: a range is written %s", flag, escape.Quoted(text), strings.Replace(text, "-", ":", 1))
	}
	values, err := decimal.ParseListBy(text, mostValues, parse)
	if err != nil {
		return nil, Usagef("%s %s: not a range: %w; give values or from:to[:step] such as %s", flag, escape.Quoted(text), err, example)
	}
	slices.SortFunc(values, (*big.Rat).Cmp)
	return slices.CompactFunc(values, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }), nil
}

// Counts reads a range of whole numbers.
func Counts(flag, text string) ([]int, error) {
	if text == "" {
		return nil, Usagef("%s is missing: give values or from:to[:step] such as 2:5 or 2,4,8", flag)
	}
	values, err := Range(flag, text, "2:5 or 2,4,8", job.Scaled)
	if err != nil {
		return nil, err
	}
	var counts []int
	for _, v := range values {
		if !v.IsInt() || v.Sign() <= 0 || v.Num().BitLen() > 31 {
			return nil, Usagef("%s %s: has the value %s, give whole numbers from 1 to 2^31", flag, escape.Quoted(text), v.RatString())
		}
		counts = append(counts, int(v.Num().Int64()))
	}
	return counts, nil
}
