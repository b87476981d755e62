package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"

	"optratio/number/interval"
)

// The panels of enclosedStopping are so narrow, and their nodes so many, that errors are proved.
const (
	stoppingPanel  = 0.37    // the widest panel, in the smallest scale that matters there
	stoppingWork   = 400_000 // interval operations at most, an exponential counting as 25
	stoppingMargin = 30.0    // e^-30 of slack beyond the precision asked for
	stoppingBits   = 128     // the highest precision
)

// enclosedStopping encloses random stopping's pmf. All numbers are enclosures at precision prec.
//
// Between two cuts, which are the scores and the places where a candidate is e^-reach from being decided, each undecided
// candidate's survival function is e or 1 - e for an exponential e, and each decided one's is in [0,τ] or [1-τ,1], τ = ½e^-reach. φ'
// is monotone in the latter, so replacing them by constants of that range encloses the integral. On each panel a Gauss–Legendre rule of M nodes
// errs by at most (64/15) B 8^{-2(M-1)}/(1-1/64) h, h half the width (Trefethen 2013, Thm. 19.3), where B bounds f_a φ' on the Bernstein ellipse with ρ = 8. Its half-axes are
// 4.07h and 3.94h, so that with h <= 0.19 scales the exponentials turn by less than π/2 there and grow by less
// than e^{0.19·5.07} < 3, to less than 1; then every survival function has a real part >= 0, and
// |φ'| <= E[K] as on the real line. What a candidate's noise does beyond its reach adds at most τ E[K]/n on either side.
type enclosedStopping struct {
	in         *Instance
	prec       uint
	gamma, eta *big.Rat
	scale      *big.Rat // 2+η
	all        []noisy
	n          int
	eps        interval.Interval
	reach      float64
	rule       *gaussRule
	gammaBox   interval.Interval
	share      interval.Interval // (1-γ)/n
	factor     interval.Interval // of v^{-1-η} in φ'
	mean       interval.Interval // E[K]/n
	tau        interval.Interval // [0, τ]
	p          []interval.Interval
}

// Enclose returns ErrNoEnclosure at ε = 0, for more than 128 bits, and where there are so many candidates, or scales so
// different, that it would take more than a second or two.
func (m *randomStopping) Enclose(in *Instance, prec uint) ([]interval.Interval, error) {
	if err := m.check(in); err != nil {
		return nil, err
	}
	if in.Epsilon.IsZero() {
		return nil, fmt.Errorf("%w: at ε = 0 it is a limit", ErrNoEnclosure)
	}
	if prec > stoppingBits {
		return nil, fmt.Errorf("%w of more than %d bits", ErrNoEnclosure, stoppingBits)
	}
	s := &enclosedStopping{in: in, prec: prec + 40, n: len(in.Scores)}
	var err error
	if s.gamma, err = in.Params.gamma(); err != nil {
		return nil, err
	}
	if s.eta, err = m.shape(in.Params); err != nil {
		return nil, err
	}
	s.scale = new(big.Rat).Add(big.NewRat(2, 1), s.eta)
	var group []int
	s.all, group = in.rates(1, false)
	for i := range s.all {
		if s.all[i].rate != nil {
			s.all[i].rate = new(big.Rat).Quo(s.all[i].rate, s.scale)
		}
	}
	key := s.key()
	if p, ok := m.known.get(key); ok {
		return scatter(group, p), nil
	}
	if err := s.run(prec); err != nil {
		return nil, err
	}
	for i := range s.p {
		s.p[i] = clampUnit(s.p[i].SetPrec(prec))
	}
	m.known.put(key, s.p)
	return scatter(group, s.p), nil
}

// key names the instance up to a permutation of the candidates and a shift of the scores.
func (s *enclosedStopping) key() string {
	var b strings.Builder
	fmt.Fprint(&b, s.in.Epsilon, s.gamma, s.eta, s.prec)
	last := s.all[len(s.all)-1].at
	for _, g := range s.all {
		fmt.Fprint(&b, ";", new(big.Rat).Sub(last, g.at), g.rate, g.count)
	}
	return b.String()
}

