package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// Proofs of a calibration: for all scores, or on the domain that was searched.
const (
	byTheorem = "theorem"
	byDomain  = "domain"
)

// Calibration is the parameter ε' at which a mechanism reaches a target.
//
// By theorem, it is the largest one at which the mechanism is ε-DP, or ρ-zCDP, there; AllScores is the largest for all real scores, where a theorem
// knows it. On a domain, the mechanism was decided to meet the target at
// the lower end of Parameter, and to miss it at the upper end. That larger parameters always mean less privacy is not assumed: nothing is
// claimed of parameters in between, nor of those beyond the upper end.
type Calibration struct {
	Domain    string        `json:"domain"`
	Parameter number.Number `json:"parameter"`
	AllScores number.Number `json:"all_scores"`
	Proof     string        `json:"proof"`    // "theorem" or "domain"
	Attained  *Witness      `json:"attained"` // the neighbors that are closest to missing the target at the lower end
	Violated  *Witness      `json:"violated"` // those that miss it at the upper end
	Tried     int           `json:"tried"`    // parameters that were decided
	Undecided string        `json:"undecided,omitempty"`
}

// Calibrate finds the parameter at which the mechanism of a claim is ε-DP with the claim's ε, or ρ-zCDP where zcdp has a target, on the lattice Q(n,k);
// with n = k = 0 for all real scores at once, where a theorem gives the mechanism's ρ (mechanisms.Concentration). With Claim.Monotonic the neighbors
// move all scores one way, and the mechanism runs with 2Δ replaced by Δ (mechanisms.MonotonicSensitivities). Of the options it takes that target,
// Gap and Narrowed. Cancelling the context leaves the ends so far.
func Calibrate(ctx context.Context, p Claim, n, k int, opts Options) (*Calibration, error) {
	return calibrator{Claim: p, Rho: opts.Targets[ZCDP], N: n, K: k, AllScores: n == 0 && k == 0, Gap: opts.Gap, Progress: opts.Narrowed}.calibrate(ctx)
}

// CalibrateScores is Calibrate on score vectors and their neighbors, which are those of Scores.
func CalibrateScores(ctx context.Context, p Claim, vectors [][]*big.Rat, monotonic bool, opts Options) (*Calibration, error) {
	return calibrator{Claim: p, Rho: opts.Targets[ZCDP], Vectors: vectors, Monotonic: monotonic, Gap: opts.Gap, Progress: opts.Narrowed}.calibrate(ctx)
}

// calibrator is one calibration: on the lattice Q(N,K), on the vectors and their neighbors where there are any, or for all real scores.
type calibrator struct {
	Claim     Claim
	Rho       *big.Rat
	N, K      int
	Vectors   [][]*big.Rat
	Monotonic bool
	AllScores bool
	Gap       *big.Rat
	Progress  func(tried int, low, high *big.Rat)
}

// mostTried bounds the parameters that a calibration decides.
const mostTried = 400

