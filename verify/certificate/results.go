package certificate

import (
	"errors"
	"fmt"
	"math/big"

	"optratio/number/arith"
	"optratio/number/interval"
)

// results are the means that a certificate proves: bounds on the optimum and the mechanisms' errors.
// Where z is rational they are exact, unless that would be too long.
type results struct {
	lower, upper, flip, em value
	open                   string // why the proof itself is not decided at this precision; "" if it is
}

// Limits of exact evaluation, in bits; beyond them there are only enclosures. Of
// the numbers in a closed form, which are reduced to lowest terms again and again, and of
// the denominator of the exponential mechanism's error, which is reduced once.
const (
	maxClosedBits      = 1 << 17
	maxExponentialBits = 1 << 23
)

// enclose returns an enclosure of z = e^-ε.
func (ck *checker) enclose(prec uint) interval.Interval {
	if ck.z != nil {
		return interval.FromRat(ck.z, prec)
	}
	return interval.ExpRat(new(big.Rat).Neg(ck.cert.eps), prec)
}

// closed returns the closed forms as means, exact if that is possible.
func (ck *checker) closed(prec uint) (flip, dual, sum, all value, err error) {
	c := ck.cert
	work := float64(bits(c.n))
	if ck.box {
		work *= float64(c.k)
	}
	if work+float64(c.k) > 1<<22 {
		return flip, dual, sum, all, fmt.Errorf("%w: n = %d, k = %d takes too long", ErrLimit, c.n, c.k)
	}
	exact := ck.z != nil && ck.closedBits() <= maxClosedBits
	if err := ck.spend(prec, exact); err != nil {
		return flip, dual, sum, all, err
	}
	if exact {
		t := closedForms(arith.Rat{}, negative, ck.z, c.n, c.k, ck.box)
		all = exactly(t.all)
		return exactly(t.flip).quo(all), exactly(t.dual).quo(all), exactly(t.sum), all, nil
	}
	t := closedForms(arith.Interval{Prec: prec}, mayBeNegative, ck.enclose(prec), c.n, c.k, ck.box)
	all = enclosed(t.all)
	return enclosed(t.flip).quo(all), enclosed(t.dual).quo(all), enclosed(t.sum), all, nil
}

// spend counts what the closed forms cost, exactly or at a precision, in steps. It returns ErrLimit where all that was spent would be more than is allowed.
func (ck *checker) spend(prec uint, exact bool) error {
	c := ck.cert
	operations, words := 4*float64(c.k), float64(prec)/64
	if ck.box {
		operations *= 1 + 2*float64(bits(c.n))
	}
	each := 50 + words*words/2
	if exact { // fractions that are reduced to lowest terms after each operation
		words = ck.closedBits() / 64
		if !ck.box {
			words /= float64(c.n)
		}
		each = 100 + words*words
	}
	if ck.spent += operations * each; ck.spent > float64(ck.o.MaxSteps) {
		return fmt.Errorf("%w: the closed forms of n = %d, k = %d at %d bits take about %.3g steps; the limit is %d", ErrLimit, c.n, c.k, prec, ck.spent, ck.o.MaxSteps)
	}
	return nil
}

// closedBits estimates the length of the exact closed forms.
func (ck *checker) closedBits() float64 {
	c := ck.cert
	per := float64(c.k)*float64(ck.z.Denom().BitLen()) + float64(bits(c.k+1))
	if ck.box {
		per *= float64(c.k)
	}
	return float64(c.n) * per
}

// results works everything out at the given precision, or returns why the proof is none.
func (ck *checker) results(prec uint) (res results, why string, err error) {
	if ck.fixed != nil {
		res = *ck.fixed
	} else {
		if res, why, err = ck.bounds(prec); err != nil || why != "" {
			return res, why, err
		}
		if res.open == "" && res.lower.rat != nil && res.upper.rat != nil && res.flip.rat != nil {
			ck.fixed = &results{lower: res.lower, upper: res.upper, flip: res.flip}
		}
	}
	if ck.claimsOn("em") {
		total, err := exponentialTotal(ck.program, arith.Interval{Prec: prec}, ck.enclose(prec))
		if err != nil {
			return res, "", err
		}
		res.em = enclosed(total).quo(ck.scoreVectors())
	}
	return res, "", nil
}

