package table

import "optratio/lattice"

// Lattice visits rows between the cells of a numbered lattice of step 2Δ/L, some of them more than once. Each method stops when visit
// returns false, and reports whether it never did.
type Lattice struct {
	Vars *lattice.Numbering
	L    int
}

// Worst visits x_r(q) >= z x_r(q + 2Δe_r), both vectors on the lattice: along the chain that one candidate sinks
// through while the others stay, rows tie positions that are L steps apart.
func (s Lattice) Worst(visit func(Row) bool) bool {
	for j := range int32(len(s.Vars.Orbit)) {
		up := j
		for range s.L {
			if up = s.Vars.Up[up]; up < 0 {
				break
			}
		}
		if up >= 0 && !visit(Row{Above: j, Below: up, Private: true}) {
			return false
		}
	}
	return true
}

// Neighbors visits x_r(q') >= z x_r(q) for all neighbors q, q' of the lattice and all r.
func (s Lattice) Neighbors(visit func(Row) bool) bool {
	return s.Pairs(func(pair Pair) bool {
		for _, p := range pair {
			if p.Above != p.Below && !visit(Row{Above: p.Above, Below: p.Below, Private: true}) {
				return false
			}
		}
		return true
	})
}

// Pairs visits all ordered pairs of neighbors q, q' of the lattice, up to permutations: from q, candidates of each depth rise
// by 0 to L steps, some of them by none. Whatever changes of scores make two vectors neighbors, they differ by a shift from such ones.
func (s Lattice) Pairs(visit func(Pair) bool) bool {
	_, k := s.Vars.Lattice.Size()
	to := make([]int, k+1)
	var pair Pair
	for i := range s.Vars.Lattice.Len() {
		first, end := s.Vars.First[i], s.Vars.First[i+1]
		for up := range lattice.Rises(s.Vars.Count[first:end], s.L) {
			top, deepest, stays := 0, 0, false
			s.risen(first, up, func(j int32, v, _ int) {
				top, deepest = min(top, v), max(deepest, v)
				stays = stays || v == int(s.Vars.Depth[j])
			})
			if !stays || deepest-top > k {
				continue
			}
			clear(to)
			s.risen(first, up, func(_ int32, v, count int) { to[v-top] += count })
			pair = pair[:0]
			s.risen(first, up, func(j int32, v, count int) {
				pair = append(pair, Part{Above: int32(s.Vars.Find(to, v-top)), Below: j, Candidates: int64(count)})
			})
			if !visit(pair) {
				return false
			}
		}
	}
	return true
}

// risen visits, for an orbit whose first variable is first, how many candidates of a variable rise, and their depth below the old best score.
func (s Lattice) risen(first int32, up [][]int32, visit func(j int32, v, count int)) {
	for j, steps := range up {
		for t, count := range steps {
			if j := first + int32(j); count > 0 {
				visit(j, int(s.Vars.Depth[j])-t, int(count))
			}
		}
	}
}

// Monotone visits the single steps that generate monotonicity: candidate r rises by one step of the lattice, or another one
// sinks by one. Between two vectors of the lattice that monotonicity relates such steps lead without leaving it: first r
// rises, then the others sink, the highest one that has still to sink first.
func (s Lattice) Monotone(visit func(Row) bool) bool {
	_, k := s.Vars.Lattice.Size()
	to := make([]int, k+1)
	for i, m := range s.Vars.Lattice.All() {
		for j := s.Vars.First[i]; j < s.Vars.First[i+1]; j++ {
			if up := s.Vars.Up[j]; up >= 0 && !visit(Row{Above: up, Below: j}) {
				return false
			}
			if !s.othersSink(m, j, to, visit) {
				return false
			}
		}
	}
	return true
}

// othersSink visits the single steps of monotonicity in which another candidate than that of variable j, at the counts m, sinks. It overwrites to.
func (s Lattice) othersSink(m []int, j int32, to []int, visit func(Row) bool) bool {
	v := int(s.Vars.Depth[j])
	for a, c := range m {
		if c == 0 || a == v && c == 1 {
			continue // nobody else is there
		}
		if !sink(m, a, to) {
			continue
		}
		depth := v
		if a == 0 && m[0] == 1 {
			depth = v - 1 // the one at the top sinks: in effect all others rise
		}
		if !visit(Row{Above: int32(s.Vars.Find(to, depth)), Below: j}) {
			return false
		}
	}
	return true
}

// sink stores in dst the counts of m after a candidate at depth v sank by a step, or, where it is alone at depth 0, the others rose by one, and reports
// false where that leaves the lattice: the next variable on the chain.
func sink(m []int, v int, dst []int) bool {
	k := len(m) - 1
	switch {
	case v == 0 && m[0] == 1:
		if lattice.Deepest(m) == 0 {
			return false
		}
		copy(dst, m[1:])
		dst[k] = 0
		dst[0]++ // the lone best stays at depth 0 while the others remain at or below it
	case v == k:
		return false
	default:
		copy(dst, m)
		dst[v]--
		dst[v+1]++
	}
	return true
}
