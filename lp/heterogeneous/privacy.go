package heterogeneous

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strconv"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/number/arith"
	"optratio/number/interval"
)

// Verdict says whether a mechanism satisfies every row (P) of the grid.
type Verdict string

// The verdicts. Undecided are comparisons that enclosures of maxPrec bits and exact forms leave open, and
// mechanisms of which only estimates are known.
const (
	Proved    Verdict = "proved"
	Violated  Verdict = "violated"
	Undecided Verdict = "undecided"
)

// Precisions of enclosures: of all probabilities, and at most, in comparisons that are close.
const (
	basePrec = 64
	maxPrec  = 1024
)

// Witness is a pair of neighbours and a candidate whose probabilities differ by the largest factor found.
type Witness struct {
	Scores    []number.Number `json:"scores"`
	Neighbor  []number.Number `json:"neighbor"`
	Candidate int             `json:"candidate"` // counted from 0
	P         number.Number   `json:"p"`
	PNeighbor number.Number   `json:"p_neighbor"`
}

// law is a mechanism on the grid: its probabilities in each form that is known. It is asked at scores relative to the
// best one, once for all shifts: what is rated is the mechanism after that subtraction, which changes
// none that depends on differences of scores alone, as all of the registry do.
type law struct {
	space     *space
	mechanism mechanisms.Mechanism
	shape     []int // of each vector, the first vector that is a shift of it
	epsilon   mechanisms.Epsilon
	params    mechanisms.Params
	exact     [][]*big.Rat          // by vector; nil where not all are rational
	boxes     [][]interval.Interval // by vector; nil where there are only estimates
	floats    [][]float64           // estimates, where boxes is nil
	method    string                // of the estimates
	unit      *big.Rat              // of Symbolic
	functions map[int][]arith.RatFunc
	logs      map[int][]arith.LogRat
}

// newLaw asks a mechanism about every vector.
func newLaw(ctx context.Context, s *space, m mechanisms.Mechanism, eps mechanisms.Epsilon, params mechanisms.Params) (*law, error) {
	l := &law{
		space: s, shape: s.shapes(), mechanism: m, epsilon: eps, params: params,
		functions: map[int][]arith.RatFunc{}, logs: map[int][]arith.LogRat{},
	}
	l.unit = commonUnit(l.instance(0), s.grid.Step)
	var err error
	if l.exact, err = ask(ctx, l, m.Exact); err != nil && !errors.Is(err, mechanisms.ErrNotRational) {
		return nil, err
	}
	l.boxes, err = ask(ctx, l, func(in *mechanisms.Instance) ([]interval.Interval, error) { return m.Enclose(in, basePrec) })
	if !errors.Is(err, mechanisms.ErrNoEnclosure) {
		return l, err
	}
	l.exact, l.method = nil, "float64"
	if _, ok := m.(mechanisms.Estimator); ok {
		l.method = "quadrature"
	}
	l.floats, err = ask(ctx, l, m.Float)
	return l, err
}

// ask returns the answers to the same question at every vector, nil where there is an error.
func ask[T any](ctx context.Context, l *law, question func(*mechanisms.Instance) ([]T, error)) ([][]T, error) {
	out := make([][]T, len(l.shape))
	for q, first := range l.shape {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if first < q {
			out[q] = out[first]
			continue
		}
		p, err := question(l.instance(q))
		if err != nil {
			return nil, err
		}
		out[q] = p
	}
	return out, nil
}

// instance returns the question at a vector.
func (l *law) instance(q int) *mechanisms.Instance {
	in := &mechanisms.Instance{Scores: l.space.scores(q), Sensitivities: l.space.grid.Sensitivities, Epsilon: l.epsilon, Params: l.params}
	best := in.Best()
	for i, x := range in.Scores {
		in.Scores[i] = new(big.Rat).Sub(x, best)
	}
	return in
}

// shapes returns for each vector the first one that is a shift of it.
func (s *space) shapes() []int {
	known, out := map[string]int{}, make([]int, len(s.levels))
	for q := range s.levels {
		key := ""
		for r := range s.n {
			key += strconv.FormatInt(s.gap(q, r), 36) + " "
		}
		if _, ok := known[key]; !ok {
			known[key] = q
		}
		out[q] = known[key]
	}
	return out
}

