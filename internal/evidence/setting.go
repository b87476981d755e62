package evidence

import (
	"math/big"

	"optratio/number"
)

// Setting is what all sections have: ε, the writer's precision and what is claimed.
type Setting struct {
	Eps, ExpEps *big.Rat // the one that the file states; the other is nil
	Precision   int
	Claims      []Claim
}

// Epsilon takes the line of ε, or of e^ε.
func (s *Setting) Epsilon(r *Reader) {
	word, to, least := "epsilon", &s.Eps, int64(0)
	if r.Is("exp-epsilon") {
		word, to, least = "exp-epsilon", &s.ExpEps, 1
	}
	text := r.Take(word)
	if len(text) > MaxEpsilonBits {
		r.Failf("%s: a number of more than %d bits", word, MaxEpsilonBits)
	}
	x, err := ParseRational(text)
	switch {
	case err != nil:
		r.Failf("%s: %v", word, err)
	case max(x.Num().BitLen(), x.Denom().BitLen()) > MaxEpsilonBits:
		r.Failf("%s: a number of more than %d bits", word, MaxEpsilonBits)
	case x.Cmp(big.NewRat(least, 1)) < 0:
		r.Failf("%s is less than %d", word, least)
	}
	*to = x
}

// Claim takes the line of a claim.
func (s *Setting) Claim(r *Reader, what string) {
	f := r.Fields("claim "+what, 2)
	ends := [2]*big.Rat{}
	for i := range ends {
		var err error
		if ends[i], err = ParseClaimed(f[i]); err != nil {
			r.Failf("claim %s: %v", what, err)
		}
	}
	if ends[0].Cmp(ends[1]) > 0 {
		r.Failf("claim %s: the lower bound exceeds the upper bound", what)
	}
	value := number.Bounds(ends[0], ends[1])
	if low, high := value.Ends(); low == nil || high == nil || low.Cmp(ends[0]) != 0 || high.Cmp(ends[1]) != 0 {
		Limit("claim %s: an end is too large or too close to 0", what) // it would be moved outwards, and less be judged than is claimed
	}
	s.Claims = append(s.Claims, Claim{On: what, Value: value})
}

// Stated returns the claims, as far as they were read.
func (s *Setting) Stated() []Claim { return s.Claims }

// Describe says what ε is.
func (s *Setting) Describe(p *Problem) {
	const prec = 128
	switch {
	case s.Eps != nil:
		p.Eps = number.Exact(s.Eps)
		p.ExpEps = number.Enclosed(number.ExpRat(s.Eps, prec))
		if s.Eps.Sign() == 0 {
			p.ExpEps = number.Int(1)
		}
	case s.ExpEps != nil:
		p.ExpEps = number.Exact(s.ExpEps)
		p.Eps = number.Enclosed(number.LogRat(s.ExpEps, prec))
	}
}

// Parameters reads ε, the precision and the claim, after the lines that the kind of problem has of its own.
func (s *Setting) Parameters(r *Reader) {
	s.Epsilon(r)
	s.Precision = r.Whole("precision", 0, 1<<14)
	s.Claim(r, "optimum")
}

// Power returns rationals that z^d lies between, the same one twice where it is known to be rational.
func (c *Setting) Power(d *big.Rat, prec uint) (low, high *big.Rat) {
	const most = 1 << 13 // what dε may be, and bits of a power that is kept exactly
	switch {
	case d.Sign() == 0 || c.Eps != nil && c.Eps.Sign() == 0:
		one := big.NewRat(1, 1)
		return one, one
	case c.ExpEps != nil && d.IsInt() && float64(max(c.ExpEps.Num().BitLen(), c.ExpEps.Denom().BitLen()))*ratFloat(d) <= most:
		a := new(big.Int).Exp(c.ExpEps.Denom(), d.Num(), nil)
		x := new(big.Rat).SetFrac(a, new(big.Int).Exp(c.ExpEps.Num(), d.Num(), nil))
		return x, x
	}
	var x number.Interval
	if c.Eps != nil {
		x = number.FromRat(new(big.Rat).Mul(c.Eps, d), prec+64)
	} else {
		x = number.LogRat(c.ExpEps, prec+64).Mul(number.FromRat(d, prec+64))
	}
	if hi, _ := x.Hi().Float64(); hi > most {
		Limit("ε times a distance is more than %d", most)
	}
	z := number.Exp(x.Neg())
	low, _ = z.Lo().Rat(nil)
	high, _ = z.Hi().Rat(nil)
	if one := big.NewRat(1, 1); high.Cmp(one) > 0 {
		high = one
	}
	if low.Sign() < 0 {
		low.SetInt64(0)
	}
	return low, high
}

func ratFloat(x *big.Rat) float64 { f, _ := x.Float64(); return f }

// Enclosure returns z^d.
func (c *Setting) Enclosure(d *big.Rat, prec uint) number.Number {
	low, high := c.Power(d, prec)
	if low.Cmp(high) == 0 {
		return number.Exact(low)
	}
	return number.Enclosed(number.Hull(number.FromRat(low, prec), number.FromRat(high, prec)))
}
