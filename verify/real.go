package verify

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

// everywhere is what theorems say of a mechanism for all real scores of n >= 2 candidates, and of all neighbors: the exponential mechanism, permute-and-flip, geometric
// noisy max and randomised response. With z = e^-ε, A = e^ε and s = α-1, the greatest divergences are
//
//	      δ at t, |t| <= ε                     e^{s·D_α}
//	em    (e^{ε/2} - e^{t/2})²/(e^ε-1)         (s/α)^s (A^s-z)^α / ((A^s-1)^s α (1-z))
//	pf    1 - e^{(t-ε)/2}                      max over u in [z,1] of ((2-u)^α (u/z)^s + u (u²/(2u-z))^s)/2
//	geo   (1-e^{t-ε})/(1+z)                    (A^α + A^-s)/(A+1)
//	krr   (1-e^{t-ε})/(1+(n-1)z), t >= 0       (A^α + A^-s + n-2)/(A+n-1)
//
// With two candidates one comes as near to them as one likes, for permute-and-flip and u = e^-x by one that is x/ε steps of 2Δ ahead, and x/ε-1 steps at the neighbor,
// and for the exponential mechanism by one that is ln((1-u)/(u-z))/ε steps ahead; the first row of D_α is its value at the best u, s(A^s-z)/(α(A^s-1)).
type everywhere struct {
	Claim
	n       int
	e, a, z number.Interval
	one     number.Interval
}

// theorems are the mechanisms that everywhere is about.
var theorems = []string{"em", "pf", "geo", "krr"}

// onReals checks the mechanism for all real scores of n candidates.
func onReals(ctx context.Context, p Claim, n int, opts Options) (*Report, error) {
	if err := cmp.Or(p.complete(), p.single()); err != nil {
		return nil, err
	}
	opts.Facts = []Property{}
	opts.Complete()
	name := p.Mechanism.Info().Name
	if known, _ := mechanisms.Lookup(name); known != p.Mechanism || !slices.Contains(theorems, name) || n < 2 || p.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: theorems about all real scores are about em, pf, geo and krr, at least two candidates, and ε > 0", inquiry.ErrClaim)
	}
	prec := uint(2 * renyiBits)
	if small := p.Epsilon.Value(64).Lo().MantExp(nil); small < 0 {
		prec += 4 * uint(-small) // divergences are about ε²
	}
	if name != "krr" { // two suffice
		n = 2
	}
	x := &everywhere{Claim: p, n: n, e: p.Epsilon.Value(prec), one: number.FromInt(1, prec)}
	x.a, x.z = number.Exp(x.e), number.Exp(x.e.Neg())
	r, err := around(ctx, p, x.vectors(opts.Properties), false, opts)
	if err != nil {
		return nil, err
	}
	r.Domain = allScores + ", by theorem"
	if name == "krr" {
		r.Domain = fmt.Sprintf("all real scores of %d candidates, by theorem", n)
	}
	for i := range r.Properties {
		if err := x.decide(&r.Properties[i], opts.Targets[r.Properties[i].Name]); err != nil {
			return nil, err
		}
	}
	for i := range r.Profile {
		r.Profile[i][1] = x.delta(big.NewRat(quarters[i], 4))
	}
	for i, at := range r.Renyi {
		alpha, _ := at[0].Rat()
		r.Renyi[i][1] = x.order(alpha)
	}
	return r, nil
}

