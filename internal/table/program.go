// Package table solves the optimal-mechanism program in its general form: a table of probabilities, one for each
// cell, that sum to 1 in each group of cells, under rows x_a >= z x_b (privacy, z = e^{-ε}) and x_a >= x_b
// (monotonicity). It generates only those rows that some point violated. Approximate privacy has rows for events instead: see Pair.
//
// A group is a score vector, or all score vectors that a symmetry takes into each other; a cell is a candidate of
// it, or Count candidates that have equal probabilities. The package knows nothing else of score vectors: which
// cells are tied by rows is the caller's to say. It minimises the mean of the groups' expected losses under given weights, or the
// largest one.
//
// Solvers only propose. The lower bound follows from multipliers by weak duality, the upper one from a table
// that satisfies every row; both are evaluated in rational arithmetic, at ends of an enclosure of z where z is
// irrational.
package table

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/linear"
	"optratio/number"
)

// Row says x_Above >= z x_Below where Private is set, and x_Above >= x_Below otherwise. Where a program has several distances, z is the factor
// of the one that Distance counts.
type Row struct {
	Above, Below int32
	Private      bool
	Distance     int32
}

// Part says that a number of candidates have the cell Below in one group and Above in a neighboring one. Distance is that of the groups, as
// in Row, and the same for all parts of a pair.
type Part struct {
	Above, Below int32
	Candidates   int64
	Distance     int32
}

// Pair is two neighboring groups, q of the cells Below and q' of the cells Above: each candidate belongs to one part. The
// choice at q is (ε,δ)-close to the one at q' iff Σ max(0, x_Below - e^ε x_Above) <= δ over all candidates, that is iff every
// event, a set of candidates, satisfies
//
//	Σ (x_Above - z x_Below) >= -zδ    over its candidates.
//
// Candidates of one part have equal terms, so that events of whole parts suffice.
type Pair []Part

// Cut is a row in force: Σ Candidates·(x_Above - ρ x_Below) >= -zδ over its parts with ρ = z where Private is set, and >= 0 with
// ρ = 1 otherwise. A Row is a cut of one candidate.
type Cut struct {
	Parts   []Part
	Private bool
}

// Cut is the row as a cut.
func (r Row) Cut() Cut { return Cut{[]Part{{r.Above, r.Below, 1, r.Distance}}, r.Private} }

// key identifies a cut.
func (c *Cut) key() string { return fmt.Sprint(c.Private, c.Parts) }

// Program is a program of the form above. Cells are numbered group by group.
type Program struct {
	First []int32    // First[g] is the first cell of group g; one more entry at the end
	Count []int64    // of each cell, >= 1: how many candidates share its probability
	Loss  []*big.Int // of each cell, >= 0: what choosing one of its candidates costs
	// Weight is each group's part in the mean, >= 0 and not all 0. It is not used where Worst is set.
	Weight []*big.Int
	Worst  bool // minimise the largest expected loss of a group instead of the mean
	// Start are the rows to begin with. Each visits all rows, in the same order every time, until visit returns
	// false, and reports whether it never did.
	Start []Row
	Each  func(visit func(Row) bool) bool
	// Pairs visits, for approximate privacy, all ordered pairs of neighboring groups, as Each does; Delta >= 0 is their δ. Each then visits no
	// private row. Without it, Delta is not used. The visitor does not keep the pair.
	Pairs func(visit func(Pair) bool) bool
	Delta *big.Rat
	// Factors encloses, to about so many bits, what z stands for in private rows, one number for each distance; both ends are the same number
	// where it is rational. Nil for the one factor e^{-ε}.
	Factors func(prec uint) (low, high []*big.Rat)
	// Zero are the cells whose probability is to be 0; nil for none. Same has for each group the first one that has to have the same probabilities,
	// cell by cell; nil where rows alone say so.
	Zero []bool
	Same []int32
	// Interior is a table, in probabilities of one candidate, that satisfies every row at the z at hand, strictly where
	// that is possible. With Chains it may be left out.
	Interior []*big.Rat

	// Near, where not nil, is a table near the optimum that satisfies every row, in rounded probabilities of one candidate, none of them 0: without
	// Pairs, solving starts from there.
	Near []float64
	// Chains, where not nil, says that the rows Start make chains. Basis is then where the simplex method starts, with the rows Start.
	Chains *Chains
	Basis  *linear.Basis
	// Publish, where not nil, takes what is known so far, whenever a bound was evaluated.
	Publish func(Solution)

	rows []Cut
	have map[string]bool // cuts in force by their keys
	held map[Row]bool    // and those that are rows
	of   []int32         // group of each cell
	// common is the least common multiple of all counts, total the sum of the weights.
	common, total *big.Int
	interior      []*big.Rat // what inside returns
	shift         uint       // costs of rational are divided by 2^shift
}

// maxCostBits keeps costs within the exponents of float64.
const maxCostBits = 900

