package product

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/linear"
)

// Limits of a proposal: on its rows, on k, and on what injections there are.
const (
	maxRows   = 10_000 // of each of the two kinds
	maxDepth  = 1 << 14
	maxTops   = 4
	maxKinked = 5
	roundRows = 100 // that are added at a time
	maxRounds = 60
	maxPivots = 2000 // of a round; neighboring ratios give columns that are nearly parallel
	// tolerance is that of rows, relative to their slack at permute-and-flip, and costTolerance that of the reduced costs, relative to the largest gain.
	tolerance     = 1e-9
	costTolerance = 1e-7
)

// Ratios are first multiples of 1/firstRatios, then, round by round, of half as much around those that were taken.
const (
	firstRatios = 4
	rounds      = 4
)

// kind says which injections are tried: at depths up to depth, with fewer than depth empty depths, and such as need somebody at depth k. They differ in how many
// depths the candidates can be at on the count vectors that decide.
type kind struct {
	depth   int
	deepest bool
}

// kindFor returns the richest kind that the limits admit.
func kindFor(n, k int) (c kind, ok bool) {
	for _, deepest := range []bool{true, false} {
		for depth := min(maxKinked, k); depth > 0; depth-- {
			// Sets of up to n-1 candidates at so many places.
			rows := new(big.Int).Binomial(int64(n-1+len(places(k, depth, deepest, false))), int64(n-1))
			if rows.Cmp(big.NewInt(maxRows)) <= 0 && (depth > 1 || !deepest) {
				return kind{depth, deepest}, true
			}
		}
	}
	return c, false
}

// all lists the injections of a kind.
func (c kind) all(n int) (list []Injection) {
	for tops := 2; tops <= min(maxTops, n-1); tops++ {
		for at := range c.depth * c.depth {
			for i := range 2 * (firstRatios + 1) {
				if deepest := i > firstRatios; c.deepest || !deepest {
					list = append(list, Injection{
						Tops: tops, Depth: 1 + at/c.depth, Empty: at % c.depth, Deepest: deepest, Ratio: big.NewRat(int64(i%(firstRatios+1)), firstRatios),
					})
				}
			}
		}
	}
	return list
}

// around lists injections with those ratios in the list and others that are up to two steps away.
func around(list []Injection, ratios int64) (more []Injection) {
	seen := map[string]bool{}
	for _, q := range list {
		at := q.Ratio
		for step := int64(-2); step <= 2; step++ {
			q.Ratio = new(big.Rat).Add(at, big.NewRat(step, ratios))
			if key := fmt.Sprint(q.Tops, q.Depth, q.Empty, q.Deepest, q.Ratio); q.Ratio.Sign() >= 0 && q.Ratio.Cmp(one) <= 0 && !seen[key] {
				seen[key] = true
				more = append(more, q)
			}
		}
	}
	return more
}

var one = big.NewRat(1, 1)

// propose returns injections of a point near the best one, which need not be feasible. It is none where the lattice is beyond the limits.
func propose(ctx context.Context, n, k int, z float64, report func(done, total int)) ([]Injection, error) {
	if n < 3 || k < 2 || k > maxDepth || !(z > 0.5 && z < 1) {
		return nil, nil
	}
	c, ok := kindFor(n, k)
	if !ok {
		return nil, nil
	}
	var chosen []Injection
	saving := 0.0
	list := c.all(n)
	for round := 0; round < rounds && len(list) > 0; round++ {
		report(round, rounds+1)
		found, saved, err := best(ctx, n, k, z, list)
		if err != nil {
			return nil, err
		}
		if saved > saving {
			chosen, saving = found, saved
		}
		list = around(found, 2*firstRatios<<round)
	}
	return chosen, nil
}