// decide replaces what was found of some pairs by what the theorem says of all. A violation keeps the pair that shows it, if one was found.
func (x *everywhere) decide(res *Result, target *big.Rat) error {
	var tight number.Number
	symbol, claimed := "ε", x.Epsilon.Number()
	alpha, one := inquiry.Order(res.Name)
	switch {
	case res.Name == DP:
		res.TightEps, res.TightExpEps, res.Range = claimed, x.Epsilon.Exp(), number.Number{}
		tight = claimed
	case res.Name == ApproximateDP:
		symbol, tight, res.TightDelta = "δ", number.Int(0), number.Int(0)
	case one:
		symbol, tight = orderSymbol(alpha), x.order(alpha)
		res.Orders[0][1] = tight
	case res.Name == RDP:
		for i, o := range res.Orders {
			alpha, _ = o[0].Rat()
			res.Orders[i][1] = x.order(alpha)
		}
	case res.Name == ZCDP && x.Mechanism.Info().Name != "krr":
		rho, _ := mechanisms.Concentration(x.Mechanism, x.Epsilon, renyiBits)
		symbol, tight = "ρ", number.Enclosed(rho)
		res.Rho, res.Orders = tight, nil
	default:
		return fmt.Errorf("%w: no theorem tells of %s by %s for all real scores", inquiry.ErrClaim, res.Name, x.Mechanism.Info().Name)
	}
	if res.Name != DP {
		claimed = number.Infinity()
		if target != nil {
			claimed = number.Exact(target)
		}
	}
	res.Checked, res.Stopped, res.Total, res.Reason = 0, false, 0, ""
	switch holds, known := tight.LessEq(claimed); {
	case res.Verdict == Violated && known && holds: // which is not to happen
		res.Verdict, res.Witness, res.Reason = Undecided, nil, fmt.Sprintf("the theorem contradicts what was found at %s", res.Witness)
	case target == nil || known && holds:
		res.Verdict, res.Witness = Proved, nil
	case known:
		res.Verdict = Violated
	default:
		res.Verdict, res.Witness, res.Reason = Undecided, nil, fmt.Sprintf("the enclosure of %s does not tell whether it is at most the target", symbol)
	}
	return nil
}

// power returns e^{ε·q}.
func (x *everywhere) power(q *big.Rat) number.Interval {
	return number.Exp(x.e.Mul(number.FromRat(q, x.e.Prec())))
}

// delta returns the least δ at t = ε·at. Below 0 it is 1 - e^t + e^t times that at -t, as neighbors are neighbors both ways.
func (x *everywhere) delta(at *big.Rat) number.Number {
	if at.Cmp(one) >= 0 {
		return number.Int(0)
	}
	exp := x.power(at)
	if at.Sign() < 0 {
		minus := new(big.Rat).Neg(at)
		return number.Enclosed(x.one.Sub(exp)).Add(number.Enclosed(exp).Mul(x.delta(minus)))
	}
	delta, _ := mechanisms.Profile(x.Mechanism, x.Epsilon, x.n, x.e.Mul(number.FromRat(at, x.e.Prec())))
	return number.Enclosed(delta)
}

// order returns the greatest Rényi divergence of an order, nil for ∞.
func (x *everywhere) order(alpha *big.Rat) number.Number {
	if alpha == nil {
		return x.Epsilon.Number()
	}
	prec := x.e.Prec()
	others := number.FromInt(int64(x.n-1), prec)
	name := x.Mechanism.Info().Name
	if alpha.Cmp(one) == 0 {
		if name != "krr" {
			rho, _ := mechanisms.Concentration(x.Mechanism, x.Epsilon, renyiBits)
			return number.Enclosed(rho)
		}
		return number.Enclosed(x.e.Mul(number.Expm1(x.e)).Quo(x.a.Add(others)))
	}
	less := new(big.Rat).Sub(alpha, one)
	s, order := number.FromRat(less, prec), number.FromRat(alpha, prec)
	var log number.Interval
	switch name {
	case "em":
		grown, lost := number.Expm1(x.e.Mul(s)), number.Expm1(x.e.Neg()).Neg() // A^s - 1 and 1 - z
		above := grown.Add(lost)
		log = s.Mul(number.Log(s.Quo(order)).Sub(number.Log(grown))).Add(order.Mul(number.Log(above))).Sub(number.Log(order.Mul(lost)))
	case "pf":
		f := &flips{everywhere: x, s: s, alpha: order}
		log = f.greatest(f.bracket())
	case "geo":
		log = number.Log(x.power(alpha).Add(x.power(new(big.Rat).Neg(less))).Quo(x.a.Add(x.one)))
	default:
		log = number.Log(x.power(alpha).Add(x.power(new(big.Rat).Neg(less))).Add(others.Sub(x.one)).Quo(x.a.Add(others)))
	}
	return number.Enclosed(log.Quo(s).SetPrec(renyiBits))
}