// calibrate searches by bisection over the parameter, deciding each exactly.
func (c calibrator) calibrate(ctx context.Context) (*Calibration, error) {
	if c.Rho == nil {
		if err := c.Claim.Epsilon.Check(); err != nil {
			return nil, fmt.Errorf("%w: %w", inquiry.ErrClaim, err)
		}
	}
	if c.Claim.Mechanism == nil {
		return nil, fmt.Errorf("%w: no mechanism", inquiry.ErrClaim)
	}
	if c.Gap == nil {
		c.Gap = big.NewRat(1, 1e9)
	}
	out := &Calibration{Proof: byDomain}
	if c.AllScores {
		err := c.everywhere(ctx, out)
		out.AllScores = out.Parameter
		return out, err
	}
	low := new(big.Rat)
	if out.AllScores = c.forAllScores(ctx); out.AllScores.IsValid() {
		low, _ = out.AllScores.Lower()
	}
	if out.AllScores.IsValid() && c.Rho == nil && len(c.Vectors) == 0 && c.K >= 1 && c.Claim.Mechanism == mechanisms.PermuteAndFlip() {
		// Q(2,1) is in the lattice, where permute-and-flip attains whatever ε it runs at.
		at, err := c.decide(ctx, out, c.Claim.Epsilon)
		if err != nil && !errors.Is(err, lattice.ErrSize) {
			return nil, err
		}
		out.Proof, out.Parameter, out.Attained = byTheorem, c.Claim.Epsilon.Number(), at.attained
		return out, nil
	}
	e := &ends{low: low}
	var proposed []*big.Rat
	if c.Rho != nil {
		var err error
		if proposed, err = c.nearRho(ctx, out); errors.Is(err, lattice.ErrSize) && e.low.Sign() > 0 {
			out.Undecided, out.Parameter = err.Error(), number.Bounds(e.low, nil)
			return out, nil
		} else if err != nil {
			return nil, err
		}
	}
	if err := c.search(ctx, out, e, proposed, unlimitedParameter, func(eps number.Epsilon) (decided, error) { return c.decide(ctx, out, eps) }); err != nil {
		return nil, err
	}
	out.Parameter = number.Bounds(e.low, e.high)
	if ctx.Err() == nil && e.high != nil && narrow(e.low, e.high, c.Gap) {
		out.Undecided = ""
	}
	return out, nil
}

// search decides parameters up to a limit, first those that are proposed, until the ends are as close as asked.
func (c *calibrator) search(ctx context.Context, out *Calibration, e *ends, proposed []*big.Rat, limit int64, decide func(number.Epsilon) (decided, error)) error {
	for next := c.begin(); next != nil; next = e.next(c.Gap) {
		if len(proposed) > 0 {
			next, proposed = proposed[0], proposed[1:]
		}
		if next.Cmp(e.low) <= 0 {
			next = new(big.Rat).Mul(e.low, big.NewRat(2, 1)) // met there already
		}
		if next.Cmp(big.NewRat(limit, 1)) > 0 || out.Tried == mostTried {
			out.Undecided = fmt.Sprintf("no parameter was found that misses the target, of %d up to %s", out.Tried, inquiry.ScoreText(e.low))
			break
		}
		eps, err := number.FromEpsilon(next)
		if err != nil {
			return err
		}
		at, err := decide(eps)
		if err != nil {
			return err
		}
		switch at.verdict {
		case Proved:
			e.low, out.Attained = next, at.attained
		case Violated:
			e.high, out.Violated = next, at.attained
		default:
			e.open(next)
			out.Undecided = fmt.Sprintf("at the parameter %s: %s", inquiry.ScoreText(next), at.reason)
		}
		if ctx.Err() != nil {
			break
		}
		if c.Progress != nil {
			c.Progress(out.Tried, e.low, e.high)
		}
	}
	return nil
}

// ends are parameters at which the target is met, and missed (nil while none is known), and the least and the greatest one between them
// at which neither was decided, nil where there is none.
type ends struct{ low, high, least, most *big.Rat }

// open records a parameter that was not decided.
func (e *ends) open(x *big.Rat) {
	if e.least == nil || x.Cmp(e.least) < 0 {
		e.least = x
	}
	if e.most == nil || x.Cmp(e.most) > 0 {
		e.most = x
	}
}

// next returns the parameter to decide next, nil where the ends are as close as asked or cannot be told to be closer.
func (e *ends) next(gap *big.Rat) *big.Rat {
	middle := func(a, b *big.Rat) *big.Rat {
		sum := new(big.Rat).Add(a, b)
		return sum.Quo(sum, big.NewRat(2, 1))
	}
	fine := arith.Larger(new(big.Rat).Quo(gap, big.NewRat(8, 1)), big.NewRat(1, 10_000)) // around what is not decided
	switch {
	case e.high == nil && e.most != nil:
		return new(big.Rat).Mul(arith.Larger(e.low, e.most), big.NewRat(2, 1))
	case e.high == nil:
		return new(big.Rat).Mul(e.low, big.NewRat(2, 1))
	case narrow(e.low, e.high, gap):
		return nil
	case e.least == nil:
		return middle(e.low, e.high)
	case e.least.Cmp(e.low) > 0 && !narrow(e.low, e.least, fine):
		return middle(e.low, e.least)
	case e.most.Cmp(e.high) < 0 && !narrow(e.most, e.high, fine):
		return middle(e.most, e.high)
	}
	return nil
}

