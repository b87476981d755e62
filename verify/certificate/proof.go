package certificate

import (
	"errors"
	"fmt"
	"io"
	"math/big"

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
	o = o.withDefaults()
	r, _, s, err := open(in, o)
	if err != nil {
		return nil, err
	}
	c, ok := s.(*certificate)
	if !ok && s != nil {
		return nil, errors.New("only certificates of section program can be written in the VIPR format")
	}
	if ok {
		c.read(r, o)
		r.end()
	}
	var form malformed
	switch {
	case errors.As(r.err, &form):
		return nil, fmt.Errorf("%w: %w", ErrInvalid, r.err)
	case r.err != nil:
		return nil, r.err
	case c.proof == "lumped":
		return nil, errors.New("proof lumped has no form in the VIPR format, which lists the rows of the whole program")
	}
	ck, err := newChecker(c, o)
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
	ck.number()
	_, ring, err := ck.rings()
	if err != nil {
		return nil, err
	}
	x, err := upper(ck.program, ring)
	if err != nil {
		return nil, err
	}
	p := &Proof{N: c.n, K: c.k, Z: ck.z, Objective: c.objective, Constraints: c.constraints, Kind: c.proof, Dual: c.dual, Cuts: c.cuts}
	for i := range x.u {
		u := ring.value(x.u[i])
		if x.theta.rat.Sign() != 0 {
			u = u.add(x.theta.mul(ring.value(x.flip[i]).sub(u)))
		}
		p.Point = append(p.Point, u.rat)
	}
	return p, nil
}
