package ratiomap

import (
	"context"
	"math"
	"math/big"

	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
)

// Seen is a ratio that is attained: permute-and-flip's ratio at this ε is at least Ratio.
type Seen struct{ Epsilon, Ratio *big.Rat }

// MaxSeen bounds the variables of the programs that are solved to see how large the ratio really is.
const MaxSeen = 2_500

// leastSeen is the ratio to dual points from which on it is of interest how large the ratio itself is.
const leastSeen = 1.0002

// seenGap is the relative gap of their optima.
var seenGap = big.NewRat(1, 1_000_000)

// Values of ε are multiples of 1/seenUnit. The search starts at the best of the nodes, climbs in steps of firstSeen, then in ever smaller ones.
const (
	seenUnit  = 10_000
	firstSeen = 128
)

// looked reports whether a lattice's largest ratio is looked for.
func looked(n, k int) bool {
	return n > 2 && k > 1 && lattice.Variables(n, k).Cmp(big.NewInt(MaxSeen)) <= 0
}

// look looks for the largest ratio: it climbs from the largest one at the nodes.
func (c *Cover) look(ctx context.Context) error {
	if !looked(c.N, c.K) {
		return nil
	}
	places := c.places()
	if places == nil {
		return nil
	}
	known := map[int64]bool{}
	try := func(places ...int64) error {
		for _, x := range places {
			if known[x] || x <= 0 {
				continue
			}
			known[x] = true
			eps := big.NewRat(x, seenUnit)
			low, err := c.ratioAt(ctx, eps)
			if err != nil {
				return err
			}
			if c.Seen == nil || low.Cmp(c.Seen.Ratio) > 0 {
				c.Seen = &Seen{eps, low}
			}
		}
		return nil
	}
	if err := try(places...); err != nil {
		return err
	}
	best := func() int64 { return new(big.Rat).Mul(c.Seen.Epsilon, big.NewRat(seenUnit, 1)).Num().Int64() }
	for step := int64(firstSeen); c.Seen != nil && step > 0; step /= 4 {
		for x := int64(0); x != best(); {
			x = best()
			if err := try(x-step, x+step); err != nil {
				return err
			}
		}
	}
	if c.Seen != nil {
		c.Seen.Ratio = down(c.Seen.Ratio)
	}
	return nil
}

// places returns ε at the nodes, in units of 1/seenUnit, and nothing if the ratio is less than leastSeen at all of them.
func (c *Cover) places() (places []int64) {
	most := 0.0
	for _, d := range c.nodes {
		p := &prover{n: c.N, k: c.K}
		if z := float64(d.z) / (1 << zBits); z < 1 {
			most = max(most, p.ratio(d))
			places = append(places, int64(math.Round(-math.Log(z)*seenUnit)))
		}
	}
	if most < leastSeen {
		return nil
	}
	return places
}

// ratioAt returns a lower bound on permute-and-flip's ratio at one ε, by solving the whole program.
func (c *Cover) ratioAt(ctx context.Context, epsilon *big.Rat) (*big.Rat, error) {
	eps, err := number.FromEpsilon(epsilon)
	if err != nil {
		return nil, err
	}
	a, err := lp.Ratio(ctx, lp.Request{
		N: c.N, K: c.K, Epsilon: eps, Level: c.Level, Method: "lp", Gap: seenGap, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()},
	})
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if low, ok := a.Mechanisms[0].Ratio.Lower(); ok {
		return low, nil
	}
	return one, nil
}

// down rounds a ratio that is attained down.
func down(x *big.Rat) *big.Rat {
	const unit = 100_000_000
	scaled := new(big.Int).Mul(x.Num(), big.NewInt(unit))
	return new(big.Rat).SetFrac(scaled.Div(scaled, x.Denom()), big.NewInt(unit))
}
