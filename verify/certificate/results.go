package certificate

import (
	"fmt"
	"math/big"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/number"
)

// checker works out what a certificate proves.
type checker struct {
	*certificate
	o evidence.Options
	z *big.Rat // e^-ε where it is rational

	spent float64 // steps of closed forms

	fixed *results // what is exact, and so does not depend on the precision
	em    *big.Rat // total error of the exponential mechanism, once known exactly
}

func newChecker(c *certificate, o evidence.Options) *checker {
	ck := &checker{certificate: c, o: o}
	switch {
	case c.ExpEps != nil:
		ck.z = new(big.Rat).Inv(c.ExpEps)
	case c.Eps.Sign() == 0:
		ck.z = big.NewRat(1, 1)
	}
	if ck.claimsOn("em") {
		c.enumerate(o)
	}
	return ck
}

// claimsOn reports whether there are claims on a mechanism.
func (ck *checker) claimsOn(name string) bool {
	for _, q := range ck.Claims {
		if q.On == "error "+name || q.On == "ratio "+name {
			return true
		}
	}
	return false
}

func (ck *checker) decide() {
	// Somewhat more than the writer had, so that claims that are as tight as its
	// arithmetic was are decided at the first attempt.
	first := max(min(uint(min(ck.Precision, 960))+64, ck.o.MaxPrecision), 128)
	for prec := first; ; prec = min(2*prec, ck.o.MaxPrecision) {
		res := ck.results(prec)
		open := res.open
		for i := range ck.Claims {
			q := &ck.Claims[i]
			v, why := ck.claim(q, res)
			if v == evidence.Undecided && !res.em.IsExact() && (q.On == "error em" || q.On == "ratio em") && ck.exactEM(q, prec) {
				res.em = ck.emExact()
				v, why = ck.claim(q, res)
			}
			if v == evidence.Fails && res.rounded && prec == first && prec < ck.o.MaxPrecision {
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
		if prec >= ck.o.MaxPrecision {
			evidence.Limit("%s", open)
		}
	}
}

// claim decides whether a claim follows, and says what holds instead if not.
func (ck *checker) claim(q *evidence.Claim, r results) (evidence.Verdict, string) {
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
		if ck.n == 1 || ck.k == 0 {
			break // error and optimum are 0
		}
		if q.On == "ratio pf" && ck.proof == "dual-recurrence" {
			break // they are the same number
		}
		switch s, ok := r.lower.Sign(); {
		case !ok:
			return evidence.Undecided, "the lower bound on the optimum is not known to be positive"
		case s <= 0:
			return evidence.Fails, "the lower bound on the optimum is not positive"
		}
		// Either mechanism is feasible in the program, at every level, so that its ratio is at least 1.
		if s, ok := r.upper.Sign(); ok && s > 0 {
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
func (ck *checker) enclose(prec uint) number.Interval {
	if ck.z != nil {
		return number.FromRat(ck.z, prec)
	}
	return number.ExpRat(new(big.Rat).Neg(ck.Eps), prec)
}

// closed returns the closed forms as means, exact if that is possible.
func (ck *checker) closed(prec uint) (flip, dual, sum, all number.Number) {
	c := ck.certificate
	exact := ck.z != nil && ck.closedBits() <= evidence.MaxClosedBits
	ck.spend(prec, exact)
	if exact {
		t := evidence.ClosedForms(arith.Rat{}, evidence.Negative, ck.z, c.n, c.k, ck.box)
		all = number.Exact(t.All)
		return number.Exact(t.Flip).Quo(all), number.Exact(t.Dual).Quo(all), number.Exact(t.Sum), all
	}
	t := evidence.ClosedForms(arith.Interval{Prec: prec}, evidence.MayBeNegative, ck.enclose(prec), c.n, c.k, ck.box)
	all = number.Enclosed(t.All)
	return number.Enclosed(t.Flip).Quo(all), number.Enclosed(t.Dual).Quo(all), number.Enclosed(t.Sum), all
}

// spend counts what the closed forms cost, exactly or at a precision, in steps.
func (ck *checker) spend(prec uint, exact bool) {
	c := ck.certificate
	operations, words := 4*float64(c.k), float64(float64(prec)/64)
	if ck.box {
		operations *= 1 + 2*float64(evidence.Bits(c.n))
	}
	each := 50 + float64(words*words/2)
	if exact { // fractions that are reduced to lowest terms after each operation
		words = ck.closedBits() / 64
		if !ck.box {
			words /= float64(c.n)
		}
		each = 100 + float64(words*words)
	}
	if ck.spent += float64(operations * each); ck.spent > float64(ck.o.MaxSteps) {
		evidence.Limit("the closed forms of n = %d, k = %d at %d bits take about %.3g steps; the limit is %d", c.n, c.k, prec, ck.spent, ck.o.MaxSteps)
	}
}

// closedBits estimates the length of the exact closed forms.
func (ck *checker) closedBits() float64 {
	c := ck.certificate
	per := float64(float64(c.k)*float64(ck.z.Denom().BitLen())) + float64(evidence.Bits(c.k+1))
	if ck.box {
		per *= float64(c.k)
	}
	return float64(c.n) * per
}

// results works everything out at the given precision.
func (ck *checker) results(prec uint) (res results) {
	if ck.fixed != nil {
		res = *ck.fixed
	} else {
		res = ck.bounds(prec)
		if res.open == "" && res.lower.IsExact() && res.upper.IsExact() && res.flip.IsExact() {
			ck.fixed = &results{lower: res.lower, upper: res.upper, flip: res.flip}
		}
	}
	if ck.claimsOn("em") {
		total := exponentialTotal(ck.lattice, arith.Interval{Prec: prec}, ck.enclose(prec))
		res.em = number.Enclosed(total).Quo(number.Exact(ck.lattice.objective().total))
	}
	return res
}

// bounds returns the bounds on the optimum and the error of permute-and-flip.
func (ck *checker) bounds(prec uint) (res results) {
	flip, dual, sum, all := ck.closed(prec)
	res = results{lower: flip, upper: flip, flip: flip}
	switch ck.proof {
	case "dual-recurrence":
		v, why := ck.recurrence(sum, prec)
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
		return ck.lumped(flip, all, prec)
	}
	one := big.NewRat(1, 1)
	low, high := ck.Power(one, prec)
	exact := low.Cmp(high) == 0
	res.rounded = !exact
	res.lower = number.Exact(ck.multiply(low, exact, prec, nil).bound())
	if x := ck.upper(high, exact, prec); x != nil {
		res.upper = number.Exact(x).Min(flip)
	}
	return res
}

// exactEM reports whether only the exact error of the exponential mechanism can decide a claim.
func (ck *checker) exactEM(q *evidence.Claim, prec uint) bool {
	lower, upper := q.Value.Ends()
	if ck.z == nil || lower.Cmp(upper) != 0 && prec < ck.o.MaxPrecision {
		return false
	}
	length := evidence.OrbitCount(ck.n, ck.k) * (float64(float64(ck.k)*float64(ck.z.Denom().BitLen())) + float64(evidence.Bits(ck.n)))
	return length <= maxExponentialBits
}

func (ck *checker) emExact() number.Number {
	if ck.em == nil {
		ck.em = exponentialExact(ck.lattice, ck.z)
	}
	return number.Exact(ck.em).Quo(number.Exact(ck.lattice.objective().total))
}
