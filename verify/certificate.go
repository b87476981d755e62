package verify

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate/text"
)

// ErrNoCertificate is wrapped by the error of a report that has no witness of a kind that certificates have.
var ErrNoCertificate = errors.New("no certificate")

// Setting is what a witness's certificate says beside the report.
type Setting struct {
	Epsilon     mechanisms.Epsilon
	Stated      bool     // the probabilities are those of a table or program; the certificate states them
	Neighbors   string   // linf, monotonic, shifted or stated, as docs/reference/certificate.md has it
	Sensitivity *big.Rat // Δ
	Scale       *big.Rat // what the mechanism divides scores by
	Delta       *big.Rat // of approximate-dp
}

// WriteCertificate writes the witness of a violation of dp, approximate-dp or dominates-em, the first of them that there is, in the format of docs/reference/certificate.md.
func (r *Report) WriteCertificate(w io.Writer, s Setting) error {
	for _, name := range []Property{DP, ApproximateDP, DominatesEM} {
		for _, p := range r.Properties {
			v := p.Witness
			if p.Name != name || p.Verdict != Violated || v == nil || v.Event != "" || v.NeighborCandidate != nil {
				continue
			}
			return r.writeWitness(text.NewWriter(w, "witness"), name, v, &s)
		}
	}
	return fmt.Errorf("%w: no violation of dp, approximate-dp or dominates-em at score vectors", ErrNoCertificate)
}

func (r *Report) writeWitness(c *text.Writer, name Property, v *Witness, s *Setting) error {
	if name == ApproximateDP && s.Stated && v.PMF == nil {
		return fmt.Errorf("%w: the witness has more candidates than it shows probabilities of", ErrNoCertificate)
	}
	mechanism := r.Mechanism
	if s.Stated {
		mechanism = "table"
	}
	property := "dp"
	if name == DominatesEM {
		property = "dominates-em"
		if s.Stated {
			return fmt.Errorf("%w: of dominates-em no single probabilities are kept", ErrNoCertificate)
		}
	}
	c.Line("property %s", property)
	c.Line("mechanism %s", mechanism)
	c.Epsilon(s.Epsilon.Exp(), s.Epsilon.Eps())
	c.Values("scale", []*big.Rat{s.Scale})
	scores, neighbor, pmf, other := v.Scores, v.Neighbor, v.PMF, v.NeighborPMF
	if name == DP {
		pmf, other = only(v, v.P), only(v, v.PNeighbor)
		if p, ok := v.P.Lower(); ok {
			if q, ok := v.PNeighbor.Lower(); ok && q.Cmp(p) > 0 { // p is to be the larger one
				scores, neighbor, pmf, other = neighbor, scores, other, pmf
			}
		}
	}
	c.Values("scores", scores)
	if name == DominatesEM {
		c.Values("t", []*big.Rat{v.T})
		return c.End()
	}
	c.Line("neighbors %s", s.Neighbors)
	c.Values("sensitivity", []*big.Rat{s.Sensitivity})
	if name == DP {
		c.Line("delta 0")
	} else {
		c.Values("delta", []*big.Rat{s.Delta})
	}
	c.Values("neighbor", neighbor)
	if name == DP {
		c.Line("candidate %d", *v.Candidate)
	}
	if s.Stated {
		c.Line("pmf %s", probabilities(pmf))
		c.Line("neighbor-pmf %s", probabilities(other))
	}
	return c.End()
}

// only returns a row of which one candidate's probability is known.
func only(v *Witness, p number.Number) []number.Number {
	row := make([]number.Number, len(v.Scores))
	if v.Candidate != nil {
		row[*v.Candidate] = p
	}
	return row
}

// probabilities writes a row: exact numbers as they are, enclosures by their ends, and - for what is not known.
func probabilities(row []number.Number) string {
	out := make([]string, len(row))
	for i, p := range row {
		if r, ok := p.Rat(); ok {
			out[i] = r.RatString()
		} else if low, high, ok := p.Strings(); ok && p.IsRigorous() {
			out[i] = low + "," + high
		} else {
			out[i] = "-"
		}
	}
	return strings.Join(out, " ")
}
