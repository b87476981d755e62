package certificate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"optratio/number"
	"optratio/number/interval"
)

// witness shows that a mechanism lacks a property, at scores and, for dp, at neighboring ones. The probabilities are worked out here where there is a formula for the mechanism.
// Where the file states them, as of a table under audit, they are the file's, and what is decided is that these numbers violate the property.
type witness struct {
	e                certificate
	property         string // "dp" or "dominates-em"
	mechanism        string // a name, or "table"
	neighbors        string // "linf", "monotonic", "shifted", or "stated"
	sensitivity      *big.Rat
	scale            *big.Rat // what scores are divided by: 2Δ, as a rule
	delta            *big.Rat
	t                *big.Rat
	scores, neighbor []*big.Rat
	candidate        int
	pmf, other       []value // of a table; a value without a number is not known
	claim            Claim
}

// formulas are the mechanisms whose probabilities this package knows, with the ones that are the same.
var formulas = map[string]func(depths []value, z value) []value{
	"em": exponential, "rnm-gumbel": exponential, "pf": permuteAndFlip, "rnm-exponential": permuteAndFlip, "krr": randomised,
}

func (w *witness) read(r *reader, o Options) error {
	r.long = maxSectionLine
	err := r.advance()
	if err == nil {
		w.property, err = r.word("property", "dp", "dominates-em")
	}
	if err == nil {
		w.mechanism, err = r.take("mechanism")
	}
	if err == nil {
		err = r.advance()
	}
	if err == nil {
		err = r.epsilonOf(&w.e)
	}
	if err == nil {
		w.scale, err = r.number("scale", new(big.Rat))
	}
	if err == nil {
		w.scores, err = r.numbers("scores", 0)
	}
	if err == nil && w.scale.Sign() == 0 {
		err = malformed("scale is 0")
	}
	if err != nil {
		return err
	}
	n := float64(len(w.scores))
	if err := o.sized(n * n * 512); err != nil {
		return err
	}
	if w.property == "dominates-em" {
		w.claim.On = "Pr[error >= t] - that of em"
		w.t, err = r.number("t", new(big.Rat))
	} else {
		w.claim.On = "p - e^ε p'"
		err = w.pair(r)
	}
	if err == nil && w.mechanism == "table" {
		err = w.table(r)
	}
	w.claim.lower = new(big.Rat)
	return err
}

// epsilonOf reads the line of ε.
func (r *reader) epsilonOf(c *certificate) error {
	word, to, least := "epsilon", &c.eps, new(big.Rat)
	if r.is("exp-epsilon") {
		word, to, least = "exp-epsilon", &c.expEps, big.NewRat(1, 1)
	}
	x, err := r.number(word, least)
	if err == nil && max(x.Num().BitLen(), x.Denom().BitLen()) > maxEpsilonBits {
		return r.badf("%s: a number of more than %d bits", word, maxEpsilonBits)
	}
	*to = x
	return err
}

// pair reads the lines that dp has: who are neighbors, δ, the neighboring scores and the candidate.
func (w *witness) pair(r *reader) (err error) {
	if w.neighbors, err = r.word("neighbors", "linf", "monotonic", "shifted", "stated"); err != nil {
		return err
	}
	if w.sensitivity, err = r.number("sensitivity", new(big.Rat)); err != nil {
		return err
	}
	if w.delta, err = r.number("delta", new(big.Rat)); err != nil {
		return err
	}
	if w.neighbor, err = r.numbers("neighbor", len(w.scores)); err != nil {
		return err
	}
	if w.delta.Sign() == 0 {
		w.candidate, err = r.whole("candidate", 0, len(w.scores)-1)
	}
	return err
}

// table reads the rows that the file states: a rational, LO,HI where a number is only enclosed, or - where it is not known, for each candidate.
func (w *witness) table(r *reader) error {
	row := func(word string) (out []value, err error) {
		f, err := r.fields(word, len(w.scores))
		if err != nil {
			return nil, err
		}
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
				return nil, r.badf("%s: %s is no probability", word, quote(s))
			}
			low.Add(low, lo)
			high.Add(high, hi)
			if out = append(out, exactly(lo)); two {
				out[len(out)-1] = enclosed(interval.New(down(lo), up(hi)))
			}
		}
		one := big.NewRat(1, 1)
		if low.Cmp(one) > 0 || high.Cmp(one) < 0 && !slices.Contains(f, "-") {
			return nil, r.badf("%s: the probabilities do not sum to 1", word)
		}
		return out, r.advance()
	}
	var err error
	if w.pmf, err = row("pmf"); err != nil || w.property != "dp" {
		return err
	}
	w.other, err = row("neighbor-pmf")
	return err
}

const tableBits = 512 // of the ends of a table's enclosures

func down(x *big.Rat) *big.Float {
	return new(big.Float).SetPrec(tableBits).SetMode(big.ToNegativeInf).SetRat(x)
}

func up(x *big.Rat) *big.Float {
	return new(big.Float).SetPrec(tableBits).SetMode(big.ToPositiveInf).SetRat(x)
}

