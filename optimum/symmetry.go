package optimum

import (
	"cmp"
	"context"
	"slices"
)

// classes are disjoint sets of numbers; each is represented by its least member.
type classes []int

func newClasses(n int) classes {
	c := make(classes, n)
	for i := range c {
		c[i] = i
	}
	return c
}

func (c classes) find(i int) int {
	for c[i] != i {
		c[i] = c[c[i]]
		i = c[i]
	}
	return i
}

func (c classes) join(i, j int) {
	i, j = c.find(i), c.find(j)
	c[max(i, j)] = min(i, j)
}

// symmetry is a permutation of inputs and one of outputs: input x goes to inputs[x], output o to outputs[o].
type symmetry struct{ inputs, outputs []int }

// symmetries returns permutations that generate symmetries of a problem: they keep pairs with their distances, the prior, losses and forbidden outputs, which is checked of
// each. They are found by colour refinement and a search for what takes one input or output to another (McKay & Piperno, Practical graph isomorphism II, J. Symb.
// Comput. 60, 2014). Where the search would take long it ends with those found so far: any subgroup serves, as the mean of a private mechanism over a group of
// symmetries is private and no worse. pure says that δ = 0, when inputs at distance 0 have equal probabilities: then none are looked for where there are such.
func symmetries(ctx context.Context, p *Problem, pure bool) []symmetry {
	s := newStructure(p)
	if s == nil || pure && s.zero {
		return nil
	}
	s.ctx = ctx
	s.search()
	return s.found
}

// structure is a problem as a search for symmetries sees it: points are the inputs and then the outputs, numbers stand for what has to be kept.
type structure struct {
	inputs, outputs int
	initial         []int32    // of each point: its prior, and whether it is an input
	cell            [][]int32  // of each input and output: loss and whether it is forbidden
	arcs            [][]beside // of each input
	distance        map[[2]int]int32
	zero            bool // some inputs are at distance 0

	ctx   context.Context
	work  int // what may still be looked at
	found []symmetry
}

// beside is an input with an arc to or from another one.
type beside struct {
	at   int
	kind int32 // distance and direction
}

// searchWork bounds how many labels a search looks at: some seconds.
const searchWork = 400_000_000

func newStructure(p *Problem) *structure {
	n, m := len(p.Inputs), len(p.Outputs)
	s := &structure{inputs: n, outputs: m, work: searchWork, distance: map[[2]int]int32{}, arcs: make([][]beside, n)}
	ids := map[string]int32{}
	id := func(text string) int32 {
		i, known := ids[text]
		if !known {
			i = int32(len(ids))
			ids[text] = i
		}
		return i
	}
	for x := range n {
		weight := ""
		if p.Prior != nil {
			weight = p.Prior[x].RatString()
		}
		s.initial = append(s.initial, id("input "+weight))
		row := make([]int32, m)
		for o := range m {
			text := p.Loss[x][o].RatString()
			if p.forbidden(x, o) {
				text += " forbidden"
			}
			row[o] = id(text)
		}
		s.cell = append(s.cell, row)
	}
	for range m {
		s.initial = append(s.initial, id("output"))
	}
	arcs, distances := p.arcs()
	s.zero = len(distances) > 0 && distances[0].Sign() == 0
	for _, a := range arcs {
		s.distance[[2]int{a.above, a.below}] = int32(a.distance)
		s.arcs[a.above] = append(s.arcs[a.above], beside{a.below, int32(2 * a.distance)})
		s.arcs[a.below] = append(s.arcs[a.below], beside{a.above, int32(2*a.distance + 1)})
	}
	return s
}

// colouring is a colour for each point, numbered from 0 in an order that does not depend on the names of points.
type colouring struct {
	colour []int32
	count  int
}

// scramble returns a number that depends on all bits of both.
func scramble(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// refine divides colours by the colours of what surrounds points, until nothing is divided any more. Two points that look the same only by chance, as sums of scrambled
// numbers are equal, cost time: what is found is checked.
func (s *structure) refine(c *colouring) {
	points := s.inputs + s.outputs
	around := make([]uint64, points)
	order := make([]int32, points)
	for i := range order {
		order[i] = int32(i)
	}
	for c.count < points && s.work > 0 {
		clear(around)
		for x, row := range s.cell {
			own := uint64(c.colour[x])
			sum := uint64(0)
			for o, label := range row {
				at := s.inputs + o
				sum += scramble(uint64(label), uint64(c.colour[at])+1<<40)
				around[at] += scramble(uint64(label), own+2<<40)
			}
			for _, b := range s.arcs[x] {
				sum += scramble(uint64(b.kind), uint64(c.colour[b.at])+3<<40)
			}
			around[x] += sum
			s.work -= len(row) + len(s.arcs[x])
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(c.colour[a], c.colour[b]), cmp.Compare(around[a], around[b]))
		})
		next := make([]int32, points)
		count := int32(0)
		for i, at := range order {
			if i > 0 && (c.colour[order[i-1]] != c.colour[at] || around[order[i-1]] != around[at]) {
				count++
			}
			next[at] = count
		}
		before := c.count
		c.colour, c.count = next, int(count)+1
		if c.count == before {
			return
		}
	}
}

