package lp

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms/totals"
	"optratio/number/arith"
)

// These tests check Theorem 6 of docs/results/three.md, the program of k variables, in exact arithmetic.

// pairProgram is that program at one z, or at all with rational functions for numbers.
type pairProgram[T any] struct {
	f    arith.Field[T]
	zero func(T) bool
	k    int
	full bool // with the rows of monotonicity
	z    []T  // its powers
	a    T    // A
}

func newPairProgram[T any](f arith.Field[T], zero func(T) bool, k int, z T, full bool) *pairProgram[T] {
	p := &pairProgram[T]{f: f, zero: zero, k: k, full: full, z: arith.Powers(f, z, k+3), a: f.Zero()}
	for v := 1; v <= k; v++ {
		p.a = f.Add(p.a, f.Mul(f.FromInt(int64(v)), p.z[v]))
	}
	return p
}

func pairAt(k int, z *big.Rat, full bool) *pairProgram[*big.Rat] {
	return newPairProgram(arith.Rat{}, func(x *big.Rat) bool { return x.Sign() == 0 }, k, z, full)
}

func pairEverywhere(k int, full bool) *pairProgram[arith.RatFunc] {
	return newPairProgram(arith.Poly{}, arith.RatFunc.IsZero, k, arith.Poly{}.Z(), full)
}

// pairRow names a row: T_0 to T_{k-1}, P_0 to P_{k-1}, M_1 to M_k.
type pairRow struct {
	kind byte
	at   int
}

func (r pairRow) String() string { return fmt.Sprintf("%c%d", r.kind, r.at) }

func (p *pairProgram[T]) rows() (out []pairRow) {
	for i := range p.k {
		out = append(out, pairRow{'T', i}, pairRow{'P', i})
		if p.full {
			out = append(out, pairRow{'M', i + 1})
		}
	}
	return out
}

// row returns the row as Σ a_u h_u >= bound, a[u-1] being that of h_u.
func (p *pairProgram[T]) row(r pairRow) (a []T, bound T) {
	f := p.f
	a = make([]T, p.k)
	for i := range a {
		a[i] = f.Zero()
	}
	add := func(u int, x T) { // h_0 = 1/3
		if u == 0 {
			bound = f.Sub(bound, f.Mul(x, f.FromRat(ratOf(1, 3))))
		} else {
			a[u-1] = f.Add(a[u-1], x)
		}
	}
	switch u := r.at; r.kind {
	case 'T':
		bound = p.z[1]
		add(u, f.One())
		add(u+1, p.z[2])
		add(1, p.z[u+2])
	case 'P':
		bound = f.Sub(p.z[1], f.One())
		add(u, f.Mul(f.FromInt(2), p.z[1]))
		add(u+1, f.FromInt(-2))
	case 'M':
		bound = f.One()
		add(u, f.FromInt(2))
		add(1, p.z[u])
	}
	return a, bound
}

// solve solves the square system m x = b by elimination; ok is false if it is singular.
func (p *pairProgram[T]) solve(m [][]T, b []T) (x []T, ok bool) {
	f := p.f
	for col := range b {
		pivot := slices.IndexFunc(m[col:], func(row []T) bool { return !p.zero(row[col]) })
		if pivot < 0 {
			return nil, false
		}
		pivot += col
		m[col], m[pivot], b[col], b[pivot] = m[pivot], m[col], b[pivot], b[col]
		for i := range b {
			if i == col || p.zero(m[i][col]) {
				continue
			}
			factor := f.Quo(m[i][col], m[col][col])
			for j := col; j < len(b); j++ {
				m[i][j] = f.Sub(m[i][j], f.Mul(factor, m[col][j]))
			}
			b[i] = f.Sub(b[i], f.Mul(factor, b[col]))
		}
	}
	for i := range b {
		b[i] = f.Quo(b[i], m[i][i])
	}
	return b, true
}

// vertex returns h_0, …, h_k where these rows are tight, and their multipliers: Σ w a_u = 2(A-u), the costs.
func (p *pairProgram[T]) vertex(tight []pairRow) (h []T, w map[pairRow]T, ok bool) {
	f := p.f
	var primal, dual [][]T
	var bounds, costs []T
	for i, r := range tight {
		a, bound := p.row(r)
		primal, bounds = append(primal, a), append(bounds, bound)
		dual = append(dual, make([]T, p.k))
		costs = append(costs, f.Mul(f.FromInt(2), f.Sub(p.a, f.FromInt(int64(i+1)))))
	}
	for i := range tight {
		for j := range tight {
			dual[j][i] = primal[i][j]
		}
	}
	x, ok := p.solve(primal, bounds)
	if !ok {
		return nil, nil, false
	}
	y, _ := p.solve(dual, costs)
	w = map[pairRow]T{}
	for _, r := range p.rows() {
		w[r] = f.Zero()
	}
	for i, r := range tight {
		w[r] = y[i]
	}
	return append([]T{f.FromRat(ratOf(1, 3))}, x...), w, true
}

