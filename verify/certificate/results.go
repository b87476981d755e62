package certificate

import (
	"fmt"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// claimsOn reports whether there are claims on a mechanism.
func (c *certificate) claimsOn(name string) bool {
	for _, q := range c.Claims {
		if q.On == "error "+name || q.On == "ratio "+name {
			return true
		}
	}
	return false
}

// Decide decides all claims, at higher and higher precision.
func (c *certificate) Decide(o evidence.Options) {
	c.o = o
	switch {
	case c.ExpEps != nil:
		c.z = new(big.Rat).Inv(c.ExpEps)
	case c.Eps.Sign() == 0:
		c.z = big.NewRat(1, 1)
	}
	if c.claimsOn("em") {
		c.enumerate(o)
	}
	// Somewhat more than the writer had, so that claims that are as tight as its
	// arithmetic was are decided at the first attempt.
	first := max(min(uint(min(c.Precision, 960))+64, c.o.MaxPrecision), 128)
	for prec := first; ; prec = min(2*prec, c.o.MaxPrecision) {
		res := c.results(prec)
		open := res.open
		for i := range c.Claims {
			q := &c.Claims[i]
			v, why := c.claim(q, res)
			if v == evidence.Undecided && !arith.IsExact(res.em) && (q.On == "error em" || q.On == "ratio em") && c.exactEM(q, prec) {
				res.em = c.emExact()
				v, why = c.claim(q, res)
			}
			if v == evidence.Fails && res.rounded && prec == first && prec < c.o.MaxPrecision {
				v = evidence.Undecided
			}
			switch v {
			case evidence.Fails:
				evidence.Refute("claim %s: %s", q.On, why)
			case evidence.Undecided:
				open = fmt.Sprintf("claim %s: not decided at %d bits: %s", q.On, prec, why)
			}
			q.Follows = v == evidence.Holds
		}
		if open == "" {
			return
		}
		if prec >= c.o.MaxPrecision {
			evidence.Limit("%s", open)
		}
	}
}

// claim decides whether a claim follows, and says what holds instead if not.
func (c *certificate) claim(q *evidence.Claim, r results) (evidence.Verdict, string) {
	lower, upper := q.Value.Ends()
	low, high := r.lower, r.upper
	switch q.On {
	case "optimum":
	case "error pf":
		low, high = r.flip, r.flip
	case "error em":
		low, high = r.em, r.em
	default:
		e := r.flip
		if q.On == "ratio em" {
			e = r.em
		}
		one := number.Int(1)
		low, high = one, one
		if c.n == 1 || c.k == 0 {
			break // error and optimum are 0
		}
		if q.On == "ratio pf" && c.proof == "dual-recurrence" {
			break // they are the same number
		}
		switch s, ok := r.lower.Cmp(number.Int(0)); {
		case !ok:
			return evidence.Undecided, "the lower bound on the optimum is not known to be positive"
		case s <= 0:
			return evidence.Fails, "the lower bound on the optimum is not positive"
		}
		// Either mechanism is feasible in the program, at every level, so that its ratio is at least 1.
		if s, ok := r.upper.Cmp(number.Int(0)); ok && s > 0 {
			low = e.Quo(r.upper).Max(one)
		}
		high = e.Quo(r.lower).Max(one)
	}
	below, above := evidence.AtMost(number.Exact(lower), low), evidence.AtMost(high, number.Exact(upper))
	switch {
	case below != evidence.Holds:
		return below.And(above), fmt.Sprintf("%v and more is claimed, %v is proved", number.Exact(lower), low)
	case above != evidence.Holds:
		return above, fmt.Sprintf("%v and less is claimed, %v is proved", number.Exact(upper), high)
	}
	return evidence.Holds, ""
}

// results are the means that a certificate proves: bounds on the optimum and the mechanisms' errors.
// Where z is rational they are exact, unless that would be too long.
type results struct {
	lower, upper, flip, em number.Number
	open                   string // why the proof itself is not decided at this precision; "" if it is
	rounded                bool   // the bounds are rational, and somewhat closer ones may follow at a higher precision
}

// enclose returns an enclosure of z = e^-ε.
func (c *certificate) enclose(prec uint) number.Interval {
	return c.Enclosure(big.NewRat(1, 1), prec).Enclosure(prec)
}

// closed returns the closed forms as means, exact if that is possible.
func (c *certificate) closed(prec uint) (flip, dual, sum, all number.Number) {
	exact := c.z != nil && c.closedBits() <= evidence.MaxClosedBits
	c.spend(prec, exact)
	if exact {
		t := evidence.ClosedForms(arith.Rat{}, evidence.Negative, c.z, c.n, c.k, c.box)
		all = number.Exact(t.All)
		return number.Exact(t.Flip).Quo(all), number.Exact(t.Dual).Quo(all), number.Exact(t.Sum), all
	}
	t := evidence.ClosedForms(arith.Interval{Prec: prec}, evidence.MayBeNegative, c.enclose(prec), c.n, c.k, c.box)
	all = number.Enclosed(t.All)
	return number.Enclosed(t.Flip).Quo(all), number.Enclosed(t.Dual).Quo(all), number.Enclosed(t.Sum), all
}

// spend counts what the closed forms cost, exactly or at a precision, in steps.
func (c *certificate) spend(prec uint, exact bool) {
	operations, words := 4*float64(c.k), float64(float64(prec)/64)
	if c.box {
		operations *= 1 + 2*float64(evidence.Bits(c.n))
	}
	each := 50 + float64(words*words/2)
	if exact { // fractions that are reduced to lowest terms after each operation
		words = c.closedBits() / 64
		if !c.box {
			words /= float64(c.n)
		}
		each = 100 + float64(words*words)
	}
	if c.spent += float64(operations * each); c.spent > float64(c.o.MaxSteps) {
		evidence.Limit("the closed forms of n = %d, k = %d at %d bits take about %.3g steps; the limit is %d", c.n, c.k, prec, c.spent, c.o.MaxSteps)
	}
}

// closedBits estimates the length of the exact closed forms.
func (c *certificate) closedBits() float64 {
	per := float64(float64(c.k)*float64(c.z.Denom().BitLen())) + float64(evidence.Bits(c.k+1))
	if c.box {
		per *= float64(c.k)
	}
	return float64(c.n) * per
}

// results works everything out at the given precision.
func (c *certificate) results(prec uint) (res results) {
	if c.fixed != nil {
		res = *c.fixed
	} else {
		res = c.bounds(prec)
		if res.open == "" && arith.IsExact(res.lower) && arith.IsExact(res.upper) && arith.IsExact(res.flip) {
			c.fixed = &results{lower: res.lower, upper: res.upper, flip: res.flip}
		}
	}
	if c.claimsOn("em") {
		total := exponentialTotal(c.lattice, arith.Interval{Prec: prec}, c.enclose(prec), 64+int(prec)/8)
		res.em = number.Enclosed(total).Quo(number.Exact(c.lattice.objective().total))
	}
	return res
}

// bounds returns the bounds on the optimum and the error of permute-and-flip.
func (c *certificate) bounds(prec uint) (res results) {
	flip, dual, sum, all := c.closed(prec)
	res = results{lower: flip, upper: flip, flip: flip}
	switch c.proof {
	case "dual-recurrence":
		v, why := c.recurrence(sum, prec)
		switch v {
		case evidence.Fails:
			evidence.Refute("%s", why)
		case evidence.Undecided:
			res.open = why
		}
		return res
	case "dual-closed-form":
		res.lower = dual
		return res
	case "lumped":
		return c.lumped(flip, all, prec)
	}
	one := big.NewRat(1, 1)
	low, high := c.Power(one, prec)
	exact := low.Cmp(high) == 0
	res.rounded = !exact
	res.lower = number.Exact(c.multiply(low, exact, prec, nil).bound())
	if x := c.upper(high, exact, prec); x != nil {
		res.upper = number.Exact(x).Min(flip)
	}
	return res
}

// exactEM reports whether only the exact error of the exponential mechanism can decide a claim.
func (c *certificate) exactEM(q *evidence.Claim, prec uint) bool {
	lower, upper := q.Value.Ends()
	if c.z == nil || lower.Cmp(upper) != 0 && prec < c.o.MaxPrecision {
		return false
	}
	length := evidence.OrbitCount(c.n, c.k) * (float64(float64(c.k)*float64(c.z.Denom().BitLen())) + float64(evidence.Bits(c.n)))
	return length <= maxExponentialBits
}

func (c *certificate) emExact() number.Number {
	if c.em == nil {
		c.em = exponentialTotal(c.lattice, arith.Rat{}, c.z, 64)
	}
	return number.Exact(c.em).Quo(number.Exact(c.lattice.objective().total))
}