// best returns those of the injections that the best combination of them takes, with their amounts, and what the share of them saves that is feasible.
func best(ctx context.Context, n, k int, z float64, list []Injection) (chosen []Injection, saving float64, err error) {
	f := arith.Float{}
	power := arith.Powers(f, z, k)
	p := &proposal{}
	list = slices.DeleteFunc(list, func(q Injection) bool {
		c := cost(f, &q, power, n, k)
		if !(c < 0) || math.IsInf(c, 0) {
			return true
		}
		p.costs = append(p.costs, c)
		return false
	})
	if len(list) == 0 {
		return nil, 0, nil
	}
	p.scale = make([]float64, len(list))
	e := newEvaluation(f, n, k, z, list)
	err = e.rows(ctx, list, func(r row[float64]) error {
		for i, x := range r.response {
			r.response[i] = x / r.slack
			p.scale[i] = max(p.scale[i], math.Abs(r.response[i]))
		}
		p.rows = append(p.rows, slices.Clone(r.response))
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	x, err := p.solve(ctx)
	if err != nil {
		return nil, 0, err
	}
	least := 0.0
	for _, row := range p.rows {
		least = min(least, p.slack(row, x)-1)
	}
	for i, q := range list {
		if x[i] > 0 {
			q.Amount = new(big.Rat).SetFloat64(x[i])
			chosen = append(chosen, q)
			saving -= p.costs[i] * x[i] / max(1, -least)
		}
	}
	return chosen, saving, nil
}

// proposal is the program of the amounts x >= 0: minimise costs·x subject to 1 + rows·x >= 0.
type proposal struct {
	costs, scale []float64
	rows         [][]float64
}

// slack returns that of a row, relative to what it is at permute-and-flip.
func (p *proposal) slack(row, x []float64) float64 {
	s := 1.0
	for i, v := range x {
		if v > 0 {
			s += float64(v * row[i])
		}
	}
	return s
}

// solve starts with the rows that bound the amounts one by one, and adds those that are violated.
func (p *proposal) solve(ctx context.Context) ([]float64, error) {
	active := make([]int, len(p.costs))
	for i, s := range p.scale {
		if !(s > 0) || math.IsInf(s, 0) {
			p.scale[i] = math.Inf(1)
		}
		for r := range p.rows {
			if p.rows[r][i] < p.rows[active[i]][i] {
				active[i] = r
			}
		}
	}
	x := make([]float64, len(p.costs))
	for range maxRounds {
		slices.Sort(active)
		active = slices.Compact(active)
		result, err := linear.Embedded{}.Solve(ctx, p.model(active), linear.Options{Optimal: costTolerance, MaxPivots: maxPivots})
		switch {
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case result.X == nil:
			return x, nil
		}
		for i, v := range result.X {
			x[i] = max(0, v/p.scale[i])
		}
		slack := make([]float64, len(p.rows))
		var violated []int
		for r, row := range p.rows {
			slack[r] = p.slack(row, x)
			if _, known := slices.BinarySearch(active, r); slack[r] < -tolerance && !known {
				violated = append(violated, r)
			}
		}
		if len(violated) == 0 {
			break
		}
		slices.SortFunc(violated, func(a, b int) int { return cmp.Or(cmp.Compare(slack[a], slack[b]), cmp.Compare(a, b)) })
		active = append(active, violated[:min(roundRows, len(violated))]...)
	}
	return x, nil
}

// model returns the program with some of the rows, amounts being in units of what uses up the slack of a row.
func (p *proposal) model(active []int) *linear.Model {
	m := &linear.Model{}
	for range active {
		m.AddRow(-1, math.Inf(1))
	}
	largest := 0.0
	for i, c := range p.costs {
		largest = max(largest, math.Abs(c)/p.scale[i])
	}
	for i, c := range p.costs {
		var index []int32
		var values []float64
		for at, r := range active {
			if v := p.rows[r][i] / p.scale[i]; v != 0 {
				index, values = append(index, int32(at)), append(values, v)
			}
		}
		m.AddCol(c/p.scale[i]/largest, 0, maxScaled, index, values)
	}
	return m
}

// maxScaled bounds the amounts while rows are missing.
const maxScaled = 1e4