// recent remembers some results by name, and forgets them all when they are too many.
type recent struct {
	mu    sync.Mutex
	known map[string][]interval.Interval
}

const recentResults = 1 << 10

func (r *recent) get(key string) ([]interval.Interval, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.known[key]
	return p, ok
}

func (r *recent) put(key string, p []interval.Interval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= recentResults {
		r.known = map[string][]interval.Interval{}
	}
	r.known[key] = p
}

func (s *enclosedStopping) rat(r *big.Rat) interval.Interval { return interval.FromRat(r, s.prec) }
func (s *enclosedStopping) int(i int) interval.Interval      { return interval.FromInt(int64(i), s.prec) }

// power returns x^{e} for x > 0.
func (s *enclosedStopping) power(x interval.Interval, e *big.Rat) interval.Interval {
	if e.IsInt() && e.Num().BitLen() < 16 {
		return x.Pow(int(e.Num().Int64()))
	}
	return interval.Exp(interval.Log(x).Mul(s.rat(e)))
}

// v returns 1 - (1-γ)(1-h/n) = γ + (1-γ)h/n.
func (s *enclosedStopping) v(h interval.Interval) interval.Interval {
	return s.gammaBox.Add(s.share.Mul(h))
}

// value returns φ(1-h/n).
func (s *enclosedStopping) value(h interval.Interval) interval.Interval {
	switch {
	case s.gamma.Cmp(ratOne) == 0:
		return s.int(1).Sub(h.Quo(s.int(s.n)))
	case s.eta.Sign() == 0:
		return interval.Log(s.v(h)).Quo(interval.LogRat(s.gamma, s.prec))
	}
	return s.expm1(interval.Log(s.v(h))).Quo(s.expm1(interval.LogRat(s.gamma, s.prec)))
}

// expm1 returns e^{-ηx} - 1.
func (s *enclosedStopping) expm1(x interval.Interval) interval.Interval {
	return interval.Expm1(x.Mul(s.rat(s.eta)).Neg())
}

// law sets factor and mean: φ'(1-h/n) = factor·v^{-1-η}, at most E[K] = factor·γ^{-1-η}.
func (s *enclosedStopping) law() {
	rest := s.rat(new(big.Rat).Sub(ratOne, s.gamma))
	switch {
	case s.gamma.Cmp(ratOne) == 0:
		s.factor = s.int(1)
	case s.eta.Sign() == 0:
		s.factor = rest.Quo(interval.LogRat(s.gamma, s.prec).Neg())
	default:
		s.factor = rest.Mul(s.rat(s.eta)).Quo(s.expm1(interval.LogRat(s.gamma, s.prec)))
	}
	// factor·γ^{-1-η}, with γ^η left to cancel: for large η neither factor need have a finite enclosure
	if s.eta.Sign() > 0 && s.gamma.Cmp(ratOne) < 0 {
		power := interval.Expm1(interval.LogRat(s.gamma, s.prec).Mul(s.rat(s.eta))).Neg()
		s.mean = rest.Mul(s.rat(s.eta)).Quo(s.gammaBox.Mul(power)).Quo(s.int(s.n))
		return
	}
	exponent := new(big.Rat).Add(ratOne, s.eta)
	s.mean = s.factor.Mul(s.power(s.gammaBox, exponent.Neg(exponent))).Quo(s.int(s.n))
}

// stoppingNodes is the most nodes of a rule.
const stoppingNodes = 200

