package linear

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// randomBasis marks rows many variables basic, whether or not they are independent.
func randomBasis(rng *rand.Rand, m *Model) *Basis {
	b := &Basis{Col: make([]VarStatus, m.Cols()), Row: make([]VarStatus, m.Rows())}
	for k, v := range rng.Perm(m.Cols() + m.Rows()) {
		st := VarStatus(rng.IntN(2))
		if k < m.Rows() {
			st = Basic
		} else if rng.IntN(5) == 0 {
			st = Free // fits hardly any variable
		}
		if v < m.Cols() {
			b.Col[v] = st
		} else {
			b.Row[v-m.Cols()] = st
		}
	}
	return b
}

func TestAnyBasisIsAStart(t *testing.T) {
	repaired := 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 20))
		m := randomProgram(rng, 1+rng.IntN(30), 1+rng.IntN(40), seed%2 == 0, seed%5 > 0)
		cold := solve(t, m, Options{})
		for range 3 {
			b := randomBasis(rng, m)
			before := b.Clone()
			s := newSimplex(m, 1e-9, 1e-9)
			s.begin(b)
			repaired += min(s.repairs, 1)
			res := solve(t, m, Options{Basis: b})
			for i, st := range before.Col {
				if b.Col[i] != st {
					t.Fatalf("seed %d: the starting basis was modified", seed)
				}
			}
			if res.Outcome != cold.Outcome && !(res.Outcome == Infeasible && cold.Outcome == Unbounded && !hasPoint(t, m)) &&
				!(cold.Outcome == Infeasible && res.Outcome == Unbounded && !hasPoint(t, m)) {
				t.Errorf("seed %d: %v from a random basis, %v cold", seed, res.Outcome, cold.Outcome)
			}
			if res.Outcome == Optimal {
				if err := kkt(m, res, 1e-7); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if again := solve(t, m, Options{Basis: res.Basis}); again.Outcome != Optimal || again.Pivots > 0 {
					t.Errorf("seed %d: %v after %d pivots from the optimal basis", seed, again.Outcome, again.Pivots)
				}
			}
		}
	}
	if repaired < 50 {
		t.Errorf("only %d singular starts were tried", repaired)
	}
}

// withRow returns m with one more row.
func withRow(m *Model, lower, upper float64, idx []int32, val []float64) *Model {
	r := &Model{
		RowLower: append(append([]float64(nil), m.RowLower...), lower),
		RowUpper: append(append([]float64(nil), m.RowUpper...), upper),
	}
	entry := map[int32]float64{}
	for p, j := range idx {
		entry[j] = val[p]
	}
	for j := range m.Cols() {
		b, e := m.Start[j], m.Start[j+1]
		i, v := append([]int32(nil), m.Index[b:e]...), append([]float64(nil), m.Value[b:e]...)
		if x, ok := entry[int32(j)]; ok {
			i, v = append(i, int32(m.Rows())), append(v, x)
		}
		r.AddCol(m.Cost[j], m.ColLower[j], m.ColUpper[j], i, v)
	}
	return r
}

func TestWarmStartAfterAddingRows(t *testing.T) {
	cuts, warm, cold := 0, 0, 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 21))
		m := randomProgram(rng, 20+rng.IntN(30), 40+rng.IntN(40), seed%2 == 0, true)
		for j := range m.Cols() { // so that none is unbounded
			m.ColLower[j], m.ColUpper[j] = max(m.ColLower[j], -1e3), min(m.ColUpper[j], 1e3)
		}
		res := solve(t, m, Options{})
		for range 5 {
			if res.Outcome != Optimal {
				break
			}
			var idx []int32
			var val []float64
			activity := 0.0
			for j := range m.Cols() {
				if rng.IntN(6) == 0 {
					idx, val = append(idx, int32(j)), append(val, rng.NormFloat64())
					activity += val[len(val)-1] * res.X[j]
				}
			}
			m = withRow(m, math.Inf(-1), activity-0.1*rng.Float64(), idx, val)
			b := res.Basis.Clone()
			b.Row = append(b.Row, Basic)
			old := res.Objective
			res = solve(t, m, Options{Basis: b})
			full := solve(t, m, Options{})
			if res.Outcome != full.Outcome {
				t.Errorf("seed %d: %v warm, %v cold", seed, res.Outcome, full.Outcome)
			}
			if res.Outcome != Optimal {
				break
			}
			cuts++
			warm += res.Pivots
			cold += full.Pivots
			if err := kkt(m, res, 1e-7); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if math.Abs(res.Objective-full.Objective) > 1e-7*(1+math.Abs(full.Objective)) || res.Objective < old-1e-7*(1+math.Abs(old)) {
				t.Errorf("seed %d: %.12g warm, %.12g cold, %.12g before the row", seed, res.Objective, full.Objective, old)
			}
		}
	}
	t.Logf("%d rows added: %d pivots warm, %d cold", cuts, warm, cold)
	if cuts < 50 || warm*3 > cold {
		t.Errorf("%d rows added: %d pivots warm, %d cold", cuts, warm, cold)
	}
}

