package optimum

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/number"
)

// arc says that what the input above does with an output has at least e^{-dε} times the probability of what the input below does, up to δ.
type arc struct {
	above, below int
	distance     int // which of the distances
}

// arcs returns the ordered pairs of a problem, each with the least of its distances, and the distances, in ascending order.
func (p *Problem) arcs() (all []arc, distances []*big.Rat) {
	type key struct{ above, below int }
	least := map[key]*big.Rat{}
	var order []key
	put := func(k key, d *big.Rat) {
		old, known := least[k]
		if !known {
			order = append(order, k)
		}
		if !known || d.Cmp(old) < 0 {
			least[k] = d
		}
	}
	for i := range p.Pairs {
		q := &p.Pairs[i]
		put(key{q.To, q.From}, q.Multiple())
		if !p.OneWay {
			put(key{q.From, q.To}, q.Multiple())
		}
	}
	for _, d := range least {
		distances = append(distances, d)
	}
	slices.SortFunc(distances, (*big.Rat).Cmp)
	distances = slices.CompactFunc(distances, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	for _, k := range order {
		d, _ := slices.BinarySearchFunc(distances, least[k], (*big.Rat).Cmp)
		all = append(all, arc{k.above, k.below, d})
	}
	slices.SortFunc(all, func(a, b arc) int { return cmp.Or(cmp.Compare(a.above, b.above), cmp.Compare(a.below, b.below)) })
	return all, distances
}

// program is a problem as internal/table has it: with the symmetries that were found, a group stands for an orbit of inputs and a cell for an orbit of outputs at
// the group's first input.
type program struct {
	problem   *Problem
	epsilon   number.Epsilon
	delta     *big.Rat
	arcs      []arc // those that are not implied
	distances []*big.Rat
	hubs      []clique
	covered   map[arc]bool // arcs that hubs stand for
	zero      [][]bool     // cells that are forbidden, or have to be 0 as others are

	group []int32   // of each input
	cell  [][]int32 // of each input and output
	first []int     // the first input of each group
	unit  *big.Rat  // losses of table are in this unit
	table *table.Program
}

// newProgram builds the program of a problem. generators are its symmetries.
func newProgram(ctx context.Context, p *Problem, eps number.Epsilon, delta *big.Rat, generators []symmetry) (*program, error) {
	q := &program{problem: p, epsilon: eps, delta: delta}
	q.arcs, q.distances = p.arcs()
	if delta.Sign() == 0 {
		q.arcs = essential(len(p.Inputs), q.arcs, q.distances)
	}
	if err := q.implied(); err != nil {
		return nil, err
	}
	q.orbits(generators)
	q.cliques(generators)
	q.fill()
	return q, q.interior(ctx)
}

// implied finds the cells that have to be 0 since others are forbidden: at δ = 0 those below them.
func (q *program) implied() error {
	p := q.problem
	q.zero = make([][]bool, len(p.Inputs))
	below := make([][]int, len(p.Inputs))
	for _, a := range q.arcs {
		below[a.above] = append(below[a.above], a.below)
	}
	for x := range q.zero {
		q.zero[x] = make([]bool, len(p.Outputs))
	}
	if p.Forbidden == nil {
		return nil
	}
	var next [][2]int
	reach := func(x, o int) {
		if !q.zero[x][o] {
			q.zero[x][o] = true
			next = append(next, [2]int{x, o})
		}
	}
	for x := range q.zero {
		for o := range p.Outputs {
			if p.forbidden(x, o) {
				reach(x, o)
			}
		}
	}
	for len(next) > 0 && q.delta.Sign() == 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for _, y := range below[at[0]] {
			reach(y, at[1])
		}
	}
	for x := range q.zero {
		if !slices.Contains(q.zero[x], false) {
			return faultf("forbidden: no output is left for the input %q: each is forbidden there, or at inputs that privacy ties it to", p.Inputs[x])
		}
	}
	return nil
}