func (s *enclosedStopping) run(prec uint) error {
	s.eps = s.in.Epsilon.Value(s.prec)
	s.gammaBox = s.rat(s.gamma)
	s.share = s.rat(new(big.Rat).Sub(ratOne, s.gamma)).Quo(s.int(s.n))
	s.law()
	s.p = make([]interval.Interval, len(s.all))
	s.reach = 0.7*float64(prec) + stoppingMargin
	edge := interval.Exp(interval.FromFloat(-s.reach, s.prec)).Mul(s.rat(big.NewRat(1, 2)))
	s.tau = interval.Hull(s.int(0), edge)
	beyond := interval.Hull(s.int(0), edge.Mul(s.mean).Mul(s.int(2)))
	_, mean := s.mean.Mul(s.int(s.n)).Float64()
	// 2(M-1) ln 8 >= reach + ln of what E[K] may exceed a probability by
	nodes := (s.reach+math.Log1p(mean))/(2*math.Log(8)) + 3
	if _, lost := beyond.Float64(); !(lost < 0.5) || !(nodes <= stoppingNodes) {
		return fmt.Errorf("%w: %.2g draws on average", ErrNoEnclosure, mean)
	}
	for g := range s.all {
		s.p[g] = beyond
		if s.all[g].rate == nil {
			s.p[g] = s.int(0)
		}
	}
	s.rule = enclosedRule(int(nodes), s.prec)
	cuts, err := s.cuts()
	if err != nil {
		return err
	}
	for i := 1; i < len(cuts); i++ {
		s.piece(cuts[i-1], cuts[i])
	}
	s.atoms()
	return nil
}

var errTooManyPanels = errors.New("quadrature would take too long")

// cuts returns the ends of pieces, ascending: the scores, and the reach of every candidate, rounded outward.
func (s *enclosedStopping) cuts() ([]*big.Rat, error) {
	low, _ := s.eps.Float64()
	var cuts []*big.Rat
	for _, g := range s.all {
		cuts = append(cuts, g.at)
		if g.rate != nil {
			rate, _ := g.rate.Float64()
			far := new(big.Rat).SetFloat64(1.0001 * s.reach / (low * rate))
			if far == nil {
				return nil, fmt.Errorf("%w: noise beyond float64", ErrNoEnclosure)
			}
			cuts = append(cuts, new(big.Rat).Add(g.at, far), new(big.Rat).Sub(g.at, far))
		}
	}
	slices.SortFunc(cuts, (*big.Rat).Cmp)
	cuts = slices.CompactFunc(cuts, func(a, b *big.Rat) bool { return a.Cmp(b) == 0 })
	work := 0.0
	for i := 1; i < len(cuts); i++ {
		active, _, _ := s.undecided(cuts[i-1], cuts[i])
		panels := s.panels(active, cuts[i-1], cuts[i])
		work += float64(len(s.rule.x)*len(active)) * (float64(panels)*4 + 25)
		if work > stoppingWork || panels > stoppingWork {
			return nil, fmt.Errorf("%w: %w", ErrNoEnclosure, errTooManyPanels)
		}
	}
	return cuts, nil
}

// undecided returns the groups whose exponential matters between l and u, and how many candidates are
// surely below it and above it.
func (s *enclosedStopping) undecided(l, u *big.Rat) (active []int, below, above int) {
	low, _ := s.eps.Float64()
	for g, x := range s.all {
		if x.rate != nil {
			rate, _ := x.rate.Float64()
			gap := new(big.Rat).Sub(l, x.at)
			if gap.Sign() < 0 {
				gap.Sub(x.at, u)
			}
			if d, _ := gap.Float64(); d*rate*low < 1.00005*s.reach {
				active = append(active, g)
				continue
			}
		}
		if x.at.Cmp(l) <= 0 {
			below += x.count
		} else {
			above += x.count
		}
	}
	return active, below, above
}

// panels returns how many panels of equal width a piece needs.
func (s *enclosedStopping) panels(active []int, l, u *big.Rat) int {
	_, high := s.eps.Float64()
	largest := 0.0
	for _, g := range active {
		rate, _ := s.all[g].rate.Float64()
		largest = max(largest, rate)
	}
	width, _ := new(big.Rat).Sub(u, l).Float64()
	return int(min(1e9, math.Ceil(width*largest*high/stoppingPanel))) + 1
}

