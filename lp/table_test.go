package lp

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/linear"
	"optratio/internal/table"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

func epsilon(t *testing.T, s string) number.Epsilon {
	t.Helper()
	eps, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return eps
}

func exp(t *testing.T, s string) number.Epsilon {
	t.Helper()
	eps, err := number.ParseExp(s)
	require.NoError(t, err)
	return eps
}

// enclosure is a number by its ends.
type enclosure struct{ Low, High *big.Rat }

func enclosureOf(x number.Number) enclosure {
	low, high := x.Ends()
	return enclosure{low, high}
}

func (e enclosure) Exact() bool { return e.Low.Cmp(e.High) == 0 }

func (s *proof) low() *big.Rat     { return enclosureOf(s.optimum()).Low }
func (s *proof) high() *big.Rat    { return enclosureOf(s.optimum()).High }
func (s *proof) exact() bool       { return arith.IsExact(s.optimum()) }
func (s *proof) priced() enclosure { return enclosureOf(s.price()) }

// newTestTable writes a question out as a program over tables, with the embedded solver.
func newTestTable(q Request) (*program, error) {
	q.solver = linear.Embedded{}
	return newProgram(context.Background(), &q)
}

// rated returns a mechanism's objective, from its probabilities on the lattice.
func rated(p *program, m mechanisms.Mechanism, prec uint) (enclosure, error) {
	lat, err := lattice.New(p.question.N, p.question.depths())
	if err != nil {
		return enclosure{}, err
	}
	x, err := p.question.ofInstances(context.Background(), m, lat, prec)
	return enclosureOf(x), err
}

// eachVector visits the orbits of the lattice as depths, with each candidate's probability in the table of a solution.
func (s *proof) eachVector(visit func(depths []int, pmf []*big.Rat)) {
	vars := s.program.vars
	for i, m := range s.program.lat.All() {
		var pmf []*big.Rat
		for j := vars.First[i]; j < vars.First[i+1]; j++ {
			for range vars.Count[j] {
				pmf = append(pmf, s.Table.At(int(j)))
			}
		}
		visit(lattice.Depths(m), pmf)
	}
}

// eachTestRow visits the rows of a question between numbered cells.
func eachTestRow(q Request, visit func(above, below int, private bool)) {
	lat, err := lattice.New(q.N, q.depths())
	if err != nil {
		panic(err)
	}
	q.eachRow(table.Lattice{Vars: lat.Number(), L: q.parts()}, func(r table.Row) bool {
		visit(int(r.Above), int(r.Below), r.Private)
		return true
	})
}

// solve returns a question's optimum, known to 1e-9.
func solve(t *testing.T, q Request) (*program, enclosure) {
	t.Helper()
	p, err := newTestTable(q)
	require.NoError(t, err)
	s, err := p.solve(context.Background(), big.NewRat(1, 1e9), nil)
	require.NoError(t, err)
	require.Empty(t, s.Undecided)
	return p, enclosureOf(s.optimum())
}

// ratio returns a mechanism's objective over the optimum, in floating point.
func ratio(t *testing.T, p *program, optimum enclosure, name string) float64 {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	b, err := rated(p, m, 128)
	require.NoError(t, err)
	r, _ := new(big.Rat).Quo(b.Low, optimum.High).Float64()
	return r
}

// Values computed with HiGHS from programs over all score vectors, to the digits shown.
func TestFinerLattice(t *testing.T) {
	for _, c := range []struct {
		eps     number.Epsilon
		pf, geo float64
	}{{exp(t, "2"), 1.0211, 1.0007}, {epsilon(t, "1"), 1.0500, 1.0005}, {epsilon(t, "2"), 1.2480, 1.0001}} {
		p, optimum := solve(t, Request{N: 3, K: 3, Step: 2, Epsilon: c.eps, Level: DP})
		assert.InDelta(t, c.pf, ratio(t, p, optimum, "pf"), 5.1e-5)
		assert.InDelta(t, c.geo, ratio(t, p, optimum, "geo"), 5.1e-5)
	}
	// (3,2), L = 2, ε = ln 2: worst neighbors alone leave the program loose.
	loose, worst := solve(t, Request{N: 3, K: 2, Step: 2, Epsilon: exp(t, "2")})
	tight, all := solve(t, Request{N: 3, K: 2, Step: 2, Epsilon: exp(t, "2"), Level: DP})
	assert.InDelta(t, 1.096, ratio(t, loose, worst, "pf"), 5.1e-4)
	assert.InDelta(t, 1.019, ratio(t, tight, all, "pf"), 5.1e-4)
	assert.True(t, all.Exact())
}

// The largest Pr[err >= 2Δ] over the vectors of Q(3,3), ε = 0.7.
func TestWorstTail(t *testing.T) {
	tail, err := ParseLoss("tail:" + big.NewRat(1, 1).RatString())
	require.NoError(t, err)
	for _, c := range []struct {
		level Level
		want  float64
	}{{Paper, 0.33181}, {DP, 0.33181}, {Monotone, 0.39781}, {Full, 0.39781}} {
		p, optimum := solve(t, Request{N: 3, K: 3, Epsilon: epsilon(t, "0.7"), Loss: tail, Worst: true, Level: c.level})
		got, _ := optimum.Low.Float64()
		assert.InDelta(t, c.want, got, 5.1e-6)
		pf, _ := mechanisms.Lookup("pf")
		b, err := rated(p, pf, 128)
		require.NoError(t, err)
		got, _ = b.Low.Float64()
		assert.InDelta(t, 0.41439, got, 5.1e-6)
		// 1 - (1-(1-p)^n)/(np) at p = e^{-ε}
		x := math.Exp(-0.7)
		assert.InDelta(t, 1-(1-math.Pow(1-x, 3))/(3*x), got, 1e-12)
	}
}

