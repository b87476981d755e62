// Package compose encloses what several private selections cost together: the least δ for which their answers are (ε,δ)-DP at a given ε in total, or the least ε
// in total for a δ. An adversary asks the selections one after the other and may choose each query, and its neighbor, by the answers before; or the same
// queries each time. Scores are any real ones, of any number of candidates, and neighbors move each by at most Δ.
//
// The privacy profile V(s) = max over events S of Pr_P[S] - e^s Pr_Q[S] of one selection is that of two candidates' scores; that of several follows by
// a recursion, as research/docs/compose.md proves. Upper bounds of V come from tables on a grid of s, which bound rounding errors too (table.go), and for
// many selections from measures of losses, each of which bounds a block of selections (blocks.go). Lower bounds are attacks.
package compose

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/mechanisms"
	"optratio/number"
)

// Step is a selection that is made so many times.
type Step struct {
	Kind
	Count int
}

// Problem asks what steps cost together that are made in this order.
type Problem struct {
	Steps  []Step
	Equal  bool    // the adversary asks the same at all steps, which are of one kind
	Gap    float64 // relative width that is wanted
	Report func(format string, args ...any)
	Prove  bool // keep what a certificate needs
}

// Answer has bounds of what was asked for, and how they were found.
type Answer struct {
	Lower, Upper number.Interval
	Attack       *Equal // the attack that attains the lower end; nil if it is one of another kind
	Method       string // closed form, basic composition, convolution, recursion, blocks, or events
	Block        int    // selections in a block
	Stopped      error  // why the width is not what was wanted
	table        *table // of the upper end; nil for none
	only         *Kind  // of the one selection there is; nil where there are more
	proof
}

// Queries are the distances of the two scores, in steps of 2Δ, that the attack asks about at all selections of each step; nil if it is adaptive, or an Equal.
func (a *Answer) Queries() (apart []float64) {
	if a.Attack != nil || a.asked == nil {
		return nil
	}
	for i, q := range a.asked.queries {
		apart = append(apart, q.x/a.problem.Steps[i].Eps.Float())
	}
	return apart
}

// Width is the relative width of an answer.
func (a *Answer) Width() float64 {
	hi := up(a.Upper)
	if hi == 0 {
		return 0
	}
	return (hi - down(a.Lower)) / hi
}

// target is what is given: s, or δ.
type target struct {
	s, delta number.Interval
	given    *big.Rat
	eps      bool // δ is given
}

// Eps bounds the least ε in total for which the steps are (ε,δ)-DP.
func (p *Problem) Eps(ctx context.Context, delta *big.Rat) (*Answer, error) {
	return p.answer(ctx, target{delta: number.FromRat(delta, prec), given: delta, eps: true})
}

// Delta bounds the least δ for which the steps are (s,δ)-DP.
func (p *Problem) Delta(ctx context.Context, s *big.Rat) (*Answer, error) {
	return p.answer(ctx, target{s: number.FromRat(s, prec), given: s})
}

// LeastDelta is the least δ that is accepted: masses that are small beside it are dropped, and below it products of two such masses would be less than any
// floating-point number.
const LeastDelta = 1e-150

// mostPoints bounds the points of tables that are looked at for an answer, and firstPoints those that are looked at first.
const mostPoints, firstPoints = 4e9, 3e7

