package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/linear"
	"optratio/number"
)

// DefaultMemory is the memory in bytes that a program may need by estimate.
const DefaultMemory = 12 << 30

const (
	// rowTolerance is the violation from which floating-point solutions get a row added.
	rowTolerance = 1e-10
	// sharpTolerance is the same where these are not close enough.
	sharpTolerance = 1e-13
	// rowRounds bounds the rounds of adding rows. Rounds are counted in which the worst violation of a pair does not halve: after wideRounds of them the widest events are
	// cut off too, after idleRounds the search ends. With many outcomes there are too many events to cut off one by one.
	rowRounds  = 500
	wideRounds = 4
	idleRounds = 50
	// maxShift bounds the precision, in bits, at which a basis is solved for an irrational z.
	maxShift = 1 << 14
	// promptCells is the size up to which bounds are evaluated after the context has ended.
	promptCells = 150_000
)

// Solution is what solving a program has shown: Lower <= optimum <= Upper, the dual that Lower follows from, and the
// table that attains Upper.
type Solution struct {
	Lower, Upper *big.Rat
	Dual         *Dual
	Table        *Table
	Rows         int    // generated
	Pivots       int    // of the floating-point solver
	Undecided    string // which limit was met before the answer was as good as asked; empty where it was
	Led, Crossed bool   // whether Chains.Lead went before, and whether the simplex method went on from there

	low, high factors // enclose the factors z: Lower holds for all that are no less than low, the table satisfies the rows at all that are no more than high
}

// Optimum is between Lower and Upper.
func (s *Solution) Optimum() number.Number { return number.Bounds(s.Lower, s.Upper) }

// Price returns by how much the optimum falls at most for each unit of δ: whatever δ', the optimum at δ' is at least Lower minus δ' - δ times this. The price comes
// with the multipliers, which are exact where the optimum is.
func (s *Solution) Price() number.Number {
	p := s.Table.program
	return number.Bounds(p.price(s.Dual, s.low), p.price(s.Dual, s.high))
}

// improve keeps what a proposal shows beyond what is known.
func (s *Solution) improve(p *Program, prop *proposal, low, high factors) {
	if p.Chains != nil && prop.rough {
		p.follow(prop, high[0])
		p.priced(prop, low[0])
	}
	d := p.dual(prop)
	if b := p.lowerBound(d, low); b != nil && (s.Lower == nil || b.Cmp(s.Lower) >= 0) {
		s.Lower, s.Dual, s.low = b, d, low
	}
	t := p.feasible(prop, high)
	if v := t.Value(); s.Upper == nil || v.Cmp(s.Upper) < 0 {
		s.Upper, s.Table, s.high = v, t, high
	}
	if p.Publish != nil {
		p.Publish(*s)
	}
}

// Prove returns what a table, weights and multipliers from elsewhere prove about this program: the probability of one candidate of each cell, with Worst a
// weight of each group, and cuts with their multipliers, as they stand in Cut between probabilities, in units of the loss times the weight. The numbers need not be true: the bounds hold all the same.
// low and high enclose the factors.
func (p *Program) Prove(x, weight []*big.Rat, cuts []Cut, nu, low, high []*big.Rat) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.rows = cuts
	mass := make([]*big.Rat, len(x))
	for j := range mass {
		mass[j] = new(big.Rat).Mul(x[j], new(big.Rat).SetInt64(p.Count[j]))
	}
	multiplier := slices.Clone(weight)
	for i := range cuts {
		multiplier = append(multiplier, new(big.Rat).Quo(nu[i], new(big.Rat).SetInt64(p.unit(&cuts[i]))))
	}
	out := &Solution{Rows: len(cuts)}
	out.improve(p, &proposal{x: linear.NewFractions(mass), y: linear.NewFractions(multiplier)}, low, high)
	return out, nil
}

// middle returns (a + b)/2.
func middle(a, b factors) factors {
	out := make(factors, len(a))
	for i := range a {
		m := new(big.Rat).Add(a[i], b[i])
		out[i] = m.Quo(m, big.NewRat(2, 1))
	}
	return out
}