// ErrProgram is wrapped by errors about a malformed program.
var ErrProgram = errors.New("malformed table program")

// check reports the first inconsistency, and prepares the program.
func (p *Program) check() error {
	cells := len(p.Count)
	if len(p.First) < 2 || p.First[0] != 0 || int(p.First[len(p.First)-1]) != cells || len(p.Loss) != cells || len(p.Interior) != cells && p.Chains == nil {
		return fmt.Errorf("%w: %d cells, %d losses, %d probabilities inside", ErrProgram, cells, len(p.Loss), len(p.Interior))
	}
	p.of, p.common = make([]int32, cells), big.NewInt(1)
	counts := map[int64]bool{}
	p.total, p.interior = new(big.Int), nil
	for g := range p.groups() {
		if err := p.checkGroup(g, counts); err != nil {
			return err
		}
	}
	if !p.Worst && p.total.Sign() == 0 {
		return fmt.Errorf("%w: all weights are 0", ErrProgram)
	}
	if p.Pairs == nil {
		p.Delta = new(big.Rat)
	}
	if p.Delta == nil || p.Delta.Sign() < 0 {
		return fmt.Errorf("%w: no δ >= 0", ErrProgram)
	}
	p.shift = 0
	if most := slices.MaxFunc(p.Loss, (*big.Int).Cmp); !p.Worst {
		p.shift = uint(max(0, p.total.BitLen()+most.BitLen()-maxCostBits))
	}
	p.rows, p.have, p.held = nil, map[string]bool{}, map[Row]bool{}
	for _, r := range p.Start {
		p.add(r)
	}
	return nil
}

// factors are what z stands for, for each distance.
type factors []*big.Rat

// of returns the factor of a cut's or a row's probabilities below: z, or 1 where it is not about privacy.
func (z factors) of(private bool, distance int32) *big.Rat {
	if !private {
		return unity
	}
	return z[distance]
}

