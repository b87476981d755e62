package optimum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/number"
	"optratio/verify"
	"optratio/verify/certificate"
)

// dense is the program from its definition: a probability for each input and output, for each pair in each direction and each output a variable for max(0, p - e^{dε} p'),
// and all rows at once. Nil where no mechanism is left. It needs whole distances.
func dense(t testing.TB, p *Problem, exp, delta *big.Rat) *big.Rat {
	zero := new(big.Rat)
	n, m := len(p.Inputs), len(p.Outputs)
	type entry struct {
		row   int32
		value *big.Rat
	}
	lp := new(linear.Rational)
	columns := make([][]entry, n*m)
	for x := range n {
		row := int32(lp.AddRow(one, one))
		for o := range m {
			columns[x*m+o] = append(columns[x*m+o], entry{row, one})
		}
	}
	if p.Prior == nil {
		for x := range n {
			row := int32(lp.AddRow(zero, nil))
			for o := range m {
				columns[x*m+o] = append(columns[x*m+o], entry{row, new(big.Rat).Neg(p.Loss[x][o])})
			}
		}
	}
	var over [][]entry
	bound := func(x, y int, d *big.Rat) {
		power := new(big.Rat).SetFrac(new(big.Int).Exp(exp.Num(), d.Num(), nil), new(big.Int).Exp(exp.Denom(), d.Num(), nil))
		sum := int32(lp.AddRow(nil, delta))
		for o := range m {
			row := int32(lp.AddRow(zero, nil)) // s + e^{dε} p(o|y) - p(o|x) >= 0
			columns[x*m+o] = append(columns[x*m+o], entry{row, big.NewRat(-1, 1)})
			columns[y*m+o] = append(columns[y*m+o], entry{row, power})
			over = append(over, []entry{{sum, one}, {row, one}})
		}
	}
	for _, q := range p.Pairs {
		bound(q.From, q.To, multiple(q))
		if !p.OneWay {
			bound(q.To, q.From, multiple(q))
		}
	}
	add := func(cost, most *big.Rat, es []entry) {
		var index []int32
		var value []*big.Rat
		for _, e := range es {
			if e.value.Sign() != 0 {
				index, value = append(index, e.row), append(value, e.value)
			}
		}
		lp.AddCol(cost, zero, most, index, value)
	}
	for x := range n {
		for o := range m {
			cost, most := zero, (*big.Rat)(nil)
			if p.Prior != nil {
				cost = new(big.Rat).Mul(p.Prior[x], p.Loss[x][o])
			}
			if p.forbidden(x, o) {
				most = zero
			}
			add(cost, most, columns[x*m+o])
		}
	}
	for _, es := range over {
		add(zero, nil, es)
	}
	if p.Prior == nil {
		var es []entry
		for x := range n {
			es = append(es, entry{int32(n + x), one})
		}
		add(one, nil, es)
	}
	result, err := linear.Embedded{}.Solve(context.Background(), lp.Model(), linear.Options{})
	require.NoError(t, err)
	if result.Outcome != linear.Optimal { // by floating point, which exact pivots from the slacks on have the last word on
		result.Basis = &linear.Basis{Col: make([]linear.VarStatus, lp.Cols()), Row: slices.Repeat([]linear.VarStatus{linear.Basic}, lp.Rows())}
		for j := range result.Basis.Col {
			result.Basis.Col[j] = linear.AtLower
		}
	}
	g := &linear.Growing{Solver: linear.Embedded{}, Basis: result.Basis, Rounds: 1}
	e, err := g.Exact(context.Background(), func() *linear.Rational { return lp }, func(*linear.Exact) int { return 0 })
	if result.Outcome != linear.Optimal && errors.Is(err, linear.ErrUnsettled) {
		return nil
	}
	require.NoError(t, err)
	return e.Objective
}

// random returns a small problem.
func random(rng *rand.Rand) *Problem {
	n, m := 2+rng.IntN(4), 2+rng.IntN(3)
	p := &Problem{Inputs: numerals(n), Outputs: numerals(m)}
	weight, sum := make([]int64, n), int64(0)
	for x := range n {
		weight[x] = int64(rng.IntN(4))
		sum += weight[x]
		var row []*big.Rat
		for range m {
			row = append(row, big.NewRat(int64(rng.IntN(7)), int64(1+rng.IntN(3))))
		}
		p.Loss = append(p.Loss, row)
	}
	if rng.IntN(3) > 0 && sum > 0 {
		for _, w := range weight {
			p.Prior = append(p.Prior, big.NewRat(w, sum))
		}
	}
	p.OneWay = rng.IntN(3) == 0
	for x := range n {
		for y := range x {
			if rng.IntN(3) > 0 {
				q := Pair{From: x, To: y}
				if d := rng.IntN(6); d < 4 {
					q.Distance = big.NewRat(int64(d), 1)
				}
				if rng.IntN(2) == 0 {
					q.From, q.To = y, x
				}
				p.Pairs = append(p.Pairs, q)
			}
		}
	}
	if rng.IntN(3) == 0 {
		for range 1 + rng.IntN(2) {
			p.forbid(rng.IntN(n), rng.IntN(m))
		}
	}
	return p
}