// total is the error of the table over Q(3,k): 3 (k(k+1)/2 + 2 Σ (A-u) h_u).
func (p *pairProgram[T]) total(h []T) T {
	f := p.f
	sum := f.FromInt(int64(3 * p.k * (p.k + 1) / 2))
	for u := 1; u <= p.k; u++ {
		sum = f.Add(sum, f.Mul(f.Mul(f.FromInt(6), h[u]), f.Sub(p.a, f.FromInt(int64(u)))))
	}
	return sum
}

// slack is by how much h satisfies a row.
func (p *pairProgram[T]) slack(r pairRow, h []T) T {
	a, bound := p.row(r)
	sum := p.f.Neg(bound)
	for i, x := range a {
		sum = p.f.Add(sum, p.f.Mul(x, h[i+1]))
	}
	return sum
}

// sigma and m are the multipliers of Theorem 6.
func (p *pairProgram[T]) sigma(w map[pairRow]T, u int) T {
	switch {
	case u == 0:
		return w[pairRow{'T', 0}]
	case u < p.k:
		return p.f.Mul(w[pairRow{'T', u}], p.f.FromRat(ratOf(1, 2)))
	}
	return p.f.Zero()
}

func (p *pairProgram[T]) m(w map[pairRow]T, u int) T {
	if !p.full {
		return p.f.Zero()
	}
	return p.f.Mul(w[pairRow{'M', u}], p.f.FromRat(ratOf(1, 2)))
}

// conditions are what has to be >= 0 if these rows are tight at the optimum: the rows, h_{u+1} - h_u with monotonicity, the multipliers, and the theorem's conditions.
func (p *pairProgram[T]) conditions(h []T, w map[pairRow]T) map[string]T {
	f, out := p.f, map[string]T{}
	for _, r := range p.rows() {
		out[r.String()] = p.slack(r, h)
		out["w"+r.String()] = w[r]
	}
	sum := f.Zero()
	for u := p.k; u >= 1; u-- {
		less := f.Add(f.Mul(p.z[1], p.sigma(w, u-1)), p.m(w, u))
		sum = f.Add(f.Mul(p.z[1], sum), f.Sub(f.FromInt(int64(u)), less))
		out[fmt.Sprintf("chain%d", u)] = sum
		out[fmt.Sprintf("chain of depth %d", u)] = f.Sub(p.a, f.Mul(p.z[2], p.sigma(w, u-1)))
		if p.full {
			out[fmt.Sprintf("h%d", u)] = f.Sub(h[u], h[u-1])
		}
	}
	delete(out, "chain of depth 1")
	return out
}

// optimal returns rows that are tight at an optimum of the program, by the simplex method from permute-and-flip's table with Bland's rule.
func optimalRows(t *testing.T, p *pairProgram[*big.Rat]) (tight []pairRow) {
	for u := range p.k {
		tight = append(tight, pairRow{'P', u})
	}
	for range 200 {
		h, w, ok := p.vertex(tight)
		require.True(t, ok)
		leaves := slices.IndexFunc(tight, func(r pairRow) bool { return w[r].Sign() < 0 })
		if leaves < 0 {
			return tight
		}
		var m [][]*big.Rat
		direction := make([]*big.Rat, p.k)
		for i, r := range tight {
			a, _ := p.row(r)
			m, direction[i] = append(m, a), new(big.Rat)
		}
		direction[leaves] = ratOf(1, 1)
		direction, _ = p.solve(m, direction)
		var enters pairRow
		var shortest *big.Rat
		for _, r := range p.rows() {
			a, _ := p.row(r)
			change := new(big.Rat)
			for i, x := range a {
				change.Add(change, times(x, direction[i]))
			}
			if change.Sign() >= 0 || slices.Contains(tight, r) {
				continue
			}
			if step := quotient(p.slack(r, h), new(big.Rat).Neg(change)); shortest == nil || step.Cmp(shortest) < 0 {
				shortest, enters = step, r
			}
		}
		require.NotNil(t, shortest)
		tight[leaves] = enters
		slices.SortFunc(tight, func(x, y pairRow) int { return 1000*(int(x.kind)-int(y.kind)) + x.at - y.at })
	}
	require.Fail(t, "the simplex method does not end")
	return nil
}

