package certificate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/evidence"
	"optratio/number"
)

// witness shows that a mechanism lacks a property, at scores and, for dp, at neighboring ones. The probabilities are worked out here where there is a formula for the mechanism.
// Where the file states them, as it does of a table under audit, the check decides whether these numbers violate the property.
type witness struct {
	evidence.Setting
	property         string // "dp", "rdp" or "dominates-em"
	mechanism        string // a name, or "table"
	neighbors        string // "linf", "monotonic", "shifted", or "stated"
	sensitivity      *big.Rat
	scale            *big.Rat // what scores are divided by: 2Δ, as a rule
	delta            *big.Rat
	order, claimed   *big.Rat // of a Rényi divergence, which is claimed to be at most that; the order nil is ∞
	t                *big.Rat
	scores, neighbor []*big.Rat
	inputs           [2]string // of a table, JSON values in place of scores and neighbor
	distance         *big.Rat  // of the two, whose multiple of ε counts
	candidate        int
	event            string // of a table: the outcomes whose probabilities the file states, in place of those of all candidates
	cost             *evidence.Effort
	pmf, other       []number.Number // of a table; a value without a number is not known
}

// formulas are the mechanisms whose probabilities this package knows, evidence.Mechanisms, with the ones that are the same.
var formulas = map[string]func(depths []number.Number, z number.Number) []number.Number{
	"em": exponential, "rnm-gumbel": exponential, "pf": permuteAndFlip, "rnm-exponential": permuteAndFlip, "krr": randomised,
}

func (w *witness) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	w.cost = r.Cost
	w.property = r.Word("property", "dp", "rdp", "dominates-em")
	w.mechanism = r.Take("mechanism")
	w.Epsilon(r)
	w.distance = big.NewRat(1, 1)
	q := evidence.Claim{On: map[string]string{"dp": "p - e^ε p'", "rdp": "Σ p (p/p')^(α-1) - e^((α-1)c)", "dominates-em": "Pr[error >= t] - that of em"}[w.property]}
	table := w.mechanism == "table"
	if table && w.property != "dominates-em" && r.Is("input") {
		w.ofInputs(r)
	} else {
		if w.scale = r.Number("scale"); w.scale.Sign() == 0 {
			r.Failf("scale is 0")
		}
		w.scores = r.Numbers("scores", 0)
		n := float64(len(w.scores))
		evidence.Sized(o, n*n*512)
		if w.property == "dominates-em" {
			w.t = r.Number("t")
		} else {
			w.ofScores(r, table)
		}
	}
	if table {
		if w.pmf = w.row(r, "pmf"); w.property != "dominates-em" {
			if w.other = w.row(r, "neighbor-pmf"); len(w.other) != len(w.pmf) {
				r.Failf("neighbor-pmf: %d probabilities, and pmf has %d", len(w.other), len(w.pmf))
			}
		}
	}
	w.Claims = []evidence.Claim{q}
}

// ofScores reads who is a neighbor of the scores, and where the violation is.
func (w *witness) ofScores(r *evidence.Reader, table bool) {
	w.neighbors = r.Word("neighbors", "linf", "monotonic", "shifted", "stated")
	w.sensitivity = r.Number("sensitivity")
	w.limit(r)
	w.neighbor = r.Numbers("neighbor", len(w.scores))
	switch {
	case table && (w.property == "rdp" || r.Is("event")):
		w.ofEvent(r)
	case w.property == "dp" && w.delta.Sign() == 0:
		w.candidate = r.Whole("candidate", 0, len(w.scores)-1)
	}
}

// ofInputs reads two inputs that are said to be neighbors, and the event at which they show the violation.
func (w *witness) ofInputs(r *evidence.Reader) {
	w.neighbors = "stated"
	var same [2]string
	for i, word := range []string{"input", "neighbor-input"} {
		w.inputs[i] = r.Take(word)
		var err error
		if same[i], err = canonical(w.inputs[i], w.cost); err != nil {
			r.Failf("%s: %v", word, err)
		}
	}
	if same[0] == same[1] {
		r.Failf("the two inputs are equal, and say nothing of neighbors")
	}
	if w.distance = r.Number("distance"); w.distance.Sign() == 0 {
		r.Failf("distance is 0")
	}
	if w.limit(r); w.property == "rdp" && w.distance.Cmp(big.NewRat(1, 1)) != 0 {
		r.Failf("distance is not 1, and rdp is about neighbors")
	}
	w.ofEvent(r)
}

