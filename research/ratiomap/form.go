package ratiomap

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"optratio/internal/chain"
	"optratio/lattice"
)

// form is the optimal-mechanism program of Q(n,k), n >= 3, in chain form over classes of count vectors, at the paper's level and with its objective. A
// chain fixes the other candidates and lets one sink step by step; its positions visit classes. Multipliers y that are constant on classes
// can only give a weaker bound than multipliers of each count vector, and chains that visit the same classes are one.
//
// Let start be 0 where two or more candidates are best, and else the depth of the second best. A class holds the count vectors that agree in start, in
// the greatest depth, and in the counts at the depths start to start+top-1. With top = k+1 each count vector is a class of its own.
type form struct {
	n, k, top int
	classes   [][]int    // a count vector of each class
	mass      []*big.Int // N: score vectors of each class
	start     []int32    // chain c has the positions start[c] to start[c+1]-1, from where the candidate stands highest
	class     []int32    // of each position
	depth     []int32    // of the sinking candidate at each position
	weight    []*big.Int // of each chain: n times the number of vectors of the other candidates
}

// errTooMany says that a form has more classes than allowed.
var errTooMany = errors.New("too many classes")

// startOf returns the start of a count vector, and its greatest depth where there is none other than 0.
func startOf(m []int) int {
	deepest := lattice.Deepest(m)
	s := 0
	if m[0] < 2 {
		for s = 1; s < deepest && m[s] == 0; s++ {
		}
	}
	return s
}

// key identifies the class of a count vector.
func key(m []int, top int) string {
	start, deepest := startOf(m), lattice.Deepest(m)
	return fmt.Sprint(start, deepest, m[start:min(start+top, deepest+1)])
}

// vectors returns the number of score vectors in the class of the count vector m: the r candidates outside the known counts are at the open
// depths, one of them at the greatest.
func vectors(m []int, top int) *big.Int {
	start, deepest := startOf(m), lattice.Deepest(m)
	left := 0
	for _, c := range m {
		left += c
	}
	total := big.NewInt(1)
	known := func(c int) {
		total.Mul(total, new(big.Int).Binomial(int64(left), int64(c)))
		left -= c
	}
	if start > 0 {
		known(m[0])
	}
	for v := start; v < min(start+top, deepest+1); v++ {
		known(m[v])
	}
	if open := deepest - start - top + 1; open > 0 {
		power := func(base int) *big.Int {
			return new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(left)), nil)
		}
		total.Mul(total, new(big.Int).Sub(power(open), power(open-1)))
	}
	return total
}

// newForm lists the classes and chains. It fails with errTooMany where there are more classes than limit. Where the context ends before that
// is done, the error is its cause.
func newForm(ctx context.Context, n, k, top, limit int) (*form, error) {
	f := &form{n: n, k: k, top: top, start: []int32{0}}
	ids := map[string]int32{}
	visit := func(m []int, depth int) {
		name := key(m, top)
		id, ok := ids[name]
		if !ok {
			id = int32(len(f.classes))
			ids[name] = id
			f.classes = append(f.classes, append([]int(nil), m...))
			f.mass = append(f.mass, vectors(m, top))
		}
		f.class, f.depth = append(f.class, id), append(f.depth, int32(depth))
	}
	m := make([]int, k+1)
	var err error
	others(n-1, k, top, func(o []int) bool {
		// Which classes the positions have depends on the class of the others alone: a candidate at depth v adds to a known count, or to none.
		deepest := lattice.Deepest(o)
		for gap := k - deepest; gap > 0; gap-- {
			clear(m)
			m[0] = 1
			copy(m[gap:], o[:deepest+1])
			visit(m, 0)
		}
		copy(m, o)
		for v := range m {
			m[v]++
			visit(m, v)
			m[v]--
		}
		f.start = append(f.start, int32(len(f.class)))
		f.weight = append(f.weight, new(big.Int).Mul(big.NewInt(int64(n)), vectors(o, top)))
		if len(f.classes) > limit {
			err = fmt.Errorf("%w: n = %d, k = %d have more than %d", errTooMany, n, k, limit)
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return err == nil
	})
	return f, err
}

// others visits one count vector of each class of n candidates on depths 0 to k, n >= 2, until visit returns false: all candidates outside the known counts
// are at the greatest depth.
func others(n, k, top int, visit func(m []int) bool) {
	m := make([]int, k+1)
	var fill func(v, start, deepest, left int) bool
	fill = func(v, start, deepest, left int) bool {
		if v > deepest {
			return left > 0 || visit(m)
		}
		if v == min(start+top, k+1) { // the rest is open
			if left == 0 {
				return true
			}
			m[deepest] = left
			more := visit(m)
			m[deepest] = 0
			return more
		}
		for c := leastCount(v, start, deepest); c <= left; c++ {
			m[v] = c
			if !fill(v+1, start, deepest, left-c) {
				return false
			}
		}
		m[v] = 0
		return true
	}
	for start := range k + 1 {
		clear(m)
		left := n
		if start > 0 {
			m[0], left = 1, n-1
		}
		for deepest := start; deepest <= k; deepest++ {
			if !fill(start, start, deepest, left) {
				return
			}
		}
	}
}

// leastCount is how many candidates are at depth v at least where others are from start to deepest: 0 as start stands for two or more of the best.
func leastCount(v, start, deepest int) int {
	switch v {
	case 0:
		return 2
	case start, deepest:
		return 1
	}
	return 0
}

// at returns the form in floating point at one z.
func (f *form) at(z float64) *chain.Form {
	total := new(big.Float).SetInt(lattice.Vectors(f.n, f.k, false))
	share := func(x *big.Int, of *big.Float) float64 {
		v, _ := new(big.Float).Quo(new(big.Float).SetInt(x), of).Float64()
		return v
	}
	g := &chain.Form{N: f.n, Z: z, Start: f.start, Class: f.class}
	mass := make([]*big.Float, len(f.mass))
	for i, m := range f.mass {
		mass[i] = new(big.Float).SetInt(m)
		g.Weight = append(g.Weight, share(m, total))
	}
	for c, w := range f.weight {
		g.Chains = append(g.Chains, share(w, total))
		for i := f.start[c]; i < f.start[c+1]; i++ {
			g.Cost = append(g.Cost, float64(f.depth[i]))
			g.Share = append(g.Share, share(w, mass[f.class[i]]))
		}
	}
	g.Prepare(2*f.k + 1)
	return g
}
