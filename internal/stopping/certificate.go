package stopping

import (
	"fmt"
	"io"
	"math/big"

	"optratio/internal/certtext"
)

// WriteCertificate writes what proves Lower and Upper, in the format of docs/reference/certificate.md: the multipliers of privacy rows and the rule. The same solution gives the
// same bytes. Of nil, which no program was solved for, there is none.
func (s *Solution) WriteCertificate(w io.Writer) error {
	if s == nil {
		return fmt.Errorf("%w: nothing was solved", certtext.ErrNone)
	}
	p := s.problem
	c := certtext.NewWriter(w, "stopping")
	c.Line("n %d", p.N())
	c.Line("distance %d", p.L)
	c.Values("delta", []*big.Rat{p.Delta})
	c.Values("payoff", p.Payoff)
	c.Epsilon(p.Eps.Exp(), p.Eps.Eps())
	precision := 0
	if p.Eps.Exp() == nil {
		precision = boundBits
	}
	c.Line("precision %d", precision)
	c.Claim(s.Lower, s.Upper)
	for _, r := range s.multipliers.rows() {
		if x := new(big.Rat).SetFloat64(s.multipliers[r]); x.Sign() > 0 {
			c.Line("multiplier %d %d %s", r.i+1, r.j+1, certtext.Value(x))
		}
	}
	for i := 1; i <= p.N(); i++ {
		reach := s.Rule.Reach(i)
		for j := 1; j <= i; {
			x, to := s.Rule.Weight(i, j), j
			for to < i && s.Rule.Weight(i, to+1).Cmp(x) == 0 {
				to++
			}
			switch {
			case x.Sign() == 0:
			case x.Cmp(reach) == 0:
				c.Line("take %d %d %d all", i, j, to)
			default:
				c.Line("take %d %d %d %s", i, j, to, certtext.Value(x))
			}
			j = to + 1
		}
	}
	return c.End()
}
