package certificate

import (
	"fmt"
	"math/big"

	"optratio/number"
	"optratio/number/interval"
)

// setting is what all sections have: ε, the writer's precision and what is claimed.
type setting struct {
	eps, expEps *big.Rat // the one that the file states; the other is nil
	precision   int
	claims      []Claim
}

// epsilon takes the line of ε, or of e^ε.
func (s *setting) epsilon(r *reader) {
	word, to, least := "epsilon", &s.eps, int64(0)
	if r.is("exp-epsilon") {
		word, to, least = "exp-epsilon", &s.expEps, 1
	}
	text := r.take(word)
	if len(text) > MaxEpsilonBits {
		r.failf("%s: a number of more than %d bits", word, MaxEpsilonBits)
	}
	if r.err != nil {
		return
	}
	x, err := parseRational(text)
	switch {
	case err != nil:
		r.failf("%s: %v", word, err)
	case max(x.Num().BitLen(), x.Denom().BitLen()) > MaxEpsilonBits:
		r.failf("%s: a number of more than %d bits", word, MaxEpsilonBits)
	case x.Cmp(big.NewRat(least, 1)) < 0:
		r.failf("%s is less than %d", word, least)
	default:
		*to = x
	}
}

// claim takes the line of a claim.
func (s *setting) claim(r *reader, what string) {
	f := r.fields("claim "+what, 2)
	ends := [2]*big.Rat{}
	for i := range ends {
		if r.err != nil {
			return
		}
		var err error
		if ends[i], err = parseClaimed(f[i]); err != nil {
			r.failf("claim %s: %v", what, err)
			return
		}
	}
	if ends[0].Cmp(ends[1]) > 0 {
		r.failf("claim %s: the lower bound exceeds the upper bound", what)
		return
	}
	s.claims = append(s.claims, Claim{On: what, Value: number.Bounds(ends[0], ends[1]), lower: ends[0], upper: ends[1]})
}

// stated returns the claims, as far as they were read.
func (s *setting) stated() []Claim { return s.claims }

// describe says what ε is.
func (s *setting) describe(p *Problem) {
	const prec = 128
	switch {
	case s.eps != nil:
		p.Eps = number.Exact(s.eps)
		p.ExpEps = number.Enclosed(interval.ExpRat(s.eps, prec))
		if s.eps.Sign() == 0 {
			p.ExpEps = number.Int(1)
		}
	case s.expEps != nil:
		p.ExpEps = number.Exact(s.expEps)
		p.Eps = number.Enclosed(interval.LogRat(s.expEps, prec))
	}
}

// parameters reads ε, the precision and the claim, after the lines that the kind of problem has of its own.
func (s *setting) parameters(r *reader) {
	s.epsilon(r)
	s.precision = r.whole("precision", 0, 1<<14)
	s.claim(r, "optimum")
}

// power returns rationals that z^d lies between, the same one twice where it is known to be rational.
func (c *setting) power(d *big.Rat, prec uint) (low, high *big.Rat, err error) {
	const most = 1 << 13 // what dε may be, and bits of a power that is kept exactly
	switch {
	case d.Sign() == 0 || c.eps != nil && c.eps.Sign() == 0:
		one := big.NewRat(1, 1)
		return one, one, nil
	case c.expEps != nil && d.IsInt() && float64(max(c.expEps.Num().BitLen(), c.expEps.Denom().BitLen()))*ratFloat(d) <= most:
		a := new(big.Int).Exp(c.expEps.Denom(), d.Num(), nil)
		x := new(big.Rat).SetFrac(a, new(big.Int).Exp(c.expEps.Num(), d.Num(), nil))
		return x, x, nil
	}
	var x interval.Interval
	if c.eps != nil {
		x = interval.FromRat(new(big.Rat).Mul(c.eps, d), prec+64)
	} else {
		x = interval.LogRat(c.expEps, prec+64).Mul(interval.FromRat(d, prec+64))
	}
	if hi, _ := x.Hi().Float64(); hi > most {
		return nil, nil, fmt.Errorf("%w: ε times a distance is more than %d", ErrLimit, most)
	}
	z := interval.Exp(x.Neg())
	low, _ = z.Lo().Rat(nil)
	high, _ = z.Hi().Rat(nil)
	if one := big.NewRat(1, 1); high.Cmp(one) > 0 {
		high = one
	}
	if low.Sign() < 0 {
		low.SetInt64(0)
	}
	return low, high, nil
}

func ratFloat(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// enclosure returns z^d.
func (c *setting) enclosure(d *big.Rat, prec uint) (value, error) {
	low, high, err := c.power(d, prec)
	switch {
	case err != nil:
		return value{}, err
	case low.Cmp(high) == 0:
		return exactly(low), nil
	}
	return enclosed(interval.Hull(interval.FromRat(low, prec), interval.FromRat(high, prec))), nil
}
