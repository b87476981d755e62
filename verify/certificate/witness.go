package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"optratio/number"
	"optratio/number/interval"
)

// witness shows that a mechanism lacks a property, at scores and, for dp, at neighboring ones. The probabilities are worked out here where there is a formula for the mechanism.
// Where the file states them, as of a table under audit, they are the file's, and what is decided is that these numbers violate the property.
type witness struct {
	setting
	property         string // "dp" or "dominates-em"
	mechanism        string // a name, or "table"
	neighbors        string // "linf", "monotonic", "shifted", or "stated"
	sensitivity      *big.Rat
	scale            *big.Rat // what scores are divided by: 2Δ, as a rule
	delta            *big.Rat
	t                *big.Rat
	scores, neighbor []*big.Rat
	inputs           [2]string // of a table, JSON values in place of scores and neighbor
	distance         *big.Rat  // of the two, whose multiple of ε counts
	candidate        int
	event            string // of a table: the outcomes whose probabilities the file states, in place of those of all candidates
	cost             *effort
	pmf, other       []value // of a table; a value without a number is not known
}

// formulas are the mechanisms whose probabilities this package knows, with the ones that are the same.
var formulas = map[string]func(depths []value, z value) []value{
	"em": exponential, "rnm-gumbel": exponential, "pf": permuteAndFlip, "rnm-exponential": permuteAndFlip, "krr": randomised,
}

// Mechanisms lists the names of the mechanisms whose violations Check decides without being told the probabilities.
func Mechanisms() []string { return slices.Sorted(maps.Keys(formulas)) }

func (w *witness) read(r *reader, o Options) {
	r.long = maxSectionLine
	w.cost = r.cost
	w.property = r.word("property", "dp", "dominates-em")
	w.mechanism = r.take("mechanism")
	w.epsilon(r)
	w.distance = big.NewRat(1, 1)
	q := Claim{On: "p - e^ε p'", lower: new(big.Rat)}
	table := w.mechanism == "table"
	if table && w.property == "dp" && r.is("input") {
		w.ofInputs(r)
	} else {
		if w.scale = r.number("scale"); w.scale.Sign() == 0 {
			r.failf("scale is 0")
		}
		w.scores = r.numbers("scores", 0)
		n := float64(len(w.scores))
		if r.stop(o.sized(n * n * 512)); r.err != nil {
			return
		}
		if w.property == "dominates-em" {
			q.On = "Pr[error >= t] - that of em"
			w.t = r.number("t")
		} else {
			w.ofScores(r, table)
		}
	}
	if table {
		if w.pmf = w.row(r, "pmf"); w.property == "dp" {
			w.other = w.row(r, "neighbor-pmf")
		}
	}
	w.claims = []Claim{q}
}

// ofScores reads who is a neighbor of the scores, and where the violation is.
func (w *witness) ofScores(r *reader, table bool) {
	w.neighbors = r.word("neighbors", "linf", "monotonic", "shifted", "stated")
	w.sensitivity = r.number("sensitivity")
	w.delta = r.number("delta")
	w.neighbor = r.numbers("neighbor", len(w.scores))
	switch {
	case table && r.is("event"):
		w.ofEvent(r)
	case w.delta.Sign() == 0:
		w.candidate = r.whole("candidate", 0, len(w.scores)-1)
	}
}

// ofInputs reads two inputs that are said to be neighbors, and the event at which they show the violation.
func (w *witness) ofInputs(r *reader) {
	w.neighbors = "stated"
	var same [2]string
	for i, word := range []string{"input", "neighbor-input"} {
		w.inputs[i] = r.take(word)
		var err error
		if same[i], err = canonical(w.inputs[i]); err != nil && r.err == nil {
			r.failf("%s: %v", word, err)
		}
	}
	if r.err == nil && same[0] == same[1] {
		r.failf("the two inputs are equal, and say nothing of neighbors")
	}
	if w.distance = r.number("distance"); w.distance.Sign() == 0 {
		r.failf("distance is 0")
	}
	w.delta = r.number("delta")
	w.ofEvent(r)
}

// ofEvent reads which outcomes the probabilities are of, in words for people.
func (w *witness) ofEvent(r *reader) {
	if w.event = r.take("event"); w.event == "" {
		r.failf("the event has no name")
	}
}

// row reads a row of probabilities that the file states: a rational, LO,HI where a number is only enclosed, or - where it is not known, for each candidate, or one for
// the event.
func (w *witness) row(r *reader, word string) (out []value) {
	count := len(w.scores)
	if w.event != "" {
		count = 1
	}
	f := r.fields(word, count)
	low, high := new(big.Rat), new(big.Rat) // sums
	for _, s := range f {
		if s == "-" {
			out = append(out, value{})
			continue
		}
		los, his, two := strings.Cut(s, ",")
		lo, err := parseClaimed(los)
		hi := lo
		if err == nil && two {
			hi, err = parseClaimed(his)
		}
		if err != nil || lo.Sign() < 0 || lo.Cmp(hi) > 0 {
			r.failf("%s: %s is no probability", word, quote(s))
			return nil
		}
		w.cost.sum(low, lo)
		w.cost.sum(high, hi)
		if out = append(out, exactly(lo)); two {
			out[len(out)-1] = enclosed(interval.New(down(lo), up(hi)))
		}
	}
	one := big.NewRat(1, 1)
	if r.stop(w.cost.err); low.Cmp(one) > 0 || high.Cmp(one) < 0 && w.event == "" && !slices.Contains(f, "-") {
		r.failf("%s: the probabilities do not sum to 1", word)
	}
	return out
}

