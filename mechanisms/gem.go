package mechanisms

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

const gemSource = "Antonova et al., Private Selection with Heterogeneous Sensitivities, "

var (
	plainGEM = &gem{
		info: epsDPEach("gem", "generalised exponential mechanism: permute-and-flip on scores normalised against sensitive candidates", "Raskhodnikova & Smith 2016; "+gemSource+"(6)"),
		sign: +1,
	}
	modifiedGEM = &gem{
		info: epsDPEach("mgem", "modified generalised exponential mechanism: gem with depths that count in favour of sensitive candidates", gemSource+"IV-D"),
		sign: -1,
	}
	runnerGEM = &gem{
		info: epsDPEach("gem-runner", "generalised exponential mechanism at twice its ε, where who is deeper than the runner-up counts as halfway between the two", "this project, research/docs/unequal.md, Theorem 2"),
		sign: +1, runner: true,
	}
)

// gem is permute-and-flip with sensitivity 1 on the normalised scores
//
//	q'_a = min_b [(q_a - tΔ_a) - (q_b - tΔ_b)]/(Δ_a + Δ_b),  t = ±2 ln(n/β)/ε.
//
// The term b = a is 0, so the best normalised score is 0. Where Δ_a = Δ_b = 0 the term is the limit for
// sensitivities that vanish together: -∞, 0 or +∞ as q_a is below, equal to or above q_b. A
// candidate with q'_a = -∞ is never taken.
type gem struct {
	info   Info
	sign   int64 // of t
	runner bool  // whether it is run on the depths of runnerExponents, which take the whole of ε
}

func (m *gem) Info() Info { return m.info }

// term is ε'·q'/2 for one pair: weight e^{-ε'·gap}·(n/β)^{power}, zero where never is set.
type term struct {
	gap   *big.Rat // -(q_a - q_b)/(2(Δ_a + Δ_b))
	power *big.Rat // ∓(Δ_a - Δ_b)/(Δ_a + Δ_b)
	never bool
}

// pair returns the term of a and b, ok = false where it is +∞.
func (m *gem) pair(qa, da, qb, db *big.Rat) (t term, ok bool) {
	sum := new(big.Rat).Add(da, db)
	gap := new(big.Rat).Sub(qb, qa)
	if sum.Sign() == 0 {
		switch gap.Sign() {
		case 0:
			return term{gap: new(big.Rat), power: new(big.Rat)}, true
		case 1:
			return term{never: true}, true
		}
		return term{}, false
	}
	power := new(big.Rat).Sub(db, da)
	power.Mul(power, big.NewRat(m.sign, 1))
	power.Quo(power, sum)
	gap.Quo(gap, sum.Add(sum, sum))
	return term{gap: gap, power: power}, true
}

// choices returns candidates' classes by score and sensitivity, or each one alone: one representative of each, how many there are, and
// each candidate's class.
func (in *Instance) choices(gather bool) (alike []candidate, counts, class []int) {
	each := in.eachSensitivity()
	if !gather {
		for i, q := range in.Scores {
			alike = append(alike, candidate{q, each[i]})
		}
		return alike, slices.Repeat([]int{1}, len(each)), everyone(len(each))
	}
	members, class := classes(len(each), func(i, j int) int { return cmp.Or(in.Scores[i].Cmp(in.Scores[j]), each[i].Cmp(each[j])) })
	for _, m := range members {
		alike, counts = append(alike, candidate{in.Scores[m[0]], each[m[0]]}), append(counts, len(m))
	}
	return alike, counts, class
}

// candidate is a score and a sensitivity.
type candidate struct{ q, d *big.Rat }

// gemAnswer returns the pmf with ε' = share·ε, given permute-and-flip.
func gemAnswer[T any](m *gem, c calculus[T], flip overWeights[T], in *Instance, share *big.Rat) ([]T, error) {
	classes, counts, class := in.choices(c.proves)
	weights, err := gemWeights(m, c, in, classes, counts, share)
	if err != nil {
		return nil, err
	}
	return scatter(class, flip(c.Field, weights, counts)), nil
}