func TestMalformedInputIsAnError(t *testing.T) {
	m, good := latticeProgram(3, 2, 0.5)
	short := good.Clone()
	short.Row = short.Row[1:]
	crowded := good.Clone()
	crowded.Row[0] = Basic
	unknown := good.Clone()
	unknown.Row[0] = 9
	for name, o := range map[string]Options{
		"short basis":        {Basis: short},
		"too many basic":     {Basis: crowded},
		"unknown status":     {Basis: unknown},
		"negative tolerance": {Feasible: -1},
		"tolerance NaN":      {Optimal: math.NaN()},
		"negative limit":     {MaxPivots: -1},
	} {
		if res, err := (Embedded{}).Solve(context.Background(), m, o); err == nil {
			t.Errorf("%s: %v without an error", name, res.Outcome)
		}
	}
	bad := *m
	bad.RowLower = append([]float64(nil), m.RowLower...)
	bad.RowLower[0] = 2
	if _, err := (Embedded{}).Solve(context.Background(), &bad, Options{}); !errors.Is(err, ErrModel) {
		t.Errorf("crossed bounds: error %v", err)
	}
}

func TestEmptyPrograms(t *testing.T) {
	free := &Model{}
	free.AddCol(-1, 0, 3, nil, nil)
	free.AddCol(2, -5, 3, nil, nil)
	free.AddCol(0, math.Inf(-1), math.Inf(1), nil, nil)
	endless := &Model{}
	endless.AddCol(-1, 0, math.Inf(1), nil, nil)
	rowsOnly := &Model{}
	rowsOnly.AddRow(-1, 1)
	wrongRow := &Model{}
	wrongRow.AddRow(1, 2)
	for _, c := range []struct {
		m    *Model
		want Outcome
		obj  float64
	}{{&Model{}, Optimal, 0}, {free, Optimal, -13}, {endless, Unbounded, 0}, {rowsOnly, Optimal, 0}, {wrongRow, Infeasible, 0}} {
		res := solve(t, c.m, Options{})
		if res.Outcome != c.want || c.want == Optimal && res.Objective != c.obj {
			t.Errorf("%v with %g, want %v with %g", res.Outcome, res.Objective, c.want, c.obj)
		}
	}
}

func TestPivotLimitAndResume(t *testing.T) {
	m, b := latticeProgram(5, 5, math.Exp(-0.5))
	want := solve(t, m, Options{Basis: b})
	total, rounds := 0, 0
	var res *Result
	for at := (*Basis)(nil); ; at = res.Basis {
		res = solve(t, m, Options{Basis: at, MaxPivots: 100})
		if total += res.Pivots; res.Outcome != Stopped {
			break
		}
		if res.Pivots != 100 {
			t.Fatalf("stopped after %d pivots", res.Pivots)
		}
		if err := res.Basis.Check(m); err != nil {
			t.Fatal(err)
		}
		if rounds++; rounds > 100 {
			t.Fatalf("no end after %d pivots", total)
		}
	}
	if err := kkt(m, res, 1e-9); err != nil || math.Abs(res.Objective-want.Objective) > 1e-10*want.Objective || rounds == 0 {
		t.Errorf("%v, %.12g after %d stops, want %.12g", err, res.Objective, rounds, want.Objective)
	}
}

func TestReportsAndCancellation(t *testing.T) {
	m, b := latticeProgram(7, 7, math.Exp(-0.5))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var reports []Progress
	at := 0
	res, err := Embedded{}.Solve(ctx, m, Options{Basis: b, Report: func(p Progress) {
		reports = append(reports, p)
		if p.Pivots > 200 && at == 0 {
			at = p.Pivots
			cancel()
		}
	}})
	if err != nil || res.Outcome != Stopped || res.Basis.Check(m) != nil {
		t.Fatalf("%v, error %v", res, err)
	}
	if at == 0 || res.Pivots-at > 100 {
		t.Errorf("cancelled at %d pivots, stopped at %d", at, res.Pivots)
	}
	for k, p := range reports {
		if k > 0 && (p.Objective > reports[k-1].Objective*(1+1e-9) || p.Pivots < reports[k-1].Pivots) {
			t.Errorf("report %d: %+v", k, p)
		}
	}
	// The last basis is a start like any other.
	if rest := solve(t, m, Options{Basis: res.Basis}); rest.Outcome != Optimal || rest.Objective >= reports[len(reports)-1].Objective {
		t.Errorf("%v with %g after going on from %g", rest.Outcome, rest.Objective, reports[len(reports)-1].Objective)
	}
	cancel()
	if res := solveCtx(t, ctx, m); res.Outcome != Stopped || res.Pivots != 0 {
		t.Errorf("%v after %d pivots with an ended context", res.Outcome, res.Pivots)
	}
}