const maxFormulaBits = 1 << 20 // of exact numbers that are worked out by a formula, times the candidates

const tableBits = 512 // of the ends of a table's enclosures

func down(x *big.Rat) *big.Float {
	return new(big.Float).SetPrec(tableBits).SetMode(big.ToNegativeInf).SetRat(x)
}

func up(x *big.Rat) *big.Float {
	return new(big.Float).SetPrec(tableBits).SetMode(big.ToPositiveInf).SetRat(x)
}

// decide decides whether the property is violated.
func (w *witness) decide(o Options) (string, error) {
	formula := formulas[w.mechanism]
	switch {
	case formula == nil && w.mechanism != "table":
		return "", fmt.Errorf("%w: there is no formula for mechanism %s; there is one for em, pf and krr", ErrUndecided, quote(w.mechanism))
	case formula != nil && w.neighbors == "stated":
		return "neighbors stated: of a mechanism with a formula, who is a neighbor is decided here", nil
	case w.property == "dp" && w.scores != nil && slices.EqualFunc(w.scores, w.neighbor, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }):
		return "the two score vectors are equal, and say nothing of neighbors", nil
	case w.property == "dp" && w.neighbors != "stated" && !w.related():
		return fmt.Sprintf("the scores are no neighbors (%s)", w.neighbors), nil
	}
	for prec := uint(128); ; prec *= 2 {
		excess, err := w.excess(formula, prec)
		if err != nil {
			return "", err
		}
		switch sign, ok := excess.sign(); {
		case ok && sign > 0:
			lower := excess.rat
			if lower == nil {
				lower, _ = excess.enc.Lo().Rat(nil)
			}
			w.claims[0].Value = number.Bounds(lower, nil)
			return w.claims[0].judge(lower, nil), nil
		case ok, excess.rat == nil && excess.enc.Hi().Sign() <= 0:
			return "the property is not violated there", nil
		case prec >= o.MaxPrecision:
			return "", fmt.Errorf("%w: the probabilities are too close to tell at %d bits", ErrUndecided, prec)
		}
	}
}

// related reports whether the two vectors are neighbors, which are not just stated to be.
func (w *witness) related() bool {
	var least, most *big.Rat
	for r := range w.scores {
		d := new(big.Rat).Sub(w.neighbor[r], w.scores[r])
		if least == nil || d.Cmp(least) < 0 {
			least = d
		}
		if most == nil || d.Cmp(most) > 0 {
			most = d
		}
	}
	wide := new(big.Rat).Mul(w.sensitivity, big.NewRat(2, 1))
	minus := new(big.Rat).Neg(w.sensitivity)
	switch w.neighbors {
	case "linf":
		return minus.Cmp(least) <= 0 && most.Cmp(w.sensitivity) <= 0
	case "monotonic":
		return least.Sign() >= 0 && most.Cmp(w.sensitivity) <= 0 || most.Sign() <= 0 && minus.Cmp(least) <= 0
	case "shifted":
		return most.Sub(most, least).Cmp(wide) <= 0
	}
	return true
}

// excess returns by how much the property is violated: more than 0 if it is. With dominates-em that is Σ (p - p') over the errors of t or more, p' being the
// exponential mechanism's; with dp p - e^ε p' for the candidate, p' being those at the neighbor, or Σ max(0, p - e^ε p') - δ.
func (w *witness) excess(formula func([]value, value) []value, prec uint) (value, error) {
	z, err := w.enclosure(w.distance, prec)
	if err != nil {
		return value{}, err
	}
	p, other := w.pmf, w.other
	if formula != nil {
		if p, err = w.probabilities(formula, w.scores, z, prec); err != nil {
			return value{}, err
		}
	}
	zero := exactly(new(big.Rat))
	sum := zero
	counts := func(int) bool { return true }
	switch {
	case w.property == "dominates-em":
		best := slices.MaxFunc(w.scores, (*big.Rat).Cmp)
		counts = func(r int) bool { return new(big.Rat).Sub(best, w.scores[r]).Cmp(w.t) >= 0 }
		other, err = w.probabilities(exponential, w.scores, z, prec)
		z = exactly(big.NewRat(1, 1))
	case w.event == "" && w.delta.Sign() == 0:
		counts = func(r int) bool { return r == w.candidate }
	default:
		sum = zero.sub(exactly(w.delta))
	}
	if formula != nil && w.property == "dp" {
		other, err = w.probabilities(formula, w.neighbor, z, prec)
	}
	if err != nil {
		return value{}, err
	}
	for r := range p {
		if !counts(r) {
			continue
		}
		if !known(p[r]) || !known(other[r]) {
			return value{}, malformed("pmf: a probability that is needed is not there")
		}
		x := p[r].sub(other[r].quo(z))
		if w.delta != nil && w.delta.Sign() > 0 {
			x = x.max(zero)
		}
		sum = sum.add(x)
	}
	return sum, nil
}

