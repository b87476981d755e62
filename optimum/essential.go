package optimum

import (
	"container/heap"
	"math/big"

	"optratio/internal/arith"
)

// essential returns the arcs that are not implied by others at δ = 0: an arc is implied where arcs of smaller distances lead from one end to the other whose
// distances sum to no more than its own.
func essential(inputs int, arcs []arc, distances []*big.Rat) []arc {
	if len(distances) < 2 {
		return arcs // two arcs are longer than one
	}
	den := arith.CommonDenominator(distances)
	length := make([]int64, len(distances))
	for i, d := range distances {
		n := new(big.Int).Mul(d.Num(), new(big.Int).Quo(den, d.Denom()))
		if n.BitLen() > 50 {
			return arcs
		}
		length[i] = n.Int64()
	}
	next := make([][]arc, inputs)
	for _, a := range arcs {
		next[a.above] = append(next[a.above], a)
	}
	var kept []arc
	for x := range inputs {
		if len(next[x]) == 0 {
			continue
		}
		// The shortest ways from x whose first arc is shorter than the whole, and not of length 0: those of two or more arcs, all of them shorter.
		way := detours(x, next, length)
		for _, a := range next[x] {
			if l := length[a.distance]; l == 0 || way[a.below] < 0 || way[a.below] > l {
				kept = append(kept, a)
			}
		}
	}
	return kept
}

// state is an input at the end of a way, which has passed through a point strictly between its ends or not.
type state struct {
	at      int
	through bool
}

// detours returns for each input the length of the shortest way from x to it that is of two or more arcs none of which has the length of the whole or 0; -1 where there is none.
func detours(x int, next [][]arc, length []int64) []int64 {
	// A way whose prefix and rest both have positive lengths is of arcs shorter than itself. The first state counts arcs so far of length 0 or one arc,
	// the second those of two positive parts.
	best := map[state]int64{{x, false}: 0}
	out := make([]int64, len(next))
	for i := range out {
		out[i] = -1
	}
	q := &queue{{state{x, false}, 0}}
	for q.Len() > 0 {
		now := heap.Pop(q).(queued)
		if now.length > best[now.state] {
			continue
		}
		if now.through && out[now.at] < 0 {
			out[now.at] = now.length
		}
		for _, a := range next[now.at] {
			l := length[a.distance]
			to := queued{state{a.below, now.through || now.length > 0 && l > 0}, now.length + l}
			if old, known := best[to.state]; !known || to.length < old {
				best[to.state] = to.length
				heap.Push(q, to)
			}
		}
	}
	return out
}

// queued is a state with the length of the way to it.
type queued struct {
	state
	length int64
}

type queue []queued

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].length < q[j].length }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(queued)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