// symmetric makes a random problem one that a cycle of its inputs and outputs keeps.
func symmetric(rng *rand.Rand) *Problem {
	n := 2 + rng.IntN(3)
	p := &Problem{Inputs: numerals(n), Outputs: numerals(n), OneWay: rng.IntN(2) == 0}
	first := make([]*big.Rat, n)
	for o := range first {
		first[o] = big.NewRat(int64(rng.IntN(5)), 1)
	}
	for x := range n {
		row := make([]*big.Rat, n)
		for o := range row {
			row[o] = first[(o-x+n)%n]
		}
		p.Loss = append(p.Loss, row)
	}
	for step := 1; step < n; step++ {
		if d := rng.IntN(4); d > 0 {
			for x := range n {
				y := (x + step) % n
				p.Pairs = append(p.Pairs, Pair{From: x, To: y, Distance: big.NewRat(int64(d), 1)})
				if p.OneWay && rng.IntN(8) > 0 {
					p.Pairs = append(p.Pairs, Pair{From: y, To: x, Distance: big.NewRat(int64(d), 1)})
				}
			}
		}
	}
	if rng.IntN(2) == 0 {
		p.Prior = p.Uniform()
	}
	if rng.IntN(3) == 0 {
		step := rng.IntN(n)
		for x := range n {
			p.forbid(x, (x+step)%n)
		}
	}
	return p
}

// checked asserts that check accepts the certificate, and that what it states encloses the optimum: exactly, where it is known and the format can say so.
func checked(t testing.TB, a *Result) []byte {
	var b bytes.Buffer
	require.NoError(t, a.WriteCertificate(&b))
	r, err := certificate.Check(bytes.NewReader(b.Bytes()), certificate.Options{})
	require.NoError(t, err, b.String())
	require.True(t, r.Valid, "%s\n%s", r.Reason, b.String())
	low, _ := a.Optimum.Lower()
	high, _ := a.Optimum.Upper()
	at, _ := r.Optimum.Lower()
	require.LessOrEqual(t, at.Cmp(high), 0)
	at, _ = r.Optimum.Upper()
	require.GreaterOrEqual(t, at.Cmp(low), 0)
	if a.Undecided != "" {
		return b.Bytes()
	}
	if whole := !slices.ContainsFunc(a.program.distances, func(d *big.Rat) bool { return !d.IsInt() }); a.Exact() && whole {
		same, ok := r.Optimum.Cmp(a.Optimum)
		require.True(t, ok && same == 0, "%v is proved", r.Optimum)
	} else {
		require.True(t, r.Optimum.Within(big.NewRat(2, 1e9)), "%v is proved", r.Optimum)
	}
	return b.Bytes()
}

// rounds asserts that the rounded mechanism is private by the definition, as verify decides it, and at least as bad as the optimum.
func rounds(t testing.TB, a *Result) {
	m, err := a.Round(context.Background())
	p, r := a.request.Problem, a.request
	var text bytes.Buffer
	if err != nil {
		_ = p.WriteJSON(&text)
	}
	if errors.Is(err, errNotRounded) && p.Forbidden != nil && r.Delta != nil && r.Delta.Sign() > 0 {
		return // such as where what is forbidden and δ = 1/10 leave a probability no choice but 1/10
	}
	require.NoError(t, err, "ε = %v, δ = %v, %s %v", a.request.Epsilon, a.request.Delta, &text, a.Table())
	r.Rate = &Table{outputs: p.Outputs, p: values(m.Table())}
	require.NoError(t, r.Rate.check(p))
	rated := &Rating{}
	require.NoError(t, rated.private(t.Context(), &r))
	if len(p.Pairs) > 0 {
		require.Equal(t, verify.Proved, rated.DP)
	}
	value, ok := m.Value.Rat()
	require.True(t, ok)
	low, _ := a.Optimum.Lower()
	require.Equal(t, p.value(m.Table()).RatString(), value.RatString())
	require.GreaterOrEqual(t, value.Cmp(low), 0)
}

