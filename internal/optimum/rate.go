package optimum

import (
	"context"
	"math/big"
	"slices"

	"optratio/internal/arith"
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

	low, high [][]*big.Rat // which probabilities lie between
	exact     bool         // each is known
}

// NewTable returns the mechanism with these probabilities of a problem's outputs at each input. Solve reports what is wrong with it.
func NewTable(p *Problem, probabilities [][]number.Number) *Table {
	return &Table{outputs: p.Outputs, p: probabilities}
}

// check reports what is wrong with a table, and reads its probabilities.
func (t *Table) check(p *Problem) error {
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
				return faultf("table: the probability of %q at %q is negative or missing", t.outputs[o], p.Inputs[x])
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
	out := &Rating{Scaled: t.scaled}
	if err := out.private(ctx, r); err != nil {
		return nil, err
	}
	out.OutputNames, out.Table = t.outputs, t.p
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

// tightness is what ordered pairs of inputs at one distance ask of e^{dε}: at least low, by the event set of the pair arc, and in no reading of the probabilities more
// than high. Nil is more than any number.
type tightness struct {
	arc
	set       []int
	low, high *big.Rat
}

// larger returns the larger one of two factors, of which nil is larger than any number.
func larger(x, y *big.Rat) *big.Rat {
	if x == nil || y != nil && x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// tight returns the least F >= 1 with Σ_o max(0, b_o - F a_o) <= δ, nil for none: the largest (b(S) - δ)/a(S) of any set S, and the set. In the order of b_o/a_o, the greatest first,
// one of the first sets is the largest, for every F.
func tight(a, b []*big.Rat, delta *big.Rat) (factor *big.Rat, set []int) {
	order := make([]int, 0, len(a))
	for o := range a {
		if b[o].Sign() > 0 {
			order = append(order, o)
		}
	}
	slices.SortFunc(order, func(o, u int) int {
		return new(big.Rat).Mul(b[u], a[o]).Cmp(new(big.Rat).Mul(b[o], a[u]))
	})
	sumA, over := new(big.Rat), new(big.Rat).Neg(delta)
	factor = one
	for i, o := range order {
		sumA.Add(sumA, a[o])
		over.Add(over, b[o])
		switch {
		case sumA.Sign() > 0 && factor == nil:
			return nil, set
		case sumA.Sign() > 0:
			if f := new(big.Rat).Quo(over, sumA); f.Cmp(factor) > 0 {
				factor, set = f, order[:i+1]
			}
		case over.Sign() > 0:
			factor, set = nil, order[:i+1]
		}
	}
	return factor, set
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
		at.low, at.set = tight(t.high[a.above], t.low[a.below], delta)
		if at.high = at.low; !t.exact {
			at.high, _ = tight(t.low[a.above], proving[a.below], delta)
		}
		if old := all[a.distance]; old != nil {
			most := larger(old.high, at.high)
			if larger(old.low, at.low) == old.low {
				at = old
			}
			at.high = most
		}
		all[a.distance] = at
	}
	return all
}

// private sets the tight ε and the verdict, which is verify's at the ε or at the ε and δ of the request, times each distance.
func (out *Rating) private(ctx context.Context, r *Request) error {
	arcs, distances := r.Problem.arcs()
	out.DP = verify.Proved
	if len(distances) == 0 {
		out.DP, out.undecided = verify.Undecided, "there are no pairs of neighbors"
	}
	all := r.Rate.tightest(arcs, len(distances), r.Delta)
	if out.TightEps, out.TightExpEps = tightEps(all, distances); !r.Rate.exact {
		out.TightExpEps = nil
	}
	options := verify.Options{Properties: []verify.Property{verify.DP}, NoRange: true}
	if r.Delta.Sign() > 0 {
		options.Properties, options.Targets = []verify.Property{verify.ApproximateDP}, map[verify.Property]*big.Rat{verify.ApproximateDP: r.Delta}
	}
	answers := make([]*inquiry.Answer, len(r.Rate.p))
	for x, row := range r.Rate.p {
		answers[x] = &inquiry.Answer{}
		for _, p := range row {
			answers[x].P = append(answers[x].P, inquiry.Of(p))
		}
	}
	question := inquiry.Question{
		Subject:  inquiry.SubjectFunc(func(q inquiry.Vector) (*inquiry.Answer, error) { return answers[q[0]], nil }),
		Readings: !r.Rate.exact,
	}
	for i, d := range distances {
		question.Exp = inquiry.ExpTimes(r.Epsilon, d)
		question.Domain = &inquiry.Domain{Space: &inquiry.Space{Unit: one}, Directed: true, Neighbors: func(yield func(a, b inquiry.Vector) bool) {
			for _, a := range arcs {
				if a.distance == i && !yield(inquiry.Vector{int64(a.below)}, inquiry.Vector{int64(a.above)}) {
					return
				}
			}
		}}
		report, err := verify.Check(ctx, &question, options)
		if err != nil {
			return err
		}
		switch report.Verdict() {
		case verify.Violated:
			out.DP, out.undecided, out.Witness = verify.Violated, "", r.witness(all[i], d)
			return nil
		case verify.Undecided:
			out.DP, out.undecided = verify.Undecided, "the probabilities are not known well enough: fractions in strings, or a smaller relative precision where it is true, decide it"
		}
	}
	return nil
}

// tightPrec is the precision of tight ε, in bits.
const tightPrec = 128

// tightEps returns the least ε that what pairs at some distances ask for allows, and e^ε where that is known to be rational.
func tightEps(all []*tightness, distances []*big.Rat) (eps number.Number, exp *big.Rat) {
	exp = one
	others := number.Int(0) // the most that is asked for where e^ε is not rational
	for i, at := range all {
		x, y := at.eps(distances[i])
		switch {
		case x.IsInf():
			return x, nil
		case y == nil:
			others = others.Max(x)
		case y.Cmp(exp) > 0:
			exp = y
		}
	}
	eps = number.Int(0)
	if exp.Cmp(one) > 0 {
		eps = number.Enclosed(number.LogRat(exp, tightPrec))
	}
	if c, ok := others.Cmp(eps); !ok || c > 0 {
		return eps.Max(others), nil
	}
	return eps, exp
}

// eps returns the least ε at a distance, or e^ε where that is known to be rational.
func (t *tightness) eps(d *big.Rat) (eps number.Number, exp *big.Rat) {
	switch {
	case t.low == nil, d.Sign() == 0 && t.low.Cmp(one) > 0:
		return number.Infinity(), nil
	case t.high != nil && t.high.Cmp(one) == 0:
		return eps, one
	case d.Sign() == 0:
		return number.Bounds(new(big.Rat), nil), nil
	case t.high != nil && t.high.Cmp(t.low) == 0:
		if y, ok := arith.Power(t.low, new(big.Rat).Inv(d)); ok {
			return eps, y
		}
	}
	log := func(x *big.Rat) number.Interval { return number.LogRat(x, tightPrec).Quo(number.FromRat(d, tightPrec)) }
	if t.high == nil {
		low, _ := number.Enclosed(log(t.low)).Lower()
		return number.Bounds(low, nil), nil
	}
	return number.Enclosed(number.Hull(log(t.low), log(t.high))), nil
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
