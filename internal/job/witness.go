package job

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/internal/certtext"
	"optratio/internal/inquiry"
	"optratio/number"
	"optratio/verify"
)

// witnessable are the properties a violation of which has a certificate, of stated probabilities and of mechanisms by name; rdp with an order and a claim.
func witnessable(stated bool) []verify.Property {
	if stated {
		return []verify.Property{verify.DP, verify.ApproximateDP, verify.RDP}
	}
	return []verify.Property{verify.DP, verify.ApproximateDP, verify.RDP, verify.DominatesEM}
}

// witnessed is what a witness's certificate says beside the report.
type witnessed struct {
	Epsilon     number.Epsilon
	Stated      bool     // the probabilities are those of a table or program; the certificate states them
	Neighbors   string   // linf, monotonic, shifted or stated, as docs/reference/certificate.md has it
	Sensitivity *big.Rat // Δ
	Scale       *big.Rat // what the mechanism divides scores by
	Delta       *big.Rat // of approximate-dp
}

// writeWitness writes the witness of a violation of a witnessable property, the first of them that there is, in the format of docs/reference/certificate.md.
func writeWitness(w io.Writer, r *verify.Report, s witnessed) error {
	var names []string
	for _, name := range witnessable(s.Stated) {
		names = append(names, Choose(name == verify.RDP, "a claimed rdp", string(name)))
		for _, p := range r.Properties {
			unclaimed := name == verify.RDP && (p.Name == name || !p.Target.IsValid())
			if inquiry.Kind(p.Name) == name && !unclaimed && p.Verdict == verify.Violated && p.Witness != nil {
				return s.write(certtext.NewWriter(w, "witness"), r.Mechanism, &p)
			}
		}
	}
	return fmt.Errorf("%w: no violation of %s was found", certtext.ErrNone, strings.Join(names, " or "))
}

func (s *witnessed) write(c *certtext.Writer, mechanism string, p *verify.Result) error {
	name, v, delta := inquiry.Kind(p.Name), p.Witness, s.Delta
	if name != verify.ApproximateDP || delta == nil {
		delta = new(big.Rat)
	}
	property := name
	if name == verify.ApproximateDP {
		property = verify.DP
	}
	limit := func() { c.Values("delta", []*big.Rat{delta}) }
	if name == verify.RDP {
		limit = func() {
			alpha, _ := inquiry.Order(p.Name)
			claimed, _ := p.Target.Rat()
			c.Line("order %s", Choose(alpha == nil, "inf", cmp.Or(alpha, one).RatString()))
			c.Values("claimed", []*big.Rat{claimed})
		}
	}
	if s.Stated {
		mechanism = "table"
	}
	c.Line("property %s", property)
	c.Line("mechanism %s", mechanism)
	c.Epsilon(s.Epsilon.Exp(), s.Epsilon.Eps())
	if name == verify.DP {
		v = descending(v)
	}
	switch {
	case v.Input != nil:
		c.Line("input %s", plainly(v.Input))
		c.Line("neighbor-input %s", plainly(v.NeighborInput))
		c.Values("distance", []*big.Rat{cmp.Or(v.Distance, big.NewRat(1, 1))})
		limit()
	case name == verify.DominatesEM:
		c.Values("scale", []*big.Rat{s.Scale})
		c.Values("scores", v.Scores)
		c.Values("t", []*big.Rat{v.T})
	default:
		c.Values("scale", []*big.Rat{s.Scale})
		c.Values("scores", v.Scores)
		c.Line("neighbors %s", s.Neighbors)
		c.Values("sensitivity", []*big.Rat{s.Sensitivity})
		limit()
		c.Values("neighbor", v.Neighbor)
	}
	switch {
	case name == verify.RDP && s.Stated:
		c.Line("event %s", outcomes(v))
		c.Line("pmf %s", row(v.PMFs[0], v.P))
		c.Line("neighbor-pmf %s", row(v.PMFs[1], v.PNeighbor))
	case name == verify.RDP: // all outcomes count
	case s.Stated:
		c.Line("event %s", outcomes(v))
		c.Line("pmf %s", stated(v.P))
		c.Line("neighbor-pmf %s", stated(v.PNeighbor))
	case v.Candidate != nil:
		c.Line("candidate %d", *v.Candidate)
	case len(v.Candidates) > 0 && delta.Sign() == 0: // each of them is a violation
		c.Line("candidate %d", v.Candidates[0])
	}
	return c.End()
}

// descending returns the witness of dp with the larger probability at the scores and the smaller one at their neighbor.
func descending(w *verify.Witness) *verify.Witness {
	p, ok := w.P.Lower()
	if q, also := w.PNeighbor.Lower(); !ok || !also || q.Cmp(p) <= 0 {
		return w
	}
	turned := *w
	turned.Scores, turned.Neighbor, turned.Input, turned.NeighborInput, turned.P, turned.PNeighbor = w.Neighbor, w.Scores, w.NeighborInput, w.Input, w.PNeighbor, w.P
	return &turned
}

// plainly writes a JSON value without escapes that need not be.
func plainly(value json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var x any
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if d.Decode(&x) != nil || e.Encode(x) != nil {
		return string(value)
	}
	return strings.TrimSpace(out.String())
}

// outcomes names the event of a witness: a list of candidates or labels, or the word of an output that is neither.
func outcomes(w *verify.Witness) string {
	var out []byte
	switch {
	case w.Outcomes != nil:
		out, _ = json.Marshal(w.Outcomes)
	case w.Candidate != nil:
		out, _ = json.Marshal([]int{*w.Candidate})
	case w.Candidates != nil:
		out, _ = json.Marshal(w.Candidates)
	default:
		return w.Event
	}
	return string(out)
}

// row writes all probabilities, where they are known, or else that of an event and of all others together.
func row(pmf []number.Number, p number.Number) string {
	if pmf == nil {
		pmf = []number.Number{p, number.Int(1).Sub(p)}
	}
	var all []string
	for _, x := range pmf {
		all = append(all, stated(x))
	}
	return strings.Join(all, " ")
}

// stated writes a number, exactly or by its ends.
func stated(p number.Number) string {
	if x, ok := p.Rat(); ok {
		return x.RatString()
	}
	low, _ := p.Lower()
	high, _ := p.Upper()
	if low == nil || high == nil {
		return "-"
	}
	return low.RatString() + "," + high.RatString()
}