func (p *Problem) answer(ctx context.Context, t target) (*Answer, error) {
	w := &work{Problem: p, ctx: ctx, target: t, gap: p.Gap}
	w.best.proof.problem, w.best.proof.target = p, t
	w.best.Lower, w.most, w.total = number.FromInt(0, prec), one, number.FromInt(0, prec)
	for _, st := range p.Steps {
		w.count += st.Count
		w.total = w.total.Add(st.eps().Mul(number.FromInt(int64(st.Count), prec)))
		w.rho += float64(float64(st.Count) * st.rho())
	}
	advantage := one.Min(w.total.Quo(two)) // V(s) <= V(0) <= tanh(Σε/2)
	if t.eps {
		w.most, w.best.Upper = w.total, w.total
	} else {
		w.best.Upper = advantage
		if s := t.s.Near(); s > w.rho && w.rho > 0 { // δ falls about like e^{-cs} there, c = (s-ρ)/2ρ
			w.gap *= max(1, s*(s-w.rho)/(2*w.rho))
		}
	}
	k := p.Steps[0].Kind
	switch {
	case !t.eps && w.covers(), t.eps && w.tiny() && advantage.Hi().Cmp(t.delta.Lo()) <= 0:
		w.best.Upper, w.best.Method = w.best.Lower, "basic composition"
	case w.tiny():
		w.best.Method = "basic composition"
		w.best.Stopped = fmt.Errorf("every ε is below %.2g: grids so fine are not made", leastStep)
	case w.count == 1 && !p.Prove:
		w.single(k)
	case len(p.Steps) == 1 && !k.adaptive() && !p.Prove:
		w.convolution(k)
	case p.Equal && k.adaptive():
		w.events(k)
	default:
		w.recursion()
	}
	if p.Prove { // the checker's own roundings
		w.best.Lower, w.best.Upper = w.best.Lower.Mul(exact(1-1e-8)), w.best.Upper.Mul(exact(1+1e-8))
		if w.eps && up(w.best.Upper) > 0 {
			w.best.Lower, w.best.Upper = w.best.Lower.Sub(exact(1e-10)).Max(number.FromInt(0, prec)), w.best.Upper.Add(exact(1e-10))
		}
	}
	w.best.Lower, w.best.Upper = w.best.Lower.Min(w.most), w.best.Upper.Min(w.most)
	if w.best.Width() <= w.gap {
		w.best.Stopped = nil
	} else if w.best.Stopped == nil {
		if w.best.Stopped = context.Cause(ctx); w.best.Stopped == nil {
			w.best.Stopped = fmt.Errorf("the relative width is %.2g, not %.2g", w.best.Width(), w.gap)
		}
	}
	return &w.best, nil
}

// covers reports whether s is at least the sum of all ε.
func (w *work) covers() bool {
	if sum := w.Basic(); sum != nil {
		return w.given.Cmp(sum) >= 0
	}
	return w.s.Lo().Cmp(w.total.Hi()) >= 0
}

// leastStep is the least ε for which there are grids: enclosures of losses have an absolute precision.
const leastStep = 0x1p-72

// tiny reports whether every ε is below it.
func (w *work) tiny() bool {
	return !slices.ContainsFunc(w.Steps, func(st Step) bool { return st.Eps.Float() >= leastStep })
}

// rho is about ρ of zCDP, or more; it only says how far tables have to reach.
func (k Kind) rho() float64 {
	if m, ok := mechanisms.Lookup(k.Mechanism); ok == nil {
		if rho, ok := mechanisms.Concentration(m, k.Eps, 64); ok {
			return rho.Near()
		}
	}
	e := k.Eps.Float()
	return e * math.Tanh(e/2)
}

// work is a problem that is being solved.
type work struct {
	*Problem
	target
	ctx   context.Context
	count int
	total number.Interval // Σ ε
	rho   float64
	gap   float64         // that is wanted of the answer
	most  number.Interval // the upper end without any work
	best  Answer
}

// narrow keeps the bounds of a plan's table where they are better than the known ones.
func (w *work) narrow(t *table, pl *plan) {
	var lower, upper number.Interval
	ok := true
	if w.eps {
		lower, upper, ok = t.eps(w.delta)
	} else {
		lower, upper = t.delta(w.s)
	}
	if lower.Lo().Cmp(w.best.Lower.Lo()) > 0 {
		w.best.Lower, w.best.Attack, w.best.asked = lower, nil, nil
		w.best.events, w.best.node = pl, t.attack(w.target, w.best.Upper)
	}
	if ok && (w.best.table == nil || upper.Hi().Cmp(w.best.Upper.Hi()) < 0) {
		w.best.table, w.best.plan = t, pl
	}
	if ok {
		w.best.Upper = w.best.Upper.Min(upper)
	}
}

// Exports reports whether there is a pair of distributions to export.
func (a *Answer) Exports() bool { return a.table != nil || a.only != nil }

// tail returns an s at which rho-zCDP leaves at most delta.
func tail(rho, delta float64) float64 { return rho + 2*math.Sqrt(rho*math.Log(1/delta)) }

// guess is about δ, or more, from zCDP.
func (w *work) guess() float64 {
	if w.eps {
		return w.delta.Near()
	}
	s := w.s.Near()
	if s <= w.rho {
		return 1
	}
	return max(LeastDelta, math.Exp(-(s-w.rho)*(s-w.rho)/(4*w.rho)))
}

// convolution composes selections for which one pair of distributions is the worst.
func (w *work) convolution(k Kind) {
	w.best.Method, w.best.Block = "convolution", 1
	small := w.guess() * 1e-14 / float64(w.count)
	for range 20 {
		upper := k.once().times(w.count, small).table()
		w.narrow(upper, nil)
		w.fixed(k.Eps.Float(), []number.Interval{number.FromInt(0, prec)}, small)
		if w.eps || w.best.Width() < 1e-9 || small < LeastDelta*1e-14 {
			break
		}
		small *= 1e-8
	}
}

