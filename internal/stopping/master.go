package stopping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"optratio/internal/linear"
	"optratio/internal/secretary"
)

// The master program. Times are cut into blocks, of one time each for few candidates. A rule is a flow through the blocks: the probability
// of reaching the first time of a block is shared among patterns, deterministic rules for the times of
// the block. Rows: one per block (what reaches it is what the patterns of
// the block before let pass) and the privacy rows found so far. Columns: the
// patterns found so far. Every mixture of deterministic rules is such a flow,
// and every flow is a rule. Patterns are found by dynamic programming against
// the multipliers (Dantzig & Wolfe 1960, one subproblem per block).

// mostBlocks is the largest number of blocks. More make fewer rounds of longer programs.
const mostBlocks = 50

// pattern is what is taken at the times of one block; sets[i][j-1] for relative rank j at its time i, counted from 0.
type pattern struct {
	block int
	sets  [][]bool
	pass  float64   // probability that nothing is taken
	law   []float64 // final ranks, jointly with being taken
	gain  float64   // payoff of law
}

type master struct {
	p        *Problem
	first    []int   // the first time of each block, from 1, and n+1
	scale    float64 // of the costs
	payoff   []float64
	e, delta float64 // e^ε and δ
	patterns []pattern
	seen     map[string]bool
	rows     []row
	known    map[row]bool
	basis    *linear.Basis
	solvers  []linear.Solver // the next one takes over where the first gives no answer: bases can be too ill-conditioned for one of them
	pivots   int
}

// flow is a solution of the master.
type flow struct {
	weights []float64   // of the patterns
	law     []float64   // the outcome law
	lambda  multipliers // of the privacy rows
	future  []float64   // of being at the first time of a block, by the rows of the blocks
	value   float64
}

// Rows and costs are scaled so that a solver's absolute tolerances of 1e-9
// mean 1e-12 in a payoff (1e-14 for the last digits: sharper at once would cost many more pivots) and 1e-9 of
// the slack of e^ε/n or so that the blind choice has in a privacy row.
const (
	costScale  = 1e3
	sharpScale = 1e5
)

func (m *master) rowScale() float64 { return float64(m.p.N()) / m.e }

func newMaster(p *Problem, solvers []linear.Solver) *master {
	m := &master{p: p, scale: costScale, payoff: floats(p.Payoff), solvers: solvers, known: map[row]bool{}, seen: map[string]bool{}}
	e, _ := p.Eps.ExpBounds(boundBits)
	m.e, _ = e.Float64()
	m.delta, _ = p.Delta.Float64()
	n := p.N()
	blocks := min(n, mostBlocks)
	for i := range blocks + 1 {
		m.first = append(m.first, 1+i*n/blocks)
	}
	all, none := make(secretary.Stops, n), make(secretary.Stops, n)
	for i := range n {
		all[i], none[i] = make([]bool, i+1), make([]bool, i+1)
		for j := range all[i] {
			all[i][j], none[i][j] = true, i == n-1
		}
	}
	m.addPatterns(context.Background(), all)
	m.addPatterns(context.Background(), none)
	return m
}

// addPatterns adds the patterns of a deterministic rule, as far as the context lets it, and returns how many were new.
func (m *master) addPatterns(ctx context.Context, stops secretary.Stops) int {
	added := 0
	for b := range m.blocks() {
		if ctx.Err() != nil {
			break
		}
		first := m.first[b]
		sets := stops[first-1 : m.first[b+1]-1]
		key := packed(sets)
		if m.seen[key] {
			continue
		}
		m.seen[key] = true
		added++
		law, pass := m.law(first, sets)
		m.patterns = append(m.patterns, pattern{block: b, sets: sets, pass: pass, law: law, gain: dotFloat(m.payoff, law)})
		if m.basis != nil {
			m.basis.Col = append(m.basis.Col, linear.AtLower)
		}
	}
	return added
}