// scoreVectors returns ΣW for a lattice that is enumerated.
func (ck *checker) scoreVectors() value {
	t := closedForms(arith.Rat{}, negative, new(big.Rat), ck.n, ck.k, ck.box)
	return exactly(t.all)
}

// bounds returns the bounds on the optimum and the error of permute-and-flip.
func (ck *checker) bounds(prec uint) (res results, why string, err error) {
	flip, dual, sum, all, err := ck.closed(prec)
	if err != nil {
		return res, "", err
	}
	res = results{lower: flip, upper: flip, flip: flip}
	switch ck.cert.proof {
	case "dual-recurrence":
		v, why := ck.recurrence(sum, prec)
		switch v {
		case holds:
			why = ""
		case undecided:
			res.open, why = why, ""
		}
		return res, why, nil
	case "dual-closed-form":
		res.lower = dual
		return res, "", nil
	case "lumped":
		return ck.lumped(flip, all, prec)
	}
	if ck.z != nil {
		return ck.exactBounds(flip, all)
	}
	r := enclosing{zz: ck.enclose(prec), prec: prec}
	return enumerated(ck.program, r, r, flip, all)
}

// recurrence reports whether permute-and-flip is optimal, and why that does not follow.
//
// With Y_1 = 0, Y_{j+1} = A - B' Y_j the point y(m) = Y_{m_0} is dual feasible if Y_j >= 0 for all j <= n: on the chain of
// others with j best ones, λ_t = Σ_{u=t}^k z^{u-t} (u - Y_j) for t >= 1 and z λ_1 = A - B' Y_j = Y_{j+1}, so that all reduced
// costs are 0 at depth 0 and above; and as the terms of λ_1 are first negative and then not, λ_1 >= 0 implies λ_t >= 0.
// It has permute-and-flip's value by complementary slackness, every (P) row being tight there. Y_2 = A >= 0, which is all for n <= 2. For k = 1, A =
// B' = z <= 1, and Y_j in [0, 1] implies Y_{j+1} = z (1 - Y_j) in [0, 1]. For B' <= 1, Y_j in [0, A] implies Y_{j+1} in [0, A].
// Under the objective box this holds for each lesser depth, for which B' is less; for n = 3 less is enough (threeInABox).
func (ck *checker) recurrence(sum value, prec uint) (verdict, string) {
	if ck.cert.n <= 2 || ck.cert.k <= 1 {
		return holds, ""
	}
	v := sum.lessEq(exactly(big.NewRat(1, 1)))
	if v == fails && ck.box && ck.cert.n == 3 {
		return ck.threeInABox(prec)
	}
	return v, fmt.Sprintf("proof dual-recurrence: needs n <= 2, k <= 1 or z + … + z^k <= 1, which is %v", sum)
}

// enumerated returns the bounds of proof lp. The rings for the two sides are equal but for their
// denominators.
func enumerated[T any](p *program, dual, point ring[T], flip, all value) (res results, why string, err error) {
	low, err := lower(p, dual)
	if err != nil {
		return res, "", err
	}
	x, err := upper(p, point)
	if err == nil {
		err = p.cost.err
	}
	if err != nil {
		return res, "", err
	}
	res.lower = dual.value(low).quo(all)
	res.flip = point.value(x.totalFlip).quo(all)
	if res.flip.lessEq(flip) == fails || flip.lessEq(res.flip) == fails {
		return res, "", errors.New("permute-and-flip's closed form differs from the enumeration: please report this")
	}
	if res.flip.rat == nil {
		both, ok := res.flip.enc.Intersect(flip.at(res.flip.prec()))
		if !ok {
			return res, "", errors.New("permute-and-flip's closed form differs from the enumeration: please report this")
		}
		res.flip = enclosed(both)
	}
	res.upper = x.mixed.quo(all).min(res.flip)
	return res, "", nil
}

