package certificate

import (
	"fmt"
	"math/big"
	"strings"

	"optratio/number/interval"
)

// finite is a private choice on finitely many inputs. A mechanism is a table: x_j is the probability of one outcome of cell j, every
// input i has the cells first[i] to first[i+1], and
//
//	minimise   Σ_i w_i Σ_{j of i} count_j loss_j x_j / Σ_i w_i,    or the largest Σ_{j of i} count_j loss_j x_j of any i
//	(E)        Σ_{j of i} count_j x_j = 1                           every i
//	(P)        Σ max(0, z^d x_b - x_a) <= z^d δ                     every ordered pair of inputs at distance d, over its rows (a, b)
//	           x >= 0, and 0 where forbidden
//
// with z = e^{-ε}, which is Pr[M(x') ∈ S] <= e^{dε} Pr[M(x) ∈ S] + δ for every set S; at δ = 0 it is x_a >= z^d x_b for every row.
//
// A file holds multipliers ν >= 0 of rows and a table. What it proves is a lower bound by weak duality, whatever the multipliers are: with
//
//	C_j = w_i count_j loss_j - Σ_{rows (j,b)} ν + Σ_{rows (a,j)} z^d ν
//
// the minimum times Σ w is at least Σ_i min_{j of i} C_j/count_j - Σ_pairs z^d δ max ν, since Σ_rows ν (z^d x_b - x_a) is at most the largest ν of the
// pair times Σ max(0, z^d x_b - x_a). The largest loss is at least every weighted mean of them. And an upper bound: the value of the table, if it satisfies every row.
//
// A larger z allows fewer tables, at each d and δ, so that the first bound at the lower end of an enclosure of z, and a table that
// is feasible at its upper end, hold for what lies between.
type finite struct {
	e         certificate // ε, the precision and the claim
	first     []int
	count     []*big.Rat // nil: all are 1
	loss      []*big.Rat
	forbidden []bool // nil: none are
	weight    []*big.Rat
	worst     bool
	delta     *big.Rat
	distances []*big.Rat // those that pairs have; nil for 1 alone
	// pairs visits every ordered pair of neighbors with its rows. The same row may be in several pairs only where δ = 0.
	pairs func(visit func(p pair) error) error

	nu map[privacyRow]*big.Rat
	x  []*big.Rat
}

// privacyRow is a row (P): the cells a and b.
type privacyRow struct{ a, b int }