// equal reports whether both are the same numbers.
func (z factors) equal(y factors) bool {
	return slices.EqualFunc(z, y, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
}

// slack returns zδ for each distance, by which private cuts may be violated.
func (p *Program) slack(z factors) factors {
	out := make(factors, len(z))
	for i, x := range z {
		out[i] = new(big.Rat).Mul(x, p.Delta)
	}
	return out
}

// enclosure encloses the factors.
func (p *Program) enclosure(eps number.Epsilon, prec uint) (low, high factors) {
	if p.Factors != nil {
		return p.Factors(prec)
	}
	a, b := Between(eps, unity, prec)
	return factors{a}, factors{b}
}

func (p *Program) isZero(j int32) bool { return p.Zero != nil && p.Zero[j] }

// shares returns for each cell what one of its candidates has of the given masses, times common.
func (p *Program) shares(mass []*big.Int) []*big.Int {
	out := make([]*big.Int, p.cells())
	var each big.Int
	for j := range out {
		out[j] = new(big.Int).Mul(mass[j], each.Quo(p.common, each.SetInt64(p.Count[j])))
	}
	return out
}

func (p *Program) groups() int { return len(p.First) - 1 }
func (p *Program) cells() int  { return len(p.Count) }

// fixed returns the number of rows before the generated ones: one for each group's sum and, with Worst, one for its loss.
func (p *Program) fixed() int {
	if p.Worst {
		return 2 * p.groups()
	}
	return p.groups()
}

func (p *Program) add(r Row) bool {
	if r.Above == r.Below || p.held[r] {
		return false
	}
	p.held[r] = true
	p.rows = append(p.rows, r.Cut())
	return true
}

// cut puts a cut that is no row in force, and reports false where it was already.
func (p *Program) cut(c Cut) bool {
	key := c.key()
	if p.have[key] {
		return false
	}
	p.have[key] = true
	p.rows = append(p.rows, c)
	return true
}

// separate adds, for each cell and each kind of row, the row with this cell above that is violated by most, if there is
// one, and returns how many it added. more reports whether the right side of the first row exceeds that of the second, which is of the same kind, and violated tells of a row.
func (p *Program) separate(ctx context.Context, more func(r, s Row) bool, violated func(Row) bool) (int, error) {
	worst := [2][]Row{make([]Row, p.cells()), make([]Row, p.cells())}
	for _, w := range worst {
		for j := range w {
			w[j].Below = -1
		}
	}
	visited := 0
	if !p.Each(func(r Row) bool {
		if visited++; visited%1024 == 0 && ctx.Err() != nil {
			return false
		}
		w := worst[kind(r)]
		if w[r.Above].Below < 0 || more(r, w[r.Above]) {
			w[r.Above] = r
		}
		return true
	}) {
		return 0, context.Cause(ctx)
	}
	added := 0
	for _, w := range worst {
		for _, r := range w {
			if r.Below >= 0 && violated(r) && p.add(r) {
				added++
			}
		}
	}
	return added, nil
}

func kind(r Row) int {
	if r.Private {
		return 0
	}
	return 1
}

// checkGroup reports the first inconsistency of a group, and adds it to what is known of all: which group its cells are of, the total weight, and the least common
// multiple of the counts, of which counts has those that were met.
func (p *Program) checkGroup(g int, counts map[int64]bool) error {
	if p.First[g+1] <= p.First[g] {
		return fmt.Errorf("%w: group %d has no cells", ErrProgram, g)
	}
	for j := p.First[g]; j < p.First[g+1]; j++ {
		p.of[j] = int32(g)
		if p.Zero != nil && p.Zero[j] && p.Interior[j].Sign() != 0 {
			return fmt.Errorf("%w: cell %d is to be 0", ErrProgram, j)
		}
		if p.Count[j] < 1 || p.Loss[j].Sign() < 0 {
			return fmt.Errorf("%w: cell %d has count %d and loss %s", ErrProgram, j, p.Count[j], p.Loss[j])
		}
		if c := p.Count[j]; !counts[c] {
			counts[c] = true
			p.common.Mul(p.common, big.NewInt(c/new(big.Int).GCD(nil, nil, p.common, big.NewInt(c)).Int64()))
		}
	}
	if p.Worst {
		return nil
	}
	if p.Weight[g].Sign() < 0 {
		return fmt.Errorf("%w: group %d has weight %s", ErrProgram, g, p.Weight[g])
	}
	p.total.Add(p.total, p.Weight[g])
	return nil
}

// unit is what a cut is multiplied by in the columns of rational: it makes the entries of a row's first cell 1.
func (p *Program) unit(c *Cut) int64 { return p.Count[c.Parts[0].Above] }

// entry is that of a column in a row of rational.
type entry struct {
	row   int32
	value *big.Rat
}

// entries adds the rows generated so far, at rational factors z, to out and returns the entries that each cell has in them.
func (p *Program) entries(out *linear.Rational, z factors) [][]entry {
	entries := make([][]entry, p.cells())
	slack := p.slack(z)
	type times struct {
		candidates, unit, count int64
		distance                int32 // -1 for 1
	}
	known := map[times]*big.Rat{} // shared between entries
	value := func(t times) *big.Rat {
		x := known[t]
		if x == nil {
			x = big.NewRat(t.unit, t.count)
			if x.Mul(x, big.NewRat(t.candidates, 1)); t.distance >= 0 {
				x.Mul(x, z[t.distance])
			}
			known[t] = x
		}
		return x
	}
	for _, r := range p.rows {
		unit, least := p.unit(&r), new(big.Rat)
		distance := r.Parts[0].Distance
		if r.Private && p.Delta.Sign() > 0 {
			least = new(big.Rat).Mul(slack[distance], big.NewRat(-unit, 1))
		}
		i := int32(out.AddRow(least, nil))
		put := func(j int32, candidates int64, distance int32) { // a cell may belong to several parts
			x := value(times{candidates, unit, p.Count[j], distance})
			if es := entries[j]; len(es) > 0 && es[len(es)-1].row == i {
				es[len(es)-1].value = new(big.Rat).Add(es[len(es)-1].value, x)
				return
			}
			entries[j] = append(entries[j], entry{i, x})
		}
		if !r.Private {
			distance = -1
		}
		for _, q := range r.Parts {
			put(q.Above, q.Candidates, -1)
			put(q.Below, -q.Candidates, distance)
		}
	}
	return entries
}

// Rational returns the program with the rows generated so far, at rational factors z. Column j is the probability that some
// candidate of cell j is chosen, Count[j] times that of one; with Worst a last column is the largest loss.
func (p *Program) rational(z factors) *linear.Rational {
	zero, one := new(big.Rat), big.NewRat(1, 1)
	out := new(linear.Rational)
	for range p.groups() {
		out.AddRow(one, one)
	}
	for out.Rows() < p.fixed() {
		out.AddRow(zero, nil)
	}
	entries := p.entries(out, z)
	for j := range p.cells() {
		g := p.of[j]
		loss, cost := new(big.Rat).SetInt(p.Loss[j]), zero
		index, value := []int32{g}, []*big.Rat{one}
		if !p.Worst {
			cost = loss.Mul(loss, new(big.Rat).SetInt(p.Weight[g]))
			if p.shift > 0 {
				cost.Quo(cost, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), p.shift)))
			}
		} else if loss.Sign() != 0 {
			index, value = append(index, int32(p.groups())+g), append(value, loss.Neg(loss))
		}
		for _, e := range entries[j] {
			index, value = append(index, e.row), append(value, e.value)
		}
		var most *big.Rat
		if p.isZero(int32(j)) {
			most = zero
		}
		out.AddCol(cost, zero, most, index, value)
	}
	if p.Worst {
		index, value := make([]int32, p.groups()), make([]*big.Rat, p.groups())
		for g := range index {
			index[g], value[g] = int32(p.groups()+g), one
		}
		out.AddCol(one, zero, nil, index, value)
	}
	return out
}