// proves decides whether the property is violated.
func (w *witness) proves(o Options) (lower, upper *big.Rat, reason string, err error) {
	formula := formulas[w.mechanism]
	if formula == nil && w.mechanism != "table" {
		return nil, nil, "", fmt.Errorf("%w: there is no formula for mechanism %s; there is one for em, pf and krr", ErrUndecided, quote(w.mechanism))
	}
	if formula != nil && w.neighbors == "stated" {
		return nil, nil, "neighbors stated: of a mechanism with a formula, who is a neighbor is decided here", nil
	}
	if w.property == "dp" && !w.related() {
		return nil, nil, fmt.Sprintf("the scores are no neighbors (%s)", w.neighbors), nil
	}
	for prec := uint(128); ; prec *= 2 {
		excess, err := w.excess(formula, prec)
		if err != nil {
			return nil, nil, "", err
		}
		switch sign, ok := excess.sign(); {
		case ok && sign > 0:
			if excess.rat != nil {
				return excess.rat, nil, "", nil
			}
			lower, _ = excess.enc.Lo().Rat(nil)
			return lower, nil, "", nil
		case ok, excess.rat == nil && excess.enc.Hi().Sign() <= 0:
			return nil, nil, "the property is not violated there", nil
		case prec >= o.MaxPrecision:
			return nil, nil, "", fmt.Errorf("%w: the probabilities are too close to tell at %d bits", ErrUndecided, prec)
		}
	}
}

// related reports whether the two vectors are neighbors.
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

// excess returns by how much the property is violated: more than 0 if it is.
func (w *witness) excess(formula func([]value, value) []value, prec uint) (value, error) {
	z, err := w.e.enclosure(big.NewRat(1, 1), prec)
	if err != nil {
		return value{}, err
	}
	p, other := w.pmf, w.other
	if formula != nil {
		if p, err = w.probabilities(formula, w.scores, z, prec); err != nil {
			return value{}, err
		}
	}
	if w.property == "dominates-em" {
		em, err := w.probabilities(exponential, w.scores, z, prec)
		if err != nil {
			return value{}, err
		}
		sum, best := exactly(new(big.Rat)), slices.MaxFunc(w.scores, (*big.Rat).Cmp)
		for r, q := range w.scores {
			if new(big.Rat).Sub(best, q).Cmp(w.t) >= 0 {
				if !known(p[r]) {
					return value{}, malformed("pmf: a probability that is needed is not there")
				}
				sum = sum.add(p[r].sub(em[r]))
			}
		}
		return sum, nil
	}
	if formula != nil {
		if other, err = w.probabilities(formula, w.neighbor, z, prec); err != nil {
			return value{}, err
		}
	}
	over := func(r int) (value, error) {
		if !known(p[r]) || !known(other[r]) {
			return value{}, malformed("pmf: a probability that is needed is not there")
		}
		return p[r].sub(other[r].quo(z)), nil
	}
	if w.delta.Sign() == 0 {
		return over(w.candidate)
	}
	zero := exactly(new(big.Rat))
	sum := zero.sub(exactly(w.delta))
	for r := range p {
		x, err := over(r)
		if err != nil {
			return value{}, err
		}
		sum = sum.add(x.max(zero))
	}
	return sum, nil
}

func known(v value) bool { return v.rat != nil || v.enc.Lo() != nil }

// enclosure returns z^d.
func (c *certificate) enclosure(d *big.Rat, prec uint) (value, error) {
	low, high, err := c.power(d, prec)
	switch {
	case err != nil:
		return value{}, err
	case low.Cmp(high) == 0:
		return exactly(low), nil
	}
	return enclosed(interval.Hull(interval.FromRat(low, prec), interval.FromRat(high, prec))), nil
}

// probabilities works out a formula at scores: it is given e^{ε (q_r - q*)/scale} for each candidate.
func (w *witness) probabilities(formula func([]value, value) []value, scores []*big.Rat, z value, prec uint) ([]value, error) {
	best := slices.MaxFunc(scores, (*big.Rat).Cmp)
	weights := make([]value, len(scores))
	for r, q := range scores {
		d := new(big.Rat).Sub(best, q)
		var err error
		if weights[r], err = w.e.enclosure(d.Quo(d, w.scale), prec); err != nil {
			return nil, err
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

func (w *witness) stated() *Claim {
	if w.claim.lower == nil {
		return nil
	}
	return &w.claim
}

func (w *witness) about(p *Problem) {
	p.N, p.Proof, p.Constraints = len(w.scores), "witness", w.property
	w.e.describe(p)
	p.About = fmt.Sprintf("mechanism %s lacks property %s at scores %s", quote(w.mechanism), w.property, list(w.scores))
	if w.mechanism == "table" {
		p.About = fmt.Sprintf("the probabilities that this file states lack property %s at scores %s", w.property, list(w.scores))
	}
	if w.mechanism != "table" && w.scale != nil {
		p.About += fmt.Sprintf(", which it divides by %s", w.scale.RatString())
	}
	if w.neighbor != nil {
		p.About += fmt.Sprintf(" and %s (neighbors: %s, Δ = %s)", list(w.neighbor), w.neighbors, w.sensitivity.RatString())
	}
	if w.delta != nil && w.delta.Sign() > 0 {
		p.Delta = new(number.Exact(w.delta))
	}
}