// gemWeights returns, for each class of so many candidates, e^{ε'q'/2}, ε' = share·ε.
func gemWeights[T any](m *gem, c calculus[T], in *Instance, classes []candidate, counts []int, share *big.Rat) ([]T, error) {
	exponents, err := gemExponents(m, c, in, classes, share)
	if err != nil {
		return nil, err
	}
	if m.runner {
		exponents = runnerExponents(c, exponents, counts)
	}
	out := make([]T, len(exponents))
	for a, x := range exponents {
		if out[a] = c.Zero(); x != nil {
			out[a] = c.exp(*x)
		}
	}
	return out, nil
}

// gemExponents returns, for each class, ε'q'/2, nil for a class that is never taken, in O(n log n).
func gemExponents[T any](m *gem, c calculus[T], in *Instance, classes []candidate, share *big.Rat) ([]*T, error) {
	beta, err := in.Params.FailureProbability()
	if err != nil {
		return nil, err
	}
	eps := c.Mul(c.interval(in.Epsilon.Value(c.prec)), c.FromRat(share))
	ln := number.LogRat(new(big.Rat).Quo(big.NewRat(int64(len(in.Scores)), 1), beta), c.prec) // ln(n/β)
	slope := c.Mul(c.interval(ln), c.FromInt(m.sign))
	half := c.Mul(eps, c.FromRat(big.NewRat(1, 2)))
	best, below := in.Best(), new(big.Rat)
	q, d, u := make([]T, len(classes)), make([]T, len(classes)), make([]T, len(classes)) // q - max q, and u = ε'(q - max q)/2 ∓ ln(n/β)Δ
	for i, x := range classes {
		q[i], d[i] = c.FromRat(below.Sub(x.q, best)), c.FromRat(x.d)
		u[i] = c.Sub(c.Mul(half, q[i]), c.Mul(slope, d[i]))
	}
	nearQ, nearD := make([]float64, len(classes)), make([]float64, len(classes))
	for i := range classes {
		nearQ[i], nearD[i] = c.near(q[i]), c.near(d[i])
	}
	hull := newEnvelope(classes, nearQ, nearD, c.proves)
	out := make([]*T, len(classes))
	for a := range classes {
		near, never := hull.minima(a, c.near(half), c.near(slope), func(a, l, r int) (int, bool) {
			return c.cmp(c.Mul(c.Sub(u[a], u[l]), c.Add(d[a], d[r])), c.Mul(c.Sub(u[a], u[r]), c.Add(d[a], d[l])))
		})
		if never {
			continue
		}
		exponent := c.Zero()
		for _, b := range near {
			if a != b { // not both without sensitivity
				rise := c.Sub(c.Mul(half, c.Sub(q[a], q[b])), c.Mul(slope, c.Sub(d[a], d[b])))
				exponent = c.least(exponent, c.Quo(rise, c.Add(d[a], d[b])))
			}
		}
		out[a] = &exponent
	}
	return out, nil
}

// runnerExponents returns -εD_r, D_r = min(d_r, (d_r + d)/2), from -εd_r/2, of classes of so many candidates. No exponent
// stands for a candidate that is never taken.
func runnerExponents[T any](c calculus[T], x []*T, counts []int) []*T {
	var all []T
	for a, e := range x {
		for range min(2, counts[a]) {
			if e != nil {
				all = append(all, *e)
			}
		}
	}
	if len(all) < 2 {
		return x
	}
	// The second largest of numbers lies between the second largest of their lower ends and that of their upper ends. Kept as max and min over
	// what was seen, it is an interval operation at each step.
	first, second := c.most(all[0], all[1]), c.least(all[0], all[1])
	for _, e := range all[2:] {
		second = c.most(second, c.least(first, e))
		first = c.most(first, e)
	}
	out := make([]*T, len(x))
	for a, e := range x {
		if e != nil {
			twice := c.most(c.Add(*e, *e), c.Add(*e, second))
			out[a] = &twice
		}
	}
	return out
}