// maxOrder bounds the orders of Rényi divergences.
const maxOrder = 1 << 20

// limit reads what is not to be exceeded.
func (w *witness) limit(r *evidence.Reader) {
	if w.property == "dp" {
		w.delta = r.Number("delta")
		return
	}
	if text := r.Take("order"); text != "inf" {
		if w.order = r.Value("order", text); w.order.Cmp(big.NewRat(1, 1)) < 0 || w.order.Cmp(big.NewRat(maxOrder, 1)) > 0 {
			r.Failf("order: give inf, or a number from 1 to %d", maxOrder)
		}
	}
	w.claimed = r.Number("claimed")
}

// ofEvent reads which outcomes the probabilities are of, in words for people.
func (w *witness) ofEvent(r *evidence.Reader) {
	if w.event = r.Take("event"); w.event == "" {
		r.Failf("the event has no name")
	}
}

// row reads a row of probabilities that the file states: a rational, LO,HI where a number is only enclosed, or - where it is not known, for each candidate, or one for
// the event.
func (w *witness) row(r *evidence.Reader, word string) (out []number.Number) {
	count, whole := len(w.scores), w.event == ""
	switch {
	case w.property == "rdp":
		count, whole = 0, true
	case !whole:
		count = 1
	}
	f := r.Fields(word, count)
	low, high := new(big.Rat), new(big.Rat) // sums
	for _, s := range f {
		if s == "-" {
			out = append(out, number.Number{})
			continue
		}
		lo, hi := probability(r, word, s)
		w.cost.Sum(low, lo)
		w.cost.Sum(high, hi)
		if out = append(out, number.Exact(lo)); lo != hi {
			out[len(out)-1] = number.Enclosed(number.Hull(number.FromRat(lo, tableBits), number.FromRat(hi, tableBits)))
		}
	}
	one := big.NewRat(1, 1)
	if low.Cmp(one) > 0 || high.Cmp(one) < 0 && whole && !slices.Contains(f, "-") {
		r.Failf("%s: the probabilities do not sum to 1", word)
	}
	return out
}

// probability reads a rational, or LO,HI where it is only enclosed: two numbers then.
func probability(r *evidence.Reader, word, s string) (lo, hi *big.Rat) {
	los, his, two := strings.Cut(s, ",")
	lo, err := evidence.ParseClaimed(los)
	hi = lo
	if err == nil && two {
		hi, err = evidence.ParseClaimed(his)
	}
	if err != nil || lo.Sign() < 0 || lo.Cmp(hi) > 0 {
		r.Failf("%s: %s is no probability", word, evidence.Quote(s))
	}
	return lo, hi
}

const maxFormulaBits = 1 << 20 // of exact numbers that are worked out by a formula, times the candidates

const tableBits = 512 // of the ends of a table's enclosures

// Decide decides whether the property is violated.
func (w *witness) Decide(o evidence.Options) {
	formula := formulas[w.mechanism]
	switch {
	case formula == nil && w.mechanism != "table":
		evidence.Stop(fmt.Errorf("%w: there is no formula for mechanism %s; there is one for em, pf and krr", evidence.ErrUndecided, evidence.Quote(w.mechanism)))
	case formula != nil && w.neighbors == "stated":
		evidence.Refute("neighbors stated: of a mechanism with a formula, who is a neighbor is decided here")
	case w.property != "dominates-em" && w.scores != nil && slices.EqualFunc(w.scores, w.neighbor, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 }):
		evidence.Refute("the two score vectors are equal, and say nothing of neighbors")
	case w.property != "dominates-em" && w.neighbors != "stated" && !w.related():
		evidence.Refute("the scores are not neighbors (%s)", w.neighbors)
	}
	for prec := uint(128); ; prec *= 2 {
		excess := w.excess(formula, prec)
		switch harmless, ok := excess.LessEq(number.Int(0)); {
		case ok && !harmless:
			lower, _ := excess.Lower()
			w.Claims[0].Value = number.Bounds(lower, nil)
			w.Claims[0].Follows = true
			return
		case ok:
			evidence.Refute("the property is not violated there")
		case prec >= o.MaxPrecision:
			evidence.Stop(fmt.Errorf("%w: the probabilities are too close to tell at %d bits", evidence.ErrUndecided, prec))
		}
	}
}

