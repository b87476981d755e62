package certificate

import (
	"math/big"
	"slices"

	"optratio/internal/evidence"
)

// finite is a private choice on finitely many inputs. A mechanism is a table: x_j is the probability of one outcome of cell j, every
// input i has the cells first[i] to first[i+1], and
//
//	minimise   Σ_i w_i Σ_{j of i} count_j loss_j x_j / Σ_i w_i,    or the largest Σ_{j of i} count_j loss_j x_j of any i
//	(E)        Σ_{j of i} count_j x_j = 1                           every i
//	(P)        Σ c max(0, z^d x_b - x_a) <= z^d δ                   every ordered pair of inputs at distance d, over its rows (a, b), c times each
//	           x >= 0, and 0 where forbidden
//
// with z = e^{-ε}, which is Pr[M(x') ∈ S] <= e^{dε} Pr[M(x) ∈ S] + δ for every set S; at δ = 0 it is x_a >= z^d x_b for every row.
//
// A file holds a table and multipliers ν >= 0 of events: Σ c' (x_a - z^d x_b) + z^d δ >= 0 over some rows of a pair, c' <= c times each, which follows from (P). What it
// proves is a lower bound by weak duality, whatever the multipliers are: with
//
//	C_j = w_i count_j loss_j - Σ_{parts (j,b)} c' ν + Σ_{parts (a,j)} c' z^d ν
//
// the minimum times Σ w is at least Σ_i min_{j of i} C_j/count_j - δ Σ_events z^d ν. The largest loss is at least every weighted mean of them. And an upper bound: the
// value of the table, if it satisfies (P).
//
// A larger z allows fewer tables, at each d and δ, so that the first bound at the lower end of an enclosure of z, and a table that
// is feasible at its upper end, hold for what lies between.
type finite struct {
	evidence.Setting
	first     []int
	count     []*big.Rat // nil: all are 1
	loss      []*big.Rat
	forbidden []bool // nil: none are
	weight    []*big.Rat
	weighted  bool // by lines of the file
	worst     bool
	delta     *big.Rat   // nil for 0
	distances []*big.Rat // those that pairs have; nil for 1 alone
	// pairs visits every ordered pair of neighbors with its rows.
	pairs func(visit func(p pair))

	events map[privacyRow][]*event // by their first part
	open   int                     // events that no pair has been found for
	x      []*big.Rat
	cost   *evidence.Effort
}

// privacyRow is a row (P): the cells a and b.
type privacyRow struct{ a, b int }

// part is a row so many times.
type part struct {
	privacyRow
	count int
}

// event has parts in order, each of another row, and a multiplier.
type event struct {
	parts []part
	nu    *big.Rat
}

// pair is two neighbors. Its rows are valid until the visit ends.
type pair struct {
	rows     []part
	distance int // which of the distances
}

// has reports whether an event is one of the pair.
func (p pair) has(e *event) bool {
	for _, want := range e.parts {
		there := 0
		for _, row := range p.rows {
			if row.privacyRow == want.privacyRow {
				there += row.count
			}
		}
		if there < want.count {
			return false
		}
	}
	return true
}

func (f *finite) inputs() int { return len(f.first) - 1 }
func (f *finite) cells() int  { return f.first[len(f.first)-1] }

// mass returns count·x for a cell.
func (f *finite) mass(j int, x *big.Rat) *big.Rat {
	if f.count == nil {
		return x
	}
	return new(big.Rat).Mul(x, f.count[j])
}

// body reads the table, weights and multipliers. grow appends the cells of the next input: the problem becomes no larger than the
// file says it is.
func (f *finite) body(r *evidence.Reader, inputs int, grow func(i int)) {
	r.Long = evidence.MaxSectionLine
	f.cost = r.Cost
	f.first = []int{0}
	one := big.NewRat(1, 1)
	for i := range inputs {
		from := f.cells()
		grow(i)
		f.first = append(f.first, len(f.loss))
		sum := new(big.Rat)
		for k, p := range r.Numbers("input", f.cells()-from) {
			if p.Sign() < 0 {
				r.Failf("input %d: the probability of cell %d is negative", i, k)
			}
			if f.forbidden != nil && f.forbidden[from+k] && p.Sign() != 0 {
				r.Failf("input %d: cell %d is forbidden", i, k)
			}
			f.cost.Sum(sum, f.mass(from+k, p))
			f.x = append(f.x, p)
		}
		if sum.Cmp(one) != 0 {
			r.Failf("input %d: the probabilities sum to %s, not to 1", i, evidence.Quote(sum.RatString()))
		}
	}
	if f.worst || f.weighted {
		f.weights(r)
	}
	f.readEvents(r)
}