// optimum returns the conditions and the table at the program's optimum.
func (p *pairProgram[T]) at(t *testing.T, tight []pairRow) (h []T, conditions map[string]T) {
	h, w, ok := p.vertex(tight)
	require.True(t, ok, tight)
	return h, p.conditions(h, w)
}

// Theorem 6, the table: whatever satisfies the rows is private, with the rows of monotonicity and h rising also monotone; and of no row there may be less.
func TestPairTables(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	seen := map[bool]int{}
	for range 60 {
		k, full := 2+r.IntN(4), r.IntN(2) == 0
		p := pairAt(k, ratOf(51+r.Int64N(48), 100), full)
		mean := make([]*big.Rat, k+1)
		for i := range mean {
			mean[i] = new(big.Rat)
		}
		rises := true
		for range 3 {
			p.a = ratOf(r.Int64N(100*int64(k)), 90)
			h, _, ok := p.vertex(optimalRows(t, p))
			require.True(t, ok)
			for i, x := range h {
				mean[i].Add(mean[i], times(x, ratOf(1, 3)))
				rises = rises && (i == 0 || x.Cmp(h[i-1]) >= 0)
			}
		}
		c := pairTable{newUniversal(t, 3, k, p.z[1]), mean}
		require.True(t, c.regular(full && rises), "k = %d, z = %s, %v", k, p.z[1].RatString(), mean)
		seen[full && rises]++
		p = pairAt(k, p.z[1], full)
		h, _, _ := p.vertex(optimalRows(t, p))
		require.Zero(t, pairTable{c.universalCase, h}.total().Cmp(p.total(h)))
		for u := 1; u <= k; u++ {
			for _, sign := range []int64{-1, 1} {
				other := slices.Clone(h)
				other[u] = plusRat(h[u], ratOf(sign, 1000))
				violated := slices.ContainsFunc(p.rows(), func(r pairRow) bool { return p.slack(r, other).Sign() < 0 })
				if violated {
					require.False(t, pairTable{c.universalCase, other}.regular(full))
				}
			}
		}
	}
	assert.Greater(t, seen[true], 10)
	assert.Greater(t, seen[false], 10)
}

// Theorem 6: where its conditions hold the program's optimum is that of the lattice, for k = 2 and 3 at every z tried; elsewhere it is more. The dual point is walked for k that
// no program of the tests has.
func TestOptimumOfThree(t *testing.T) {
	found := map[bool]int{}
	for k := 2; k <= 6; k++ {
		for i := int64(51); i < 100; i += 1 + int64(k)/2 {
			for _, level := range []Level{Paper, Full} {
				p := pairAt(k, ratOf(i, 100), level == Full)
				h, conditions := p.at(t, optimalRows(t, p))
				holds := true
				for _, x := range conditions {
					holds = holds && x.Sign() >= 0
				}
				found[holds]++
				want := 0
				if !holds {
					want = 1
				}
				optimum := exactOptimum(t, 3, k, totals.Paper, level, newUniversal(t, 3, k, p.z[1]).e)
				require.Equal(t, want, p.total(h).Cmp(optimum), "k = %d, z = %d/100, %s", k, i, level)
				require.True(t, holds || k > 3)
			}
		}
	}
	assert.Greater(t, found[true], 100)
	assert.Greater(t, found[false], 10)
	for k := 7; k <= 14; k++ {
		for _, i := range []int64{60, 66, 70, 75, 78} {
			p := pairAt(k, ratOf(i, 100), false)
			h, w, _ := p.vertex(optimalRows(t, p))
			for name, x := range p.conditions(h, w) {
				require.GreaterOrEqual(t, x.Sign(), 0, "k = %d, z = %d/100: %s", k, i, name)
			}
			y := p.dual(w)
			require.True(t, feasible(3, k, p.z[1], func(u int) *big.Rat { return ratOf(int64(u), 1) }, func(q []int) *big.Rat { return y(q[1], q[2]) }))
			require.Zero(t, newUniversal(t, 3, k, p.z[1]).sum(y).Cmp(p.total(h)))
		}
	}
}

