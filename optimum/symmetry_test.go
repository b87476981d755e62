package optimum

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBetween: a permutation that breaks pairs, distances, losses, forbidden outputs or the prior alone is no symmetry, whatever the search took it for.
func TestBetween(t *testing.T) {
	flat := func() *Problem {
		p := &Problem{Inputs: numerals(4), Outputs: numerals(2), Pairs: []Pair{{From: 0, To: 1}, {From: 2, To: 3}}}
		for range p.Inputs {
			p.Loss = append(p.Loss, []*big.Rat{new(big.Rat), new(big.Rat)})
		}
		p.Prior = p.Uniform()
		return p
	}
	across := []int{2, 3, 0, 1} // 0 and 1 against 2 and 3
	for name, c := range map[string]struct {
		change func(p *Problem)
		to     []int
		is     bool
	}{
		"a symmetry":          {func(*Problem) {}, across, true},
		"pairs":               {func(*Problem) {}, []int{0, 2, 1, 3}, false},
		"a distance":          {func(p *Problem) { p.Pairs[0].Distance = big.NewRat(2, 1) }, across, false},
		"a direction":         {func(p *Problem) { p.OneWay, p.Pairs[0] = true, Pair{From: 1, To: 0} }, across, false},
		"a loss":              {func(p *Problem) { p.Loss[0][1] = big.NewRat(1, 1) }, across, false},
		"a forbidden output":  {func(p *Problem) { p.forbid(0, 1) }, across, false},
		"a prior":             {func(p *Problem) { p.Prior = []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2), new(big.Rat), new(big.Rat)} }, across, false},
		"the prior, and kept": {func(p *Problem) { p.Prior = nil }, across, true},
	} {
		p := flat()
		c.change(p)
		s := newStructure(p)
		from := &colouring{colour: []int32{0, 1, 2, 3, 4, 5}, count: 6}
		image := &colouring{colour: make([]int32, 6), count: 6}
		for x, y := range append(slices.Clone(c.to), 4, 5) {
			image.colour[y] = int32(x)
		}
		assert.Equal(t, c.is, s.between(from, image) != nil, name)
	}
}

// TestGroups: how many orbits of inputs the known groups have.
func TestGroups(t *testing.T) {
	for name, want := range map[string]int{"count:6": 4, "krr:7": 1, "grid:5x5": 6, "grid:4x3": 4, "selection:4,2": 10, "histogram:3,2": 4} {
		p := preset(t, name)
		c := newClasses(len(p.Inputs))
		for _, g := range symmetries(context.Background(), p, true) {
			for x, y := range g.inputs {
				c.join(x, y)
			}
		}
		orbits := 0
		for x := range c {
			if c.find(x) == x {
				orbits++
			}
		}
		assert.Equal(t, want, orbits, name)
	}
}
