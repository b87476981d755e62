package verify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/internal/certtext"
	"optratio/number"
)

// ErrNoCertificate is wrapped by the error of a report that has no witness of a kind that certificates have.
var ErrNoCertificate = certtext.ErrNone

// Certifiable are the properties a violation of which has a certificate, of stated probabilities and of mechanisms by name.
func Certifiable(stated bool) []Property {
	if stated {
		return []Property{DP, ApproximateDP}
	}
	return []Property{DP, ApproximateDP, DominatesEM}
}

// Setting is what a witness's certificate says beside the report.
type Setting struct {
	Epsilon     number.Epsilon
	Stated      bool     // the probabilities are those of a table or program; the certificate states them
	Neighbors   string   // linf, monotonic, shifted or stated, as docs/reference/certificate.md has it
	Sensitivity *big.Rat // Δ
	Scale       *big.Rat // what the mechanism divides scores by
	Delta       *big.Rat // of approximate-dp
}

// WriteCertificate writes the witness of a violation of a Certifiable property, the first of them that there is, in the format of docs/reference/certificate.md.
func (r *Report) WriteCertificate(w io.Writer, s Setting) error {
	var names []string
	for _, name := range Certifiable(s.Stated) {
		names = append(names, string(name))
		if p := r.Find(name); p != nil && p.Verdict == Violated && p.Witness != nil {
			return r.writeWitness(certtext.NewWriter(w, "witness"), name, p.Witness, &s)
		}
	}
	return fmt.Errorf("%w: no violation of %s was found", ErrNoCertificate, strings.Join(names, " or "))
}

func (r *Report) writeWitness(c *certtext.Writer, name Property, v *Witness, s *Setting) error {
	delta := s.Delta
	if name != ApproximateDP || delta == nil {
		delta = new(big.Rat)
	}
	property, mechanism := DP, r.Mechanism
	if name == DominatesEM {
		property = DominatesEM
	}
	if s.Stated {
		mechanism = "table"
	}
	c.Line("property %s", property)
	c.Line("mechanism %s", mechanism)
	c.Epsilon(s.Epsilon.Exp(), s.Epsilon.Eps())
	if name == DP {
		v = v.descending()
	}
	switch {
	case v.Input != nil:
		c.Line("input %s", plainly(v.Input))
		c.Line("neighbor-input %s", plainly(v.NeighborInput))
		c.Values("distance", []*big.Rat{cmp.Or(v.Distance, big.NewRat(1, 1))})
		c.Values("delta", []*big.Rat{delta})
	case name == DominatesEM:
		c.Values("scale", []*big.Rat{s.Scale})
		c.Values("scores", v.Scores)
		c.Values("t", []*big.Rat{v.T})
	default:
		c.Values("scale", []*big.Rat{s.Scale})
		c.Values("scores", v.Scores)
		c.Line("neighbors %s", s.Neighbors)
		c.Values("sensitivity", []*big.Rat{s.Sensitivity})
		c.Values("delta", []*big.Rat{delta})
		c.Values("neighbor", v.Neighbor)
	}
	switch {
	case s.Stated:
		c.Line("event %s", v.outcomes())
		c.Line("pmf %s", probability(v.P))
		c.Line("neighbor-pmf %s", probability(v.PNeighbor))
	case v.Candidate != nil:
		c.Line("candidate %d", *v.Candidate)
	case len(v.Candidates) > 0 && delta.Sign() == 0: // each of them is a violation
		c.Line("candidate %d", v.Candidates[0])
	}
	return c.End()
}

// descending returns the witness of dp with the larger probability at the scores and the smaller one at their neighbor.
func (w *Witness) descending() *Witness {
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
func (w *Witness) outcomes() string {
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

// probability writes a number, exactly or by its ends.
func probability(p number.Number) string {
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
