package topk

import (
	"maps"
	"slices"

	"optratio/lattice"
	"optratio/number"
)

// complete is pairwise noisy max without drawing again (research/docs/topk.md, Theorem 7). Let f_S be the probability that S beats all other sets, a_S that it does so with a noise of
// a step or more, and F the least Σ f_S of all score vectors. Then a_S(q') >= e^{-ε} f_S(q) for neighbors, so all probabilities between a_S/F and f_S/F that add up to 1 are ε-DP;
// there are such ones if Σ a_S <= F everywhere. Beyond a_S/F, sets get up to f_S/F in the order of their regret, those of one regret the same share of it. Where Σ a_S > F somewhere
// it is pairwise noisy max.
func complete(m *Mechanism, s *space, c *chances) []number.Number {
	wins, loud := make([]number.Number, len(s.depths)), make([]number.Number, len(s.depths))
	won, sure := make([]number.Number, len(s.first)-1), make([]number.Number, len(s.first)-1) // sums over all sets
	less := func(x, y number.Number) bool { return x.Float64() < y.Float64() }
	least, most := 0, 0
	for i, counts := range s.vars.Lattice.All() {
		one := &single{m, s.top, c, lattice.Depths(counts)}
		members := one.members()
		each, heard, total := one.wins(members)
		at := map[string]int{}
		sure[i] = number.Int(0)
		for k, set := range members {
			at[one.cell(set)] = k
			sure[i] = sure[i].Add(heard[k])
		}
		for j := s.first[i]; j < s.first[i+1]; j++ {
			k := at[key(s.depths[j])]
			wins[j], loud[j] = each[k], heard[k]
		}
		if won[i] = total; less(total, won[least]) {
			least = i
		}
		if less(sure[most], sure[i]) {
			most = i
		}
	}
	again := less(won[least], sure[most])
	out := make([]number.Number, len(s.depths))
	for i, counts := range s.vars.Lattice.All() {
		from, to := s.first[i], s.first[i+1]
		if again {
			for j := from; j < to; j++ {
				out[j] = wins[j].Quo(won[i])
			}
			continue
		}
		depths := lattice.Depths(counts)
		gains := map[int64]number.Number{} // Σ f_S - a_S by regret
		for j := from; j < to; j++ {
			r := regret(depths, s.depths[j])
			gain := number.Int(s.count[j]).Mul(wins[j].Sub(loud[j]))
			if sum, ok := gains[r]; ok {
				gain = sum.Add(gain)
			}
			gains[r] = gain
		}
		share := shares(gains, won[least].Sub(sure[i]))
		for j := from; j < to; j++ {
			x := share[regret(depths, s.depths[j])].Mul(wins[j].Sub(loud[j]))
			out[j] = loud[j].Add(x).Quo(won[least])
		}
	}
	return out
}

// shares are the parts of the gains, in the order of their regret, that fill the room.
func shares(gains map[int64]number.Number, room number.Number) map[int64]number.Number {
	share := map[int64]number.Number{}
	regrets := slices.Sorted(maps.Keys(gains))
	for k, r := range regrets {
		switch {
		case k < len(regrets)-1 && gains[r].Float64() < room.Float64():
			share[r], room = number.Int(1), room.Sub(gains[r])
		case gains[r].Float64() > 0:
			share[r], room = room.Quo(gains[r]), number.Int(0)
		default:
			share[r] = number.Int(0)
		}
	}
	return share
}