// orbits numbers the groups and cells.
func (q *program) orbits(generators []symmetry) {
	p := q.problem
	n, m := len(p.Inputs), len(p.Outputs)
	inputs, cells := newClasses(n), newClasses(n*m)
	for _, g := range generators {
		for x := range n {
			inputs.join(x, g.inputs[x])
			for o := range m {
				cells.join(x*m+o, g.inputs[x]*m+g.outputs[o])
			}
		}
	}
	q.group, q.cell = make([]int32, n), make([][]int32, n)
	t := &table.Program{First: []int32{0}, Worst: p.Prior == nil, Delta: q.delta}
	q.table = t
	number := map[int]int32{} // of cells, by their representatives
	for x := range n {
		q.cell[x] = make([]int32, m)
		isFirst := inputs.find(x) == x
		if isFirst {
			q.group[x] = int32(len(q.first))
			q.first = append(q.first, x)
		}
		q.group[x] = q.group[inputs.find(x)]
		for o := range m {
			r := cells.find(x*m + o)
			j, known := number[r]
			if !known { // only at the first input of a group
				j = int32(len(t.Count))
				number[r] = j
				t.Count = append(t.Count, 0)
			}
			if isFirst {
				t.Count[j]++
			}
			q.cell[x][o] = j
		}
		if isFirst {
			t.First = append(t.First, int32(len(t.Count)))
		}
	}
}

// fill sets losses, weights and rows.
func (q *program) fill() {
	p, t := q.problem, q.table
	var all []*big.Rat
	for _, x := range q.first {
		all = append(all, p.Loss[x]...)
	}
	den := arith.CommonDenominator(all)
	q.unit = new(big.Rat).SetFrac(unit, den)
	t.Loss, t.Zero = make([]*big.Int, len(t.Count)), make([]bool, len(t.Count))
	for _, x := range q.first {
		for o, l := range p.Loss[x] {
			j := q.cell[x][o]
			t.Loss[j] = new(big.Int).Mul(l.Num(), new(big.Int).Quo(den, l.Denom()))
			t.Zero[j] = q.zero[x][o]
		}
	}
	if p.Prior != nil {
		den := arith.CommonDenominator(p.Prior)
		t.Weight = make([]*big.Int, len(q.first))
		for g := range t.Weight {
			t.Weight[g] = new(big.Int)
		}
		for x, w := range p.Prior {
			at := t.Weight[q.group[x]]
			at.Add(at, new(big.Int).Mul(w.Num(), new(big.Int).Quo(den, w.Denom())))
		}
	}
	distances := q.distances
	t.Factors = func(prec uint) (low, high []*big.Rat) {
		low, high = []*big.Rat{one}, []*big.Rat{one} // of no pair, where there are none
		for i, d := range distances {
			if i == 0 {
				low, high = nil, nil
			}
			a, b := enclose(q.epsilon, d, prec)
			low, high = append(low, a), append(high, b)
		}
		return low, high
	}
	if q.delta.Sign() == 0 {
		rows := q.rows()
		for _, r := range rows {
			if t.Loss[r.Above].Cmp(t.Loss[r.Below]) > 0 {
				t.Start = append(t.Start, r)
			}
		}
		hubs := q.addHubs()
		t.Start = append(t.Start, hubs...)
		t.Each = each(append(rows, hubs...))
		q.tie()
		return
	}
	t.Each = each[table.Row](nil)
	t.Pairs = each(q.pairs())
}

// each visits the items of a list.
func each[T any](list []T) func(visit func(T) bool) bool {
	return func(visit func(T) bool) bool {
		for _, x := range list {
			if !visit(x) {
				return false
			}
		}
		return true
	}
}

// outgoing visits the arcs whose input above is the first of its group.
func (q *program) outgoing(visit func(a arc)) {
	for _, a := range q.arcs {
		if q.first[q.group[a.above]] == a.above {
			visit(a)
		}
	}
}

// rows returns the rows p(o|above) >= z^d p(o|below), each once, at δ = 0.
func (q *program) rows() (rows []table.Row) {
	seen := map[table.Row]bool{}
	q.outgoing(func(a arc) {
		if q.covered[a] {
			return
		}
		for o := range q.problem.Outputs {
			r := table.Row{Above: q.cell[a.above][o], Below: q.cell[a.below][o], Private: true, Distance: int32(a.distance)}
			if r.Above == r.Below || q.table.Zero[r.Below] || seen[r] {
				continue
			}
			seen[r] = true
			rows = append(rows, r)
		}
	})
	return rows
}