// with returns the refined colouring in which a point has a colour of its own, before the others of its colour.
func (s *structure) with(c *colouring, point int) *colouring {
	out := &colouring{colour: slices.Clone(c.colour), count: c.count + 1}
	for i, own := range out.colour {
		if i != point && own >= c.colour[point] {
			out.colour[i]++
		}
	}
	s.refine(out)
	return out
}

// choice returns the points of the first of the smallest colours that several points share.
func (c *colouring) choice() []int {
	size := make([]int, c.count)
	for _, own := range c.colour {
		size[own]++
	}
	best := -1
	for i, n := range size {
		if n > 1 && (best < 0 || n < size[best]) {
			best = i
		}
	}
	return c.members(int32(best))
}

func (c *colouring) members(colour int32) (points []int) {
	for i, own := range c.colour {
		if own == colour {
			points = append(points, i)
		}
	}
	return points
}

// same reports whether as many points have each colour.
func (c *colouring) same(d *colouring) bool {
	if c.count != d.count {
		return false
	}
	size := make([]int, c.count)
	for i := range c.colour {
		size[c.colour[i]]++
		size[d.colour[i]]--
	}
	return !slices.ContainsFunc(size, func(n int) bool { return n != 0 })
}

// search finds generators: down one path of choices until all points are told apart, and then, from its end upwards, what takes the point chosen
// to the others of its colour and fixes those chosen before.
func (s *structure) search() {
	first := &colouring{colour: slices.Clone(s.initial)}
	first.normalise()
	s.refine(first)
	path := []*colouring{first}
	var chosen []int
	for at := first; at.count < s.inputs+s.outputs; {
		if s.work <= 0 || s.ctx.Err() != nil {
			return
		}
		point := at.choice()[0]
		chosen = append(chosen, point)
		at = s.with(at, point)
		path = append(path, at)
	}
	moved := newClasses(s.inputs + s.outputs)
	for level := len(chosen) - 1; level >= 0; level-- {
		for _, other := range path[level].members(path[level].colour[chosen[level]]) {
			if moved.find(other) == moved.find(chosen[level]) {
				continue // what was found takes one to the other
			}
			if s.work <= 0 || s.ctx.Err() != nil {
				return
			}
			image := s.with(path[level], other)
			g := s.match(path, chosen, level+1, image)
			if g == nil {
				continue
			}
			s.found = append(s.found, *g)
			for x, to := range g.inputs {
				moved.join(x, to)
			}
			for o, to := range g.outputs {
				moved.join(s.inputs+o, s.inputs+to)
			}
		}
	}
}

// normalise numbers the colours from 0.
func (c *colouring) normalise() {
	all := slices.Sorted(slices.Values(c.colour))
	all = slices.Compact(all)
	for i, own := range c.colour {
		at, _ := slices.BinarySearch(all, own)
		c.colour[i] = int32(at)
	}
	c.count = len(all)
}

// match looks for choices after the image that end in a symmetry: the one that takes the path to them.
func (s *structure) match(path []*colouring, chosen []int, level int, image *colouring) *symmetry {
	if !path[level].same(image) || s.work <= 0 || s.ctx.Err() != nil {
		return nil
	}
	if level == len(chosen) {
		return s.between(path[level], image)
	}
	for _, point := range image.members(path[level].colour[chosen[level]]) {
		if g := s.match(path, chosen, level+1, s.with(image, point)); g != nil {
			return g
		}
	}
	return nil
}

// between returns the permutation that takes the points of one colouring, in which all differ, to those of the other, if it is a symmetry.
func (s *structure) between(c, d *colouring) *symmetry {
	place := make([]int, len(d.colour))
	for i, own := range d.colour {
		place[own] = i
	}
	g := &symmetry{make([]int, s.inputs), make([]int, s.outputs)}
	for i, own := range c.colour {
		to := place[own]
		switch {
		case s.initial[i] != s.initial[to]:
			return nil
		case i < s.inputs:
			g.inputs[i] = to
		default:
			g.outputs[i-s.inputs] = to - s.inputs
		}
	}
	for x, row := range s.cell {
		image := s.cell[g.inputs[x]]
		for o, label := range row {
			if image[g.outputs[o]] != label {
				return nil
			}
		}
	}
	for key, d := range s.distance {
		if to, known := s.distance[[2]int{g.inputs[key[0]], g.inputs[key[1]]}]; !known || to != d {
			return nil
		}
	}
	return g
}
