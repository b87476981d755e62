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
func complete(m *Mechanism, s *space, c *chances) (out []number.Number) {
	var laws []*law
	least, most := 0, 0
	for i, counts := range s.vars.Lattice.All() {
		laws = append(laws, (&single{m, s.top, c, lattice.Depths(counts)}).wins())
		if laws[i].won.Float64() < laws[least].won.Float64() {
			least = i
		}
		if laws[i].sure.Float64() > laws[most].sure.Float64() {
			most = i
		}
	}
	all := laws[least].won
	again := all.Float64() < laws[most].sure.Float64()
	for i, counts := range s.vars.Lattice.All() {
		l, depths := laws[i], lattice.Depths(counts)
		from, to := s.first[i], s.first[i+1]
		gains := map[int64]number.Number{} // Σ f_S - a_S by regret
		for j := from; j < to; j++ {
			set, r := key(s.depths[j]), regret(depths, s.depths[j])
			gain := number.Int(s.count[j]).Mul(l.wins[set].Sub(l.loud[set]))
			if sum, ok := gains[r]; ok {
				gain = sum.Add(gain)
			}
			gains[r] = gain
		}
		share := shares(gains, all.Sub(l.sure))
		for j := from; j < to; j++ {
			set := key(s.depths[j])
			if again {
				out = append(out, l.wins[set].Quo(l.won))
				continue
			}
			x := share[regret(depths, s.depths[j])].Mul(l.wins[set].Sub(l.loud[set]))
			out = append(out, l.loud[set].Add(x).Quo(all))
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