// piece adds the integrals from l to u.
func (s *enclosedStopping) piece(l, u *big.Rat) {
	active, below, above := s.undecided(l, u)
	if len(active) == 0 {
		return
	}
	count := s.panels(active, l, u)
	width := new(big.Rat).Sub(u, l)
	width.Quo(width, big.NewRat(int64(count), 1))
	n := len(s.rule.x)
	start := make([]interval.Interval, len(active))    // e at the left end of the panel
	step := make([]interval.Interval, len(active))     // its change to the next one
	inside := make([][]interval.Interval, len(active)) // its change to each node
	sign := make([]interval.Interval, len(active))     // of e in the sum of survival functions, times the count
	constant := s.tau.Mul(s.int(below)).Add(s.int(above)).Sub(s.tau.Mul(s.int(above)))
	for j, g := range active {
		x := s.all[g]
		sign[j] = s.int(x.count)
		gap := new(big.Rat).Sub(l, x.at)
		gap.Mul(gap.Abs(gap), x.rate)
		start[j] = s.in.Epsilon.expNeg(gap, s.prec).Mul(s.rat(big.NewRat(1, 2)))
		exponent := new(big.Rat).Mul(width, x.rate)
		if x.at.Cmp(l) > 0 {
			exponent.Neg(exponent)
			sign[j] = s.int(-x.count)
			constant = constant.Add(s.int(x.count))
		}
		step[j] = s.in.Epsilon.expNeg(exponent, s.prec)
		slope := s.eps.Mul(s.rat(exponent)).Neg()
		inside[j] = make([]interval.Interval, n)
		for i, t := range s.rule.x {
			inside[j][i] = interval.Exp(slope.Mul(t))
		}
	}
	// the error of a panel for e at its left end: (64/15) E[K]/n 3e ερ 8^{-2(M-1)} (64/63) width/2
	bound := s.mean.Mul(s.rat(big.NewRat(64*64*3, 15*63*2))).Mul(s.int(8).Pow(-2 * (n - 1)))
	bound = interval.Hull(bound.Neg(), bound)
	exponent := new(big.Rat).Add(ratOne, s.eta)
	exponent.Neg(exponent)
	perNode := s.factor.Quo(s.int(s.n))
	sum := make([]*interval.Accumulator, len(active))
	for j := range sum {
		sum[j] = interval.NewAccumulator(s.prec)
	}
	e := make([]interval.Interval, len(active))
	for range count {
		for i := range n {
			h := interval.NewAccumulator(s.prec)
			h.Add(constant)
			for j := range active {
				e[j] = start[j].Mul(inside[j][i])
				h.AddMul(e[j], sign[j])
			}
			weight := s.power(s.v(h.Value()), exponent).Mul(perNode).Mul(s.rule.weight[i])
			for j := range active {
				sum[j].AddMul(weight, e[j])
			}
		}
		for j := range active {
			sum[j].AddMul(bound, start[j])
			start[j] = start[j].Mul(step[j])
		}
	}
	for j, g := range active {
		rate := s.eps.Mul(s.rat(new(big.Rat).Mul(width, s.all[g].rate)))
		s.p[g] = s.p[g].Add(sum[j].Value().Mul(rate))
	}
}

// atoms adds the probabilities of candidates without noise: what φ(G) jumps by at their score, in equal shares.
func (s *enclosedStopping) atoms() {
	for g, x := range s.all {
		if x.rate != nil {
			continue
		}
		h := s.int(0)
		for _, y := range s.all {
			gap := new(big.Rat).Sub(x.at, y.at)
			side := gap.Sign()
			switch {
			case y.rate == nil && side < 0:
				h = h.Add(s.int(y.count))
			case y.rate != nil:
				e := s.in.Epsilon.expNeg(gap.Mul(gap.Abs(gap), y.rate), s.prec).Mul(s.rat(big.NewRat(1, 2)))
				if side < 0 {
					e = s.int(1).Sub(e)
				}
				h = h.Add(e.Mul(s.int(y.count)))
			}
		}
		jump := s.value(h).Sub(s.value(h.Add(s.int(x.count))))
		s.p[g] = jump.Quo(s.int(x.count))
	}
}
