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
	count     []*big.Int // nil: all are 1
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
	nu     []*big.Rat              // the multipliers, in the order of the file
	x      []*big.Int              // the table, over den
	den    *big.Int
	whole  *objective
	cost   *evidence.Effort
}

// privacyRow is a row (P): the cells a and b.
type privacyRow struct{ a, b int }

// part is a row so many times.
type part struct {
	privacyRow
	count int
}

// event has parts in order, each of another row, and the number of its multiplier.
type event struct {
	parts []part
	at    int
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

// times returns count·x for a cell.
func (f *finite) times(j int, x *big.Int) *big.Int {
	if f.count == nil {
		return x
	}
	return new(big.Int).Mul(x, f.count[j])
}

// body reads the table, weights and multipliers. grow appends the cells of the next input: the problem becomes no larger than the
// file says it is.
func (f *finite) body(r *evidence.Reader, inputs int, grow func(i int)) {
	r.Long = evidence.MaxSectionLine
	f.cost = r.Cost
	f.first = []int{0}
	var table []*big.Rat
	for i := range inputs {
		from := f.cells()
		grow(i)
		f.first = append(f.first, len(f.loss))
		for k, p := range r.Numbers("input", f.cells()-from) {
			if p.Sign() < 0 {
				r.Failf("input %d: the probability of cell %d is negative", i, k)
			}
			if f.forbidden != nil && f.forbidden[from+k] && p.Sign() != 0 {
				r.Failf("input %d: cell %d is forbidden", i, k)
			}
			table = append(table, p)
		}
	}
	if f.worst || f.weighted {
		f.weights(r)
	}
	f.readEvents(r)
	f.x, f.den = f.cost.Common(table)
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
		e.at = len(f.nu)
		f.nu = append(f.nu, r.Positive("multiplier", fields[0]))
		f.events[e.parts[0].privacyRow] = append(f.events[e.parts[0].privacyRow], &e)
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
	f.sums()
	low, high := f.powers(o)
	t := f.wholeNumbers(f.x, high)
	nu, unit := f.cost.Common(f.nu)
	d := f.newDual(low, unit)
	open := len(nu) // events that no pair has been found for
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
				d.add(nu[e.at], p.distance, e.parts...)
				open--
				return true
			})
		}
		t.obeys(p)
		f.cost.Spend(len(p.rows))
	})
	if open > 0 {
		evidence.Refute("a multiplier is of no rows of neighbors")
	}
	lower := d.bound()
	if least := slices.MinFunc(f.loss, (*big.Rat).Cmp); lower.Cmp(least) < 0 { // no mean of losses is below the least of them
		lower = least
	}
	evidence.Judge(&f.Claims[0], lower, f.value())
}

// sums makes sure that the table satisfies (E).
func (f *finite) sums() {
	for i := range f.inputs() {
		sum := new(big.Int)
		for j := f.first[i]; j < f.first[i+1]; j++ {
			f.cost.Multiply(f.x[j].BitLen(), 1)
			sum.Add(sum, f.times(j, f.x[j]))
		}
		if sum.Cmp(f.den) != 0 {
			evidence.Refute("input %d: the probabilities sum to %s, not to 1", i, evidence.Quote(new(big.Rat).SetFrac(sum, f.den).RatString()))
		}
	}
}

// dual has the C_j of all cells, in whole numbers over unit, as more and more events are added.
type dual struct {
	*finite
	left  []*big.Int
	z     []*big.Int // z^d, over zUnit
	price *big.Int   // Σ_events z^d ν, over unit/costUnit

	costUnit, zUnit, unit *big.Int
}

// objective has losses and weights in whole numbers.
type objective struct {
	losses, weights      []*big.Int
	lossUnit, weightUnit *big.Int
	total                *big.Rat // Σ w
}

func (f *finite) objective() *objective {
	if f.whole == nil {
		w := &objective{}
		w.losses, w.lossUnit = f.cost.Common(f.loss)
		w.weights, w.weightUnit = f.cost.Common(f.weight)
		total := new(big.Int)
		for _, x := range w.weights {
			total.Add(total, x)
		}
		if w.total = new(big.Rat).SetFrac(total, w.weightUnit); total.Sign() == 0 {
			evidence.Refute("the weights are all 0")
		}
		f.whole = w
	}
	return f.whole
}