func TestTop1(t *testing.T) {
	p, optimum := solve(t, Request{N: 3, K: 10, Epsilon: epsilon(t, "0.25"), Loss: Loss{kind: "top1"}})
	assert.InDelta(t, 1.0520, ratio(t, p, optimum, "pf"), 5.1e-5)
}

// For a product prior with factors ρ^v, ρ <= 1/2, permute-and-flip is optimal at every ε.
func TestGeometricPriorAtSmallEpsilon(t *testing.T) {
	prior, err := ParsePrior("geometric:" + big.NewRat(1, 2).RatString())
	require.NoError(t, err)
	for _, loss := range []Loss{Loss{}, Loss{kind: "square"}, Loss{kind: "top1"}} {
		p, optimum := solve(t, Request{N: 4, K: 4, Epsilon: exp(t, "21/20"), Prior: prior, Loss: loss})
		pf, _ := mechanisms.Lookup("pf")
		b, err := rated(p, pf, 128)
		require.NoError(t, err)
		assert.True(t, b.Exact() && optimum.Exact() && b.Low.Cmp(optimum.Low) == 0, "%v: %v, %v", loss, b, optimum)
	}
}

// allVectors lists the score vectors of a lattice, as numbers of depths.
func allVectors(n, k int) (out [][]int) {
	v := make([]int, n)
	for {
		if slices.Min(v) == 0 {
			out = append(out, slices.Clone(v))
		}
		i := n - 1
		for ; i >= 0; i-- {
			if v[i]++; v[i] <= k {
				break
			}
			v[i] = 0
		}
		if i < 0 {
			return out
		}
	}
}

// The rows between cells are those between candidates of all score vectors, straight from their definitions.
func TestRowsFromTheirDefinitions(t *testing.T) {
	for _, c := range []struct{ n, k, l int }{{1, 2, 2}, {2, 3, 1}, {3, 2, 1}, {3, 2, 2}, {3, 1, 3}, {4, 1, 2}, {2, 2, 4}} {
		q := Request{N: c.n, K: c.k, Step: c.l, Epsilon: exp(t, "2"), Level: Full}
		depths := q.depths()
		lat, err := lattice.New(c.n, depths)
		require.NoError(t, err)
		vars := lat.Number()
		cell := func(v []int, r int) int { return vars.Find(lattice.Count(v, depths), v[r]) }
		private, worst, monotone := map[[2]int]bool{}, map[[2]int]bool{}, map[[2]int]bool{}
		all := allVectors(c.n, depths)
		for _, a := range all {
			for _, b := range all {
				low, high := math.MaxInt, math.MinInt // of the changes of depth
				for s := range a {
					low, high = min(low, a[s]-b[s]), max(high, a[s]-b[s])
				}
				for r := range a {
					i, j := cell(a, r), cell(b, r)
					if i == j {
						continue
					}
					if high-low <= c.l {
						private[[2]int{i, j}] = true // x_r(a) >= z x_r(b)
					}
					// a: candidate r lower by L than in b, relative to all others, which do not change among themselves
					others := map[int]bool{}
					for s := range a {
						if s != r {
							others[a[s]-b[s]] = true
						}
					}
					if len(others) == 1 {
						for o := range others {
							if a[r]-b[r]-o == c.l {
								worst[[2]int{i, j}] = true
							}
						}
					}
					// a has r no lower and everyone else no higher than b, after a shift
					ok := true
					for s := range a {
						ok = ok && a[s]-b[s] >= a[r]-b[r]
					}
					if ok {
						monotone[[2]int{i, j}] = true
					}
				}
			}
		}
		gotPrivate, gotMonotone := map[[2]int]bool{}, map[[2]int]bool{}
		for _, level := range []Level{DP, Full} {
			q.Level = level
			eachTestRow(q, func(above, below int, isPrivate bool) {
				row := [2]int{above, below}
				switch {
				case above == below:
				case !isPrivate:
					gotMonotone[row] = true
				default:
					gotPrivate[row] = true
				}
			})
		}
		name := fmt.Sprint(c)
		assert.Equal(t, private, gotPrivate, name)
		// Single steps generate the monotone rows: none is wrong, and their closure is all of them.
		for row := range gotMonotone {
			assert.True(t, monotone[row], "%s %v", name, row)
		}
		for changed := true; changed; {
			changed = false
			for a := range gotMonotone {
				for b := range gotMonotone {
					if row := [2]int{a[0], b[1]}; a[1] == b[0] && row[0] != row[1] && !gotMonotone[row] {
						gotMonotone[row], changed = true, true
					}
				}
			}
		}
		for row := range monotone {
			assert.True(t, gotMonotone[row], "%s %v is not generated", name, row)
		}
		q.Level = Paper
		gotWorst := map[[2]int]bool{}
		eachTestRow(q, func(above, below int, _ bool) { gotWorst[[2]int{above, below}] = true })
		assert.Equal(t, worst, gotWorst, name)
	}
}
