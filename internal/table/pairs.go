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

// worstEvents keeps for each group, as the one of the cells Below and as that of the cells Above, the pair's event with the greatest excess.
type worstEvents struct {
	amount [2][]float64
	event  [2][][]Part
}

func newWorstEvents(groups int) *worstEvents {
	w := &worstEvents{}
	for i := range w.amount {
		w.amount[i], w.event[i] = make([]float64, groups), make([][]Part, groups)
	}
	return w
}

func (w *worstEvents) keep(groups [2]int32, event []Part, amount float64) {
	var kept []Part
	for i, g := range groups {
		if w.event[i][g] != nil && w.amount[i][g] >= amount {
			continue
		}
		if kept == nil {
			kept = slices.Clone(event)
		}
		w.amount[i][g], w.event[i][g] = amount, kept
	}
}

// separatePairs adds, for each group on either side, the event that is violated by most, if there is one, and returns how many it added. violated returns
// the event of a pair that it satisfies worst and by how much it is violated; ok is false where it is not.
func (p *Program) separatePairs(ctx context.Context, violated func(Pair) (event []Part, amount float64, ok bool)) (int, error) {
	if p.Pairs == nil {
		return 0, nil
	}
	worst, visited := newWorstEvents(p.groups()), 0
	if !p.Pairs(func(q Pair) bool {
		if visited++; visited%1024 == 0 && ctx.Err() != nil {
			return false
		}
		if event, amount, ok := violated(q); ok {
			worst.keep([2]int32{p.of[q[0].Below], p.of[q[0].Above]}, event, amount)
		}
		return true
	}) {
		return 0, context.Cause(ctx)
	}
	added := 0
	for _, events := range worst.event {
		for _, event := range events {
			if event != nil && p.cut(Cut{event, true}) {
				added++
			}
		}
	}
	return added, nil
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
