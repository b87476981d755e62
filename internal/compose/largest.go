package compose

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"optratio/number"
)

// errNoAttack says why there is no upper end.
var errNoAttack = errors.New("no attack was found that refutes a larger ε")

// Parameter is what is known of the largest ε of each step.
type Parameter struct {
	Lower   *big.Rat // certified by an upper bound
	Upper   *big.Rat // refuted by an attack; nil for none
	Shown   *Answer  // at the lower end; nil where basic composition certifies that
	Stopped error    // why the width is not what is wanted
}

// Largest bounds the largest ε of each step at which so many selections by a mechanism are (s,δ)-DP together. p has the kind, whose ε is not read, and the
// number of steps.
//
// The family of a smaller ε is contained in that of a greater one, up to data processing, so that the cost does not fall in ε.
func (p Problem) Largest(ctx context.Context, s, delta *big.Rat) (*Parameter, error) {
	f := &search{Problem: p, ctx: ctx, delta: delta, goal: up(number.FromRat(s, prec)), sure: down(number.FromRat(s, prec))}
	f.Lower = new(big.Rat).Quo(s, big.NewRat(int64(p.Steps[0].Count), 1)) // at which no δ is needed
	// Each end is followed on its own: the guess aims a little to the side on which it is useful.
	small := float64(p.Gap / 8)
	safe, _ := f.Lower.Float64()
	if err := f.follow(safe, func(a *Answer) float64 { return up(a.Upper) }, 1-small); err != nil {
		return nil, err
	}
	safe, _ = f.Lower.Float64()
	if err := f.follow(float64(safe*(1+small)), func(a *Answer) float64 { return down(a.Lower) }, 1+small); err != nil {
		return nil, err
	}
	if f.Shown != nil && p.Prove {
		f.Shown.refuted, f.Shown.proof.total = f.refuted, s
	}
	f.Stopped = f.stopped()
	return &f.Parameter, nil
}

// search follows the ends of the largest ε, and keeps the best that it meets.
type search struct {
	Problem
	Parameter
	ctx        context.Context
	delta      *big.Rat
	goal, sure float64 // s, rounded up and down
	refuted    *Answer // at the upper end
}

// stopped says why the width is not what is wanted.
func (f *search) stopped() error {
	if stopped := context.Cause(f.ctx); stopped != nil {
		return stopped
	}
	if f.Upper == nil {
		return errNoAttack
	}
	refuted, _ := f.Upper.Float64()
	safe, _ := f.Lower.Float64()
	if width := (refuted - safe) / refuted; width > f.Gap {
		return fmt.Errorf("the relative width is %.2g, not %.2g", width, f.Gap)
	}
	return nil
}

// at bounds ε in total where x is the ε of each step.
func (f *search) at(x float64) (*Answer, error) {
	eps, _ := new(big.Rat).SetString(big.NewFloat(x).Text('g', 12)) // a decimal
	st, once := f.Steps[0], f.Problem
	var err error
	if st.Eps, err = number.FromEpsilon(eps); err != nil {
		return nil, err
	}
	once.Gap, once.Steps = f.Gap/4, []Step{st}
	a, err := once.Eps(f.ctx, f.delta)
	if err != nil {
		return nil, err
	}
	if up(a.Upper) <= f.sure && eps.Cmp(f.Lower) > 0 {
		f.Lower, f.Shown = eps, a
	}
	if down(a.Lower) > f.goal && (f.Upper == nil || eps.Cmp(f.Upper) < 0) {
		f.Upper, f.refuted = eps, a
	}
	return a, nil
}

// follow looks for the ε of each step at which an end of ε in total is so many times the goal.
func (f *search) follow(x float64, end func(*Answer) float64, aim float64) error {
	g := &guess{wanted: float64(aim * f.goal), slope: float64(f.Steps[0].Count), high: math.Inf(1), power: 1}
	for range 40 {
		if f.ctx.Err() != nil || g.high-g.low < f.Gap/16*g.low {
			return nil
		}
		a, err := f.at(x)
		if err != nil {
			return err
		}
		y := end(a)
		if off := (y/f.goal - 1) / (aim - 1); off > 0 && off < 2 {
			return nil
		}
		x = g.next(x, y)
	}
	return nil
}

// guess guesses where y is what is wanted. y grows about like a power of x, and where δ is large from 0 on.
type guess struct {
	wanted, slope float64 // far out y grows by at most so much for each unit
	low, high     float64 // an x that is too small, and one that is too large
	power         float64
	x, y          float64 // that were seen last
}

// next returns the x to look at after one at which there is y.
func (g *guess) next(x, y float64) float64 {
	if y < g.wanted {
		g.low = max(g.low, x)
	} else {
		g.high = min(g.high, x)
	}
	next := 2 * x
	if y > 0 {
		if g.y > 0 && x != g.x {
			g.power = min(max(math.Log(y/g.y)/math.Log(x/g.x), 0.3), 1e3)
		}
		g.x, g.y = x, y
		next = x * math.Exp(math.Log(g.wanted/y)/g.power)
	}
	inside := func(x float64) bool { return g.low < x && x < g.high }
	if !inside(next) {
		next = x - (y-g.wanted)/g.slope
	}
	if !inside(next) && g.low > 0 && !math.IsInf(g.high, 1) {
		next = math.Sqrt(g.low * g.high)
	}
	return next
}