// pair is two neighbors. Its rows are valid until the visit ends.
type pair struct {
	rows     []privacyRow
	distance int // which of the distances
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

// parameters reads ε, the precision and the claim, after the lines that the kind of problem has of its own. The reader is at the line of ε.
func (r *reader) parameters(c *certificate) error {
	err := r.epsilonOf(c)
	if err != nil {
		return err
	}
	if c.precision, err = r.whole("precision", 0, 1<<14); err != nil {
		return err
	}
	q, err := r.claim("optimum")
	if err != nil {
		return err
	}
	c.claims = []Claim{q}
	return r.advance()
}

// body reads the table, the weights of the dual and the multipliers. grow appends the cells of the next input: the problem becomes no larger than the
// file says it is.
func (f *finite) body(r *reader, inputs int, grow func(i int)) error {
	r.long = maxSectionLine
	f.first = []int{0}
	one := big.NewRat(1, 1)
	for i := range inputs {
		from := f.cells()
		grow(i)
		f.first = append(f.first, len(f.loss))
		x, err := r.numbers("input", f.cells()-from)
		if err != nil {
			return err
		}
		sum := new(big.Rat)
		for k, p := range x {
			if p.Sign() < 0 {
				return malformed(fmt.Sprintf("input %d: the probability of cell %d is negative", i, k))
			}
			if f.forbidden != nil && f.forbidden[from+k] && p.Sign() != 0 {
				return malformed(fmt.Sprintf("input %d: cell %d is forbidden", i, k))
			}
			sum.Add(sum, f.mass(from+k, p))
		}
		if sum.Cmp(one) != 0 {
			return malformed(fmt.Sprintf("input %d: the probabilities sum to %s, not to 1", i, quote(sum.RatString())))
		}
		f.x = append(f.x, x...)
	}
	if f.worst {
		if err := f.weights(r); err != nil {
			return err
		}
	}
	f.nu = map[privacyRow]*big.Rat{}
	last := privacyRow{-1, -1}
	for r.is("multiplier") {
		s, err := r.fields("multiplier", 3)
		if err != nil {
			return err
		}
		var at privacyRow
		for i, to := range []*int{&at.a, &at.b} {
			if *to, err = parseInteger(s[i], f.cells()-1); err != nil {
				return r.badf("multiplier: %v", err)
			}
		}
		if at.a < last.a || at.a == last.a && at.b <= last.b {
			return r.badf("multiplier: not after the row of the line before")
		}
		last = at
		if f.nu[at], err = r.positive("multiplier", s[2]); err != nil {
			return err
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// maxSectionLine is how long a line may be: that of an input has all its probabilities.
const maxSectionLine = 1 << 28

// weights reads the weights of the dual where the largest loss is minimised.
func (f *finite) weights(r *reader) error {
	f.weight = make([]*big.Rat, f.inputs())
	for i := range f.weight {
		f.weight[i] = new(big.Rat)
	}
	last := -1
	for r.is("weight") {
		s, err := r.fields("weight", 2)
		if err != nil {
			return err
		}
		i, err := parseInteger(s[0], f.inputs()-1)
		if err != nil || i <= last {
			return r.badf("weight: not an input after that of the line before")
		}
		last = i
		if f.weight[i], err = r.positive("weight", s[1]); err != nil {
			return err
		}
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// powers returns an enclosure of z^d for each distance d, somewhat closer than the writer had it.
func (f *finite) powers(o Options) (low, high []*big.Rat, err error) {
	prec := min(uint(f.e.precision)+64, max(o.MaxPrecision, 128))
	distances := f.distances
	if distances == nil {
		distances = []*big.Rat{big.NewRat(1, 1)}
	}
	for _, d := range distances {
		l, h, err := f.e.power(d, prec)
		if err != nil {
			return nil, nil, err
		}
		low, high = append(low, l), append(high, h)
	}
	return low, high, nil
}

// power returns rationals that z^d lies between, the same one twice where it is known to be rational.
func (c *certificate) power(d *big.Rat, prec uint) (low, high *big.Rat, err error) {
	const most = 1 << 13 // what dε may be, and bits of a power that is kept exactly
	switch {
	case d.Sign() == 0 || c.eps != nil && c.eps.Sign() == 0:
		one := big.NewRat(1, 1)
		return one, one, nil
	case c.expEps != nil && d.IsInt() && float64(max(c.expEps.Num().BitLen(), c.expEps.Denom().BitLen()))*ratFloat(d) <= most:
		a := new(big.Int).Exp(c.expEps.Denom(), d.Num(), nil)
		x := new(big.Rat).SetFrac(a, new(big.Int).Exp(c.expEps.Num(), d.Num(), nil))
		return x, x, nil
	}
	var x interval.Interval
	if c.eps != nil {
		x = interval.FromRat(new(big.Rat).Mul(c.eps, d), prec+64)
	} else {
		x = interval.LogRat(c.expEps, prec+64).Mul(interval.FromRat(d, prec+64))
	}
	if hi, _ := x.Hi().Float64(); hi > most {
		return nil, nil, fmt.Errorf("%w: ε times a distance is more than %d", ErrLimit, most)
	}
	z := interval.Exp(x.Neg())
	low, _ = z.Lo().Rat(nil)
	high, _ = z.Hi().Rat(nil)
	if one := big.NewRat(1, 1); high.Cmp(one) > 0 {
		high = one
	}
	if low.Sign() < 0 {
		low.SetInt64(0)
	}
	return low, high, nil
}

func ratFloat(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// proves returns both bounds.
func (f *finite) proves(o Options) (lower, upper *big.Rat, reason string, err error) {
	low, high, err := f.powers(o)
	if err != nil {
		return nil, nil, "", err
	}
	t, err := f.wholeNumbers(high, o.MaxMemory)
	if err != nil {
		return nil, nil, "", err
	}
	coefficient := f.costs()
	found, steps := "", 0
	price := new(big.Rat) // Σ_pairs z^d max ν
	var term big.Rat
	err = f.pairs(func(p pair) error {
		if steps++; steps%1024 == 0 && o.Context.Err() != nil {
			return o.Context.Err()
		}
		if found == "" {
			found = t.violated(p)
		}
		var most *big.Rat
		for _, row := range p.rows {
			nu := f.nu[row]
			if nu == nil {
				continue
			}
			delete(f.nu, row) // a row may be in several pairs; it counts once
			coefficient[row.a].Sub(coefficient[row.a], nu)
			coefficient[row.b].Add(coefficient[row.b], term.Mul(nu, low[p.distance]))
			if most == nil || nu.Cmp(most) > 0 {
				most = nu
			}
		}
		if most != nil {
			price.Add(price, term.Mul(most, low[p.distance]))
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, "", err
	case found != "":
		return nil, nil, found, nil
	case len(f.nu) > 0:
		return nil, nil, "a multiplier is of no row of the problem", nil
	}
	if lower, reason = f.bound(coefficient, price); reason != "" {
		return nil, nil, reason, nil
	}
	return lower, f.value(), "", nil
}

// costs returns w count loss of every cell.
func (f *finite) costs() []*big.Rat {
	out := make([]*big.Rat, f.cells())
	for i := range f.inputs() {
		for j := f.first[i]; j < f.first[i+1]; j++ {
			out[j] = f.mass(j, new(big.Rat).Mul(f.weight[i], f.loss[j]))
		}
	}
	return out
}

// bound returns the lower bound.
func (f *finite) bound(coefficient []*big.Rat, price *big.Rat) (*big.Rat, string) {
	sum, total := new(big.Rat), new(big.Rat)
	for i := range f.inputs() {
		total.Add(total, f.weight[i])
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
		sum.Add(sum, least) // the table sums to 1, so that a cell is allowed
	}
	if total.Sign() == 0 {
		return nil, "the weights are all 0"
	}
	if f.delta != nil {
		sum.Sub(sum, new(big.Rat).Mul(price, f.delta))
	}
	return sum.Quo(sum, total), ""
}

// value returns the table's objective.
func (f *finite) value() *big.Rat {
	sum, total := new(big.Rat), new(big.Rat)
	var most *big.Rat
	for i := range f.inputs() {
		at := new(big.Rat)
		for j := f.first[i]; j < f.first[i+1]; j++ {
			at.Add(at, new(big.Rat).Mul(f.loss[j], f.mass(j, f.x[j])))
		}
		if most == nil || at.Cmp(most) > 0 {
			most = new(big.Rat).Set(at)
		}
		sum.Add(sum, at.Mul(at, f.weight[i]))
		total.Add(total, f.weight[i])
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
func (f *finite) wholeNumbers(z []*big.Rat, memory int64) (*wholeTable, error) {
	num, den, err := common(f.x)
	if err != nil {
		return nil, err
	}
	bits := 0
	for _, p := range z {
		bits += 2*den.BitLen() + p.Num().BitLen() + p.Denom().BitLen() + 1024
	}
	if need := float64(bits) / 8 * float64(len(f.x)); need > float64(memory) {
		return nil, fmt.Errorf("%w: the table takes about %.3g bytes; the limit is %d", ErrLimit, need, memory)
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
	return t, nil
}

// violated says how the table violates the rows of a pair, "" where it does not.
func (t *wholeTable) violated(p pair) string {
	left, right, room := t.left[p.distance], t.right[p.distance], t.room[p.distance]
	var sum *big.Int
	for _, row := range p.rows {
		if left[row.a].Cmp(right[row.b]) >= 0 {
			continue
		}
		if room == nil {
			return fmt.Sprintf("the table violates a row: cell %d against cell %d", row.a, row.b)
		}
		if sum == nil {
			sum = new(big.Int)
		}
		sum.Add(sum, right[row.b]).Sub(sum, left[row.a])
	}
	if sum != nil && new(big.Rat).SetInt(sum).Cmp(room) > 0 {
		return fmt.Sprintf("the table violates (ε,δ)-privacy between the inputs of cells %d and %d", p.rows[0].a, p.rows[0].b)
	}
	return ""
}

func (f *finite) stated() *Claim {
	if len(f.e.claims) == 0 {
		return nil
	}
	return &f.e.claims[0]
}

// describe fills in what a problem says of ε.
func (c *certificate) describe(p *Problem) {
	if c.eps != nil || c.expEps != nil {
		known := c.problem()
		p.Eps, p.ExpEps = known.Eps, known.ExpEps
	}
}

// list writes rationals for people.
func list(xs []*big.Rat) string {
	var out []string
	for _, x := range xs {
		out = append(out, x.RatString())
	}
	return strings.Join(out, ", ")
}
