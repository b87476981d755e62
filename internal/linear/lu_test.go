package linear

import (
	"math"
	"math/rand/v2"
	"testing"
)

// matrix is a square sparse matrix in columns for the tests of LU.
type matrix struct {
	n     int
	start []int
	index []int32
	value []float64
}

func (m *matrix) add(idx []int32, val []float64) {
	if len(m.start) == 0 {
		m.start = []int{0}
	}
	m.index = append(m.index, idx...)
	m.value = append(m.value, val...)
	m.start = append(m.start, len(m.index))
	m.n++
}

func (m *matrix) column(j int) ([]int32, []float64) {
	return m.index[m.start[j]:m.start[j+1]], m.value[m.start[j]:m.start[j+1]]
}

// with returns m with column j replaced.
func (m *matrix) with(j int, idx []int32, val []float64) *matrix {
	r := &matrix{}
	for c := range m.n {
		if c == j {
			r.add(idx, val)
		} else {
			r.add(m.column(c))
		}
	}
	return r
}

func (m *matrix) times(x []float64) []float64 {
	y := make([]float64, m.n)
	for j := range m.n {
		idx, val := m.column(j)
		for p, i := range idx {
			y[i] += val[p] * x[j]
		}
	}
	return y
}

func (m *matrix) transposedTimes(y []float64) []float64 {
	x := make([]float64, m.n)
	for j := range m.n {
		idx, val := m.column(j)
		for p, i := range idx {
			x[j] += val[p] * y[i]
		}
	}
	return x
}

// randomColumn has a share of density entries, at least the given one, which is large.
func randomColumn(rng *rand.Rand, n int, density float64, at int) ([]int32, []float64) {
	var idx []int32
	var val []float64
	for i := range n {
		if i == at || rng.Float64() < density {
			idx = append(idx, int32(i))
			val = append(val, math.Ldexp(rng.NormFloat64(), rng.IntN(9)-4))
			if i == at {
				val[len(val)-1] = 8 + rng.Float64()
			}
		}
	}
	return idx, val
}

func randomMatrix(rng *rand.Rand, n int, density float64) *matrix {
	m := &matrix{}
	for _, at := range rng.Perm(n) {
		m.add(randomColumn(rng, n, density, at))
	}
	return m
}

func largest(v []float64) float64 { return maxAbs(v) }

// residuals returns the backward errors of one solve of each kind.
func residuals(f *LU, m *matrix, rng *rand.Rand) (plain, transposed float64) {
	b := make([]float64, m.n)
	for i := range b {
		if rng.IntN(3) > 0 {
			b[i] = rng.NormFloat64()
		}
	}
	x := make([]float64, m.n)
	f.Solve(x, b)
	y := append([]float64(nil), b...)
	f.SolveTransposed(y, y) // in place
	r, s := m.times(x), m.transposedTimes(y)
	for i := range b {
		r[i] -= b[i]
		s[i] -= b[i]
	}
	size := largest(m.value)
	return largest(r) / (1 + size*largest(x)), largest(s) / (1 + size*largest(y))
}

func TestFactorizeSolvesBothWays(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(60)
		m := randomMatrix(rng, n, []float64{0, 0.02, 0.05, 0.1, 0.5, 1}[rng.IntN(6)])
		f, lack := Factorize(m.n, m.start, m.index, m.value)
		if lack != nil {
			t.Logf("seed %d: n = %d singular %v", seed, n, lack)
			continue
		}
		if a, b := residuals(f, m, rng); a > 1e-11 || b > 1e-11 {
			t.Errorf("seed %d: n = %d: residuals %g and %g", seed, n, a, b)
		}
	}
}

func TestFactorizeTriangularNeedsNoFill(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const n = 200
	rows, cols := rng.Perm(n), rng.Perm(n)
	lists := make([][]int32, n)
	values := make([][]float64, n)
	entries := 0
	for k := range n {
		for _, l := range append(rng.Perm(k + 1)[:min(k, 3)], k) {
			if i := int32(rows[l]); len(lists[cols[k]]) == 0 || lists[cols[k]][0] != i {
				lists[cols[k]] = append(lists[cols[k]], i)
				values[cols[k]] = append(values[cols[k]], 1+rng.Float64())
			}
		}
	}
	m := &matrix{}
	for j := range lists {
		idx, val := dedupe(lists[j], values[j])
		entries += len(idx)
		m.add(idx, val)
	}
	f, lack := Factorize(m.n, m.start, m.index, m.value)
	if lack != nil {
		t.Fatal(lack)
	}
	if f.factor != entries {
		t.Errorf("factors have %d entries, the permuted triangle %d", f.factor, entries)
	}
}

func dedupe(idx []int32, val []float64) ([]int32, []float64) {
	seen := map[int32]bool{}
	var ri []int32
	var rv []float64
	for p, i := range idx {
		if !seen[i] {
			seen[i] = true
			ri, rv = append(ri, i), append(rv, val[p])
		}
	}
	return ri, rv
}