// Solve bounds the optimum: exactly where z is rational, to the gap (Upper-Lower)/Upper otherwise, or as far as the
// context lets it, which Undecided then says.
func (p *Program) Solve(ctx context.Context, eps number.Epsilon, solver linear.Solver, gap *big.Rat, report func(linear.Progress)) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Solution{}
	low, high := p.enclosure(eps, 128)
	// The interior table and no multipliers are an answer from the start.
	s.improve(p, p.start(high), low, high)
	err := p.solve(ctx, s, eps, solver, gap, report)
	if embedded := (linear.Embedded{}); errors.Is(err, linear.ErrUnsettled) && solver.Name() != embedded.Name() {
		// Another solver may be content with a basis that exact arithmetic is not: CLP, with losses of 10^-13 at ε = 30.
		err = p.solve(ctx, s, eps, embedded, gap, report)
	}
	s.Rows = len(p.rows)
	if err != nil && ctx.Err() != nil {
		s.Undecided, err = context.Cause(ctx).Error(), nil
	}
	s.Undecided, err = linear.Reason(ctx, s.Undecided, err)
	return s, err
}

func (p *Program) solve(ctx context.Context, s *Solution, eps number.Epsilon, solver linear.Solver, gap *big.Rat, report func(linear.Progress)) error {
	low, high := p.enclosure(eps, 128)
	z := middle(low, high)
	moderate := p.moderate(z)
	if len(moderate) > 0 {
		z = moderate[0]
	}
	g := &linear.Growing{Solver: solver, Basis: p.Basis, Rounds: rowRounds, Report: report}
	defer func() { s.Pivots = g.Pivots }()
	var broken error // what ended the search for violated rows
	var last *linear.Model
	model := func() *linear.Model {
		if last == nil || last.Rows() != p.fixed()+len(p.rows) {
			last = p.rational(z).Model()
		}
		return last
	}
	enough := func() bool { return !low.equal(high) && s.Optimum().Within(gap) }
	if len(moderate) == 0 {
		if done, err := p.lead(ctx, g, s, z, model, enough); done || err != nil {
			return err
		}
	}
	float := func(tolerance float64) (result *linear.Result, err error) {
		result, broken, err = p.float(ctx, g, model, z, tolerance)
		if err == nil && len(moderate) == 0 && (ctx.Err() == nil || p.cells() <= promptCells) {
			p.improveBy(s, result, low, high)
		}
		return result, err
	}
	result, err := float(rowTolerance)
	if err == nil && len(moderate) == 0 && !low.equal(high) && broken == nil && result.Outcome == linear.Optimal && !enough() {
		g.Tolerance = sharpTolerance // cheaper than more bits, where it is enough
		result, err = float(sharpTolerance)
	}
	if err != nil {
		return err
	}
	// The program has a solution, the interior table, and no loss is negative: another outcome is numerical trouble, of which the basis may still
	// be good. What settles it decides.
	if broken != nil || result.Outcome == linear.Stopped || result.Outcome != linear.Optimal && g.Basis == nil {
		if s.Undecided = result.Unfinished(ctx); errors.Is(broken, errIdle) {
			s.Undecided = broken.Error()
		}
		return nil
	}
	for _, z := range moderate {
		if err := p.settle(ctx, g, z); err != nil {
			return err
		}
	}
	switch {
	case low.equal(high):
		return p.solveExact(ctx, g, s, low)
	case enough():
		return nil
	}
	return p.sharpen(ctx, g, s, eps, gap)
}

// float solves in floating point, with the rows that solutions violate. broken is what ended the search for these.
func (p *Program) float(ctx context.Context, g *linear.Growing, model func() *linear.Model, z factors, tolerance float64) (result *linear.Result, broken, err error) {
	least, idle := math.Inf(1), 0
	result, err = g.Float(ctx, model, func(x []float64) (added int) {
		var most float64
		if added, most, broken = p.separateFloat(ctx, x, z, tolerance, idle >= wideRounds); broken != nil {
			return 0
		}
		if idle++; most <= least/2 {
			least, idle = most, 0
		}
		if idle == idleRounds {
			broken = errIdle
			return 0
		}
		return added
	})
	return result, broken, err
}