func known(v value) bool { return v.rat != nil || v.enc.Lo() != nil }

// probabilities works out a formula at scores: it is given e^{ε (q_r - q*)/scale} for each candidate.
func (w *witness) probabilities(formula func([]value, value) []value, scores []*big.Rat, z value, prec uint) ([]value, error) {
	best := slices.MaxFunc(scores, (*big.Rat).Cmp)
	weights := make([]value, len(scores))
	bits, n := 0, len(scores)
	for r, q := range scores {
		d := new(big.Rat).Sub(best, q)
		var err error
		if weights[r], err = w.enclosure(d.Quo(d, w.scale), prec); err != nil {
			return nil, err
		}
		if x := weights[r].rat; x != nil {
			bits += x.Denom().BitLen()
		}
	}
	// A formula takes about n² operations on numbers of so many bits.
	if bits > maxFormulaBits/n {
		for r, x := range weights {
			if x.rat != nil && !x.rat.IsInt() {
				weights[r] = enclosed(x.at(prec))
			}
		}
	}
	return formula(weights, z), nil
}

// exponential returns p_r / Σ p_s.
func exponential(p []value, _ value) []value {
	total := exactly(new(big.Rat))
	for _, x := range p {
		total = total.add(x)
	}
	out := make([]value, len(p))
	for r, x := range p {
		out[r] = x.quo(total)
	}
	return out
}

// permuteAndFlip returns p_r ∫₀¹ Π_{s≠r} (1 - t p_s) dt. The product over all s is divided by the factor of r, from its constant coefficient on; as the factor's is 1,
// that is a recurrence without divisions.
func permuteAndFlip(p []value, _ value) []value {
	product := []value{exactly(big.NewRat(1, 1))}
	for _, x := range p {
		next := make([]value, len(product)+1)
		for i := range next {
			switch {
			case i == 0:
				next[i] = product[0]
			case i == len(product):
				next[i] = exactly(new(big.Rat)).sub(product[i-1].mul(x))
			default:
				next[i] = product[i].sub(product[i-1].mul(x))
			}
		}
		product = next
	}
	out := make([]value, len(p))
	for r, x := range p {
		integral, coefficient := exactly(new(big.Rat)), exactly(new(big.Rat))
		for i := range p {
			coefficient = product[i].add(coefficient.mul(x))
			integral = integral.add(coefficient.mul(exactly(big.NewRat(1, int64(i+1)))))
		}
		out[r] = x.mul(integral)
	}
	return out
}

// randomised returns randomised response: 1/(1+(n-1)z) for the best, z/(1+(n-1)z) for each other; of tied best ones each is the best with the same probability.
func randomised(p []value, z value) []value {
	best := 0
	for _, x := range p {
		if x.rat != nil && x.rat.Cmp(big.NewRat(1, 1)) == 0 {
			best++
		}
	}
	one := exactly(big.NewRat(1, 1))
	total := one.add(z.mul(exactly(big.NewRat(int64(len(p)-1), 1))))
	out := make([]value, len(p))
	for r, x := range p {
		out[r] = z
		if x.rat != nil && x.rat.Cmp(big.NewRat(1, 1)) == 0 {
			out[r] = one.add(z.mul(exactly(big.NewRat(int64(best-1), 1)))).quo(exactly(big.NewRat(int64(best), 1)))
		}
		out[r] = out[r].quo(total)
	}
	return out
}

func (w *witness) about(p *Problem) bool {
	p.N, p.Proof, p.Constraints = len(w.scores), "witness", w.property
	w.describe(p)
	p.About = fmt.Sprintf("mechanism %s lacks property %s", quote(w.mechanism), w.property)
	if w.mechanism == "table" {
		p.About = fmt.Sprintf("the probabilities that this file states lack property %s", w.property)
	}
	if w.scores == nil {
		p.About += fmt.Sprintf(" at inputs %s and %s (neighbors: stated, at distance %s)", shown(w.inputs[0]), shown(w.inputs[1]), w.distance.RatString())
	} else {
		p.About += fmt.Sprintf(" at scores %s", list(w.scores))
	}
	if w.mechanism != "table" && w.scale != nil {
		p.About += fmt.Sprintf(", which it divides by %s", w.scale.RatString())
	}
	if w.neighbor != nil {
		p.About += fmt.Sprintf(" and %s (neighbors: %s, Δ = %s)", list(w.neighbor), w.neighbors, w.sensitivity.RatString())
	}
	if w.event != "" {
		p.About += ", event " + shown(w.event)
	}
	if w.delta != nil && w.delta.Sign() > 0 {
		p.Delta = new(number.Exact(w.delta))
	}
	return true
}