// commonUnit returns 1/m such that depths are multiples of it, which they are of step/2Δ for the largest Δ, or of step/S
// for pf-pair.
func commonUnit(in *mechanisms.Instance, step *big.Rat) *big.Rat {
	m := big.NewInt(1)
	for _, d := range []*big.Rat{in.Sensitivity(), in.PairSensitivity()} {
		part := new(big.Rat).Add(d, d)
		den := part.Quo(step, part).Denom()
		m.Mul(m, new(big.Int).Quo(den, new(big.Int).GCD(nil, nil, m, den)))
	}
	return new(big.Rat).SetFrac(big.NewInt(1), m)
}

// privacy is how private a law is on the grid.
type privacy struct {
	verdict Verdict
	tight   number.Number // the least ε for which it satisfies all rows
	witness *Witness
}

// ratio is a probability over its neighbour's.
type ratio struct{ q, other, candidate int }

// eachPair visits each ordered pair of neighbours and each candidate.
func (s *space) eachPair(ctx context.Context, visit func(r ratio)) error {
	for q, near := range s.neighbors {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, o := range near {
			for c := range s.n {
				visit(ratio{q, int(o), c})
			}
		}
	}
	return nil
}

// privacy decides every row (P) and finds the tight ε, the largest ln x_r(q)/x_r(q').
func (l *law) privacy(ctx context.Context) (privacy, error) {
	if l.boxes == nil {
		return l.estimatedPrivacy(ctx)
	}
	// Doubles around every probability settle most rows.
	low, high := make([][]float64, len(l.boxes)), make([][]float64, len(l.boxes))
	for q, boxes := range l.boxes {
		low[q], high[q] = make([]float64, len(boxes)), make([]float64, len(boxes))
		for r, b := range boxes {
			low[q][r], high[q][r] = b.Float64()
		}
	}
	limit, _ := l.epsilon.ExpNeg(big.NewRat(-1, 1), basePrec).Float64()
	best, worst := interval.FromInt(1, basePrec), ratio{q: -1}
	floor, verdict, unbounded, tied := 1.0, Proved, false, false
	err := l.space.eachPair(ctx, func(r ratio) {
		above := high[r.q][r.candidate] / low[r.other][r.candidate]
		above = math.Nextafter(above, math.Inf(1))
		if above < floor && above < limit {
			return
		}
		p, o := l.boxes[r.q][r.candidate], l.boxes[r.other][r.candidate]
		if zero, ok := o.Sign(); ok && zero == 0 {
			if s, ok := p.Sign(); ok && s > 0 {
				verdict, unbounded, worst = Violated, true, r
			} else if !ok && verdict == Proved {
				verdict = Undecided
			}
			return
		}
		if quotient := p.Quo(o); !unbounded && (quotient.Hi().Cmp(best.Hi()) > 0 || worst.q < 0) {
			if quotient.Lo().Cmp(best.Lo()) > 0 || worst.q < 0 {
				worst = r
			}
			best = best.Max(quotient)
			floor, _ = best.Float64()
		}
		switch s, ok := l.slack(r); {
		case ok && s == 0:
			tied = true
		case ok && s < 0:
			verdict = Violated
		case !ok && verdict == Proved:
			verdict = Undecided
		}
	})
	out := privacy{verdict: verdict, tight: logOf(best)}
	switch {
	case unbounded:
		out.tight = number.Infinity()
	case tied && verdict == Proved && l.epsilon.Eps() != nil:
		out.tight = number.Exact(l.epsilon.Eps())
	}
	if worst.q >= 0 {
		out.witness = l.witness(worst)
	}
	return out, err
}

// logOf returns ln x for x >= 1.
func logOf(x interval.Interval) number.Number {
	switch {
	case x.IsPoint() && x.Lo().Cmp(big.NewFloat(1)) == 0:
		return number.Int(0)
	case x.Lo().IsInf():
		return number.Infinity()
	}
	return number.Enclosed(interval.Log(x.Max(interval.FromInt(1, x.Prec()))))
}