var errIdle = errors.New("solutions violate δ by no less, however many events are cut off; fewer outputs or users may help")

// improveBy keeps what a solver's answer shows, where it is one to the rows in force.
func (p *Program) improveBy(s *Solution, r *linear.Result, low, high factors) {
	if r.X != nil && len(r.Duals) == p.fixed()+len(p.rows) {
		prop := p.read(dyadic(r.X), dyadic(r.Duals))
		prop.rough = true
		s.improve(p, prop, low, high)
	}
}

// lead goes near the optimum before the simplex method does, where the program says how, and reports whether no more is to be done.
func (p *Program) lead(ctx context.Context, g *linear.Growing, s *Solution, z factors, model func() *linear.Model, enough func() bool) (done bool, err error) {
	var start linear.Start
	switch {
	case p.Chains != nil && p.Chains.Lead != nil:
		s.Led = true
		low, high := s.low, s.high
		start, s.Undecided = p.Chains.Lead(ctx, func(mass []float64, sums []*big.Rat) bool {
			if ctx.Err() == nil || p.cells() <= promptCells {
				s.improve(p, p.shown(mass, sums), low, high)
			}
			return enough()
		})
		if s.Undecided != "" || enough() {
			return true, nil
		}
	case p.Near != nil && p.Pairs == nil:
		if !p.near(ctx, z) {
			return false, nil
		}
		start = p.nearStart(z)
	default:
		return false, nil
	}
	s.Crossed = true
	result, err := linear.Embedded{}.Crossover(ctx, model(), start, g.Report)
	if err == nil && result.Outcome == linear.Optimal {
		g.Basis, g.Pivots = result.Basis, result.Pivots
		if s.Led {
			p.improveBy(s, result, s.low, s.high)
		}
	}
	return ctx.Err() != nil || enough(), err
}

func (z factors) floats() []float64 {
	out := make([]float64, len(z))
	for i, x := range z {
		out[i], _ = x.Float64()
	}
	return out
}

// start proposes the interior table, or where rows make chains permute-and-flip, with the rows Start tight at z; and with Worst equal weights.
func (p *Program) start(z factors) *proposal {
	prop := &proposal{
		x:    &linear.Fractions{Num: make([]*big.Int, p.cells()), Den: new(big.Int).Lsh(unity.Num(), flipBits)},
		y:    &linear.Fractions{Num: make([]*big.Int, p.fixed()-p.groups()+len(p.rows)), Den: new(big.Int).Lsh(unity.Num(), proposalBits)},
		sums: make([]*big.Int, p.groups()), spare: new(big.Int),
	}
	for i := range prop.sums {
		prop.sums[i] = new(big.Int)
	}
	for j := range prop.x.Num {
		if prop.x.Num[j] = new(big.Int); p.Chains == nil {
			prop.x.Num[j].Lsh(prop.x.Den, 1) // more than a probability: the interior table alone
		}
	}
	for i := range prop.y.Num {
		prop.y.Num[i] = new(big.Int)
		if p.Worst && i < p.groups() {
			prop.y.Num[i].SetInt64(1)
		}
	}
	if p.Chains != nil {
		p.follow(prop, z[0])
	}
	return prop
}

// separateFloat is separate for a solution in floating point. most is the worst violation of a pair; wide says whether the widest events are cut off as well.
func (p *Program) separateFloat(ctx context.Context, columns []float64, z factors, tolerance float64, wide bool) (added int, most float64, err error) {
	zf := z.floats()
	x := func(j int32) float64 { return columns[j] / float64(p.Count[j]) }
	slack := p.slack(z).floats()
	var v violation
	events, most, err := p.separatePairs(ctx, func(q Pair) (violation, bool) {
		v = violation{v.event[:0], v.widest[:0], 0}
		d := q[0].Distance
		for _, part := range q {
			over := float64(zf[d]*x(part.Below)) - x(part.Above)
			if wide && over >= 0 {
				v.widest = append(v.widest, part)
			}
			if over > 0 {
				v.event = append(v.event, part)
				v.amount += float64(float64(part.Candidates) * over)
			}
		}
		v.amount -= slack[d]
		return v, v.amount > tolerance
	})
	if err != nil {
		return 0, 0, err
	}
	below := func(r Row) float64 {
		if r.Private {
			return x(r.Below) * zf[r.Distance]
		}
		return x(r.Below)
	}
	rows, err := p.separate(ctx,
		func(r, s Row) bool { return below(r) > below(s) },
		func(r Row) bool { return x(r.Above) < below(r)-tolerance })
	return events + rows, most, err
}