// newDual begins with the objective. Multipliers will be given over nuUnit.
func (f *finite) newDual(z []*big.Rat, nuUnit *big.Int) *dual {
	o := f.objective()
	d := &dual{finite: f, price: new(big.Int), costUnit: new(big.Int).Mul(o.lossUnit, o.weightUnit)}
	d.z, d.zUnit = f.cost.Common(z)
	scale := new(big.Int).Mul(nuUnit, d.zUnit)
	d.unit = new(big.Int).Mul(scale, d.costUnit)
	f.cost.Hold(f.cells(), 2*d.unit.BitLen())
	for i, w := range o.weights {
		for j := f.first[i]; j < f.first[i+1]; j++ {
			f.cost.Multiply(scale.BitLen(), w.BitLen()+o.losses[j].BitLen())
			c := new(big.Int).Mul(w, o.losses[j])
			d.left = append(d.left, c.Mul(f.times(j, c), scale))
		}
	}
	return d
}

// add adds an event of two inputs at some distance.
func (d *dual) add(nu *big.Int, distance int, parts ...part) {
	d.cost.Multiply(nu.BitLen()+d.costUnit.BitLen(), d.zUnit.BitLen()+d.costUnit.BitLen())
	takes := new(big.Int).Mul(nu, d.z[distance])
	d.price.Add(d.price, takes)
	takes.Mul(takes, d.costUnit)
	gives := new(big.Int).Mul(nu, d.costUnit)
	gives.Mul(gives, d.zUnit)
	var x big.Int
	for _, q := range parts {
		count := big.NewInt(int64(q.count))
		d.left[q.b].Add(d.left[q.b], x.Mul(takes, count))
		d.left[q.a].Sub(d.left[q.a], x.Mul(gives, count))
	}
}

// bound returns the lower bound.
func (d *dual) bound() *big.Rat {
	all := big.NewInt(1) // a common multiple of all counts
	for _, c := range d.count {
		all = evidence.LCM(all, c)
	}
	sum := new(big.Int)
	for i := range d.inputs() {
		var least *big.Int
		for j := d.first[i]; j < d.first[i+1]; j++ {
			if d.forbidden != nil && d.forbidden[j] {
				continue
			}
			c := d.left[j]
			if d.count != nil {
				d.cost.Multiply(c.BitLen(), all.BitLen())
				c = new(big.Int).Quo(all, d.count[j])
				c.Mul(c, d.left[j])
			}
			if least == nil || c.Cmp(least) < 0 {
				least = c
			}
		}
		sum.Add(sum, least) // the table sums to 1, so that a cell is allowed
	}
	bound := new(big.Rat).SetFrac(sum, all.Mul(all, d.unit))
	if d.delta != nil {
		price := new(big.Rat).SetFrac(d.price.Mul(d.price, d.costUnit), d.unit)
		bound.Sub(bound, price.Mul(price, d.delta))
	}
	return bound.Quo(bound, d.whole.total)
}

// value returns the table's objective.
func (f *finite) value() *big.Rat {
	o := f.objective()
	sum, most := new(big.Int), new(big.Int)
	for i, w := range o.weights {
		at := new(big.Int)
		for j := f.first[i]; j < f.first[i+1]; j++ {
			f.cost.Multiply(o.losses[j].BitLen(), f.x[j].BitLen())
			x := new(big.Int).Mul(o.losses[j], f.x[j])
			at.Add(at, f.times(j, x))
		}
		if i == 0 || at.Cmp(most) > 0 {
			most.Set(at)
		}
		f.cost.Multiply(w.BitLen(), at.BitLen())
		sum.Add(sum, at.Mul(at, w))
	}
	unit := new(big.Int).Mul(o.lossUnit, f.den)
	if f.worst {
		return new(big.Rat).SetFrac(most, unit)
	}
	mean := new(big.Rat).SetFrac(sum, unit.Mul(unit, o.weightUnit))
	return mean.Quo(mean, o.total)
}

// wholeTable is the table in whole numbers: x_j times the common denominator and that of z^d, and times the numerator of z^d, for each distance.
type wholeTable struct {
	left, right [][]*big.Int
	room        []*big.Rat // z^d δ in the same units; nil where δ = 0
}

// wholeNumbers returns a table in whole numbers, for each z^d.
func (f *finite) wholeNumbers(x []*big.Int, z []*big.Rat) *wholeTable {
	bits := 0
	for _, p := range z {
		bits += 2*f.den.BitLen() + p.Num().BitLen() + p.Denom().BitLen() + 512
		f.cost.Spend(len(x) * (1 + f.den.BitLen()/64) * (1 + p.Denom().BitLen()/64))
	}
	f.cost.Hold(len(x), bits)
	t := &wholeTable{}
	for _, p := range z {
		left, right := make([]*big.Int, len(x)), make([]*big.Int, len(x))
		for j, n := range x {
			left[j], right[j] = new(big.Int).Mul(n, p.Denom()), new(big.Int).Mul(n, p.Num())
		}
		t.left, t.right = append(t.left, left), append(t.right, right)
		var room *big.Rat
		if f.delta != nil && f.delta.Sign() > 0 {
			room = new(big.Rat).Mul(f.delta, new(big.Rat).SetInt(f.den))
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