func solveCtx(t *testing.T, ctx context.Context, m *Model) *Result {
	t.Helper()
	res, err := Embedded{}.Solve(ctx, m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Rows and columns multiplied by very different numbers are the same program, on which the solver may fail, but not err.
func TestBadlyScaledPrograms(t *testing.T) {
	optimal, failed := 0, 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 22))
		m := randomProgram(rng, 1+rng.IntN(25), 1+rng.IntN(40), seed%2 == 0, true)
		want := solve(t, m, Options{})
		w := &Model{}
		rows := make([]float64, m.Rows())
		for i := range rows {
			rows[i] = math.Pow(10, float64(rng.IntN(7)-3))
			w.AddRow(m.RowLower[i]*rows[i], m.RowUpper[i]*rows[i])
		}
		for j := range m.Cols() {
			f := math.Pow(10, float64(rng.IntN(7)-3))
			idx, val := m.Index[m.Start[j]:m.Start[j+1]], append([]float64(nil), m.Value[m.Start[j]:m.Start[j+1]]...)
			for p, i := range idx {
				val[p] *= f * rows[i]
			}
			w.AddCol(m.Cost[j]*f, m.ColLower[j]/f, m.ColUpper[j]/f, idx, val)
		}
		res := solve(t, w, Options{})
		switch res.Outcome {
		case want.Outcome:
		case Failed:
			failed++
		default:
			t.Errorf("seed %d: %v, without the scaling %v", seed, res.Outcome, want.Outcome)
		}
		if res.Outcome == Optimal && want.Outcome == Optimal {
			optimal++
			if math.Abs(res.Objective-want.Objective) > 1e-6*(1+math.Abs(want.Objective)) {
				t.Errorf("seed %d: %.12g, without the scaling %.12g", seed, res.Objective, want.Objective)
			}
			if err := kkt(w, res, 1e-7); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
	if optimal < 50 || failed > 3 {
		t.Errorf("only %d optima, and %d failures", optimal, failed)
	}
}

// From any start, by any algorithm, the same optimum.
func TestLatticeFromEveryStart(t *testing.T) {
	m, b := latticeProgram(5, 5, math.Exp(-0.5))
	want := solve(t, m, Options{Basis: b})
	for seed := range uint64(3) {
		start := (*Basis)(nil)
		switch seed {
		case 1:
			start = b
		case 2:
			start = randomBasis(rand.New(rand.NewPCG(seed, 23)), m)
		}
		res := solve(t, m, Options{Basis: start})
		if err := kkt(m, res, 1e-9); err != nil || math.Abs(res.Objective-want.Objective) > 1e-11*want.Objective {
			t.Errorf("start %d: %v, %.14g, want %.14g", seed, err, res.Objective, want.Objective)
		}
		t.Logf("start %d: %d pivots", seed, res.Pivots)
	}
}

// A power of two in front of the objective changes nothing but the units of the answer, however large it is.
func TestUnitOfCostsDoesNotMatter(t *testing.T) {
	m := randomProgram(rand.New(rand.NewPCG(1, 24)), 20, 30, true, true)
	for j := range m.Cols() {
		m.ColLower[j], m.ColUpper[j] = max(m.ColLower[j], -1e3), min(m.ColUpper[j], 1e3)
	}
	want := solve(t, m, Options{})
	if want.Outcome != Optimal {
		t.Fatal(want.Outcome)
	}
	for _, unit := range []int{-300, -60, 60, 300, 900} {
		w := *m
		w.Cost = append([]float64(nil), m.Cost...)
		for j := range w.Cost {
			w.Cost[j] = math.Ldexp(m.Cost[j], unit)
		}
		res := solve(t, &w, Options{Optimal: math.Ldexp(1e-9, unit)})
		if res.Outcome != Optimal || math.Abs(math.Ldexp(res.Objective, -unit)-want.Objective) > 1e-9*math.Abs(want.Objective) {
			t.Errorf("2^%d: %v with %g, want %g", unit, res.Outcome, math.Ldexp(res.Objective, -unit), want.Objective)
		}
	}
}
