package lp

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
)

// The dual points of Theorems 4 to 6 of research/docs/points.md: tables of counts, cuts, refinements. Floating point proposes a point; whether it is
// feasible, and what it is worth, is decided in rational arithmetic.

// countTable is the dual point y = Σ_j F_j(N_j): N_j is the number of candidates at depth j or above, F_j(1) = 0 and F_j(i) = F_j(I) for i > I.
// f[j][i-1] is F_j(i), i = 1, …, I.
type countTable [][]*big.Rat

func (f countTable) at(q []int) *big.Rat {
	sum := new(big.Rat)
	for j, row := range f {
		n := 0
		for _, v := range q {
			if v <= j {
				n++
			}
		}
		sum.Add(sum, row[min(n, len(row))-1])
	}
	return sum
}

// powers are z^0, …, z^k and the sums over them that the conditions need.
type powers struct {
	k     int
	z     []*big.Rat
	inv   []*big.Rat // z^-s
	plain []*big.Rat // plain[u] = Σ_{v>=u} z^v
	cost  []*big.Rat // cost[u] = Σ_{v>=u} v z^v
}

func newPowers(k int, z *big.Rat) *powers {
	p := &powers{k: k, plain: make([]*big.Rat, k+2), cost: make([]*big.Rat, k+2)}
	at, back := ratOf(1, 1), ratOf(1, 1)
	for range k + 1 {
		p.z, p.inv = append(p.z, at), append(p.inv, back)
		at, back = times(at, z), quotient(back, z)
	}
	p.plain[k+1], p.cost[k+1] = new(big.Rat), new(big.Rat)
	for u := k; u >= 0; u-- {
		p.plain[u] = plusRat(p.plain[u+1], p.z[u])
		p.cost[u] = plusRat(p.cost[u+1], times(ratOf(int64(u), 1), p.z[u]))
	}
	return p
}

// between returns Σ_{u=from}^to z^u.
func (p *powers) between(from, to int) *big.Rat {
	if from > to {
		return new(big.Rat)
	}
	return difference(p.plain[from], p.plain[to+1])
}

// feasible is Theorem 4's condition: for t = -(J-1), …, J the longest path over nondecreasing counts of the others is at most A^(t).
func (f countTable) feasible(p *powers) bool {
	j, most := len(f), len(f[0])
	for t := 1 - j; t <= j; t++ {
		from := max(t, 0)
		next := make([]*big.Rat, most) // V_{i+1}(m), m = 1, …, I
		for m := range next {
			next[m] = new(big.Rat)
		}
		for i := j - 1; i >= 0; i-- {
			here := make([]*big.Rat, most)
			for m := most; m >= 1; m-- {
				up := min(m+1, most)
				g := plusRat(times(f[i][up-1], p.between(from, i)), times(f[i][m-1], p.plain[max(from, i+1)]))
				for s := 1; s <= min(-t, j-1-i); s++ {
					g.Add(g, times(p.inv[s], f[i+s][up-1]))
				}
				here[m-1] = g.Add(g, next[m-1])
				if m < most && here[m].Cmp(here[m-1]) > 0 {
					here[m-1] = here[m]
				}
			}
			next = here
		}
		if next[0].Cmp(p.cost[from]) > 0 {
			return false
		}
	}
	return true
}

// value is Σ_j Σ_i F_j(i) C(n,i) ((j+1)^i - j^i) (k-j)^{n-i}.
func (f countTable) value(n, k int) *big.Rat {
	sum := new(big.Rat)
	whole := func(x, m int) *big.Int { return new(big.Int).Exp(big.NewInt(int64(x)), big.NewInt(int64(m)), nil) }
	for j, row := range f {
		left := new(big.Int).Sub(whole(k+1, n), whole(k, n)) // vectors with a count above those seen
		for i := 1; i <= n; i++ {
			if i >= len(row) {
				sum.Add(sum, times(row[len(row)-1], new(big.Rat).SetInt(left)))
				break
			}
			count := new(big.Int).Sub(whole(j+1, i), whole(j, i))
			count.Mul(count, new(big.Int).Binomial(int64(n), int64(i)))
			count.Mul(count, whole(k-j, n-i))
			sum.Add(sum, times(row[i-1], new(big.Rat).SetInt(count)))
			left.Sub(left, count)
		}
	}
	return sum
}

