package optimum

import (
	"context"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// Table is a mechanism that somebody uses: the probability of each of its outputs at each input of a problem. Its outputs need not be those of the problem; then
// it has a loss after a remap alone.
type Table struct {
	outputs []string
	p       [][]number.Number
	scaled  bool // rows summed to 1 only nearly, as decimals do, and were divided by their sums
	// Finding says what a program did in place of stating its probabilities. Then there are none.
	Finding string

	low, high [][]*big.Rat // which probabilities lie between
	exact     bool         // each is known
}

// NewTable returns the mechanism with these probabilities of a problem's outputs at each input. Solve reports what is wrong with it.
func NewTable(p *Problem, probabilities [][]number.Number) *Table {
	return &Table{outputs: p.Outputs, p: probabilities}
}

// check reports what is wrong with a table, and reads its probabilities.
func (t *Table) check(p *Problem) error {
	if t.Finding != "" {
		return nil
	}
	if len(t.p) != len(p.Inputs) {
		return faultf("table: %d rows for %d inputs", len(t.p), len(p.Inputs))
	}
	t.low, t.high, t.exact = make([][]*big.Rat, len(t.p)), make([][]*big.Rat, len(t.p)), true
	at := places(p.Outputs)
	for x, row := range t.p {
		if len(row) != len(t.outputs) {
			return faultf("table: %d probabilities of %d outputs at %q", len(row), len(t.outputs), p.Inputs[x])
		}
		sum, most := new(big.Rat), new(big.Rat)
		for o, q := range row {
			low, high := q.Ends()
			if low == nil || high == nil || low.Sign() < 0 {
				return faultf("table: the probability of %q at %q is negative, or none", t.outputs[o], p.Inputs[x])
			}
			if i, known := at[t.outputs[o]]; known && low.Sign() > 0 && p.forbidden(x, i) {
				return faultf("table: the output %q is forbidden at %q and has the probability %s", t.outputs[o], p.Inputs[x], low.RatString())
			}
			sum.Add(sum, low)
			most.Add(most, high)
			t.low[x], t.high[x] = append(t.low[x], low), append(t.high[x], high)
			t.exact = t.exact && low.Cmp(high) == 0
		}
		if sum.Cmp(one) > 0 || most.Cmp(one) < 0 {
			return faultf("table: the probabilities at %q sum to %s, not to 1", p.Inputs[x], number.Bounds(sum, most))
		}
	}
	return nil
}

func places(names []string) map[string]int {
	at := map[string]int{}
	for i, name := range names {
		at[name] = i
	}
	return at
}

// Rating says how private a table is and how far it is from the optimum.
type Rating struct {
	TightEps    number.Number     `json:"tight_eps"`     // the least ε at which it is (ε,δ)-DP on the pairs
	TightExpEps *big.Rat          `json:"tight_exp_eps"` // e^TightEps where that is known to be rational
	DP          verify.Verdict    `json:"dp"`            // at the ε and δ asked
	Witness     *Witness          `json:"witness"`       // of a violation
	Value       number.Number     `json:"value"`         // its loss; none where it has other outputs than the problem
	Ratio       number.Number     `json:"ratio"`         // to the optimum; none where that is 0
	Remapped    number.Number     `json:"value_remapped"`
	RatioRemap  number.Number     `json:"ratio_remapped"`
	Remap       []Remap           `json:"remap"`  // what the best remap makes of each output
	Losses      []number.Number   `json:"losses"` // at each input; none where it has other outputs than the problem
	OutputNames []string          `json:"output_names"`
	Table       [][]number.Number `json:"table"` // its probabilities
	Scaled      bool              `json:"scaled,omitempty"`
	Finding     string            `json:"finding,omitempty"` // what a program did in place of stating its probabilities
	undecided   string
}

// Witness is a set of outputs that has more than e^{dε} times the probability at the input that it has at the neighbor, plus δ.
type Witness struct {
	Input     string        `json:"input"`
	Neighbor  string        `json:"neighbor"`
	Distance  number.Number `json:"distance"`
	Outputs   []string      `json:"outputs"`
	P         number.Number `json:"p"`
	PNeighbor number.Number `json:"p_neighbor"`
}

// Remap says that an output is taken for another one, with a probability.
type Remap struct {
	Output      string        `json:"output"`
	To          string        `json:"to"`
	Probability number.Number `json:"probability"`
}

// rate compares the table of the request with the optimum.
func (r *Request) rate(ctx context.Context, optimum number.Number) (*Rating, error) {
	p, t := r.Problem, r.Rate
	out := &Rating{Scaled: t.scaled, Finding: t.Finding, DP: verify.Undecided}
	if t.Finding != "" {
		return out, nil
	}
	if err := out.private(ctx, r); err != nil {
		return nil, err
	}
	out.OutputNames = t.outputs
	for x := range t.p {
		out.Table = append(out.Table, bounds(t.low[x], t.high[x]))
	}
	ratio := func(value number.Number) number.Number {
		if s, ok := optimum.Cmp(number.Int(0)); ok && s == 0 {
			return number.Number{}
		}
		n := value.Over(optimum)
		if low, ok := n.Lower(); ok && t.exact && out.DP == verify.Proved && low.Cmp(one) < 0 {
			high, _ := n.Upper() // a private mechanism is no better than the optimum
			n = number.Bounds(one, high)
		}
		return n
	}
	if own := p.own(t.outputs, t.low); own != nil {
		most := p.own(t.outputs, t.high)
		out.Losses = bounds(p.Losses(own), p.Losses(most))
		out.Value = number.Bounds(p.value(own), p.value(most))
		out.Ratio = ratio(out.Value)
	}
	best, err := p.remap(ctx, t.outputs, t.low, r.solver)
	most := best // losses are >= 0: that of larger probabilities is no smaller, whatever the remap
	if err == nil && !t.exact {
		most, err = p.remap(ctx, t.outputs, t.high, r.solver)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		out.undecided = context.Cause(ctx).Error()
	case err != nil:
		return nil, err
	case most != nil:
		out.Remapped, out.Remap = number.Bounds(best.value, most.value), most.list
		out.RatioRemap = ratio(out.Remapped)
	}
	return out, nil
}

// bounds returns what lies between two lists of ends.
func bounds(low, high []*big.Rat) []number.Number {
	out := make([]number.Number, len(low))
	for i := range low {
		out[i] = number.Bounds(low[i], high[i])
	}
	return out
}

// own returns a table's probabilities of the problem's outputs; nil where the table has others.
func (p *Problem) own(outputs []string, table [][]*big.Rat) [][]*big.Rat {
	at := places(p.Outputs)
	out := make([][]*big.Rat, len(table))
	for x, row := range table {
		out[x] = make([]*big.Rat, len(p.Outputs))
		for o := range out[x] {
			out[x][o] = new(big.Rat)
		}
		for o, q := range row {
			i, known := at[outputs[o]]
			if !known {
				return nil
			}
			out[x][i].Add(out[x][i], q)
		}
	}
	return out
}

// tightness is what ordered pairs of inputs at one distance ask of e^{dε}: at least factor, or more than any where that is nil, by the event set of the pair arc. Where
// probabilities are not exact, factor is what all their readings ask, and none asks for more than most.
type tightness struct {
	arc
	factor *big.Rat
	set    []int
	most   *big.Rat
}

// larger returns the larger one of two factors, of which nil is larger than any number.
func larger(x, y *big.Rat) *big.Rat {
	if x == nil || y != nil && x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// tight returns the least F >= 1 with Σ_o max(0, b_o - F a_o) <= δ, nil for none, and the outputs with b_o > F a_o, or = where there are no others.
func tight(a, b []*big.Rat, delta *big.Rat) (*big.Rat, []int) {
	order := make([]int, 0, len(a)) // by b/a, the greatest first
	for o := range a {
		if b[o].Sign() > 0 {
			order = append(order, o)
		}
	}
	ratio := func(o int) *big.Rat { return new(big.Rat).Quo(b[o], a[o]) }
	slices.SortFunc(order, func(o, u int) int {
		return new(big.Rat).Mul(b[u], a[o]).Cmp(new(big.Rat).Mul(b[o], a[u]))
	})
	sumA, sumB := new(big.Rat), new(big.Rat)
	for i, o := range order {
		sumA.Add(sumA, a[o])
		sumB.Add(sumB, b[o])
		if sumA.Sign() == 0 {
			if sumB.Cmp(delta) > 0 && (i+1 == len(order) || a[order[i+1]].Sign() > 0) {
				return nil, order[:i+1]
			}
			continue
		}
		f := new(big.Rat).Sub(sumB, delta)
		f.Quo(f, sumA)
		if i+1 == len(order) || f.Cmp(ratio(order[i+1])) >= 0 {
			if f.Cmp(one) < 0 {
				f.SetInt64(1)
			}
			return f, order[:i+1]
		}
	}
	return big.NewRat(1, 1), order
}

var vanishing = new(big.Rat).SetFrac(unit, new(big.Int).Lsh(unit, 1074)) // the upper end of a number 0

// tightest returns what the pairs at each distance ask for.
func (t *Table) tightest(arcs []arc, distances int, delta *big.Rat) []*tightness {
	proving := t.high // in which a 0 is 0: that it may have vanished by rounding only keeps it from refuting anything
	if !t.exact {
		proving = nil
		for _, row := range t.high {
			row = slices.Clone(row)
			for o, q := range row {
				if q.Cmp(vanishing) == 0 {
					row[o] = new(big.Rat)
				}
			}
			proving = append(proving, row)
		}
	}
	all := make([]*tightness, distances)
	for _, a := range arcs {
		at := &tightness{arc: a}
		at.factor, at.set = tight(t.high[a.above], t.low[a.below], delta)
		if at.most = at.factor; !t.exact {
			at.most, _ = tight(t.low[a.above], proving[a.below], delta)
		}
		if old := all[a.distance]; old != nil {
			most := larger(old.most, at.most)
			if old.factor == nil || at.factor != nil && at.factor.Cmp(old.factor) <= 0 {
				at = old
			}
			at.most = most
		}
		all[a.distance] = at
	}
	return all
}

// private sets the tight ε and the verdict, which is verify's.
func (out *Rating) private(ctx context.Context, r *Request) error {
	arcs, distances := r.Problem.arcs()
	out.DP = verify.Proved
	if len(distances) == 0 {
		out.DP, out.undecided = verify.Undecided, "there are no pairs of neighbors"
	}
	all := r.Rate.tightest(arcs, len(distances), r.Delta)
	out.TightEps, out.TightExpEps = tightEps(all, distances)
	if !r.Rate.exact {
		out.TightExpEps = nil
	}
	for i, d := range distances {
		switch v, err := r.verdict(ctx, arcs, i, d); {
		case err != nil:
			return err
		case v == verify.Violated:
			out.DP, out.undecided, out.Witness = v, "", r.witness(all[i], d)
			return nil
		case v == verify.Undecided:
			out.DP, out.undecided = v, "the probabilities are not known well enough: fractions in strings, or a smaller relative precision where it is true, decide it"
		}
	}
	return nil
}

// tightPrec is the precision of tight ε, in bits.
const tightPrec = 128

// tightEps returns the least ε that what pairs at some distances ask for allows, and e^ε where that is known to be rational.
func tightEps(all []*tightness, distances []*big.Rat) (eps number.Number, exp *big.Rat) {
	exp, bounded := big.NewRat(1, 1), true
	others := number.Int(0) // the most that is asked for where e^ε is not rational
	for i, at := range all {
		d := distances[i]
		switch {
		case at.factor == nil || d.Sign() == 0 && at.factor.Cmp(one) > 0:
			return number.Infinity(), nil
		case at.most == nil || d.Sign() == 0 && at.most.Cmp(one) > 0:
			bounded = false
		}
		if d.Sign() == 0 || at.most != nil && at.most.Cmp(one) == 0 {
			continue
		}
		x := number.LogRat(at.factor, tightPrec)
		if at.most != nil {
			x = number.Hull(x, number.LogRat(at.most, tightPrec))
		}
		x = x.Quo(number.FromRat(d, tightPrec))
		if y, ok := power(at.factor, new(big.Rat).Inv(d)); ok && at.most != nil && at.most.Cmp(at.factor) == 0 {
			exp = slices.MaxFunc([]*big.Rat{exp, y}, (*big.Rat).Cmp)
		} else {
			others = others.Max(number.Enclosed(x))
		}
	}
	eps = number.Int(0)
	if exp.Cmp(one) > 0 {
		eps = number.Enclosed(number.LogRat(exp, tightPrec))
	}
	if c, ok := others.Cmp(eps); !ok || c > 0 {
		eps, exp = eps.Max(others), nil
	}
	if low, ok := eps.Lower(); ok && !bounded {
		eps = number.Bounds(low, nil)
	}
	return eps, exp
}

// verdict decides whether the table is (dε,δ)-DP on the pairs at a distance d.
func (r *Request) verdict(ctx context.Context, arcs []arc, distance int, d *big.Rat) (verify.Verdict, error) {
	options := verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}
	if r.Delta.Sign() > 0 {
		options.Properties, options.Targets = []verify.Property{verify.ApproximateDP}, map[verify.Property]*big.Rat{verify.ApproximateDP: r.Delta}
	}
	table := inquiry.Remember(inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) {
		a := &inquiry.Answer{}
		for _, x := range r.Rate.p[q[0]] {
			a.P = append(a.P, inquiry.Of(x))
		}
		return a, nil
	}))
	dom := &inquiry.Domain{
		Space: &inquiry.Space{Unit: one}, Directed: true,
		Neighbors: func(yield func(a, b inquiry.Vector) bool) {
			for _, a := range arcs {
				if a.distance == distance && !yield(inquiry.Vector{int64(a.below)}, inquiry.Vector{int64(a.above)}) {
					return
				}
			}
		},
	}
	report, err := verify.Check(ctx, &inquiry.Question{Subject: table, Exp: inquiry.ExpTimes(r.Epsilon, d), Domain: dom, Readings: !r.Rate.exact}, options)
	if err != nil {
		return verify.Undecided, err
	}
	return report.Verdict(), nil
}

func (r *Request) witness(at *tightness, distance *big.Rat) *Witness {
	w := &Witness{Input: r.Problem.Inputs[at.below], Neighbor: r.Problem.Inputs[at.above], Distance: number.Exact(distance)}
	sum := func(input int) number.Number {
		low, high := new(big.Rat), new(big.Rat)
		for _, o := range at.set {
			low.Add(low, r.Rate.low[input][o])
			high.Add(high, r.Rate.high[input][o])
		}
		return number.Bounds(low, high)
	}
	for _, o := range slices.Sorted(slices.Values(at.set)) {
		w.Outputs = append(w.Outputs, r.Rate.outputs[o])
	}
	w.P, w.PNeighbor = sum(at.below), sum(at.above)
	return w
}
