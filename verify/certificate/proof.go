package certificate

import (
	"errors"
	"fmt"
	"io"
	"math/big"

	"optratio/internal/evidence"
	"optratio/number"
)

// Errors that ReadProof wraps.
var (
	// ErrInvalid: the certificate is not valid.
	ErrInvalid = errors.New("the certificate is not valid")
	// ErrIrrational: e^ε is not rational, so that the program has no exact form.
	ErrIrrational error = number.InputError("e^epsilon is not rational")
)

// Proof is what a valid certificate of section program with rational z = e^-ε holds, for writers of other formats.
type Proof struct {
	N, K                   int
	Z                      *big.Rat
	Objective, Constraints string
	Kind                   string     // "lp", or the theorem that the multipliers come from
	Dual                   []*big.Rat // with kind lp: y(m) of every count vector, in descending lexicographic order
	Cuts                   []Cut
	Point                  []*big.Rat // a feasible point: u of every variable, by count vector, then depth
}

// ReadProof checks a certificate and returns what it holds. The errors are those of Check, ErrInvalid and ErrIrrational.
func ReadProof(in io.Reader, o Options) (p *Proof, err error) {
	limits := evidence.WithDefaults(evidence.Options(o))
	rep, s, err := evidence.Check(in, limits, sections)
	c, ok := s.(*certificate)
	switch {
	case err != nil:
		return nil, err
	case !rep.Valid:
		return nil, fmt.Errorf("%w: %s", ErrInvalid, rep.Reason)
	case !ok:
		return nil, errors.New("only certificates of section program can be written in the VIPR format")
	case c.proof == "lumped":
		return nil, errors.New("proof lumped has no form in the VIPR format, which lists the rows of the whole program")
	}
	err = evidence.Try(func() {
		ck := newChecker(c, limits)
		if ck.z == nil {
			evidence.Stop(ErrIrrational)
		}
		c.enumerate(limits)
		if c.before == nil {
			c.chains()
		}
		ck.upper(ck.z, true, 0)
		p = &Proof{N: c.n, K: c.k, Z: ck.z, Objective: c.objective, Constraints: c.constraints, Kind: c.proof, Dual: c.dual}
		for _, q := range c.cuts {
			p.Cuts = append(p.Cuts, Cut(q))
		}
		l := c.lattice
		for i, m := range l.lat.Orbits() {
			for j := l.first[i]; j < l.first[i+1]; j++ {
				u := l.times(j, new(big.Int).Mul(l.x[j], l.lat.Multiplicity(m)))
				p.Point = append(p.Point, new(big.Rat).SetFrac(u, l.den))
			}
		}
	})
	return p, err
}