// separateBig is separate for a solution in big numbers, where a row counts as violated from spare units over the
// denominator den on.
func (p *Program) separateBig(ctx context.Context, x []*big.Int, den *big.Int, z factors, spare *big.Int) (int, error) {
	share := p.shares(x)
	room := new(big.Int).Mul(spare, p.common)
	var left, right, term big.Int
	bounds := p.rooms(den, z) // of an event, with spare units for each cell of it
	events, _, err := p.separatePairs(ctx, func(q Pair) (v violation, ok bool) {
		d := q[0].Distance
		event, sum := q.excess(over(share, z[d]))
		sum.Sub(sum, bounds[d])
		if sum.Sub(sum, term.Mul(term.Mul(room, z[d].Denom()), left.SetInt64(int64(len(event))))).Sign() <= 0 {
			return v, false
		}
		amount, _ := new(big.Float).SetInt(sum).Float64()
		return violation{event: event, amount: amount}, true
	})
	if err != nil {
		return 0, err
	}
	rows, err := p.separate(ctx,
		func(r, s Row) bool {
			if r.Distance == s.Distance {
				return share[r.Below].Cmp(share[s.Below]) > 0
			}
			a, b := z.of(r.Private, r.Distance), z.of(s.Private, s.Distance)
			left.Mul(left.Mul(share[r.Below], a.Num()), b.Denom())
			return left.Cmp(right.Mul(right.Mul(share[s.Below], b.Num()), a.Denom())) > 0
		},
		func(r Row) bool {
			rho := z.of(r.Private, r.Distance)
			left.Add(share[r.Above], term.Quo(room, term.SetInt64(p.Count[r.Above])))
			return left.Mul(&left, rho.Denom()).Cmp(right.Mul(share[r.Below], rho.Num())) < 0
		})
	return events + rows, err
}

// exact turns the basis into the exact optimum at a rational z.
func (p *Program) exact(ctx context.Context, g *linear.Growing, z factors) (*linear.Exact, error) {
	var broken error
	e, err := g.Exact(ctx, func() *linear.Rational { return p.rational(z) }, func(e *linear.Exact) (added int) {
		added, broken = p.separateBig(ctx, e.X.Num, e.X.Den, z, new(big.Int))
		return added
	})
	return e, cmp.Or(err, broken)
}

// solveExact takes the exact optimum at z = e^{-ε} where that is rational.
func (p *Program) solveExact(ctx context.Context, g *linear.Growing, s *Solution, z factors) error {
	e, err := p.exact(ctx, g, z)
	if err != nil {
		return err
	}
	s.improve(p, p.read(e.X, e.Y), z, z)
	if s.Lower.Cmp(s.Upper) != 0 {
		return fmt.Errorf("table: an exact solution gives bounds %s and %s", s.Lower.FloatString(20), s.Upper.FloatString(20))
	}
	return nil
}

// moderate returns values of z, from a moderate one down: the basis is made optimal at one after the other before it is at z itself. Far below them
// solvers work with numbers that they take for 0, and a basis that is optimal where z is small beside 1 and δ mostly stays so for every smaller z.
// Of several factors, all below the value at hand are raised to it.
func (p *Program) moderate(z factors) (out []factors) {
	one, small := big.NewRat(1, 1), big.NewRat(1, 1<<20)
	last := one
	if p.Delta.Sign() > 0 && p.Delta.Cmp(one) < 0 {
		last = new(big.Rat).Mul(p.Delta, small)
	}
	least := slices.MinFunc(z, (*big.Rat).Cmp)
	for x := new(big.Rat).Set(small); x.Cmp(least) > 0; x = new(big.Rat).Mul(x, small) {
		at := slices.Clone(z)
		for i := range at {
			at[i] = slices.MaxFunc([]*big.Rat{x, at[i]}, (*big.Rat).Cmp)
		}
		if out = append(out, at); x.Cmp(last) < 0 {
			break
		}
	}
	return out
}

