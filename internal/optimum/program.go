package optimum

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/number"
)

// arc says that what the input above does with an output has at least e^{-dε} times the probability of what the input below does, up to δ.
type arc struct {
	above, below int
	distance     int // which of the distances
}

// noDistance stands for e^{-dε} = 1 at every ε, which binds inputs to the hub of a clique.
const noDistance = -1

// arcs returns the ordered pairs of a problem, each with the least of its distances, and the distances, in ascending order.
func (p *Problem) arcs() (all []arc, distances []*big.Rat) {
	type span struct {
		above, below int
		distance     *big.Rat
	}
	var spans []span
	for _, q := range p.Pairs {
		d := multiple(q)
		if spans = append(spans, span{q.To, q.From, d}); !p.OneWay {
			spans = append(spans, span{q.From, q.To, d})
		}
	}
	ends := func(a, b span) int { return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(a.below, b.below)) }
	slices.SortFunc(spans, func(a, b span) int {
		if c := ends(a, b); c != 0 {
			return c
		}
		return a.distance.Cmp(b.distance)
	})
	spans = slices.CompactFunc(spans, func(a, b span) bool { return ends(a, b) == 0 })
	for _, s := range spans {
		distances = append(distances, s.distance)
	}
	distances = slices.Compact(distances) // most pairs have the same one
	slices.SortFunc(distances, (*big.Rat).Cmp)
	distances = slices.CompactFunc(distances, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	for _, s := range spans {
		d, _ := slices.BinarySearchFunc(distances, s.distance, (*big.Rat).Cmp)
		all = append(all, arc{s.above, s.below, d})
	}
	return all, distances
}

// essential returns the arcs that are not implied by two shorter ones at δ = 0, whose distances sum to no more than their own. Those that are left imply all.
// With all of them, 40 inputs on a line, whose distances are those of all pairs, take nine times as long.
func essential(inputs int, arcs []arc, distances []*big.Rat) []arc {
	if len(distances) < 2 {
		return arcs // two arcs are longer than one
	}
	length := linear.NewFractions(distances).Num
	if slices.ContainsFunc(length, func(l *big.Int) bool { return l.BitLen() > 50 }) {
		return arcs
	}
	next := make([][]arc, inputs)
	for _, a := range arcs {
		next[a.above] = append(next[a.above], a)
	}
	var kept []arc
	for _, own := range next {
		way := map[int]int64{} // the shortest one of two arcs
		for _, a := range own {
			for _, b := range next[a.below] {
				la, lb := length[a.distance].Int64(), length[b.distance].Int64()
				if old, known := way[b.below]; la > 0 && lb > 0 && (!known || la+lb < old) {
					way[b.below] = la + lb
				}
			}
		}
		for _, a := range own {
			if l, known := way[a.below]; !known || l > length[a.distance].Int64() {
				kept = append(kept, a)
			}
		}
	}
	return kept
}

// program is a problem as internal/table has it: a group stands for a class of inputs (see colours), and a cell for a class of outputs at the group's first input.
type program struct {
	problem   *Problem
	epsilon   number.Epsilon
	delta     *big.Rat
	arcs      []arc // those that are not implied, between inputs, or inputs and the hubs that come after them
	distances []*big.Rat
	hubs      []int // the distance of each; nil: there are none
	zeros     []zero

	group []int32   // of each input and hub
	cell  [][]int32 // of each input and hub, and output
	first []int     // the first input of each group, or its hub
	unit  *big.Rat  // losses of table are in this unit
	table *table.Program
}

// zero is a cell that has to be 0: it is forbidden, or at δ = 0 below one that has to be, at the input from and a distance.
type zero struct{ input, output, from, distance int }

const isForbidden = -1 // in place of from

// newProgram builds the program of a problem.
func newProgram(ctx context.Context, p *Problem, eps number.Epsilon, delta *big.Rat) (*program, error) {
	q := &program{problem: p, epsilon: eps, delta: delta}
	q.arcs, q.distances = p.arcs()
	if delta.Sign() == 0 {
		q.arcs = essential(len(p.Inputs), q.arcs, q.distances)
	}
	if err := q.forbid(); err != nil {
		return nil, err
	}
	q.number(q.colours(ctx))
	q.addHubs(q.cliques())
	q.fill()
	return q, q.interior(ctx)
}