func TestSingularNamesARepair(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 2 + rng.IntN(30)
		m := randomMatrix(rng, n, []float64{0.05, 0.1, 0.3}[rng.IntN(3)])
		lost := 1 + rng.IntN(min(3, n-1))
		for _, j := range rng.Perm(n)[:lost] {
			// a copy of another column, or a multiple of it, or nothing at all
			idx, val := m.column((j + 1) % n)
			idx, val = append([]int32(nil), idx...), append([]float64(nil), val...)
			switch rng.IntN(3) {
			case 0:
				for p := range val {
					val[p] *= -3
				}
			case 1:
				idx, val = nil, nil
			}
			m = m.with(j, idx, val)
		}
		f, lack := Factorize(m.n, m.start, m.index, m.value)
		if f != nil || lack == nil {
			t.Fatalf("seed %d: singular matrix factorised", seed)
		}
		if len(lack.Cols) != len(lack.Rows) || len(lack.Cols) == 0 {
			t.Fatalf("seed %d: %d dependent columns, %d uncovered rows", seed, len(lack.Cols), len(lack.Rows))
		}
		for k, j := range lack.Cols {
			m = m.with(j, []int32{int32(lack.Rows[k])}, []float64{1})
		}
		f, lack = Factorize(m.n, m.start, m.index, m.value)
		if lack != nil {
			t.Fatalf("seed %d: still singular after the repair: %v", seed, lack)
		}
		if a, b := residuals(f, m, rng); a > 1e-10 || b > 1e-10 {
			t.Errorf("seed %d: residuals %g and %g after the repair", seed, a, b)
		}
	}
}

func TestUpdateAgreesWithRefactorisation(t *testing.T) {
	updates := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 5 + rng.IntN(80)
		if seed%10 == 0 {
			n = 400 // large enough for the searches of the sparse solves
		}
		density := 1.5 / float64(n)
		m := randomMatrix(rng, n, density)
		f, lack := Factorize(m.n, m.start, m.index, m.value)
		if lack != nil {
			continue
		}
		f.drop = 1e-14
		v, e := newSparse(n), newSparse(n)
		for step := range 30 {
			idx, val := randomColumn(rng, n, density, rng.IntN(n))
			v.clear()
			for p, i := range idx {
				v.val[i] = val[p]
				v.idx = append(v.idx, i)
			}
			f.solve(&v, true)
			r := v.idx[rng.IntN(len(v.idx))]
			if math.Abs(v.val[r]) < 0.3*largest(v.val) {
				continue // a poor pivot spoils any update
			}
			e.unitVector(r)
			f.solveTransposed(&e, true)
			if off := f.update(r, v.val[r]); off > 1e-9 {
				break // the signal to refactorise
			}
			updates++
			m = m.with(int(f.colOf[r]), idx, val)
			fresh, lack := Factorize(m.n, m.start, m.index, m.value)
			if lack != nil {
				t.Fatalf("seed %d step %d: %v after an update with pivot %g", seed, step, lack, v.val[r])
			}
			a, b := residuals(f, m, rng)
			c, d := residuals(fresh, m, rng)
			if max(a, b) > 1e-8 || max(c, d) > 1e-8 {
				t.Errorf("seed %d step %d: residuals %g, %g updated and %g, %g fresh", seed, step, a, b, c, d)
			}
		}
	}
	if updates < 600 {
		t.Errorf("only %d updates were tested", updates)
	}
}

// A wrong pivot value must show in what update returns.
func TestUpdateSeesInaccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	m := randomMatrix(rng, 30, 0.1)
	f, lack := Factorize(m.n, m.start, m.index, m.value)
	if lack != nil {
		t.Fatal(lack)
	}
	v, e := newSparse(m.n), newSparse(m.n)
	idx, val := randomColumn(rng, m.n, 0.1, 3)
	for p, i := range idx {
		v.val[i] = val[p]
		v.idx = append(v.idx, i)
	}
	f.solve(&v, true)
	r := v.idx[0]
	e.unitVector(r)
	f.solveTransposed(&e, true)
	if off := f.update(r, 1.001*v.val[r]); !(off > 1e-4 && off < 1e-2) {
		t.Errorf("a pivot off by 0.1%% reported as %g", off)
	}
}

// The sparse solves must agree with the dense ones, whatever the sparsity of the right-hand side.
func TestSparseSolvesAgreeWithDense(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := 50 + rng.IntN(400)
		m := randomMatrix(rng, n, 0.6/float64(n))
		f, lack := Factorize(m.n, m.start, m.index, m.value)
		if lack != nil {
			continue
		}
		for range 20 {
			idx, val := randomColumn(rng, n, []float64{0, 0.01, 0.3}[rng.IntN(3)], rng.IntN(n))
			b := make([]float64, n)
			v, w := newSparse(n), newSparse(n)
			for p, i := range idx {
				b[i], v.val[i], w.val[i] = val[p], val[p], val[p]
			}
			v.idx, w.idx = append(v.idx, idx...), append(w.idx, idx...)
			f.solve(&v, false)
			f.solveTransposed(&w, false)
			x, y, c := make([]float64, n), make([]float64, n), make([]float64, n)
			f.Solve(x, b)
			for r, j := range f.colOf {
				c[j] = b[r] // pivot rows name the columns in the sparse solve
			}
			f.SolveTransposed(y, c)
			for r, j := range f.colOf {
				if d := math.Abs(v.val[r] - x[j]); d > 1e-9*(1+largest(x)) {
					t.Fatalf("seed %d: sparse solve differs by %g at row %d", seed, d, r)
				}
				if d := math.Abs(w.val[r] - y[r]); d > 1e-9*(1+largest(y)) {
					t.Fatalf("seed %d: sparse transposed solve differs by %g at row %d", seed, d, r)
				}
			}
			checkPattern(t, &v)
			checkPattern(t, &w)
		}
	}
}

// checkPattern checks that every nonzero is listed once.
func checkPattern(t *testing.T, v *sparse) {
	t.Helper()
	listed := map[int32]int{}
	for _, i := range v.idx {
		if listed[i]++; listed[i] > 1 {
			t.Fatalf("entry %d listed twice", i)
		}
	}
	for i, x := range v.val {
		if x != 0 && listed[int32(i)] == 0 {
			t.Fatalf("nonzero %d is not listed", i)
		}
	}
}