// dual is the dual point of Theorem 6 at level paper.
func (p *pairProgram[T]) dual(w map[pairRow]T) func(a, b int) T {
	f := p.f
	return func(a, b int) T {
		switch {
		case b == 0:
			return f.Sub(f.Mul(p.z[1], w[pairRow{'P', 0}]), p.sigma(w, 0))
		case a == 0 && b == 1:
			y := f.Sub(p.a, p.sigma(w, 1))
			for u := range p.k {
				y = f.Sub(y, f.Mul(p.z[u+2], p.sigma(w, u)))
			}
			return y
		case a == 0:
			return f.Sub(p.a, f.Add(p.sigma(w, b), f.Mul(p.z[2], p.sigma(w, b-1))))
		case a == 1:
			return f.Mul(p.z[1], p.sigma(w, b-1))
		}
		return f.Zero()
	}
}

// signBetween returns the sign that a rational function has everywhere in (a,b), and 0 if Descartes' rule, on so many halves of halves, does not tell.
func signBetween(r arith.RatFunc, a, b *big.Rat, halves int) int {
	s := descartes(r.Num, a, b) * descartes(r.Den, a, b)
	if s != 0 || halves == 0 {
		return s
	}
	middle := times(plusRat(a, b), ratOf(1, 2))
	if s = signBetween(r, a, middle, halves-1); s != 0 && s == signBetween(r, middle, b, halves-1) {
		return s
	}
	return 0
}

// descartes returns the sign of a polynomial in (a,b) if the coefficients of (1+x)^n p((a+bx)/(1+x)), n its degree, all have that sign, and 0 otherwise.
func descartes(p []*big.Int, a, b *big.Rat) (sign int) {
	scale := new(big.Int).Mul(a.Denom(), b.Denom())
	from, length := new(big.Int).Mul(a.Num(), b.Denom()), new(big.Int)
	length.Sub(length.Mul(b.Num(), a.Denom()), from)
	c, power := make([]*big.Int, len(p)), big.NewInt(1)
	for i := range slices.Backward(p) { // p(y/scale) scale^n
		c[i] = new(big.Int).Mul(p[i], power)
		power.Mul(power, scale)
	}
	shift := func(by *big.Int) { // c(y) becomes c(y + by)
		for low := range c {
			for i := len(c) - 2; i >= low; i-- {
				c[i].Add(c[i], new(big.Int).Mul(c[i+1], by))
			}
		}
	}
	shift(from)
	power.SetInt64(1)
	for i := range c {
		c[i].Mul(c[i], power)
		power.Mul(power, length)
	}
	slices.Reverse(c)
	shift(big.NewInt(1))
	for _, x := range c {
		if x.Sign() != 0 && sign == -x.Sign() {
			return 0
		}
		sign += x.Sign() * (1 - sign*sign)
	}
	return sign
}

// firstChange returns the beginning of the first interval of the given length in [a,b] where the sign may be another one than positive, and b if there is none.
func firstChange(r arith.RatFunc, a, b, length *big.Rat) *big.Rat {
	if signBetween(r, a, b, 0) > 0 {
		return b
	}
	width := difference(b, a)
	if width.Cmp(length) <= 0 {
		return a
	}
	middle := times(plusRat(a, b), ratOf(1, 2))
	if at := firstChange(r, a, middle, length); at.Cmp(middle) < 0 {
		return at
	}
	return firstChange(r, middle, b, length)
}

// pairPiece is where the same rows are tight at the optimum, from one z to another one.
type pairPiece struct {
	tight    []pairRow
	from, to *big.Rat
	h        []arith.RatFunc
	ends     string // the condition that changes its sign at the end
}