// forbid finds the cells that have to be 0, in the order of a search from those that are forbidden.
func (q *program) forbid() error {
	p, m := q.problem, len(q.problem.Outputs)
	if p.Forbidden == nil {
		return nil
	}
	left := make([]int, len(p.Inputs))
	seen := make([]bool, len(p.Inputs)*m)
	put := func(z zero) {
		if at := z.input*m + z.output; !seen[at] {
			seen[at] = true
			q.zeros = append(q.zeros, z)
			left[z.input]--
		}
	}
	for x := range p.Inputs {
		left[x] += m
		for o := range m {
			if p.forbidden(x, o) {
				put(zero{x, o, isForbidden, 0})
			}
		}
	}
	if q.delta.Sign() == 0 {
		below := make([][]arc, len(p.Inputs))
		for _, a := range q.arcs {
			below[a.above] = append(below[a.above], a)
		}
		for i := 0; i < len(q.zeros); i++ {
			z := q.zeros[i]
			for _, a := range below[z.input] {
				put(zero{a.below, z.output, a.above, a.distance})
			}
		}
	}
	if x := slices.Index(left, 0); x >= 0 {
		return faultf("forbidden: no output is left for the input %q: each is forbidden there, or at inputs that privacy ties it to", p.Inputs[x])
	}
	return nil
}

// number numbers the groups and cells by the colours of cells, each of which belongs to one group.
func (q *program) number(colour [][]int32) {
	t := &table.Program{First: []int32{0}, Worst: q.problem.Prior == nil, Delta: q.delta}
	q.table = t
	groups, cells := map[int32]int32{}, map[int32]int32{}
	for x, row := range colour {
		g := numbered(groups, slices.Min(row))
		isNew := int(g) == len(q.first)
		if isNew {
			q.first = append(q.first, x)
		}
		own := make([]int32, len(row))
		for o, c := range row {
			j := numbered(cells, c)
			if int(j) == len(t.Count) {
				t.Count = append(t.Count, 0)
			}
			if own[o] = j; isNew {
				t.Count[j]++
			}
		}
		if isNew {
			t.First = append(t.First, int32(len(t.Count)))
		}
		q.group, q.cell = append(q.group, g), append(q.cell, own)
	}
}

// inputs are the cells of each input and output.
func (q *program) inputs() [][]int32 { return q.cell[:len(q.problem.Inputs)] }

// classes is the number of groups of inputs.
func (q *program) classes() int { return len(q.first) - len(q.hubs) }

// groupOf returns the group of a cell.
func (q *program) groupOf(j int32) int {
	g, _ := slices.BinarySearch(q.table.First, j+1)
	return g - 1
}

// fill sets losses, weights and rows.
func (q *program) fill() {
	p, t := q.problem, q.table
	t.Loss, t.Zero = make([]*big.Int, len(t.Count)), make([]bool, len(t.Count))
	for j := range t.Loss {
		t.Loss[j] = new(big.Int)
	}
	losses := linear.NewFractions(slices.Concat(p.Loss...))
	common := new(big.Int) // factor of all losses
	for x, row := range q.inputs() {
		for o, j := range row {
			t.Loss[j].Set(losses.Num[x*len(row)+o])
			common.GCD(nil, nil, common, t.Loss[j])
		}
	}
	if common.Sign() == 0 {
		common.Set(unit)
	}
	for _, l := range t.Loss {
		l.Quo(l, common)
	}
	q.unit = new(big.Rat).SetFrac(common, losses.Den)
	for _, z := range q.zeros {
		t.Zero[q.cell[z.input][z.output]] = true
	}
	if p.Prior != nil {
		t.Weight = make([]*big.Int, len(q.first))
		for g := range t.Weight {
			t.Weight[g] = new(big.Int)
		}
		for x, w := range linear.NewFractions(p.Prior).Num {
			at := t.Weight[q.group[x]]
			at.Add(at, w)
		}
	}
	t.Factors = func(prec uint) (low, high []*big.Rat) {
		for _, d := range q.distances {
			a, b := table.Between(q.epsilon, d, prec)
			low, high = append(low, a), append(high, b)
		}
		if low == nil {
			low, high = []*big.Rat{one}, []*big.Rat{one} // of no pair
		}
		return low, high
	}
	if q.delta.Sign() > 0 {
		t.Each = func(func(table.Row) bool) bool { return true }
		t.Pairs = each(q.pairs())
		return
	}
	t.Each, t.Start = q.rows, q.start()
	q.tie()
}