// flips is e^{s·D_α} of permute-and-flip as a function of u.
type flips struct {
	*everywhere
	s, alpha number.Interval
}

// at returns the function at u, and its derivative.
func (f *flips) at(u number.Interval) (value, slope number.Interval) {
	two := f.one.Add(f.one)
	v, w := two.Sub(u), two.Mul(u).Sub(f.z)
	lu := number.Log(u)
	first := number.Exp(f.alpha.Mul(number.Log(v)).Add(f.s.Mul(lu.Add(f.e)))).Quo(two)
	second := number.Exp(lu.Add(f.s.Mul(two.Mul(lu).Sub(number.Log(w))))).Quo(two)
	slope = first.Mul(f.s.Quo(u).Sub(f.alpha.Quo(v))).Add(second.Mul(f.one.Add(two.Mul(f.s)).Quo(u).Sub(two.Mul(f.s).Quo(w))))
	return first.Add(second), slope
}

// bracket encloses the u of the maximum over [z, 1] by the sign of the slope: the function rises, and falls after that, or does one of both alone. With b = 2s+1, the
// slope is positive up to u = 1-1/b. From there on it is positive where R < 0, the difference of the logarithms of its two terms, for
//
//	R' = 1/(u-1+1/b) - (b-1)/(2(2-u)) - (b+1)/(2u) + (b+1)/(2u-z) - (b+1)/((b+1)u-bz).
//
// The first three are at least (2b-(b-1)-(b+1))/(2u) = 0, as u-1+1/b <= u/b and 2-u >= u, and the other two are not negative, as (b+1)u-bz >= 2u-z. So R does not fall.
func (f *flips) bracket() (low, high number.Interval) {
	low, high = number.Point(f.z.Lo()), f.one
	for range renyiBits / 2 {
		middle := number.Point(number.Hull(low, high).Mid())
		_, slope := f.at(middle)
		sign, ok := slope.Sign()
		if !ok || sign == 0 {
			break
		}
		if sign > 0 {
			low = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// greatest encloses the logarithm of the maximum, which is between two u.
func (f *flips) greatest(low, high number.Interval) number.Interval {
	between := number.Hull(low, high)
	value, _ := f.at(low)
	_, slope := f.at(between)
	return number.Log(value.Add(slope.Mul(between.Sub(low))))
}

// vectors are score vectors with one candidate ahead of another, which is ahead of it at a neighbor or less far behind, and others far behind, if there are to be more
// than two: they come near the greatest divergences.
func (x *everywhere) vectors(properties []Property) (all [][]*big.Rat) {
	step := new(big.Rat).Set(x.Sensitivities[0])
	if !x.Monotonic {
		step.Add(step, step)
	}
	add := func(depth float64) {
		ahead := big.NewRat(int64(math.Round(1000*depth/x.Epsilon.Float())), 1000)
		q := []*big.Rat{ahead.Mul(ahead, step), new(big.Rat)}
		for range x.n - 2 {
			q = append(q, new(big.Rat).Mul(step, big.NewRat(-4, 1)))
		}
		all = append(all, q)
	}
	add(x.Epsilon.Float() / 2)
	for _, p := range properties {
		if alpha, ok := inquiry.Order(p); ok && alpha != nil && alpha.Cmp(one) > 0 {
			add(x.ahead(alpha))
		}
	}
	return all
}

// ahead is ε times the steps by which a candidate is ahead where the divergence of an order is about the greatest.
func (x *everywhere) ahead(alpha *big.Rat) float64 {
	s, order := number.FromRat(new(big.Rat).Sub(alpha, one), x.e.Prec()), number.FromRat(alpha, x.e.Prec())
	switch x.Mechanism.Info().Name {
	case "pf":
		_, u := (&flips{everywhere: x, s: s, alpha: order}).bracket()
		return -number.Log(u).Near()
	case "em":
		grown := number.Expm1(x.e.Mul(s))
		u := s.Mul(grown.Add(x.one).Sub(x.z)).Quo(order.Mul(grown))
		return number.Log(x.one.Sub(u).Quo(u.Sub(x.z))).Near()
	}
	return x.Epsilon.Float() / 2
}
