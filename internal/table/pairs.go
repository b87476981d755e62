package table

import (
	"context"
	"math/big"
	"slices"
)

// excess returns the parts of a pair that over counts as positive, and Σ Candidates·over of them: the event that the pair satisfies worst.
// over returns z x_Below - x_Above of one candidate in some unit.
func (q Pair) excess(over func(*Part) *big.Int) (event []Part, sum *big.Int) {
	sum = new(big.Int)
	for i := range q {
		if x := over(&q[i]); x.Sign() > 0 {
			event = append(event, q[i])
			sum.Add(sum, x.Mul(x, big.NewInt(q[i].Candidates)))
		}
	}
	return event, sum
}

// over returns z x_Below - x_Above of one candidate of a part, in units of one over what the shares are in and the denominator of z.
func over(share []*big.Int, z *big.Rat) func(*Part) *big.Int {
	return func(q *Part) *big.Int {
		x := new(big.Int).Mul(share[q.Below], z.Num())
		return x.Sub(x, new(big.Int).Mul(share[q.Above], z.Denom()))
	}
}

// rooms returns zδ for each distance, in units of 1/(common·den·denominator of z), rounded down: what is compared with it is tested no weaker.
func (p *Program) rooms(den *big.Int, z factors) []*big.Int {
	out := make([]*big.Int, len(z))
	for i, slack := range p.slack(z) {
		room := new(big.Int).Mul(p.common, den)
		out[i] = room.Mul(room, z[i].Denom()).Mul(room, slack.Num()).Quo(room, slack.Denom())
	}
	return out
}

// violation is the event that a pair satisfies worst and by how much it is violated. The widest such event, where there is one, is cut off as well: otherwise the next solution may
// be the same but for what it moves between outcomes that neither score vector has.
type violation struct {
	event, widest []Part
	amount        float64
}

// separatePairs adds, for each group on either side, the events of the pair that is violated by most, if there is one. It returns how many it added, and by how much the worst
// one is violated. violated tells of a pair, with slices that it may use again; ok is false where the pair holds.
func (p *Program) separatePairs(ctx context.Context, violated func(Pair) (v violation, ok bool)) (added int, most float64, err error) {
	if p.Pairs == nil {
		return 0, 0, nil
	}
	worst, visited := worstOf{make([]violation, p.groups()), make([]violation, p.groups())}, 0
	if !p.Pairs(func(q Pair) bool {
		if visited++; visited%1024 == 0 && ctx.Err() != nil {
			return false
		}
		if v, ok := violated(q); ok {
			worst.keep(v, p.of[q[0].Below], p.of[q[0].Above])
		}
		return true
	}) {
		return 0, 0, context.Cause(ctx)
	}
	for _, v := range slices.Concat(worst[0], worst[1]) {
		most = max(most, v.amount)
		for _, event := range [][]Part{v.event, v.widest} {
			if event != nil && p.cut(Cut{event, true}) {
				added++
			}
		}
	}
	return added, most, nil
}

// worstOf has the worst violation of each group, as the one below and as the one above.
type worstOf [2][]violation

// keep copies a violation where it is the worst so far.
func (w *worstOf) keep(v violation, below, above int32) {
	kept := false
	for i, g := range [2]int32{below, above} {
		if at := &w[i][g]; at.event == nil || at.amount < v.amount {
			if !kept {
				v.event, v.widest, kept = slices.Clone(v.event), slices.Clone(v.widest), true
			}
			*at = v
		}
	}
}

// mixPairs raises θ until every pair holds at z. Along the way from the proposal to the interior table the excess of a pair is a convex function of
// θ, piecewise linear, and at most zδ at θ = 1. Each step goes to where the linear piece at hand meets zδ, which is not beyond the first θ
// from which on the pair holds.
func (t *Table) mixPairs(z factors) {
	p := t.program
	if p.Pairs == nil {
		return
	}
	share, slacks := p.shares(t.x.Num), p.slack(z)
	rooms := p.rooms(t.x.Den, z)
	p.Pairs(func(q Pair) bool {
		d := q[0].Distance
		z, slack := z[d], slacks[d]
		if _, sum := q.excess(over(share, z)); sum.Cmp(rooms[d]) <= 0 {
			return true
		}
		for t.theta.Cmp(big.NewRat(1, 1)) < 0 {
			own, inside := new(big.Rat), new(big.Rat) // Σ over the event, at θ = 0 and at θ = 1
			now, one := new(big.Rat), big.NewRat(1, 1)
			for _, part := range q {
				s := new(big.Rat).Quo(t.x.Rat(int(part.Below)), new(big.Rat).SetInt64(p.Count[part.Below]))
				s.Sub(s.Mul(s, z), new(big.Rat).Quo(t.x.Rat(int(part.Above)), new(big.Rat).SetInt64(p.Count[part.Above])))
				u := new(big.Rat).Mul(z, p.Interior[part.Below])
				u.Sub(u, p.Interior[part.Above])
				at := new(big.Rat).Mul(s, new(big.Rat).Sub(one, t.theta))
				if at.Add(at, new(big.Rat).Mul(u, t.theta)).Sign() <= 0 {
					continue
				}
				c := new(big.Rat).SetInt64(part.Candidates)
				own.Add(own, s.Mul(s, c))
				inside.Add(inside, u.Mul(u, c))
				now.Add(now, at.Mul(at, c))
			}
			if now.Cmp(slack) <= 0 {
				return true
			}
			// own + θ (inside - own) = slack
			if own.Cmp(inside) <= 0 {
				panic("table: the interior table violates a pair")
			}
			t.theta.Quo(new(big.Rat).Sub(own, slack), new(big.Rat).Sub(own, inside))
		}
		return true
	})
}
