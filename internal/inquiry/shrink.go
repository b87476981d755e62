package inquiry

import (
	"context"
	"math/big"
	"slices"
	"strings"
)

// Case is one score vector with the sensitivities of its candidates, one for all or one each.
type Case struct {
	Scores        []*big.Rat
	Sensitivities []*big.Rat
}

// mostAttempts limits the checks of one Shrink.
const mostAttempts = 400

// Shrink makes a witness small. violates checks the property around a case and returns a witness where it is
// violated there, else nil. From the start, which gave the witness w, Shrink goes on to simpler cases as long as
// one of them is a violation too: fewer candidates, then shorter numerals, then smaller scores. The result is a
// witness none of whose immediate simplifications is one, not necessarily the least of all.
func Shrink[W any](ctx context.Context, start Case, w *W, violates func(Case) *W) *W {
	attempts := 0
	for improved := true; improved; {
		improved = false
		for _, c := range Simpler(start) {
			if attempts++; attempts > mostAttempts || ctx.Err() != nil {
				return w
			}
			if v := violates(c); v != nil {
				start, w, improved = c, v, true
				break
			}
		}
	}
	return w
}

// Simpler lists the simplifications of a case that Shrink tries, boldest first: a candidate less, then cases that are
// simpler by their numerals and sizes.
func Simpler(c Case) []Case {
	var out []Case
	add := func(scores []*big.Rat) {
		if slices.Compare(effort(scores), effort(c.Scores)) < 0 {
			out = append(out, Case{scores, c.Sensitivities})
		}
	}
	if len(c.Scores) > 1 {
		for r := range c.Scores {
			fewer := Case{slices.Delete(slices.Clone(c.Scores), r, r+1), c.Sensitivities}
			if len(c.Sensitivities) > 1 {
				fewer.Sensitivities = slices.Delete(slices.Clone(c.Sensitivities), r, r+1)
			}
			out = append(out, fewer)
		}
	}
	step := slices.MaxFunc(c.Sensitivities, (*big.Rat).Cmp)
	best := slices.MaxFunc(c.Scores, (*big.Rat).Cmp)
	add(each(c.Scores, func(q *big.Rat) *big.Rat { return new(big.Rat).Sub(q, best) }))
	for _, unit := range []*big.Rat{new(big.Rat).Add(step, step), step, new(big.Rat).Quo(step, big.NewRat(10, 1))} {
		if unit.Sign() > 0 {
			add(each(c.Scores, func(q *big.Rat) *big.Rat { return round(q, unit) }))
		}
	}
	for r, q := range c.Scores {
		with := func(x *big.Rat) {
			scores := slices.Clone(c.Scores)
			scores[r] = x
			add(scores)
		}
		gap := new(big.Rat).Sub(best, q)
		with(new(big.Rat))
		with(best)
		with(new(big.Rat).Sub(best, new(big.Rat).Quo(gap, big.NewRat(2, 1))))
		for _, unit := range []*big.Rat{new(big.Rat).Add(step, step), step} {
			if unit.Sign() > 0 {
				with(round(q, unit))
				with(new(big.Rat).Sub(best, round(new(big.Rat).Quo(gap, big.NewRat(2, 1)), unit)))
				with(new(big.Rat).Add(q, unit))
			}
		}
	}
	return out
}

// effort is the order in which cases are simpler: candidates, length of the numerals, magnitude, different
// scores, a best score other than 0.
func effort(scores []*big.Rat) []int64 {
	var digits, magnitude int64
	distinct := map[string]bool{}
	for _, q := range scores {
		text := ScoreText(q)
		digits += int64(len(strings.TrimPrefix(text, "-")))
		distinct[text] = true
		m, _ := q.Float64()
		magnitude += int64(min(1e15, max(m, -m)*1024))
	}
	offset := int64(1)
	if slices.MaxFunc(scores, (*big.Rat).Cmp).Sign() == 0 {
		offset = 0
	}
	return []int64{int64(len(scores)), digits, magnitude, int64(len(distinct)), offset}
}

func each(scores []*big.Rat, f func(*big.Rat) *big.Rat) []*big.Rat {
	out := make([]*big.Rat, len(scores))
	for i, q := range scores {
		out[i] = f(q)
	}
	return out
}

// round returns the multiple of unit > 0 nearest to q, halves towards +∞.
func round(q, unit *big.Rat) *big.Rat {
	x := new(big.Rat).Quo(q, unit)
	x.Add(x, big.NewRat(1, 2))
	floor := new(big.Int).Div(x.Num(), x.Denom()) // Euclidean: the floor, as the denominator is positive
	return x.Mul(new(big.Rat).SetInt(floor), unit)
}