func (m *master) blocks() int { return len(m.first) - 1 }

// law returns the final ranks of a pattern, jointly with being taken, and the probability that it takes nothing. Of a pattern that takes everything or nothing
// they are known at once.
func (m *master) law(first int, sets [][]bool) ([]float64, float64) {
	n := m.p.N()
	if !slices.Contains(sets[0], false) {
		return slices.Repeat([]float64{1 / float64(n)}, n), 0
	}
	if !slices.ContainsFunc(sets, func(set []bool) bool { return slices.Contains(set, true) }) {
		return make([]float64, n), 1
	}
	return secretary.TakenFrom(n, first, sets)
}

// packed is a map key for sets: eight ranks a byte, after the length of the first one.
func packed(sets [][]bool) string {
	key := []byte{byte(len(sets[0])), byte(len(sets[0]) >> 8)}
	for _, set := range sets {
		at := len(key)
		key = append(key, make([]byte, (len(set)+7)/8)...)
		for j, taken := range set {
			if taken {
				key[at+j/8] |= 1 << (j % 8)
			}
		}
	}
	return string(key)
}

// addRows adds privacy rows and returns how many were new.
func (m *master) addRows(rows []row) int {
	added := 0
	for _, r := range rows {
		if m.known[r] {
			continue
		}
		m.known[r] = true
		m.rows = append(m.rows, r)
		added++
		if m.basis != nil {
			m.basis.Row = append(m.basis.Row, linear.Basic)
		}
	}
	return added
}

// entryFloor drops entries of privacy rows that are far below every tolerance; the
// bounds are computed from the rule itself, not from the model.
const entryFloor = 1e-12

func (m *master) model() *linear.Model {
	lp, blocks := &linear.Model{}, m.blocks()
	lp.AddRow(1, 1)
	for range blocks - 1 {
		lp.AddRow(0, 0)
	}
	for range m.rows {
		lp.AddRow(math.Inf(-1), m.rowScale()*m.delta)
	}
	var index []int32
	var value []float64
	for _, c := range m.patterns {
		index, value = append(index[:0], int32(c.block)), append(value[:0], 1)
		if c.block < blocks-1 && c.pass > 0 {
			index, value = append(index, int32(c.block+1)), append(value, -c.pass)
		}
		for i, r := range m.rows {
			if x := m.rowScale() * (c.law[r.i] - float64(m.e*c.law[r.j])); math.Abs(x) > entryFloor {
				index, value = append(index, int32(blocks+i)), append(value, x)
			}
		}
		lp.AddCol(-m.scale*c.gain, 0, math.Inf(1), index, value)
	}
	return lp
}

var errMaster = errors.New("the solver gave no answer to the master program")

// solve solves the master. An answer that the solver is not sure of will do:
// it is a proposal in any case.
func (m *master) solve(ctx context.Context) (*flow, error) {
	lp := m.model()
	res, err := m.ask(ctx, lp)
	if err != nil {
		return nil, err
	}
	m.basis = res.Basis
	blocks := m.blocks()
	f := &flow{weights: make([]float64, lp.Cols()), law: make([]float64, m.p.N()), lambda: multipliers{}, future: make([]float64, blocks)}
	for c, w := range res.X {
		if w <= 0 {
			continue
		}
		f.weights[c] = w
		f.value += float64(w * m.patterns[c].gain)
		for k, q := range m.patterns[c].law {
			f.law[k] += float64(w * q)
		}
	}
	for i := range blocks {
		f.future[i] = -res.Duals[i] / m.scale
	}
	for i, r := range m.rows {
		// A minimisation with a row bounded above: its multiplier is <= 0.
		if y := -res.Duals[blocks+i] * m.rowScale() / m.scale; y > 0 {
			f.lambda[r] = y
		}
	}
	return f, nil
}