// attack takes the best equal queries as a lower bound.
func (w *work) attack(k Kind, times int) *Equal {
	var e Equal
	if w.eps {
		e = k.equalAt(times, w.delta.Near())
	} else {
		e, _ = k.bestEqual(times, w.s.Near())
	}
	p, q := e.law(factorials(times))
	var value number.Interval
	if w.eps {
		above := p.Sub(w.delta)
		if above.Lo().Sign() <= 0 {
			return &e
		}
		value = number.Log(above.Quo(q))
	} else {
		value = p.Sub(q.Mul(number.Exp(w.s)))
	}
	if value.Lo().Cmp(w.best.Lower.Lo()) >= 0 {
		w.best.Lower, w.best.Attack, w.best.asked = value, &e, e.asked()
	}
	return &e
}

// attacks takes attacks that ask the same at all selections of a step as a lower bound.
func (w *work) attacks() {
	if len(w.Steps) == 1 && w.Steps[0].Mechanism != "krr" { // which has three outcomes
		w.attack(w.Steps[0].Kind, w.count)
		return
	}
	w.mixed()
}

// recursion encloses the value of the best adaptive attack, on finer and finer grids.
func (w *work) recursion() {
	w.attacks()
	mean := 0.0 // of ε², over the selections
	for _, st := range w.Steps {
		mean += float64(st.Eps.Float()*st.Eps.Float()) * float64(st.Count) / float64(w.count)
	}
	tiny := w.guess() * 1e-4
	spent, before := 0.0, math.Inf(1)
	for m := 4; w.ctx.Err() == nil; m *= 2 {
		d := math.Sqrt(mean) / float64(m)
		pl := w.plan(d, tiny)
		if spent += pl.cost; spent > mostPoints && w.best.Width() < 1 {
			w.best.Stopped = fmt.Errorf("the relative width is %.2g, not %.2g, after as much work as is done at most", w.best.Width(), w.gap)
			return
		}
		if w.Report != nil {
			w.Report("%d points, between %.9g and %.9g", int(pl.cost), down(w.best.Lower), up(w.best.Upper))
		}
		t, err := pl.run(w.ctx)
		if err != nil {
			return
		}
		w.best.Method, w.best.Block = "recursion", pl.block
		if pl.block < w.count {
			w.best.Method = "blocks"
		}
		w.narrow(t, pl)
		switch width := w.best.Width(); {
		case width <= w.gap:
			return
		case !w.eps && tiny > LeastDelta && tiny > up(w.best.Upper)*1e-4:
			tiny, m = max(LeastDelta, up(w.best.Upper)*1e-5), m/2
		case w.Prove && pl.block < w.count && width > 0.97*before:
			w.best.Stopped = fmt.Errorf("the relative width is %.2g, not %.2g: certificates have no finer grids", width, w.gap)
			return
		case pl.cost > firstPoints && width > 0.97*before:
			w.best.Stopped = fmt.Errorf("the relative width is %.2g, not %.2g: finer grids leave it there", width, w.gap)
			return
		default:
			before = width
		}
	}
}

// most of the points of a table that is not cut into blocks, and of one that is.
const whole, cut = 4e8, 2e8

// plan is how V is to be computed on a grid.
type plan struct {
	*work
	d, tiny float64
	steps   []*steps
	block   int // the most selections in a table
	cost    float64
	rows    float64 // nodes of all rows
	tables  []*row  // for a certificate
	stride  int     // of the nodes that measures of blocks have
}

// row has a table of 1, 2, … selections and, where there are blocks of as many, the number of these and the measure of one.
type row struct {
	*table
	blocks int
	losses *losses
}

