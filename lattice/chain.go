package lattice

// A variable of the lattice is a pair (m, v) with m_v >= 1: one given candidate at
// depth v, in a score vector of orbit m. Fix the other n-1 candidates and let that one
// sink step by step: its variables form a chain. At first it stands alone
// above the others, which approach it; then it sinks through depths 0 to k.
// Every variable lies on exactly one chain, which is the path along which the
// worst neighbors of a regular mechanism lie (McKenna & Sheldon 2020, Prop. 2).

// Numbering numbers the pairs (m, v): orbit by orbit, shallow depths first.
// For n = 1 there is one orbit of one variable.
type Numbering struct {
	Lattice *Lattice
	First   []int32 // First[i]: number of orbit i's first variable; one more entry at the end
	Orbit   []int32 // orbit of each variable
	Depth   []int32 // its depth v
	Count   []int32 // m_v, how many candidates share it
	Up      []int32 // the variable one step before it on its chain, -1 for the first of a chain
}

// Number numbers all variables of l, in O(variables · k) time.
func (l *Lattice) Number() *Numbering {
	total := int(Variables(l.n, l.k).Int64())
	vs := &Numbering{
		Lattice: l,
		First:   make([]int32, l.orbits+1),
		Orbit:   make([]int32, 0, total),
		Depth:   make([]int32, 0, total),
		Count:   make([]int32, 0, total),
		Up:      make([]int32, total),
	}
	for i, m := range l.All() {
		vs.First[i] = int32(len(vs.Orbit))
		for v, c := range m {
			if c > 0 {
				vs.Orbit = append(vs.Orbit, int32(i))
				vs.Depth = append(vs.Depth, int32(v))
				vs.Count = append(vs.Count, int32(c))
			}
		}
	}
	vs.First[l.orbits] = int32(total)
	above := make([]int, l.k+1)
	j := 0
	for _, m := range l.All() {
		for v, c := range m {
			if c == 0 {
				continue
			}
			vs.Up[j] = -1
			if d, ok := up(m, v, above); ok {
				vs.Up[j] = int32(vs.Find(above, d))
			}
			j++
		}
	}
	return vs
}

// Find returns the number of the variable (m, v); m_v must be at least 1.
func (vs *Numbering) Find(m []int, v int) int {
	j := int(vs.First[vs.Lattice.rank(m)])
	for u := range v {
		if m[u] > 0 {
			j++
		}
	}
	return j
}

// move stores in dst the count vector m^{a→b} that arises when one candidate goes from depth a to depth b, without
// normalising it, and reports whether it is one: m_a >= 1 and somebody is left at depth 0.
func move(m []int, a, b int, dst []int) bool {
	copy(dst, m)
	dst[a]--
	dst[b]++
	return dst[a] >= 0 && dst[0] >= 1
}

// up stores in dst the count vector one step earlier on the chain of (m, v): the
// candidate at depth v rises by a step, or, where it is at depth 0 already, all others sink by one. It
// returns the candidate's depth there and whether that vector lies in Q(n,k) and differs from m.
func up(m []int, v int, dst []int) (depth int, ok bool) {
	k := len(m) - 1
	if v > 0 {
		return v - 1, move(m, v, v-1, dst)
	}
	if m[k] > 0 || Deepest(m) == 0 && m[0] == 1 {
		return 0, false
	}
	copy(dst[1:], m[:k])
	dst[0] = 1
	dst[1]--
	return 0, true
}

// Chains lists the variables chain by chain, each from its first to its deepest position:
// chain c is order[start[c]:start[c+1]].
func (vs *Numbering) Chains() (start, order []int32) {
	down := vs.downAll()
	order = make([]int32, 0, len(vs.Orbit))
	for j, up := range vs.Up {
		if up >= 0 {
			continue
		}
		start = append(start, int32(len(order)))
		for i := int32(j); i >= 0; i = down[i] {
			order = append(order, i)
		}
	}
	return append(start, int32(len(order))), order
}

// downAll returns, for each variable, the one a step after it on its chain, -1 for the last.
func (vs *Numbering) downAll() []int32 {
	down := make([]int32, len(vs.Orbit))
	for j := range down {
		down[j] = -1
	}
	for j, up := range vs.Up {
		if up >= 0 {
			down[up] = int32(j)
		}
	}
	return down
}