// exactBounds returns the bounds of proof lp for rational z.
func (ck *checker) exactBounds(flip, all value) (res results, why string, err error) {
	dual, point, err := ck.rings()
	if err != nil {
		return res, "", err
	}
	if all.rat == nil {
		all = ck.scoreVectors()
	}
	return enumerated(ck.program, dual, point, flip, all)
}

// rings returns the exact rings for the two sides of a proof.
func (ck *checker) rings() (dual, point *exact, err error) {
	p := ck.program
	d := big.NewInt(1)
	if err := ck.room(d); err != nil {
		return nil, nil, err
	}
	for _, y := range p.dual {
		if d, err = ck.lcm(d, y.Denom()); err != nil {
			return nil, nil, err
		}
	}
	for _, q := range p.cuts {
		if d, err = ck.lcm(d, q.Mu.Denom()); err != nil {
			return nil, nil, err
		}
		if d, err = ck.lcm(d, q.shift(p.lattice).Denom()); err != nil {
			return nil, nil, err
		}
	}
	s := big.NewInt(1)
	for _, q := range p.inject {
		if s, err = ck.lcm(s, q.s.Denom()); err != nil {
			return nil, nil, err
		}
	}
	return newExact(ck.z, d, ck.cert.cost), newExact(ck.z, s, ck.cert.cost), nil
}

// lcm returns the least common multiple of a and b, or ErrLimit if there is no room for numbers with that denominator.
func (ck *checker) lcm(a, b *big.Int) (*big.Int, error) {
	rest := new(big.Int)
	if rest.Rem(a, b); rest.Sign() == 0 {
		return a, nil
	}
	g := new(big.Int).GCD(nil, nil, a, b)
	m := g.Mul(a, new(big.Int).Quo(b, g))
	if err := ck.room(m); err != nil {
		return nil, err
	}
	return m, ck.ctx.Err()
}

// room returns ErrLimit if two numbers for each variable with denominator d, and powers of e^ε's numerator
// as well, take more memory than allowed, or one of them more steps to be brought to lowest terms.
func (ck *checker) room(d *big.Int) error {
	length := float64(d.BitLen()) + float64(ck.cert.n)*float64(ck.cert.k)*float64(ck.z.Denom().BitLen())
	if need := float64(variableCount(ck.cert.n, ck.cert.k)) * (bytesPerVariable + length/4); need > float64(ck.o.MaxMemory) {
		return fmt.Errorf("%w: exact numbers of %.0f bits take about %.3g bytes; the limit is %d", ErrLimit, length, need, ck.o.MaxMemory)
	}
	if words := length / 64; words*words > float64(ck.o.MaxSteps) {
		return fmt.Errorf("%w: exact numbers of %.0f bits take too many steps", ErrLimit, length)
	}
	return nil
}

// exactEM reports whether only the exact error of the exponential mechanism can decide a claim.
func (ck *checker) exactEM(q *Claim, prec uint) bool {
	if ck.z == nil || q.lower.Cmp(q.upper) != 0 && prec < ck.o.MaxPrecision {
		return false
	}
	length := float64(orbitCount(ck.n, ck.k)) * (float64(ck.k)*float64(ck.z.Denom().BitLen()) + float64(bits(ck.n)))
	return length <= maxExponentialBits
}

func (ck *checker) emExact() (value, error) {
	if ck.em == nil {
		total, err := exponentialExact(ck.program, ck.z)
		if err != nil {
			return value{}, err
		}
		ck.em = total
	}
	return exactly(ck.em).quo(ck.scoreVectors()), nil
}