// readEvents reads the multipliers.
func (f *finite) readEvents(r *evidence.Reader) {
	f.events = map[privacyRow][]*event{}
	var last []int
	for r.Is("multiplier") {
		fields := r.Fields("multiplier", 0)
		var e event
		var key []int
		if len(fields)%3 != 1 || len(fields) < 4 {
			r.Failf("multiplier: %d fields where parts of 3 numbers each and a value were expected", len(fields))
		}
		for ; len(fields) > 1; fields = fields[3:] {
			a, b := r.Integer("multiplier", fields[0], 0, f.cells()-1), r.Integer("multiplier", fields[1], 0, f.cells()-1)
			count := r.Integer("multiplier", fields[2], 1, evidence.MaxCandidates)
			if n := len(key); n > 0 && slices.Compare([]int{a, b}, key[n-3:n-1]) <= 0 {
				r.Failf("multiplier: a part is not after the one before it")
			}
			e.parts, key = append(e.parts, part{privacyRow{a, b}, count}), append(key, a, b, count)
		}
		r.Ordered(&last, key, "multiplier: not after the event of the line before")
		e.nu = r.Positive("multiplier", fields[0])
		f.events[e.parts[0].privacyRow] = append(f.events[e.parts[0].privacyRow], &e)
		f.open++
	}
}

// weights reads weights of inputs: where the largest loss is minimised those of the dual.
func (f *finite) weights(r *evidence.Reader) {
	f.weight = make([]*big.Rat, f.inputs())
	for i := range f.weight {
		f.weight[i] = new(big.Rat)
	}
	for last := []int(nil); r.Is("weight"); {
		s := r.Fields("weight", 2)
		i := r.Integer("weight", s[0], 0, f.inputs()-1)
		r.Ordered(&last, []int{i}, "weight: not an input after that of the line before")
		f.weight[i] = r.Positive("weight", s[1])
	}
}

// powers returns an enclosure of z^d for each distance d, somewhat closer than the writer had it.
func (f *finite) powers(o evidence.Options) (low, high []*big.Rat) {
	prec := min(uint(f.Precision)+64, o.MaxPrecision)
	distances := f.distances
	if distances == nil {
		distances = []*big.Rat{big.NewRat(1, 1)}
	}
	for _, d := range distances {
		l, h := f.Power(d, prec)
		low, high = append(low, l), append(high, h)
	}
	return low, high
}

// Decide works out both bounds.
func (f *finite) Decide(o evidence.Options) {
	low, high := f.powers(o)
	t := f.wholeNumbers(high, o.MaxMemory)
	coefficient := f.costs()
	price := new(big.Rat) // Σ_events z^d ν
	f.pairs(func(p pair) {
		for _, row := range p.rows {
			at := f.events[row.privacyRow]
			if len(at) == 0 {
				continue
			}
			f.cost.Spend(len(at))
			f.events[row.privacyRow] = slices.DeleteFunc(at, func(e *event) bool {
				if !p.has(e) {
					return false
				}
				f.cost.Sum(price, e.nu, low[p.distance])
				for _, q := range e.parts {
					times := big.NewRat(int64(q.count), 1)
					f.cost.Sum(coefficient[q.b], times, e.nu, low[p.distance])
					f.cost.Sum(coefficient[q.a], times.Neg(times), e.nu)
				}
				f.open--
				return true
			})
		}
		t.obeys(p)
		f.cost.Spend(len(p.rows))
	})
	if f.open > 0 {
		evidence.Refute("a multiplier is of no rows of neighbors")
	}
	evidence.Judge(&f.Claims[0], f.bound(coefficient, price), f.value())
}

// costs returns w count loss of every cell.
func (f *finite) costs() []*big.Rat {
	out := make([]*big.Rat, f.cells())
	for i := range f.inputs() {
		for j := f.first[i]; j < f.first[i+1]; j++ {
			out[j] = new(big.Rat)
			f.cost.Sum(out[j], f.weight[i], f.mass(j, f.loss[j]))
		}
	}
	return out
}