// proposeCounts returns the table with J rows and counts up to I that a linear program finds best for n candidates, or nil.
func proposeCounts(t *testing.T, n, k int, z float64, j, most int) countTable {
	m := &linear.Model{}
	type entry struct {
		row int32
		v   float64
	}
	columns := map[[3]int][]entry{} // {-1, j, i} is F_j(i); {t, i, m} is V_i(m) of t shifted to be nonnegative
	var order [][3]int
	add := func(key [3]int, row int, v float64) {
		if key[0] < 0 && key[2] == 1 || v == 0 {
			return
		}
		old, ok := columns[key]
		if !ok {
			order = append(order, key)
		}
		for e := range old {
			if old[e].row == int32(row) {
				old[e].v += v
				return
			}
		}
		columns[key] = append(old, entry{int32(row), v})
	}
	inf := math.Inf(1)
	sum := func(from, to int, weighted bool) (s float64) {
		for u := from; u <= to; u++ {
			if weighted {
				s += float64(u) * math.Pow(z, float64(u))
			} else {
				s += math.Pow(z, float64(u))
			}
		}
		return s
	}
	for t := 1 - j; t <= j; t++ {
		from := max(t, 0)
		for i := range j {
			for c := 1; c <= most; c++ {
				up := min(c+1, most)
				row := m.AddRow(0, inf) // V_i(c) - V_{i+1}(c) - G_i(c) >= 0
				add([3]int{t + j, i, c}, row, 1)
				if i+1 < j {
					add([3]int{t + j, i + 1, c}, row, -1)
				}
				add([3]int{-1, i, up}, row, -sum(from, i, false))
				add([3]int{-1, i, c}, row, -sum(max(from, i+1), k, false))
				for s := 1; s <= min(-t, j-1-i); s++ {
					add([3]int{-1, i + s, up}, row, -math.Pow(z, -float64(s)))
				}
				if c < most {
					row = m.AddRow(0, inf)
					add([3]int{t + j, i, c}, row, 1)
					add([3]int{t + j, i, c + 1}, row, -1)
				}
			}
		}
		add([3]int{t + j, 0, 1}, m.AddRow(-inf, sum(from, k, true)), 1)
	}
	for _, key := range order {
		cost := 0.0
		if key[0] < 0 {
			unit := make(countTable, key[1]+1)
			for r := range unit {
				unit[r] = make([]*big.Rat, most)
				for i := range unit[r] {
					unit[r][i] = new(big.Rat)
				}
			}
			unit[key[1]][key[2]-1] = ratOf(1, 1)
			v, _ := quotient(unit.value(n, k), raised(ratOf(int64(k+1), 1), n)).Float64()
			cost = -v
		}
		var index []int32
		var values []float64
		for _, e := range columns[key] {
			index, values = append(index, e.row), append(values, e.v)
		}
		m.AddCol(cost, -inf, inf, index, values)
	}
	found, err := linear.Embedded{}.Solve(context.Background(), m, linear.Options{MaxPivots: 20000})
	require.NoError(t, err)
	if found.Outcome != linear.Optimal {
		return nil
	}
	f := make(countTable, j)
	for r := range f {
		f[r] = make([]*big.Rat, most)
		for i := range f[r] {
			f[r][i] = new(big.Rat)
		}
	}
	for c, key := range order {
		if key[0] < 0 {
			f[key[1]][key[2]-1] = onGrid(found.X[c] * (1 - 1e-6))
		}
	}
	return f
}

// onGrid rounds to a multiple of 2^-30.
func onGrid(x float64) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(int64(math.Floor(x*(1<<30)))), big.NewInt(1<<30))
}

// cutTable is the dual point y = Φ(D) where the gap is at most w and 0 elsewhere; D is the greatest depth.
type cutTable struct {
	w   int
	phi []*big.Rat
}

func (c *cutTable) at(q []int) *big.Rat {
	if q[1] > c.w {
		return new(big.Rat)
	}
	return c.phi[q[len(q)-1]]
}

// feasible is Theorem 5's condition.
func (c *cutTable) feasible(p *powers) bool {
	k, a := p.k, p.cost[0]
	most := quotient(a, p.plain[0])
	rest := new(big.Rat) // R_M = Σ_{u>M} z^u Φ(u)
	for m := k; m >= 0; m-- {
		if c.phi[m].Cmp(most) > 0 || c.phi[m].Sign() < 0 {
			return false
		}
		top, sum := new(big.Rat), new(big.Rat)
		for s := 1; s <= min(c.w, k-m); s++ {
			sum.Add(sum, times(p.inv[s], c.phi[m+s]))
			if sum.Cmp(top) > 0 {
				top.Set(sum)
			}
		}
		if plusRat(plusRat(top, rest), times(c.phi[m], p.between(0, m))).Cmp(a) > 0 {
			return false
		}
		rest.Add(rest, times(p.z[m], c.phi[m]))
	}
	return true
}

// value is Σ_D Φ(D) (N_w(D) - N_w(D-1)), with N_w(d) = (d+1)^n - d^n - n max(d-w,0)^{n-1}.
func (c *cutTable) value(n, k int) *big.Rat {
	within := func(d int) *big.Rat {
		if d < 0 {
			return new(big.Rat)
		}
		x := difference(raised(ratOf(int64(d+1), 1), n), raised(ratOf(int64(d), 1), n))
		return x.Sub(x, times(ratOf(int64(n), 1), raised(ratOf(int64(max(d-c.w, 0)), 1), n-1)))
	}
	sum := new(big.Rat)
	for d := range k + 1 {
		sum.Add(sum, times(c.phi[d], difference(within(d), within(d-1))))
	}
	return sum
}

// proposeCut takes each Φ(M), from k down, as large as the condition allows.
func proposeCut(k int, z float64, w int) *cutTable {
	phi, c := make([]float64, k+1), &cutTable{w: w, phi: make([]*big.Rat, k+1)}
	a, b := 0.0, 0.0
	for u := range k + 1 {
		a, b = a+float64(u)*math.Pow(z, float64(u)), b+math.Pow(z, float64(u))
	}
	rest := 0.0
	for m := k; m >= 0; m-- {
		top, sum, e := 0.0, 0.0, 0.0
		for s := 1; s <= min(w, k-m); s++ {
			sum += math.Pow(z, -float64(s)) * phi[m+s]
			top = max(top, sum)
		}
		for u := range m + 1 {
			e += math.Pow(z, float64(u))
		}
		phi[m] = max(0, min(a/b, (a-top-rest)/e))
		rest += math.Pow(z, float64(m)) * phi[m]
		c.phi[m] = onGrid(phi[m] * (1 - 1e-6))
	}
	return c
}