// plan finds how many selections one table can have: all, or blocks of them, which are then composed as if nobody adapted to what they answer.
func (w *work) plan(d, tiny float64) *plan {
	pl := &plan{work: w, d: d, tiny: tiny, block: w.count}
	known := map[Step]*steps{}
	for _, st := range w.Steps {
		st.Count = 0
		if known[st] == nil {
			known[st] = newSteps(st.Kind, d)
		}
		pl.steps = append(pl.steps, known[st])
	}
	nodes := float64(pl.nodes(up(w.total), w.rho, 1))
	for i, st := range w.Steps {
		pl.rows += float64(float64(st.Count) * nodes)
		pl.cost += float64(float64(st.Count) * nodes * float64(len(pl.steps[i].points)))
	}
	if pl.cost <= whole && (!w.Prove || pl.certifiable(pl.rows*4, pl.cost)) { // whole tables have events too
		return pl
	}
	for (pl.cost > cut || w.Prove && !pl.certifiable(pl.rows, pl.cost)) && pl.block > 1 || pl.block == w.count {
		pl.block = (pl.block + 1) / 2
		pl.cost, pl.rows = 0, 0
		for i, st := range w.Steps {
			b := float64(min(st.Count, pl.block))
			nodes := float64(pl.nodes(b*st.Eps.Float(), b*st.rho(), float64(w.count)/b))
			pl.rows += float64(b * nodes)
			pl.cost += float64(b * nodes * float64(len(pl.steps[i].points)))
		}
		if pl.block == 1 {
			break
		}
	}
	return pl
}

// certifiable reports whether a certificate of tables with so many nodes and points has some megabytes, and can be checked in seconds.
func (pl *plan) certifiable(rows, points float64) bool {
	for _, s := range pl.steps {
		if len(s.points) > 300 {
			return false
		}
	}
	return points <= 4e7 && rows <= 5.5e5
}

// nodes returns how many nodes a table of so many selections needs.
func (pl *plan) nodes(eps, rho, blocks float64) int {
	return int(math.Ceil(min(eps, tail(rho, pl.tiny/blocks))/pl.d)) + 1
}

// keep keeps a row for a certificate.
func (pl *plan) keep(r *row) {
	if pl.Prove {
		pl.tables = append(pl.tables, r)
	}
}

// run computes the profile of all steps.
func (pl *plan) run(ctx context.Context) (*table, error) {
	pad := 0
	for _, s := range pl.steps {
		pad = max(pad, s.reach+2)
	}
	if pl.block == pl.count {
		return pl.single(ctx, pad)
	}
	pl.stride = max(1, int(math.Sqrt(float64(pl.block))/2))
	var all *losses
	for i := range pl.Steps {
		var err error
		if all, err = pl.blocks(ctx, i, pad, all); err != nil {
			return nil, err
		}
	}
	return all.table(), context.Cause(ctx)
}

// single computes the profile of all selections in one table.
func (pl *plan) single(ctx context.Context, pad int) (t *table, err error) {
	t = newTable(exact(pl.d), pl.nodes(up(pl.total), pl.rho, 1), pad)
	t.attacks = true
	for i := len(pl.steps) - 1; i >= 0; i-- {
		for range pl.Steps[i].Count {
			if t, err = t.after(ctx, pl.steps[i]); err != nil {
				return nil, err
			}
			pl.keep(&row{table: t})
		}
	}
	return t, nil
}

// blocks composes the losses of all steps before, nil for none, with those of the blocks of step i.
func (pl *plan) blocks(ctx context.Context, i, pad int, all *losses) (_ *losses, err error) {
	st, small := pl.Steps[i], pl.tiny*1e-4/float64(pl.count)
	blocks := (st.Count + pl.block - 1) / pl.block
	b, longer := st.Count/blocks, st.Count%blocks // so many blocks have one more selection
	rest := float64(pl.count) / float64(b)
	t := newTable(exact(pl.d), pl.nodes(float64(b+1)*st.Eps.Float(), float64(b+1)*st.rho(), rest), pad)
	for j := 1; j <= b+1; j++ {
		if t, err = t.after(ctx, pl.steps[i]); err != nil {
			return nil, err
		}
		count := 0
		switch j {
		case b:
			count = blocks - longer
		case b + 1:
			count = longer
		}
		once := &row{table: t, blocks: count}
		if count > 0 || j < b {
			pl.keep(once)
		}
		if count > 0 {
			once.losses = t.losses(pl.stride)
			all = all.then(once.losses.times(count, small), small)
		}
	}
	return all, nil
}

// events encloses the value of the best equal queries.
func (w *work) events(k Kind) {
	w.best.Method, w.best.Block, w.best.ranges = "events", 1, true
	w.attack(k, w.count)
	ways := factorials(w.count)
	for more := w.gap / 2; more < 64 && w.ctx.Err() == nil; more *= 2 {
		enough := exact(up(w.best.Lower) * (1 + more))
		s, limit := w.s, up(enough)
		if w.eps {
			s, limit = enough, down(w.delta)
		}
		if k.noMore(w.ctx, ways, s, limit) {
			w.best.Upper = w.best.Upper.Min(enough)
			return
		}
	}
}