// pairs returns the ordered pairs of groups, each once, with what outputs are at both.
func (q *program) pairs() (pairs []table.Pair) {
	seen := map[string]bool{}
	q.outgoing(func(a arc) {
		counts := map[[2]int32]int64{}
		for o := range q.problem.Outputs {
			counts[[2]int32{q.cell[a.above][o], q.cell[a.below][o]}]++
		}
		var pair table.Pair
		for cells, c := range counts {
			pair = append(pair, table.Part{Above: cells[0], Below: cells[1], Candidates: c, Distance: int32(a.distance)})
		}
		slices.SortFunc(pair, func(a, b table.Part) int { return cmp.Or(cmp.Compare(a.Above, b.Above), cmp.Compare(a.Below, b.Below)) })
		if key := fmt.Sprint(pair); !seen[key] {
			seen[key] = true
			pairs = append(pairs, pair)
		}
	})
	return pairs
}

// tie sets which groups have to have equal probabilities: those at distance 0, at δ = 0.
func (q *program) tie() {
	if len(q.distances) == 0 || q.distances[0].Sign() > 0 {
		return
	}
	same := newClasses(len(q.first))
	both := map[[2]int]bool{}
	for _, a := range q.arcs {
		if a.distance == 0 {
			if both[[2]int{a.below, a.above}] {
				same.join(int(q.group[a.above]), int(q.group[a.below]))
			}
			both[[2]int{a.above, a.below}] = true
		}
	}
	q.table.Same = make([]int32, len(q.first))
	for g := range q.table.Same {
		q.table.Same[g] = int32(same.find(g))
	}
}

// interior sets a table that satisfies every row, strictly where that is possible.
func (q *program) interior(ctx context.Context) error {
	t := q.table
	t.Interior = make([]*big.Rat, len(t.Count))
	for g := range q.first {
		left := int64(0)
		for j := t.First[g]; j < t.First[g+1]; j++ {
			if !t.Zero[j] {
				left += t.Count[j]
			}
		}
		for j := t.First[g]; j < t.First[g+1]; j++ {
			if t.Interior[j] = new(big.Rat); !t.Zero[j] {
				t.Interior[j].SetFrac64(1, left)
			}
		}
	}
	q.insideHubs()
	if tight, delta := q.tightened(margins[0]); q.problem.Forbidden == nil || q.satisfies(t.Interior, tight, delta) {
		return nil
	}
	return q.search(ctx)
}

// margins are the parts, one in so many, of what is left to 1 by which factors are raised, and of δ by which it is lowered, so that what is private there is strictly so; 0 for none.
var margins = []int64{1 << 10, 1 << 30, 0}

// tightened returns factors and a δ that fewer tables are private at.
func (q *program) tightened(margin int64) (z []*big.Rat, delta *big.Rat) {
	_, z = q.table.Factors(128)
	if margin == 0 {
		return z, q.delta
	}
	for i, x := range z {
		up := new(big.Rat).Sub(one, x)
		z[i] = upwards(up.Add(x, up.Mul(up, big.NewRat(1, margin))), 64)
	}
	return z, new(big.Rat).Mul(q.delta, big.NewRat(margin-1, margin))
}

// satisfies reports whether probabilities of cells satisfy all rows at the given factors and δ.
func (q *program) satisfies(x, z []*big.Rat, delta *big.Rat) bool {
	t := q.table
	ok := t.Each(func(r table.Row) bool {
		return x[r.Above].Cmp(new(big.Rat).Mul(z[r.Distance], x[r.Below])) >= 0
	})
	return ok && (t.Pairs == nil || t.Pairs(func(pair table.Pair) bool {
		factor, sum := z[pair[0].Distance], new(big.Rat)
		for _, part := range pair {
			over := new(big.Rat).Mul(factor, x[part.Below])
			if over.Sub(over, x[part.Above]); over.Sign() > 0 {
				sum.Add(sum, over.Mul(over, new(big.Rat).SetInt64(part.Candidates)))
			}
		}
		return sum.Cmp(new(big.Rat).Mul(factor, delta)) <= 0
	}))
}