// each visits the items of a list.
func each[T any](list []T) func(visit func(T) bool) bool {
	return func(visit func(T) bool) bool {
		return !slices.ContainsFunc(list, func(x T) bool { return !visit(x) })
	}
}

// isFirst reports whether the input above is the first of its group: the other arcs' rows are the same.
func (q *program) isFirst(a arc) bool { return q.first[q.group[a.above]] == a.above }

// rows visits the rows p(o|above) >= z^d p(o|below) at δ = 0.
func (q *program) rows(visit func(table.Row) bool) bool {
	for _, a := range q.arcs {
		if !q.isFirst(a) {
			continue
		}
		above, below := q.cell[a.above], q.cell[a.below]
		row := table.Row{Private: a.distance != noDistance, Distance: int32(max(0, a.distance))}
		for o, j := range below {
			row.Above, row.Below = above[o], j
			if row.Above != j && !q.table.Zero[j] && !visit(row) {
				return false
			}
		}
	}
	return true
}

// start returns for each cell and distance the row that is likely to bind first: the one below which the output leads the others of its input by most; all where there are hubs.
func (q *program) start() (rows []table.Row) {
	if q.hubs != nil {
		q.rows(func(r table.Row) bool {
			rows = append(rows, r)
			return true
		})
		return rows
	}
	t := q.table
	lead := make([]*big.Int, len(t.Count)) // Σ losses - m·loss
	for _, x := range q.first {
		sum, m := new(big.Int), big.NewInt(int64(len(q.cell[x])))
		for _, j := range q.cell[x] {
			sum.Add(sum, t.Loss[j])
		}
		for _, j := range q.cell[x] {
			lead[j] = new(big.Int).Mul(t.Loss[j], m)
			lead[j].Sub(sum, lead[j])
		}
	}
	at := map[[2]int32]int{}
	q.rows(func(r table.Row) bool {
		i, known := at[[2]int32{r.Above, r.Distance}]
		switch {
		case lead[r.Above].Cmp(lead[r.Below]) >= 0:
		case !known:
			at[[2]int32{r.Above, r.Distance}] = len(rows)
			rows = append(rows, r)
		case lead[r.Below].Cmp(lead[rows[i].Below]) > 0:
			rows[i] = r
		}
		return true
	})
	return rows
}

// pairs returns the ordered pairs of groups, each once, with what outputs are at both.
func (q *program) pairs() (pairs []table.Pair) {
	seen := map[string]bool{}
	for _, a := range q.arcs {
		if !q.isFirst(a) {
			continue
		}
		pair := q.ends(a, q.cell)
		if key := fmt.Sprint(pair); !seen[key] {
			seen[key] = true
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// ends returns what cells an arc's outputs have above and below, and how many outputs.
func (q *program) ends(a arc, cell [][]int32) (pair table.Pair) {
	counts := map[[2]int32]int64{}
	for o, above := range cell[a.above] {
		counts[[2]int32{above, cell[a.below][o]}]++
	}
	for cells, c := range counts {
		pair = append(pair, table.Part{Above: cells[0], Below: cells[1], Candidates: c, Distance: int32(a.distance)})
	}
	slices.SortFunc(pair, func(a, b table.Part) int { return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below)) })
	return pair
}

// tie sets which groups have to have equal probabilities: those at distance 0, at δ = 0. Then each input is a group.
func (q *program) tie() {
	if len(q.distances) == 0 || q.distances[0].Sign() > 0 {
		return
	}
	same, both := make([]int32, len(q.first)), map[[2]int]bool{}
	for g := range same {
		same[g] = int32(g)
	}
	for _, a := range q.arcs {
		both[[2]int{a.above, a.below}] = a.distance == 0
	}
	for changed := true; changed; {
		changed = false
		for _, a := range q.arcs {
			if x, y := same[a.above], same[a.below]; x != y && both[[2]int{a.above, a.below}] && both[[2]int{a.below, a.above}] {
				same[a.above], same[a.below], changed = min(x, y), min(x, y), true
			}
		}
	}
	q.table.Same = same
}