// TestRandomProblems compares small problems of every kind with the dense program, exactly, checks their certificates and rounds their mechanisms.
func TestRandomProblems(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 24))
	ctx := context.Background()
	none, folded, kinds := 0, 0, map[string]int{}
	for i := range 160 {
		p := random(rng)
		if i%3 == 0 {
			p = symmetric(rng)
		}
		e := big.NewRat(int64(2+rng.IntN(5)), 2)
		delta := big.NewRat(int64(rng.IntN(3)*rng.IntN(2)), 10)
		eps, err := number.FromExp(e)
		require.NoError(t, err)
		want := dense(t, p, e, delta)
		r := Request{Problem: p, Epsilon: eps, Delta: delta}
		a, err := Solve(ctx, r)
		if want == nil {
			require.ErrorIs(t, err, ErrProblem, "%d: %+v", i, p)
			none++
			continue
		}
		require.NoError(t, err, "%d: %+v", i, p)
		require.Empty(t, a.Undecided, i)
		got, ok := a.Optimum.Rat()
		require.True(t, ok, i)
		require.Equal(t, want.RatString(), got.RatString(), "%d: %+v", i, p)
		require.Equal(t, want.RatString(), p.value(a.Table()).RatString())
		checked(t, a)
		rounds(t, a)
		if a.Orbits < len(p.Inputs) {
			folded++
		}
		kinds[fmt.Sprint("worst ", p.Prior == nil, ", δ ", delta.Sign(), ", forbidden ", p.Forbidden != nil)]++
		if i%4 != 0 {
			continue
		}
		// The same at a rational ε, where the powers are enclosed: the optimum falls as ε grows.
		r.Epsilon, err = number.FromEpsilon(big.NewRat(int64(1+rng.IntN(3)), 4))
		require.NoError(t, err)
		if a, err = Solve(ctx, r); errors.Is(err, ErrProblem) {
			continue
		}
		require.NoError(t, err)
		require.Empty(t, a.Undecided, "%d: %+v", i, p)
		checked(t, a)
		rounds(t, a)
		for _, side := range []struct {
			exp  *big.Rat
			sign int
		}{{lower(r.Epsilon), 1}, {upper(r.Epsilon), -1}} {
			want := dense(t, p, side.exp, delta)
			if want == nil {
				continue
			}
			high, _ := a.Optimum.Upper()
			low, _ := a.Optimum.Lower()
			if side.sign > 0 {
				require.LessOrEqual(t, low.Cmp(want), 0)
			} else {
				require.GreaterOrEqual(t, high.Cmp(want), 0)
			}
		}
	}
	t.Log(none, folded, kinds)
	assert.Len(t, kinds, 8)
	assert.Positive(t, none)
	assert.Greater(t, folded, 20)
}

func lower(e number.Epsilon) *big.Rat { low, _ := e.ExpBounds(20); return low }
func upper(e number.Epsilon) *big.Rat { _, high := e.ExpBounds(20); return high }

// TestCliques: inputs that are all neighbors of each other are bound through a hub, with the same optimum as the dense program and a certificate in which there is none.
func TestCliques(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 40))
	hubs := map[int]int{}
	for i := range 24 {
		n := []int{5 + rng.IntN(4), 6 + rng.IntN(3), 9}[i%3]
		p := &Problem{Inputs: numerals(n), Outputs: numerals(2 + rng.IntN(3)), OneWay: rng.IntN(3) == 0}
		for x := range n {
			row := make([]*big.Rat, len(p.Outputs))
			for o := range row {
				row[o] = big.NewRat(int64(rng.IntN(30)), 1)
			}
			p.Loss = append(p.Loss, row)
			for y := range x {
				d := int64(1)
				switch {
				case x < 5 || i%3 == 0: // one clique
				case i%3 == 1: // no cliques alone
					d = int64(1 + rng.IntN(2))
				case y < 4: // two cliques that share an input
					continue
				}
				p.Pairs = append(p.Pairs, Pair{From: x, To: y, Distance: big.NewRat(d, 1)})
				if p.OneWay && (i%3 != 1 || rng.IntN(4) > 0) {
					p.Pairs = append(p.Pairs, Pair{From: y, To: x, Distance: big.NewRat(d, 1)})
				}
			}
		}
		if i%4 > 0 {
			p.Prior = p.Uniform()
			p.Prior[0], p.Prior[1] = new(big.Rat), new(big.Rat).Add(p.Prior[0], p.Prior[1])
		}
		e := big.NewRat(int64(3+rng.IntN(5)), 2)
		eps, err := number.FromExp(e)
		require.NoError(t, err)
		a := solve(t, Request{Problem: p, Epsilon: eps})
		got, ok := a.Optimum.Rat()
		require.True(t, ok)
		require.Equal(t, dense(t, p, e, new(big.Rat)).RatString(), got.RatString(), "%d", i)
		require.Equal(t, got.RatString(), p.value(a.Table()).RatString())
		checked(t, a)
		rounds(t, a)
		hubs[len(a.program.hubs)]++
		half, err := number.ParseEpsilon("0.5")
		require.NoError(t, err)
		checked(t, solve(t, Request{Problem: p, Epsilon: half}))
	}
	t.Log(hubs)
	for _, kind := range []int{0, 1, 2} {
		assert.Positive(t, hubs[kind])
	}
}