// related reports whether the two vectors are neighbors; it is not asked about those that are stated to be.
func (w *witness) related() bool {
	var changes []*big.Rat
	for r, q := range w.scores {
		changes = append(changes, new(big.Rat).Sub(w.neighbor[r], q))
	}
	least, most := slices.MinFunc(changes, (*big.Rat).Cmp), slices.MaxFunc(changes, (*big.Rat).Cmp)
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
// exponential mechanism's; with dp p - e^ε p' for the candidate, p' being those at the neighbor, or Σ max(0, p - e^ε p') - δ; with rdp see divergence.
func (w *witness) excess(formula func([]number.Number, number.Number) []number.Number, prec uint) number.Number {
	z := w.Enclosure(w.distance, prec)
	p, other := w.pmf, w.other
	if formula != nil {
		p = w.probabilities(formula, w.scores, z, prec)
	}
	zero := number.Int(0)
	sum := zero
	counts := func(int) bool { return true }
	switch {
	case w.property == "dominates-em":
		best := slices.MaxFunc(w.scores, (*big.Rat).Cmp)
		counts = func(r int) bool { return new(big.Rat).Sub(best, w.scores[r]).Cmp(w.t) >= 0 }
		other = w.probabilities(exponential, w.scores, z, prec)
		z = number.Int(1)
	case w.property == "rdp":
	case w.event == "" && w.delta.Sign() == 0:
		counts = func(r int) bool { return r == w.candidate }
	default:
		sum = zero.Sub(number.Exact(w.delta))
	}
	if formula != nil && w.property != "dominates-em" {
		other = w.probabilities(formula, w.neighbor, z, prec)
	}
	if w.property == "rdp" {
		return w.divergence(p, other, prec)
	}
	for r := range p {
		if !counts(r) {
			continue
		}
		if !p[r].IsValid() || !other[r].IsValid() {
			evidence.Refute("pmf: a probability that is needed is not there")
		}
		x := p[r].Sub(other[r].Quo(z))
		if w.delta != nil && w.delta.Sign() > 0 {
			x = x.Max(zero)
		}
		sum = sum.Add(x)
	}
	return sum
}

// divergence returns Σ p (p/p')^{α-1} - e^{(α-1)c}, of the order 1 Σ p ln(p/p') - c, and of the order ∞ the greatest p/p' - e^c.
func (w *witness) divergence(p, other []number.Number, prec uint) number.Number {
	s := new(big.Rat).SetInt64(1)
	if w.order != nil {
		s.Sub(w.order, s)
	}
	sum := number.FromInt(0, prec)
	for r := range p {
		if !p[r].IsValid() || !other[r].IsValid() {
			evidence.Refute("pmf: a probability that is needed is not there")
		}
		x, y := p[r].Enclosure(prec), other[r].Enclosure(prec)
		switch {
		case x.Hi().Sign() == 0:
			continue
		case x.Lo().Sign() > 0 && y.Hi().Sign() == 0: // an infinite ratio
			return number.Int(1)
		case x.Lo().Sign() <= 0 || y.Lo().Sign() <= 0:
			evidence.Refute("pmf: a probability that may be 0")
		}
		log := number.Log(x).Sub(number.Log(y))
		switch {
		case w.order == nil:
			sum = sum.Max(number.Exp(log))
		case s.Sign() == 0:
			sum = sum.Add(x.Mul(log))
		default:
			sum = sum.Add(x.Mul(number.Exp(log.Mul(number.FromRat(s, prec)))))
		}
	}
	if s.Sign() == 0 {
		return number.Enclosed(sum).Sub(number.Exact(w.claimed))
	}
	return number.Enclosed(sum.Sub(number.ExpRat(s.Mul(s, w.claimed), prec)))
}

// probabilities works out a formula at scores: it is given e^{ε (q_r - q*)/scale} for each candidate.
func (w *witness) probabilities(formula func([]number.Number, number.Number) []number.Number, scores []*big.Rat, z number.Number, prec uint) []number.Number {
	best := slices.MaxFunc(scores, (*big.Rat).Cmp)
	weights := make([]number.Number, len(scores))
	bits, n := 0, len(scores)
	for r, q := range scores {
		d := new(big.Rat).Sub(best, q)
		weights[r] = w.Enclosure(d.Quo(d, w.scale), prec)
		if x, ok := weights[r].Rat(); ok {
			bits += x.Denom().BitLen()
		}
	}
	// A formula takes about n² operations on numbers of so many bits.
	if bits > maxFormulaBits/n {
		for r, x := range weights {
			if q, ok := x.Rat(); ok && !q.IsInt() {
				weights[r] = number.Enclosed(number.FromRat(q, prec))
			}
		}
	}
	return formula(weights, z)
}

// exponential returns p_r / Σ p_s.
func exponential(p []number.Number, _ number.Number) []number.Number {
	total := number.Int(0)
	for _, x := range p {
		total = total.Add(x)
	}
	out := make([]number.Number, len(p))
	for r, x := range p {
		out[r] = x.Quo(total)
	}
	return out
}

// permuteAndFlip returns p_r ∫₀¹ Π_{s≠r} (1 - t p_s) dt. The product over all s is divided by the factor of r, from its constant coefficient on; as the factor's is 1,
// that is a recurrence without divisions.
func permuteAndFlip(p []number.Number, _ number.Number) []number.Number {
	product := []number.Number{number.Int(1)}
	for _, x := range p {
		next := make([]number.Number, len(product)+1)
		for i := range next {
			switch {
			case i == 0:
				next[i] = product[0]
			case i == len(product):
				next[i] = number.Int(0).Sub(product[i-1].Mul(x))
			default:
				next[i] = product[i].Sub(product[i-1].Mul(x))
			}
		}
		product = next
	}
	out := make([]number.Number, len(p))
	for r, x := range p {
		integral, coefficient := number.Int(0), number.Int(0)
		for i := range p {
			coefficient = product[i].Add(coefficient.Mul(x))
			integral = integral.Add(coefficient.Mul(number.Exact(big.NewRat(1, int64(i+1)))))
		}
		out[r] = x.Mul(integral)
	}
	return out
}

// certain reports whether x is known to be 1.
func certain(x number.Number) bool {
	c, ok := x.Cmp(number.Int(1))
	return ok && c == 0
}

// randomised returns randomised response: 1/(1+(n-1)z) for the best, z/(1+(n-1)z) for each other; of tied best ones each is the best with the same probability.
func randomised(p []number.Number, z number.Number) []number.Number {
	best := 0
	for _, x := range p {
		if certain(x) {
			best++
		}
	}
	one := number.Int(1)
	total := one.Add(z.Mul(number.Int(int64(len(p) - 1))))
	out := make([]number.Number, len(p))
	for r, x := range p {
		out[r] = z
		if certain(x) {
			out[r] = one.Add(z.Mul(number.Int(int64(best - 1)))).Quo(number.Int(int64(best)))
		}
		out[r] = out[r].Quo(total)
	}
	return out
}

func (w *witness) About(p *evidence.Problem) bool {
	if len(w.Claims) == 0 {
		return false
	}
	p.N, p.Proof, p.Constraints = len(w.scores), "witness", w.property
	w.Describe(p)
	p.About = fmt.Sprintf("mechanism %s lacks property %s", evidence.Quote(w.mechanism), w.property)
	if w.mechanism == "table" {
		p.About = fmt.Sprintf("the probabilities that this file states lack property %s", w.property)
	}
	if w.scores == nil {
		p.About += fmt.Sprintf(" at inputs %s and %s (neighbors: stated, at distance %s)", evidence.Shown(w.inputs[0]), evidence.Shown(w.inputs[1]), w.distance.RatString())
	} else {
		p.About += fmt.Sprintf(" at scores %s", evidence.List(w.scores))
	}
	if w.mechanism != "table" && w.scale != nil {
		p.About += fmt.Sprintf(", which it divides by %s", w.scale.RatString())
	}
	if w.neighbor != nil {
		p.About += fmt.Sprintf(" and %s (neighbors: %s, Δ = %s)", evidence.List(w.neighbor), w.neighbors, w.sensitivity.RatString())
	}
	if w.event != "" && w.property != "rdp" { // the divergence is of all probabilities
		p.About += ", event " + evidence.Shown(w.event)
	}
	if w.claimed != nil {
		order := "∞"
		if w.order != nil {
			order = w.order.RatString()
		}
		p.About += fmt.Sprintf(": the Rényi divergence of order %s exceeds %s", order, w.claimed.RatString())
	}
	if w.delta != nil && w.delta.Sign() > 0 {
		p.Delta = new(number.Exact(w.delta))
	}
	return true
}