// settleZero decides whether the optimum is exactly 0. Bounds around an approximate solution cannot show that, however narrow they are; so the
// program is solved exactly at the least z' > high that is a fraction with 2^bits as its denominator. A table that is feasible there is feasible at
// the true z as well, since a larger z allows fewer tables; if its objective is 0, so is the optimum. Enough bits always find such a z' where the optimum
// is 0: the true z is transcendental, and the greatest z at which the optimum is 0 is algebraic, hence greater.
func (p *Program) settleZero(ctx context.Context, g *linear.Growing, s *Solution, high factors, bits uint) error {
	scale := new(big.Int).Lsh(big.NewInt(1), bits)
	z := make(factors, len(high))
	for i, h := range high {
		if z[i] = h; h.Cmp(unity) == 0 { // of the distance 0
			continue
		}
		up := new(big.Int).Mul(h.Num(), scale)
		up.Quo(up, h.Denom())
		if z[i] = new(big.Rat).SetFrac(up.Add(up, big.NewInt(1)), scale); z[i].Cmp(unity) > 0 {
			return nil
		}
	}
	other := &linear.Growing{Solver: g.Solver, Basis: g.Basis, Rounds: g.Rounds, Report: g.Report}
	e, err := p.exact(ctx, other, z)
	if err == nil {
		s.improve(p, p.read(e.X, e.Y), s.low, z)
	}
	return err
}

// settle makes the basis optimal at z.
func (p *Program) settle(ctx context.Context, g *linear.Growing, z factors) error {
	var broken error
	_, err := g.Settle(ctx, 0, func() *linear.Rational { return p.rational(z) }, func(a *linear.Approximation) (added int) {
		added, broken = p.separateBig(ctx, a.X, new(big.Int).Lsh(big.NewInt(1), a.Shift), z, a.Noise())
		return added
	})
	return cmp.Or(err, broken)
}

// sharpen raises the precision of the basis's solution until the bounds are close.
func (p *Program) sharpen(ctx context.Context, g *linear.Growing, s *Solution, eps number.Epsilon, gap *big.Rat) error {
	low, _ := p.enclosure(eps, 128)
	least := slices.MinFunc(low, (*big.Rat).Cmp)
	small := max(0, least.Denom().BitLen()-least.Num().BitLen()) // losses are as small as z
	for shift := uint(192 + small); shift <= maxShift; shift *= 2 {
		low, high := p.enclosure(eps, shift+64)
		z := middle(low, high)
		var broken error
		_, err := g.Settle(ctx, shift, func() *linear.Rational { return p.rational(z) }, func(a *linear.Approximation) (added int) {
			den := new(big.Int).Lsh(big.NewInt(1), a.Shift)
			prop := p.read(&linear.Fractions{Num: a.X, Den: den}, &linear.Fractions{Num: a.Y, Den: den})
			prop.rough, prop.spare, prop.sharp = true, a.Noise(), shift
			s.improve(p, prop, low, high)
			if s.Optimum().Within(gap) {
				return 0
			}
			added, broken = p.separateBig(ctx, a.X, den, z, a.Noise())
			return added
		})
		if err != nil || broken != nil {
			return cmp.Or(err, broken)
		}
		if s.Optimum().Within(gap) {
			return nil
		}
		if s.Lower.Sign() == 0 {
			if err := p.settleZero(ctx, g, s, high, shift/12); err != nil || s.Upper.Sign() == 0 {
				return err
			}
		}
	}
	s.Undecided = fmt.Sprintf("the gap was not reached with %d bits", maxShift)
	return nil
}
