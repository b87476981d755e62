// Package topk is about choosing several candidates at once: the top of n by score. It computes the exact probabilities of peeling (one private
// selection after another), of one-shot noise and of selection among sets on the lattice of score vectors with step 2Δ, how private each really is
// there, and the least error that any ε-DP choice of a set can have, by a linear program.
//
// The error of a set is its regret: the sum of the depths of its candidates, in steps of 2Δ below the best score, minus the least sum that a set
// of that size has. research/docs/topk.md says what was found.
package topk

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"optratio/internal/table"
	"optratio/lattice"
	"optratio/number"
)

// ErrLarge says that a question is larger than this package enumerates.
var ErrLarge = errors.New("the limit of enumeration was reached")

// MaxCells bounds the probabilities that are enumerated.
const MaxCells = 200_000

// space enumerates the outcomes of choosing top candidates of n, at one score vector of each orbit of Q(n,k). Outcomes with the same depths have
// the same probability: such a class is a cell.
type space struct {
	n, k, top int
	ordered   bool // outcomes are lists, not sets
	vars      *lattice.Numbering
	first     []int32            // of each orbit's cells; one more entry at the end
	depths    [][]int            // of each cell's candidates, in the order of a list, or ascending
	count     []int64            // of each cell's outcomes
	index     []map[string]int32 // of each orbit's cells by their depths
	rows      []table.Row
}

func newSpace(n, k, top int, ordered bool) (*space, error) {
	large := fmt.Errorf("%w: n = %d, k = %d, top = %d give more than %d probabilities; use a smaller n, k or top", ErrLarge, n, k, top, MaxCells)
	if max(n, k) > MaxCells || lattice.Variables(n, k).Cmp(big.NewInt(MaxCells)) > 0 {
		return nil, large
	}
	lat, err := lattice.New(n, k)
	if err != nil {
		return nil, err
	}
	s := &space{n: n, k: k, top: top, ordered: ordered, vars: lat.Number(), first: []int32{0}}
	for _, m := range lat.All() {
		if len(s.depths) > MaxCells {
			return nil, large
		}
		at, left := map[string]int32{}, slices.Clone(m)
		s.choose(left, nil, func(chosen []int) {
			at[key(chosen)] = int32(len(s.depths))
			s.depths = append(s.depths, slices.Clone(chosen))
			s.count = append(s.count, s.outcomes(m, chosen))
		})
		s.index, s.first = append(s.index, at), append(s.first, int32(len(s.depths)))
	}
	s.relate()
	return s, nil
}

// choose visits the ways of choosing top classes, of which left says how many members each has: all sequences, or the ascending ones.
func (s *space) choose(left, chosen []int, visit func([]int)) {
	if len(chosen) == s.top {
		visit(chosen)
		return
	}
	from := 0
	if !s.ordered && len(chosen) > 0 {
		from = chosen[len(chosen)-1]
	}
	for v := from; v < len(left); v++ {
		if left[v] > 0 {
			left[v]--
			s.choose(left, append(chosen, v), visit)
			left[v]++
		}
	}
}

// outcomes returns how many lists, or sets, of the candidates m have the given depths.
func (s *space) outcomes(m, chosen []int) int64 {
	left, count := slices.Clone(m), int64(1)
	for i, v := range chosen {
		count *= int64(left[v])
		left[v]--
		if !s.ordered {
			repeated := int64(1) // how many of the chosen ones up to here have this depth
			for _, w := range chosen[:i] {
				if w == v {
					repeated++
				}
			}
			count /= repeated
		}
	}
	return count
}

// key names a sequence of depths.
func key(depths []int) string {
	b := make([]byte, 0, 3*len(depths))
	for _, v := range depths { // below 2^24
		b = append(b, byte(v>>16), byte(v>>8), byte(v))
	}
	return string(b)
}

// relate lists what ε-DP says of the cells, each once: x_Above >= z x_Below, for the same outcome at two neighboring vectors.
func (s *space) relate() {
	have := map[[2]int32]bool{}
	table.Lattice{Vars: s.vars, L: 1}.Pairs(func(pair table.Pair) bool {
		left := make([]int, len(pair))
		for i, p := range pair {
			left[i] = int(p.Candidates)
		}
		cell := func(parts []int, side func(table.Part) int32) int32 {
			depths := make([]int, s.top)
			for i, p := range parts {
				depths[i] = int(s.vars.Depth[side(pair[p])])
			}
			if !s.ordered {
				slices.Sort(depths)
			}
			return s.index[s.vars.Orbit[side(pair[0])]][key(depths)]
		}
		s.choose(left, nil, func(parts []int) {
			a := cell(parts, func(p table.Part) int32 { return p.Above })
			b := cell(parts, func(p table.Part) int32 { return p.Below })
			if at := [2]int32{a, b}; a != b && !have[at] {
				have[at] = true
				s.rows = append(s.rows, table.Row{Above: a, Below: b, Private: true})
			}
		})
		return true
	})
}

// regret returns the sum of depths above the least one at the orbit's vectors.
func regret(orbit, chosen []int) int64 {
	sum := 0
	for i, v := range chosen {
		sum += v - orbit[i] // orbit lists its depths in ascending order
	}
	return int64(sum)
}

// meanRegret returns the mean regret of probabilities of all cells' outcomes.
func (s *space) meanRegret(p []number.Number) number.Number {
	sum, total := number.Int(0), new(big.Int)
	for i, counts := range s.vars.Lattice.All() {
		depths, n := lattice.Depths(counts), lattice.Multiplicity(counts)
		total.Add(total, n)
		for c := s.first[i]; c < s.first[i+1]; c++ {
			weight := new(big.Rat).SetInt64(s.count[c] * regret(depths, s.depths[c]))
			sum = sum.Add(p[c].Mul(number.Exact(weight.Mul(weight, new(big.Rat).SetInt(n)))))
		}
	}
	return sum.Quo(number.Exact(new(big.Rat).SetInt(total)))
}

// program is the linear program of the best ε-DP choice of a set.
func (s *space) program() *table.Program {
	p := &table.Program{First: s.first, Count: s.count, Each: func(visit func(table.Row) bool) bool {
		return !slices.ContainsFunc(s.rows, func(r table.Row) bool { return !visit(r) })
	}}
	uniform := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Binomial(int64(s.n), int64(s.top)))
	for i, m := range s.vars.Lattice.All() {
		p.Weight = append(p.Weight, lattice.Multiplicity(m))
		depths := lattice.Depths(m)
		for j := s.first[i]; j < s.first[i+1]; j++ {
			p.Loss, p.Interior = append(p.Loss, big.NewInt(regret(depths, s.depths[j]))), append(p.Interior, uniform)
		}
	}
	return p
}
