package topk

import (
	"maps"
	"slices"

	"optratio/lattice"
)

// complete is pairwise noisy max without drawing again (docs/results/topk.md, Theorem 7). Let f_S be the probability that S beats all other sets, a_S that it does so with a noise of
// a step or more, and F the least Σ f_S of all score vectors. Then a_S(q') >= e^{-ε} f_S(q) for neighbors, so all probabilities between a_S/F and f_S/F that add up to 1 are ε-DP;
// there are such ones if Σ a_S <= F everywhere. Beyond a_S/F, sets get up to f_S/F in the order of their regret, those of one regret the same share of it. Where Σ a_S > F somewhere
// it is pairwise noisy max.
func complete[T any](m *Mechanism, s *space, a arithmetic[T]) ([]T, error) {
	f := a.f
	wins, loud := make([]T, len(s.depths)), make([]T, len(s.depths))
	won, sure := make([]T, len(s.first)-1), make([]T, len(s.first)-1) // sums over all sets
	least, most := 0, 0
	for i, counts := range s.vars.Lattice.All() {
		one := &single[T]{m, s.top, a, lattice.Depths(counts), map[string]T{}}
		members := one.members()
		each, heard, total, err := one.wins(members)
		if err != nil {
			return nil, err
		}
		at := map[string]int{}
		sure[i] = f.Zero()
		for k, set := range members {
			at[one.cell(set)] = k
			sure[i] = f.Add(sure[i], heard[k])
		}
		for j := s.first[i]; j < s.first[i+1]; j++ {
			k := at[key(s.depths[j])]
			wins[j], loud[j] = each[k], heard[k]
		}
		if won[i] = total; a.near(total) < a.near(won[least]) {
			least = i
		}
		if a.near(sure[i]) > a.near(sure[most]) {
			most = i
		}
	}
	again := a.near(sure[most]) > a.near(won[least])
	out := make([]T, len(s.depths))
	for i, counts := range s.vars.Lattice.All() {
		from, to := s.first[i], s.first[i+1]
		if again {
			for j := from; j < to; j++ {
				out[j] = f.Quo(wins[j], won[i])
			}
			continue
		}
		depths := lattice.Depths(counts)
		gains := map[int64]T{} // Σ f_S - a_S by regret
		for j := from; j < to; j++ {
			r := regret(depths, s.depths[j])
			gain := f.Mul(f.FromInt(s.count[j]), f.Sub(wins[j], loud[j]))
			if sum, ok := gains[r]; ok {
				gain = f.Add(sum, gain)
			}
			gains[r] = gain
		}
		room, share := f.Sub(won[least], sure[i]), map[int64]T{}
		regrets := slices.Sorted(maps.Keys(gains))
		for k, r := range regrets {
			switch {
			case k < len(regrets)-1 && a.near(room) > a.near(gains[r]):
				share[r], room = f.One(), f.Sub(room, gains[r])
			case a.near(gains[r]) > 0:
				share[r], room = f.Quo(room, gains[r]), f.Zero()
			default:
				share[r] = f.Zero()
			}
		}
		for j := from; j < to; j++ {
			x := f.Mul(share[regret(depths, s.depths[j])], f.Sub(wins[j], loud[j]))
			out[j] = f.Quo(f.Add(loud[j], x), won[least])
		}
	}
	return out, nil
}