// bound returns the lower bound.
func (f *finite) bound(coefficient []*big.Rat, price *big.Rat) *big.Rat {
	sum, total := new(big.Rat), new(big.Rat)
	for i := range f.inputs() {
		f.cost.Sum(total, f.weight[i])
		var least *big.Rat
		for j := f.first[i]; j < f.first[i+1]; j++ {
			if f.forbidden != nil && f.forbidden[j] {
				continue
			}
			c := coefficient[j]
			if f.count != nil {
				c = new(big.Rat).Quo(c, f.count[j])
			}
			if least == nil || c.Cmp(least) < 0 {
				least = c
			}
		}
		f.cost.Sum(sum, least) // the table sums to 1, so that a cell is allowed
	}
	if total.Sign() == 0 {
		evidence.Refute("the weights are all 0")
	}
	if f.delta != nil {
		f.cost.Sum(sum, new(big.Rat).Neg(price), f.delta)
	}
	// No mean of losses is below the least of them.
	if least := slices.MinFunc(f.loss, (*big.Rat).Cmp); sum.Quo(sum, total).Cmp(least) < 0 {
		return least
	}
	return sum
}

// value returns the table's objective.
func (f *finite) value() *big.Rat {
	sum, total := new(big.Rat), new(big.Rat)
	var most *big.Rat
	for i := range f.inputs() {
		at := new(big.Rat)
		for j := f.first[i]; j < f.first[i+1]; j++ {
			f.cost.Sum(at, f.loss[j], f.mass(j, f.x[j]))
		}
		if most == nil || at.Cmp(most) > 0 {
			most = new(big.Rat).Set(at)
		}
		f.cost.Sum(sum, at, f.weight[i])
		f.cost.Sum(total, f.weight[i])
	}
	if f.worst {
		return most
	}
	return sum.Quo(sum, total)
}

// wholeTable is the table in whole numbers: x_j times the common denominator and that of z^d, and times the numerator of z^d, for each distance.
type wholeTable struct {
	left, right [][]*big.Int
	room        []*big.Rat // z^d δ in the same units; nil where δ = 0
}

// wholeNumbers returns the table in whole numbers, for each z^d.
func (f *finite) wholeNumbers(z []*big.Rat, memory int64) *wholeTable {
	num, den := evidence.Common(f.x)
	bits := 0
	for _, p := range z {
		bits += 2*den.BitLen() + p.Num().BitLen() + p.Denom().BitLen() + 1024
	}
	if need := float64(bits) / 8 * float64(len(f.x)); need > float64(memory) {
		evidence.Limit("the table takes about %.3g bytes; the limit is %d", need, memory)
	}
	t := &wholeTable{}
	for _, p := range z {
		left, right := make([]*big.Int, len(f.x)), make([]*big.Int, len(f.x))
		for j, n := range num {
			left[j], right[j] = new(big.Int).Mul(n, p.Denom()), new(big.Int).Mul(n, p.Num())
		}
		t.left, t.right = append(t.left, left), append(t.right, right)
		var room *big.Rat
		if f.delta != nil && f.delta.Sign() > 0 {
			room = new(big.Rat).Mul(f.delta, new(big.Rat).SetInt(den))
			room.Mul(room, new(big.Rat).SetInt(p.Num()))
		}
		t.room = append(t.room, room)
	}
	return t
}

// obeys makes sure that the table satisfies the rows of a pair.
func (t *wholeTable) obeys(p pair) {
	left, right, room := t.left[p.distance], t.right[p.distance], t.room[p.distance]
	var sum *big.Int
	for _, row := range p.rows {
		if left[row.a].Cmp(right[row.b]) >= 0 {
			continue
		}
		if room == nil {
			evidence.Refute("the table violates a row: cell %d against cell %d", row.a, row.b)
		}
		if sum == nil {
			sum = new(big.Int)
		}
		over := new(big.Int).Sub(right[row.b], left[row.a])
		sum.Add(sum, over.Mul(over, big.NewInt(int64(row.count))))
	}
	if sum != nil && new(big.Rat).SetInt(sum).Cmp(room) > 0 {
		evidence.Refute("the table violates (ε,δ)-privacy between the inputs of cells %d and %d", p.rows[0].a, p.rows[0].b)
	}
}