// ask tries the primal simplex from the basis of the last solve, which with new columns only is feasible, then a fresh start. A solver that goes
// round in circles is stopped after a generous number of pivots; weights that are not probabilities are not believed.
func (m *master) ask(ctx context.Context, lp *linear.Model) (*linear.Result, error) {
	warm := linear.Options{Basis: m.basis}
	for ; ; m.solvers = m.solvers[1:] {
		outcome := linear.Failed
		for _, o := range []linear.Options{warm, {}} {
			o.MaxPivots = 1000 + 4*(lp.Rows()+lp.Cols())
			res, err := m.solvers[0].Solve(ctx, lp, o)
			if err != nil {
				return nil, err
			}
			m.pivots += res.Pivots
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if outcome = res.Outcome; (outcome == linear.Optimal || outcome == linear.Failed) &&
				len(res.X) == lp.Cols() && len(res.Duals) == lp.Rows() && finite(res.X) && finite(res.Duals) && slices.Max(res.X) < 1.001 {
				return res, nil
			}
		}
		if len(m.solvers) == 1 {
			return nil, fmt.Errorf("%w: %s with %d rows and %d columns", errMaster, outcome, lp.Rows(), lp.Cols())
		}
	}
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// violated returns the rows that a law breaks by more than tol, at most one for each i (the worst).
func (m *master) violated(law []float64, tol float64) []row {
	var out []row
	n := len(law)
	for i := range n {
		worst, at := tol, -1
		for j := max(0, i-m.p.L); j < min(n, i+m.p.L+1); j++ {
			if x := law[i] - float64(m.e*law[j]) - m.delta; j != i && x > worst {
				worst, at = x, j
			}
		}
		if at >= 0 {
			out = append(out, row{i, at})
		}
	}
	return out
}

// adjusted returns the payoff with the multipliers added, and δ times their sum.
func (m *master) adjusted(lambda multipliers) (payoff []float64, offset float64) {
	payoff = append([]float64(nil), m.payoff...)
	for _, r := range lambda.rows() {
		l := lambda[r]
		payoff[r.i] -= l
		payoff[r.j] += float64(m.e * l)
		offset += float64(m.delta * l)
	}
	return payoff, offset
}

// priced returns for each block the pattern that gains most against the master's own future values.
func (m *master) priced(f *flow) secretary.Stops {
	payoff, _ := m.adjusted(f.lambda)
	n := len(payoff)
	stops := make(secretary.Stops, n)
	value, block := 0.0, m.blocks() // of going on, and the block after the current time
	secretary.BackwardFloat(payoff, func(time int, g []float64, _ float64) {
		if time == m.first[block]-1 {
			if block < m.blocks() {
				value = f.future[block]
			}
			block--
		}
		set, sum := make([]bool, time), 0.0
		for j, x := range g {
			if set[j] = time == n || x > value; !set[j] {
				x = value
			}
			sum += x
		}
		stops[time-1], value = set, sum/float64(time)
	})
	return stops
}

// lawMultipliers solves the relaxation that lets any probability vector be an outcome
// law, and returns its multipliers: a start that is often close, and
// optimal where the privacy rows alone decide. Without it a search takes twice as long, and misses the gap where ε is small.
func (m *master) lawMultipliers(ctx context.Context) (multipliers, error) {
	if m.p.L == 1 && m.delta == 0 {
		if lambda := m.recurrenceMultipliers(); lambda != nil {
			return lambda, nil
		}
	}
	return m.relaxedMultipliers(ctx)
}

// recurrenceMultipliers returns the multipliers of the relaxation where the rows are q_{k+1} <= e^ε q_k and q_k <= e^ε q_{k+1} alone; nil where
// rounding spoils them, as it does where laws are least at the first rank and fall off from another one.
//
// The recurrence: let v be a value, and give what rank k+1 has too much, f_{k+1}, to rank k. A multiplier λ of the first row takes λ from the payoff of
// rank k+1 and adds e^ε λ to that of rank k; one of the second row adds e^ε λ to rank k+1 and takes λ from rank k. So all ranks but the first
// come to v with f_{k+1} for the first row where that is positive, and -e^-ε f_{k+1} for the second one otherwise, and then
//
//	f_n = c_n - v,   f_k = c_k - v + max(e^ε f_{k+1}, e^-ε f_{k+1}).
//
// The first rank's payoff is v + f_1. As f_1 is convex and falls with v, Newton's method from the left finds its root, which is the
// optimum. Laws fall off by powers of e^ε, but nothing cancels on the way.
func (m *master) recurrenceMultipliers() multipliers {
	n := m.p.N()
	v, f := slices.Min(m.payoff), make([]float64, n)
	for range 10 * n {
		slope, growth := 0.0, 0.0
		for k := n - 1; k >= 0; k-- {
			next := 0.0
			if k < n-1 {
				next = f[k+1]
			}
			if growth = 1 / m.e; next > 0 {
				growth = m.e
			}
			f[k], slope = m.payoff[k]-v+float64(growth*next), float64(growth*slope)-1
		}
		better := v - f[0]/slope
		if !(better > v) { // by rounding at the latest
			break
		}
		v = better
	}
	lambda := multipliers{}
	for k, x := range f[1:] {
		if x > 0 {
			lambda[row{k + 1, k}] = x
		} else if x < 0 {
			lambda[row{k, k + 1}] = -x / m.e
		}
	}
	if !(math.Abs(f[0]) <= 1e-13*(1+math.Abs(v))) {
		return nil
	}
	return lambda
}

// felt returns the rows of a relaxation's multipliers that matter to its law: those before it has fallen below entryFloor. Others would only be
// noise in the master, which adds the rows that a law breaks.
func (m *master) felt(lambda multipliers) []row {
	if m.p.L > 1 || m.delta > 0 {
		return lambda.rows()
	}
	law := slices.Repeat([]float64{1}, m.p.N())
	for k := range law[1:] {
		if _, up := lambda[row{k + 1, k}]; up {
			law[k+1] = law[k] * m.e
		} else {
			law[k+1] = law[k] / m.e
		}
	}
	least := slices.Max(law) * entryFloor
	return slices.DeleteFunc(lambda.rows(), func(r row) bool { return min(law[r.i], law[r.j]) < least })
}

// relaxedMultipliers solves the relaxation as a linear program.
func (m *master) relaxedMultipliers(ctx context.Context) (multipliers, error) {
	n := m.p.N()
	var rows []row
	have := map[row]bool{}
	grow := func(x []float64) (added int) {
		for _, r := range m.violated(x, entryFloor) {
			if !have[r] {
				have[r] = true
				rows = append(rows, r)
				added++
			}
		}
		return added
	}
	program := func() *linear.Model {
		lp := &linear.Model{}
		lp.AddRow(1, 1)
		entries, values := make([][]int32, n), make([][]float64, n)
		for k := range n {
			entries[k], values[k] = []int32{0}, []float64{1}
		}
		for _, r := range rows {
			at := int32(lp.AddRow(math.Inf(-1), m.delta))
			entries[r.i], values[r.i] = append(entries[r.i], at), append(values[r.i], 1)
			entries[r.j], values[r.j] = append(entries[r.j], at), append(values[r.j], -m.e)
		}
		for k, c := range m.payoff {
			lp.AddCol(-c, 0, math.Inf(1), entries[k], values[k])
		}
		return lp
	}
	g := &linear.Growing{Solver: m.solvers[0], Rounds: 4 * n}
	res, err := g.Float(ctx, program, grow)
	if err != nil || ctx.Err() != nil {
		return nil, cmp.Or(err, context.Cause(ctx))
	}
	lambda := multipliers{}
	for i, y := range res.Duals[1:] { // as many as the program had rows
		if y < 0 {
			lambda[rows[i]] = -y
		}
	}
	return lambda, nil
}