// flipAt is permute-and-flip of weights rounded to prec bits.
func flipAt(prec uint) overWeights[number.Interval] {
	return func(_ arith.Field[number.Interval], weights []number.Interval, counts []int) []number.Interval {
		return clamped(permuteAndFlipEnclosed(arith.Interval{Prec: prec}, clamped(weights, prec), counts), prec)
	}
}

func (m *gem) Enclose(in *Instance, prec uint) ([]number.Interval, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return gemAnswer(m, enclosedCalculus(prec+32), flipAt(prec), in, ratOne)
}

// Exact returns ErrNotRational unless the powers of e^ε and n/β are rational for every pair, as those of
// n/β are where sensitivities are equal or 0.
func (m *gem) Exact(in *Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	beta, err := in.Params.FailureProbability()
	if err != nil {
		return nil, err
	}
	if m.runner {
		return nil, ErrNotRational
	}
	classes, counts, class := in.choices(true)
	odds := new(big.Rat).Quo(big.NewRat(int64(len(in.Scores)), 1), beta)
	weights := make([]*big.Rat, len(classes))
	for a, ca := range classes {
		weights[a] = ratOne
		for _, cb := range classes {
			t, ok := m.pair(ca.q, ca.d, cb.q, cb.d)
			if !ok {
				continue
			}
			w, rational := t.weight(in.Epsilon, odds)
			if !rational {
				return nil, ErrNotRational
			}
			if w.Cmp(weights[a]) < 0 {
				weights[a] = w
			}
		}
	}
	return scatter(class, permuteAndFlip[*big.Rat](arith.Rat{}, weights, counts)), nil
}

// weight returns e^{-ε·gap}·odds^power where both factors are rational by their form.
func (t term) weight(eps number.Epsilon, odds *big.Rat) (w *big.Rat, ok bool) {
	if t.never {
		return new(big.Rat), true
	}
	if w, ok = eps.ExpNegRat(t.gap); !ok || !t.power.IsInt() { // |power| <= 1
		return nil, false
	}
	return new(big.Rat).Mul(w, arith.Pow(arith.Rat{}, odds, int(t.power.Num().Int64()))), true
}

// Symbolic knows equal sensitivities, where t cancels and q'_a = (q_a - max q)/2Δ: with sensitivity 1 that is
// permute-and-flip at twice the sensitivity, or half of ε. Depths are then counted in steps of 4Δ.
func (m *gem) Symbolic(in *Instance, unit *big.Rat) ([]arith.RatFunc, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	delta := in.Sensitivity()
	if m.runner || slices.ContainsFunc(in.Sensitivities, func(d *big.Rat) bool { return d.Cmp(delta) != 0 }) {
		return nil, ErrNotRational
	}
	if _, err := in.Params.FailureProbability(); err != nil {
		return nil, err
	}
	twice := *in
	twice.Sensitivities = []*big.Rat{new(big.Rat).Add(delta, delta)}
	return permuteAndFlipAs(m.info).Symbolic(&twice, unit)
}

func (m *gem) Float(in *Instance) ([]float64, error) {
	if _, err := in.floats(); err != nil {
		return nil, err
	}
	return gemAnswer(m, floatCalculus(), permuteAndFlipFloat, in, ratOne)
}

// relativeError bounds what rounding of ε'q'/2 makes of a probability. A difference of two u = εq/2 ∓ ln(n/β)Δ errs by less
// than 2^-50 of the largest |u| on each side, which the sum of two sensitivities divides; no weight errs by more than
// that, and a probability by no more than three times as much as the weights, beside the error of permute-and-flip.
func (m *gem) relativeError(in *floatInstance) float64 {
	beta, err := in.Params.FailureProbability()
	if err != nil {
		return math.Inf(1)
	}
	b, _ := beta.Float64()
	worst, least := 0.0, math.Inf(1)
	slope := math.Log(float64(len(in.Scores)) / b)
	for i, q := range in.Scores {
		d := in.sensitivity(i)
		worst = max(worst, float64(in.Epsilon/2*math.Abs(q))+float64(slope*d))
		if d > 0 {
			least = min(least, d)
		}
	}
	return 1e-12 + 3*0x1p-50*2*worst/least
}