// search finds a table that satisfies every row where forbidden outputs let the uniform one fail: one that forbids nothing, and has as little as possible
// on what is forbidden. It looks at a slightly larger factor and a smaller δ first, so that rows are strict, and then raises all that need not be 0 by a little.
func (q *program) search(ctx context.Context) error {
	t := q.table
	_, high := t.Factors(128)
	for _, margin := range margins {
		tight, delta := q.tightened(margin)
		x, err := q.leastForbidden(ctx, tight, delta)
		if err != nil {
			return err
		}
		if x == nil {
			continue
		}
		t.Interior = x
		for bits := uint(16); margin > 0 && bits < 128; bits += 8 {
			if raised := q.raised(x, new(big.Rat).SetFrac(unit, new(big.Int).Lsh(unit, bits))); q.satisfies(raised, high, q.delta) {
				t.Interior = raised
				break
			}
		}
		if !q.satisfies(t.Interior, high, q.delta) {
			return fmt.Errorf("optimum: the table that was found is not private")
		}
		return nil
	}
	return faultf("forbidden: no private mechanism is left at this ε and δ: every one has forbidden outputs")
}

// upwards returns a number of so many bits after the point, at least x and at most 1.
func upwards(x *big.Rat, bits uint) *big.Rat {
	n := new(big.Int).Lsh(x.Num(), bits)
	n.Add(n, new(big.Int).Sub(x.Denom(), unit))
	up := new(big.Rat).SetFrac(n.Quo(n, x.Denom()), new(big.Int).Lsh(unit, bits))
	if up.Cmp(one) > 0 {
		return one
	}
	return up
}

// raised adds a little to all probabilities that need not be 0, and divides them by their sum.
func (q *program) raised(x []*big.Rat, by *big.Rat) []*big.Rat {
	t := q.table
	out := make([]*big.Rat, len(x))
	for g := range q.first {
		sum := new(big.Rat)
		for j := t.First[g]; j < t.First[g+1]; j++ {
			if out[j] = x[j]; !t.Zero[j] {
				out[j] = new(big.Rat).Add(x[j], by)
			}
			sum.Add(sum, new(big.Rat).Mul(out[j], new(big.Rat).SetInt64(t.Count[j])))
		}
		for j := t.First[g]; j < t.First[g+1]; j++ {
			out[j] = new(big.Rat).Quo(out[j], sum)
		}
	}
	return out
}

// leastForbidden returns a table that satisfies all rows at rational factors and a δ and has nothing on cells that have to be 0; nil where there is none.
func (q *program) leastForbidden(ctx context.Context, z []*big.Rat, delta *big.Rat) ([]*big.Rat, error) {
	t := *q.table
	t.Zero, t.Loss, t.Worst, t.Same, t.Delta = nil, make([]*big.Int, len(t.Count)), false, nil, delta
	t.Interior, t.Weight = make([]*big.Rat, len(t.Count)), make([]*big.Int, len(q.first))
	for g := range t.Weight {
		t.Weight[g] = unit
		for j := t.First[g]; j < t.First[g+1]; j++ {
			t.Interior[j] = big.NewRat(1, int64(len(q.problem.Outputs)))
			t.Loss[j] = new(big.Int)
			if q.table.Zero[j] {
				t.Loss[j].SetInt64(1)
			}
		}
	}
	t.Factors = func(uint) (low, high []*big.Rat) { return z, z }
	s, err := t.Solve(ctx, q.epsilon, linear.Embedded{}, new(big.Rat), nil)
	switch {
	case err != nil:
		return nil, err
	case s.Undecided != "":
		return nil, fmt.Errorf("%w: no table without forbidden outputs was found: %s", errUndecided, s.Undecided)
	case s.Upper.Sign() > 0:
		return nil, nil
	}
	x := make([]*big.Rat, len(t.Count))
	for j := range x {
		x[j] = s.Table.At(j)
	}
	return x, nil
}
