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
func ReadProof(in io.Reader, o Options) (*Proof, error) {
	limits := evidence.WithDefaults(evidence.Options(o))
	r, _, s, err := evidence.Open(in, limits, sections)
	if err != nil {
		return nil, err
	}
	c, ok := s.(*certificate)
	if !ok && s != nil {
		return nil, errors.New("only certificates of section program can be written in the VIPR format")
	}
	if ok {
		c.Read(r, limits)
		r.End()
	}
	var form evidence.Malformed
	switch {
	case errors.As(r.Err, &form):
		return nil, fmt.Errorf("%w: %w", ErrInvalid, r.Err)
	case r.Err != nil:
		return nil, r.Err
	case c.proof == "lumped":
		return nil, errors.New("proof lumped has no form in the VIPR format, which lists the rows of the whole program")
	}
	ck, err := newChecker(c, limits)
	if err != nil {
		return nil, err
	}
	if ck.z == nil {
		return nil, ErrIrrational
	}
	if why, err := ck.decide(); err != nil {
		return nil, err
	} else if why != "" {
		return nil, fmt.Errorf("%w: %s", ErrInvalid, why)
	}
	if err := ck.enumerate(); err != nil {
		return nil, err
	}
	ck.Number()
	_, ring, err := ck.rings()
	if err != nil {
		return nil, err
	}
	x, err := upper(ck.program, ring)
	if err != nil {
		return nil, err
	}
	p := &Proof{N: c.n, K: c.k, Z: ck.z, Objective: c.objective, Constraints: c.constraints, Kind: c.proof, Dual: c.dual}
	for _, q := range c.cuts {
		p.Cuts = append(p.Cuts, Cut(q))
	}
	for i := range x.u {
		u := ring.Value(x.u[i])
		u = u.Add(x.theta.Mul(ring.Value(x.flip[i]).Sub(u)))
		exact, _ := u.Rat()
		p.Point = append(p.Point, exact)
	}
	return p, nil
}