// witness describes a pair.
func (l *law) witness(r ratio) *Witness {
	at := func(q int) number.Number {
		if l.exact != nil {
			return number.Exact(l.exact[q][r.candidate])
		}
		return number.Enclosed(l.boxes[q][r.candidate])
	}
	return &Witness{numbers(l.space.scores(r.q)), numbers(l.space.scores(r.other)), r.candidate, at(r.q), at(r.other)}
}

func numbers(xs []*big.Rat) []number.Number {
	out := make([]number.Number, len(xs))
	for i, x := range xs {
		out[i] = number.Exact(x)
	}
	return out
}

// slack returns the sign of x_r(q') - z x_r(q), q' the other, and whether it is known: from the exact
// numbers where they are rational, otherwise 0 where the difference is 0 by its form, and else from enclosures
// of growing precision.
func (l *law) slack(r ratio) (sign int, ok bool) {
	z, rational := l.epsilon.Z()
	if rational && l.exact != nil {
		want := new(big.Rat).Mul(z, l.exact[r.q][r.candidate])
		return l.exact[r.other][r.candidate].Cmp(want), true
	}
	if l.sameForm(r) {
		return 0, true
	}
	p, o := l.boxes[r.q], l.boxes[r.other]
	for prec := uint(basePrec); ; {
		bound := l.epsilon.ExpNeg(big.NewRat(1, 1), prec).Mul(p[r.candidate])
		if s, ok := o[r.candidate].Sub(bound).Sign(); ok && s != 0 {
			return s, true
		}
		if prec *= 2; prec > maxPrec {
			return 0, false
		}
		var err, other error
		p, err = l.mechanism.Enclose(l.instance(r.q), prec)
		o, other = l.mechanism.Enclose(l.instance(r.other), prec)
		if err != nil || other != nil {
			return 0, false
		}
	}
}

// sameForm reports whether x_r(q') and z x_r(q) are equal as rational functions of a power of z, or as a + b·ln z.
func (l *law) sameForm(r ratio) bool {
	if p, o := l.function(r.q), l.function(r.other); p != nil && o != nil {
		f := arith.Poly{}
		z := arith.Pow(f, f.Z(), int(l.unit.Denom().Int64()))
		if o[r.candidate].Equal(f.Mul(z, p[r.candidate])) {
			return true
		}
	}
	z, rational := l.epsilon.Z()
	if !rational {
		return false
	}
	p, o := l.logarithm(r.q), l.logarithm(r.other)
	return p != nil && o != nil && o[r.candidate].Sub(p[r.candidate].Scale(z)).IsZero()
}

// maxParts bounds the degree of z in rational functions.
const maxParts = 64

// function returns the probabilities at q as rational functions of z^unit, nil where they are none.
func (l *law) function(q int) []arith.RatFunc {
	q = l.shape[q]
	m, ok := l.mechanism.(mechanisms.Symbolic)
	if !ok || l.unit.Denom().Cmp(big.NewInt(maxParts)) > 0 {
		return nil
	}
	f, known := l.functions[q]
	if !known {
		f, _ = m.Symbolic(l.instance(q), l.unit)
		l.functions[q] = f
	}
	return f
}

// logarithm returns the probabilities at q as a + b·ln z, nil where they are not so.
func (l *law) logarithm(q int) []arith.LogRat {
	q = l.shape[q]
	m, ok := l.mechanism.(mechanisms.Logarithmic)
	if !ok {
		return nil
	}
	f, known := l.logs[q]
	if !known {
		f, _ = m.LogExact(l.instance(q))
		l.logs[q] = f
	}
	return f
}

// estimatedPrivacy returns the tight ε of estimates, and no verdict.
func (l *law) estimatedPrivacy(ctx context.Context) (privacy, error) {
	most := 1.0
	err := l.space.eachPair(ctx, func(r ratio) {
		if x := l.floats[r.q][r.candidate] / l.floats[r.other][r.candidate]; x > most {
			most = x
		}
	})
	return privacy{verdict: Undecided, tight: number.Estimate(math.Log(most), l.method)}, err
}