// cover follows the pieces from z = 1/2 until a condition of Theorem 6 fails or z = end. Within a piece all conditions are positive that are not 0 everywhere. Two pieces overlap
// on a short interval, where the conditions of each that are not positive all have one sign, and the two signs are opposite: at each z one of the pieces has all its conditions.
func cover(t *testing.T, k int, full bool, end *big.Rat) (pieces []pairPiece) {
	p := pairEverywhere(k, full)
	overlap := ratOf(1, 1<<30)
	var before arith.RatFunc // a condition that the piece before ended at
	for from := ratOf(1, 2); ; {
		at := plusRat(from, overlap)
		piece := pairPiece{tight: optimalRows(t, pairAt(k, at, full)), from: from}
		var conditions map[string]arith.RatFunc
		piece.h, conditions = p.at(t, piece.tight)
		maps.DeleteFunc(conditions, func(_ string, x arith.RatFunc) bool { return x.IsZero() })
		// changing returns conditions that are not positive in the interval, which all have one sign.
		changing := func(a, b *big.Rat) (names []string) {
			for name, x := range conditions {
				if signBetween(x, a, b, 3) > 0 {
					continue
				}
				if names = append(names, name); len(names) > 1 {
					require.Equal(t, 1, signBetween(arith.Poly{}.Quo(x, conditions[names[0]]), a, b, 3), "k = %d, z = %s: %v", k, a.FloatString(9), names)
				}
			}
			slices.Sort(names)
			return names
		}
		if len(pieces) > 0 {
			names := changing(from, at)
			require.NotEmpty(t, names)
			require.Equal(t, -1, signBetween(arith.Poly{}.Quo(before, conditions[names[0]]), from, at, 3), "k = %d, z = %s: %v", k, from.FloatString(9), names)
		} else {
			at = from
		}
		for changed := false; !changed && at.Cmp(end) < 0; {
			to := plusRat(at, ratOf(1, 32))
			if to.Cmp(end) > 0 {
				to = end
			}
			for _, x := range conditions {
				if change := firstChange(x, at, to, overlap); change.Cmp(to) < 0 {
					to, changed = change, true
				}
			}
			at = to
		}
		if at.Cmp(end) >= 0 {
			piece.to = end
			return append(pieces, piece)
		}
		piece.to = plusRat(at, overlap)
		pieces = append(pieces, piece)
		names := changing(at, piece.to)
		require.NotEmpty(t, names)
		if piece.ends = names[0]; piece.ends[0] == 'c' || piece.ends[0] == 'h' {
			return pieces
		}
		before, from = conditions[names[0]], at
	}
}

// derivative is the numerator of the derivative.
func derivative(r arith.RatFunc) arith.RatFunc {
	f := arith.Poly{}
	whole := func(p []*big.Int) arith.RatFunc { return arith.RatFunc{Num: p, Den: []*big.Int{big.NewInt(1)}} }
	slope := func(p []*big.Int) arith.RatFunc {
		var out []*big.Int
		for i := 1; i < len(p); i++ {
			out = append(out, new(big.Int).Mul(p[i], big.NewInt(int64(i))))
		}
		return whole(out)
	}
	return f.Sub(f.Mul(slope(r.Num), whole(r.Den)), f.Mul(whole(r.Num), slope(r.Den)))
}

// Theorem 6: how far the program's optimum is that of the lattice, and in how many pieces, as the document's table says. At full the pieces beyond 2/3 end at the same z for all k
// until the last rows change.
func TestPiecesOfThree(t *testing.T) {
	rows := documentTable(t, "pieces")
	require.Len(t, rows, 11)
	for _, row := range rows {
		k, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		if k > 7 && !slowtest.Enabled {
			continue
		}
		for i, full := range []bool{false, true} {
			pieces := cover(t, k, full, ratOf(1, 1))

			assert.Equal(t, row[1+2*i], strconv.Itoa(len(pieces)), "k = %d", k)
			assert.Equal(t, row[2+2*i], cut(pieces[len(pieces)-1].to, 4), "k = %d", k)
			if full && k >= 5 {
				var ends []string
				for _, c := range pieces {
					ends = append(ends, cut(c.to, 5))
				}
				assert.Subset(t, ends, []string{"0.66666", "0.73862", "0.75145", "0.77173"}, "k = %d", k)
			}
		}
	}
}

