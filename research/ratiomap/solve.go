package ratiomap

import (
	"context"
	"math"
	"math/big"
	"slices"

	"optratio/internal/chain"
)

// multiplierBits is what multipliers are rounded to, in bits after the point: short numbers in certificates, and far finer than the bounds.
const multiplierBits = 24

// solverIterations bounds the iterations at one z.
const solverIterations = 20_000

// solverGap returns the relative gap to which programs are solved: a small part of what the bound may be above the truth. Nothing else depends on it.
func (o *Options) solverGap() float64 {
	room := o.Gap
	if room == 0 {
		target, _ := o.Target.Float64()
		room = (target - 1) / 10
	}
	return room / 50
}

// solved is where the first-order method ended at one z, from which it can start at another.
type solved struct {
	point chain.Point
	omega float64
}

// solve looks for the best multipliers at one z. It starts from what was found nearby, the mean of which is taken, or from the multipliers of the
// closed-form bound.
func (p *prover) solve(ctx context.Context, z int64, near ...*dual) (*dual, error) {
	if p.monotone != nil && z < 1<<zBits { // at z = 1 the level makes no difference
		if d, err := p.monotone.solve(ctx, p, z); d != nil || err != nil {
			return d, err
		}
	}
	g := p.form.at(float64(z) / (1 << zBits))
	start, omega := chain.NewPoint(g), 0.0
	near = slices.DeleteFunc(slices.Clone(near), func(d *dual) bool { return d.solved == nil })
	for _, d := range near {
		for i, x := range d.solved.point.X {
			start.X[i] += x / float64(len(near))
		}
		for i, y := range d.solved.point.Y {
			start.Y[i] += y / float64(len(near))
		}
		omega += d.solved.omega / float64(len(near))
	}
	if len(near) == 0 {
		a, b := 0.0, 0.0
		for v := 1; v <= p.k; v++ {
			a += float64(float64(v) * g.Power[v])
			b += g.Power[v]
		}
		for i, m := range p.form.classes {
			if m[0] > 1 {
				start.Y[i] = a / (1 + b)
			}
		}
		for i, v := range p.form.depth {
			start.X[i] = g.Power[v] / float64(p.n)
		}
		omega = math.Sqrt(float64(p.n)) * a / (1 + b)
	}
	ascent := chain.NewAscent(g, start, omega)
	ascent.Run(ctx, solverIterations, ascent.Until(p.options.solverGap(), math.Inf(1), func() {}))
	if ctx.Err() != nil { // the multipliers are not what they are going to be
		return nil, context.Cause(ctx)
	}
	y := make([]int64, len(ascent.Best))
	for i, v := range ascent.Best {
		y[i] = units(v)
	}
	d := walk(p.form, z, y, p.depths())
	d.solved = &solved{ascent.Now, ascent.Omega}
	return d, nil
}

// units rounds a multiplier down to multiplierBits, in units of 2^-unitBits. What is not a number, or too large for the walk, becomes 0, which is
// as admissible.
func units(y float64) int64 {
	if !(math.Abs(y) < maxUnits>>unitBits) {
		return 0
	}
	return int64(math.Floor(y*(1<<multiplierBits))) << (unitBits - multiplierBits)
}

// rational returns z as a rational.
func rational(z int64) *big.Rat { return big.NewRat(z, 1<<zBits) }

// depths returns the costs of positions without any rows beyond the paper's, where there may be such rows at other nodes, and nil otherwise.
func (p *prover) depths() []int64 {
	if p.monotone == nil {
		return nil
	}
	cost, _ := p.monotone.costs(p.form, nil)
	return cost
}
