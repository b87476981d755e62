package verify

import (
	"errors"
	"math/big"

	"optratio/internal/decimal"
	"optratio/internal/inquiry"
	"optratio/number"
)

// tiny is the probability up to which a part of the outcomes may be left to δ, as those are that make ε infinite in samplers which turn a float64
// number between 0 and 1 into an outcome.
var tiny = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 50))

// relax looks for a tiny δ with which ε is finite, and says what ε is at most then: ε from the outcomes that are not tiny, then the least δ at that ε, over all neighbors, rounded up.
func (c *run) relax() (*[2]number.Number, error) {
	g := &greatest{}
	least, _ := tiny.Float64()
	quiet := &tracker{run: c, res: &Result{}}
	ask := func(inquiry.Vector) error { return c.ctx.Err() }
	whole, err := c.eachPair(quiet, ask, func(pair direction) error {
		if pair.apart() {
			return errEnough
		}
		for _, d := range []direction{pair, pair.reversed()} {
			for r, p := range d.a.P {
				if _, hi := p.Bounds(); hi > least {
					g.show(c.over(p, d.b.P[r], d.b.P[r].Zero(128)), 128, nil)
				}
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) || c.ctx.Err() != nil {
		return nil, nil
	}
	if err != nil || !whole {
		return nil, err
	}
	x, _ := g.log()
	hi, bounded := x.Upper()
	if !bounded || x.IsInf() {
		return nil, nil
	}
	eps, err := decimal.Parse(decimal.Upper(hi, 4))
	if err != nil {
		return nil, err
	}
	at := *c
	at.exp = inquiry.Refinable(func(prec uint) number.Interval { return number.ExpRat(eps, prec) })
	at.claim, at.most = at.exp, at.exp
	at.opts.Targets, at.opts.Progress, at.opts.limit = map[Property]*big.Rat{ApproximateDP: big.NewRat(1, 1)}, nil, 0
	res, err := at.approximate()
	if err != nil {
		return nil, err
	}
	hi, bounded = res.TightDelta.Upper()
	if res.Verdict != Proved || !bounded {
		return nil, nil
	}
	delta, err := decimal.Parse(decimal.Upper(hi, 2))
	if err != nil || delta.Cmp(tiny) > 0 {
		return nil, err
	}
	return &[2]number.Number{number.Exact(delta), number.Exact(eps)}, nil
}