// Theorem 2: the largest ratio of permute-and-flip to the optimum of each row over all ε. It is that of one piece, within 1/400 of a point where the ratio rises before and falls
// behind. All other pieces, and what is left of this one, stay below, and so do cells of z up to 1 where the pieces end: there the ratio is at most permute-and-flip's error at the
// end of the cell over the exact optimum at the beginning.
func TestPeaksOfThreeCandidates(t *testing.T) {
	rows := documentTable(t, "peaks")
	require.Len(t, rows, 11)
	for _, row := range rows {
		k, err := strconv.Atoi(row[0])
		require.NoError(t, err)
		if k > 8 && !slowtest.Enabled {
			continue
		}
		f, p := arith.Poly{}, pairEverywhere(k, false)
		flip := f.Mul(p.a, f.Sub(f.FromInt(int64(3*k+1)), arith.Sum(arith.Field[arith.RatFunc](f), p.z[1:k+1]...)))
		peak, ok := new(big.Rat).SetString(row[2])
		require.True(t, ok)
		pieces := cover(t, k, false, ratOf(1, 1))
		at := slices.IndexFunc(pieces, func(c pairPiece) bool { return c.from.Cmp(peak) < 0 && peak.Cmp(c.to) < 0 })
		ratio := f.Quo(flip, p.total(pieces[at].h))
		rises, near, last := derivative(ratio), ratOf(1, 400), ratOf(1, 1_000_000_000)
		left, right := difference(peak, near), plusRat(peak, near)
		require.Equal(t, 1, signBetween(rises, left, peak, 3), "k = %d", k)
		require.Equal(t, -1, signBetween(rises, plusRat(peak, last), right, 3), "k = %d", k)
		require.Equal(t, -1, signBetween(derivative(rises), peak, plusRat(peak, last), 3), "k = %d", k)
		zero := rises.Num // but for the factors z and 1-z
		for zero[0].Sign() == 0 {
			zero = zero[1:]
		}
		for sum := 0; sum == 0; {
			quotient := make([]*big.Int, len(zero)-1)
			rest := new(big.Int)
			for i := len(zero) - 1; i >= 1; i-- {
				rest = new(big.Int).Add(rest, zero[i])
				quotient[i-1] = rest
			}
			if sum = new(big.Int).Add(rest, zero[0]).Sign(); sum == 0 {
				zero = quotient
			}
		}
		if degrees := []int{4, 6, 20, 23, 32}; k-2 < len(degrees) {
			assert.Equal(t, degrees[k-2], len(zero)-1, "k = %d", k)
		}
		if k <= 3 {
			want := [][]int64{{7, -6, -5, -2, 1}, {10, -8, -7, -6, -6, 2, 1}}[k-2]
			for i, x := range zero {
				require.Zero(t, new(big.Int).Mul(x, big.NewInt(want[0])).Cmp(new(big.Int).Mul(zero[0], big.NewInt(want[i]))), "k = %d", k)
			}
		}
		most, ok := ratio.EvalRat(peak)
		require.True(t, ok)
		assert.Equal(t, row[3], cut(most, 9), "k = %d", k)
		z, _ := peak.Float64()
		assert.Equal(t, row[1], strconv.FormatFloat(-math.Log(z), 'f', 5, 64), "k = %d", k)
		var tight []string
		for _, r := range pieces[at].tight {
			tight = append(tight, fmt.Sprintf("%c_%d", r.kind, r.at))
		}
		assert.Equal(t, row[4], strings.Join(tight, ", "), "k = %d", k)

		below := func(c pairPiece, from, to *big.Rat) {
			room := f.Sub(f.Mul(f.FromRat(most), p.total(c.h)), flip)
			require.Equal(t, 1, signBetween(room, from, to, 9), "k = %d, z = %s", k, from.FloatString(9))
		}
		for i, c := range pieces {
			switch {
			case i != at:
				below(c, c.from, c.to)
			default:
				below(c, c.from, left)
				below(c, right, c.to)
			}
		}
		for from, step := pieces[len(pieces)-1].to, ratOf(1, 64); from.Cmp(ratOf(1, 1)) < 0; {
			optimum := exactOptimum(t, 3, k, totals.Paper, Paper, newUniversal(t, 3, k, from).e)
			to := plusRat(from, step)
			if to.Cmp(ratOf(1, 1)) > 0 {
				to = ratOf(1, 1)
			}
			for quotient(flipTotalExact(3, k, totals.Paper, to), optimum).Cmp(most) >= 0 {
				step = times(step, ratOf(1, 2))
				to = plusRat(from, step)
				require.Positive(t, step.Cmp(ratOf(1, 1<<20)), "k = %d, stuck at z = %s", k, from.FloatString(9))
			}
			from, step = roundedDown(to), times(step, ratOf(2, 1))
		}
	}
}

// roundedDown has few digits, for exact programs.
func roundedDown(x *big.Rat) *big.Rat {
	scale := big.NewInt(1 << 24)
	return new(big.Rat).SetFrac(new(big.Int).Quo(new(big.Int).Mul(x.Num(), scale), x.Denom()), scale)
}

// documentTable returns the cells of a table of docs/results/three.md.
func documentTable(t *testing.T, name string) (rows [][]string) {
	_, text, found := strings.Cut(doc(t, "three.md"), "<!-- table: "+name+" -->\n")
	require.True(t, found, name)
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows[2:]
}