// narrow reports whether two parameters are as close as asked, or both as good as 0.
func narrow(low, high, gap *big.Rat) bool {
	return number.Bounds(low, high).Within(gap) || high.Cmp(big.NewRat(1, 1<<40)) < 0
}

// tightForAllScores reports whether it is known that the largest parameter for all scores is ε itself: for permute-and-flip and the
// exponential mechanism of at least two candidates with the same sensitivity, whose neighbors move by it either way, or one way
// where 2Δ is replaced by Δ: as they are shift-invariant, that is to move by Δ/2 either way at the sensitivity Δ/2.
func (c *calibrator) tightForAllScores() bool {
	n := c.N
	if len(c.Vectors) > 0 {
		n = len(c.Vectors[0])
	}
	m := c.Claim.Mechanism
	return n >= 2 && c.sameSensitivities() && (!c.Monotonic || len(c.Vectors) == 0 || c.Claim.Monotonic) &&
		(m == mechanisms.PermuteAndFlip() || m == mechanisms.Exponential())
}

func (c *calibrator) sameSensitivities() bool {
	return !slices.ContainsFunc(c.Claim.Sensitivities, func(d *big.Rat) bool { return d == nil || d.Cmp(c.Claim.Sensitivities[0]) != 0 })
}

// begin returns a parameter > 0 near which the answer may be.
func (c *calibrator) begin() *big.Rat {
	x := c.Claim.Epsilon.Float()
	if c.Rho != nil {
		x, _ = c.Rho.Float64()
	}
	if first := new(big.Rat).SetFloat64(max(x, 1.0/1024)); first != nil && first.Cmp(big.NewRat(64, 1)) < 0 {
		return first
	}
	return big.NewRat(1, 1)
}

// unlimitedParameter is so large that the search for a parameter which misses the target ends.
const unlimitedParameter = 1 << 12

// decided is what was found at one parameter.
type decided struct {
	verdict  Verdict
	attained *Witness
	reason   string
}

// decide decides whether the mechanism meets the target at a parameter.
func (c *calibrator) decide(ctx context.Context, out *Calibration, eps number.Epsilon) (decided, error) {
	options := Options{Properties: []Property{DP}, NoRange: true, Slack: new(big.Rat), about: &c.Claim.Epsilon}
	if c.Rho != nil {
		options = Options{Properties: []Property{ZCDP}, Targets: map[Property]*big.Rat{ZCDP: c.Rho}, rho: decidedRho}
	}
	r, err := c.examine(ctx, out, eps, options)
	if err != nil {
		return decided{}, err
	}
	out.Tried++
	return decided{r.Verdict, cmp.Or(r.Attained, r.Witness), r.Reason}, nil
}

// examine checks one property of the mechanism at a parameter on the domain.
func (c *calibrator) examine(ctx context.Context, out *Calibration, eps number.Epsilon, options Options) (*Result, error) {
	claim := c.Claim
	claim.Epsilon = eps
	if err := claim.complete(); err != nil {
		return nil, err
	}
	var report *Report
	var err error
	// Unlike Scores and Lattice, these look for no smaller witness.
	if len(c.Vectors) > 0 {
		report, err = around(ctx, claim, c.Vectors, c.Monotonic, options)
	} else {
		if c.K > 0 {
			claim.Mechanism, _ = mechanisms.ForLattice(claim.Mechanism, c.K)
		}
		report, err = onLattice(ctx, claim, c.N, c.K, options)
	}
	if err != nil {
		return nil, err
	}
	out.Domain = report.Domain
	return &report.Properties[0], nil
}
