package ratiomap

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/research/check"
	"optratio/verify/certificate"
)

// optimum is the exact optimum of the program at z, over all score vectors, and permute-and-flip's error.
func optimum(t *testing.T, n, k int, z *big.Rat) (best, flip *big.Rat) {
	eps, err := number.FromExp(new(big.Rat).Inv(z))
	require.NoError(t, err)
	a, err := lp.Ratio(context.Background(), lp.Request{N: n, K: k, Epsilon: eps, Method: "lp", Exact: true, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}})
	require.NoError(t, err)
	size := new(big.Rat).SetInt(lattice.Vectors(n, k, false))
	best, ok := a.Optimum.Rat()
	require.True(t, ok)
	flip, ok = a.Mechanisms[0].Error.Rat()
	require.True(t, ok)
	return new(big.Rat).Mul(best, size), new(big.Rat).Mul(flip, size)
}

// TestBoundBetweenDualPoints: between two dual points the parabola is at most the exact optimum, and above what the end with the lower bound gives alone.
func TestBoundBetweenDualPoints(t *testing.T) {
	ctx := context.Background()
	for _, s := range [][2]int{{3, 3}, {4, 3}, {3, 5}} {
		f, err := newForm(t.Context(), s[0], s[1], s[1]+1, 1e6)
		require.NoError(t, err)
		p := &prover{n: s[0], k: s[1], form: f, options: Options{Gap: MinGap}}
		const low, high = 640 << 10, 704 << 10
		a, err := p.solve(ctx, low)
		require.NoError(t, err)
		b, err := p.solve(ctx, high)
		require.NoError(t, err)
		between := p.span(a, b)
		for i := int64(0); i <= 8; i++ {
			at := i << (pieceBits - 3)
			best, flip := optimum(t, s[0], s[1], rational(low+(high-low)*i/8))
			parabola := between.chord(at).Sub(between.bow(at))
			bound, _ := parabola.Hi().Rat(nil)
			assert.LessOrEqual(t, bound.Cmp(best), 0, "%v at %d/8", s, i)
			if i > 0 { // that the optimum does not fall gives no more than the value at the left end
				assert.Positive(t, parabola.Lo().Cmp(between.from.Hi()), "%v at %d/8", s, i)
			}
			enclosure := between.flip(at)
			x, _ := enclosure.Lo().Rat(nil)
			y, _ := enclosure.Hi().Rat(nil)
			assert.True(t, x.Cmp(flip) <= 0 && flip.Cmp(y) <= 0)
			if i == 0 || i == 8 { // there the point is as good as optimal
				gap, _ := new(big.Rat).Quo(new(big.Rat).Sub(best, bound), best).Float64()
				assert.Less(t, gap, 1e-5)
			}
		}
	}
}

// TestClosedForm: the bound is no less than permute-and-flip's closed form over the better closed-form lower bound, at any z for which permute-and-flip may not be optimal. Where n is large
// it is close to it at the threshold. It falls with n.
func TestClosedForm(t *testing.T) {
	for k := 2; k <= 7; k++ {
		last := new(big.Rat)
		for n := 2; n <= 40; n++ {
			bound := ClosedForm(n, k)
			if last.Sign() == 0 && bound == nil { // (k+1)^n <= 2 k^n
				continue
			}
			if last.Sign() > 0 {
				assert.Negative(t, bound.Cmp(last), "n = %d, k = %d", n, k)
			}
			last = bound
			for i := range 20 {
				z := threshold(k) + gridStep // the first of its grid with B' > 1
				z += (1<<zBits - z) * int64(i) / 19
				at := rational(z)
				eps, err := number.FromExp(new(big.Rat).Inv(at))
				require.NoError(t, err)
				a, b := arith.PowerSums(arith.Rat{}, at, k)
				pow := func(base int) *big.Rat { return arith.Pow(arith.Rat{}, big.NewRat(int64(base), 1), n) }
				quo, mul, sub := new(big.Rat).Quo, new(big.Rat).Mul, new(big.Rat).Sub
				full := new(big.Rat).Add(one, b)
				tied := quo(sub(sub(pow(k+1), pow(k)), mul(big.NewRat(int64(n), int64(k)), pow(k))), full)
				deep := new(big.Rat).Sub(new(big.Rat).Quo(pow(k+1), full), new(big.Rat).Quo(pow(k), b))
				if deep.Cmp(tied) < 0 {
					deep = tied
				}
				flip := lp.PermuteAndFlipTotal(n, k, eps, 300)
				most, _ := flip.Hi().Rat(nil)
				ratio := most.Quo(most, new(big.Rat).Mul(a, deep))
				assert.LessOrEqual(t, ratio.Cmp(bound), 0, "n = %d, k = %d, z = %v", n, k, z)
				if i == 0 && n >= 2*k {
					share, _ := new(big.Rat).Quo(ratio.Sub(ratio, one), new(big.Rat).Sub(bound, one)).Float64()
					assert.Greater(t, share, 0.98, "n = %d, k = %d", n, k)
				}
			}
		}
	}
	from, err := Settled(t.Context(), 2, big.NewRat(1014, 1000))
	require.NoError(t, err)
	assert.Equal(t, 5, from)
	for k := 1; k <= 12; k++ { // the fractions that Settled compares are those of the closed form
		target := big.NewRat(102, 100)
		from, err := Settled(t.Context(), k, target)
		require.NoError(t, err)
		assert.LessOrEqual(t, ClosedForm(from, k).Cmp(target), 0, k)
		if from > 2 {
			assert.Positive(t, ClosedForm(from-1, k).Cmp(target), k)
		}
	}
}

// TestErrorRisesWithZ: permute-and-flip's error over the lattice does not fall as z rises.
func TestErrorRisesWithZ(t *testing.T) {
	for _, s := range [][2]int{{3, 2}, {5, 4}, {20, 3}, {3, 12}} {
		p := &prover{n: s[0], k: s[1]}
		last := p.flip(1)
		for z := int64(1); z <= 64; z++ {
			next := p.flip(z << (zBits + pieceBits - 6))
			assert.Positive(t, next.Lo().Cmp(last.Hi()))
			last = next
		}
	}
}

func proved(t *testing.T, n, k int, o Options) (*Cover, string) {
	c, err := Prove(context.Background(), n, k, lp.Paper, o)
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, c.WriteCertificate(&b))
	return c, b.String()
}

func valid(t *testing.T, text string) (ok bool, reason string) {
	r, err := check.Check(strings.NewReader(text), certificate.Options{})
	require.NoError(t, err)
	return r.Valid, r.Reason
}

// TestCoversAreAccepted: what is proved here the checker proves too, and all ε are covered.
func TestCoversAreAccepted(t *testing.T) {
	slowtest.Only(t)
	target := big.NewRat(1012, 1000)
	for _, s := range [][2]int{{1, 3}, {2, 4}, {4, 1}, {3, 2}, {4, 3}, {3, 6}, {9, 3}, {40, 2}} {
		c, text := proved(t, s[0], s[1], Options{Target: target})
		require.NoError(t, covers(c.Intervals))
		assert.LessOrEqual(t, c.Bound().Cmp(target), 0)
		ok, reason := valid(t, text)
		assert.True(t, ok, "%v: %s", s, reason)
	}
}

// TestBoundsHold compares the bounds with exact ratios inside the intervals.
func TestBoundsHold(t *testing.T) {
	c, _ := proved(t, 3, 4, Options{Target: big.NewRat(1014, 1000), Gap: 0.001})
	for _, i := range c.Intervals[1:] {
		z := new(big.Rat).Add(i.From, i.To)
		z.Quo(z, big.NewRat(2, 1))
		best, flip := optimum(t, 3, 4, z)
		assert.LessOrEqual(t, flip.Quo(flip, best).Cmp(i.Bound), 0, "z = %s", z)
	}
	most, _ := c.Bound().Float64()
	assert.InDelta(t, 1.00883, most, 0.001) // research/docs/levels.md has the largest ratio of (3,4)
}

// TestDoctoredCertificates: a certificate in which anything that matters is changed proves nothing any more.
func TestDoctoredCertificates(t *testing.T) {
	c, text := proved(t, 4, 2, Options{Target: big.NewRat(1006, 1000)})
	ok, reason := valid(t, text)
	require.True(t, ok, reason)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	find := func(word string, skip int) int {
		for i, l := range lines {
			if strings.HasPrefix(l, word+" ") {
				if skip--; skip < 0 {
					return i
				}
			}
		}
		t.Fatal(word)
		return 0
	}
	with := func(change func(l []string) []string) string {
		l := change(append([]string(nil), lines...))
		l[len(l)-1] = fmt.Sprintf("end %d", len(l)-1)
		return strings.Join(l, "\n") + "\n"
	}
	replaced := func(i int, s string) string { return with(func(l []string) []string { l[i] = s; return l }) }
	same, reason := valid(t, with(func(l []string) []string { return l }))
	require.True(t, same, reason)
	bound, node := find("bound", 2), find("node", 3)
	multiplier := func(by int64) string {
		f := strings.Split(lines[node], " ")
		y, _ := new(big.Int).SetString(f[3], 10)
		f[3] = y.Add(y, big.NewInt(by)).String()
		return replaced(node, strings.Join(f, " "))
	}
	for name, doctored := range map[string]string{
		"an interval left out":  with(func(l []string) []string { return append(l[:bound], l[bound+2:]...) }),
		"the last interval":     with(func(l []string) []string { return append(l[:find("node", len(c.nodes)-2)+1], l[len(l)-1]) }),
		"a lower bound":         replaced(bound, "bound 1001/1000"),
		"a lower claim":         replaced(find("claim", 0), "claim ratio pf 0 1 1001/1000"),
		"no threshold":          with(func(l []string) []string { i := find("threshold", 0); return append(l[:i], l[i+1:]...) }),
		"a threshold too far":   replaced(find("threshold", 0), "threshold 7/10"),
		"a multiplier raised":   multiplier(1 << 24),
		"a multiplier lowered":  multiplier(-1 << 24),
		"a node moved":          replaced(node, strings.Replace(lines[node], "node ", "node 9", 1)),
		"nodes exchanged":       with(func(l []string) []string { l[node], l[node+2] = l[node+2], l[node]; return l }),
		"multipliers exchanged": replaced(node, "node "+strings.Fields(lines[node])[1]+" "+strings.Join(strings.Fields(lines[node+2])[2:], " ")),
		"another lattice":       replaced(find("n", 0), "n 5"),
		"another depth":         replaced(find("k", 0), "k 3"),
		"finer classes":         replaced(find("top", 0), "top 2"),
		"another scale":         replaced(find("scale", 0), "scale 8388608"),
		"a closed form":         with(func(l []string) []string { return append(l[:find("top", 0)], "closed-form 1006/1000", "") }),
		"only the threshold":    with(func(l []string) []string { return append(l[:find("top", 0)], "") }),
		"multipliers left out":  replaced(node, strings.Join(strings.Fields(lines[node])[:4], " ")),
		"an empty range":        replaced(find("claim", 0), "claim ratio pf 1 1 1006/1000"),
		"a ratio below 1":       replaced(bound, "bound 999/1000"),
		"a cut at the paper level": with(func(l []string) []string {
			return append(l[:node+1], append([]string{"cut m 0 1 1 2 0 1 1 2 1"}, l[node+1:]...)...)
		}),
	} {
		r, err := check.Check(strings.NewReader(doctored), certificate.Options{})
		require.NoError(t, err, name)
		assert.False(t, r.Valid, name)
		assert.NotEmpty(t, r.Reason, name)
	}
}

// TestClosedFormCertificates: the checker accepts just what the closed form proves, and no less; nothing where there is none.
func TestClosedFormCertificates(t *testing.T) {
	accepted := func(n, k int, bound *big.Rat) (bool, string) {
		from := rational(threshold(k))
		cover := &Cover{N: n, K: k, Level: lp.Paper, Intervals: []Interval{{new(big.Rat), from, one, ProofThreshold}, {from, one, bound, ProofClosedForm}}}
		var text strings.Builder
		require.NoError(t, cover.WriteCertificate(&text))
		return valid(t, text.String())
	}
	for _, s := range [][2]int{{3, 2}, {4, 2}, {8, 2}, {9, 8}, {30, 6}, {200, 40}} {
		for _, c := range []struct {
			off  *big.Rat
			want bool
		}{{new(big.Rat), true}, {big.NewRat(1, 1_000_000), true}, {big.NewRat(-1, 1_000_000_000), false}} {
			bound := ClosedForm(s[0], s[1])
			excess := new(big.Rat).Sub(bound, one)
			ok, reason := accepted(s[0], s[1], bound.Add(bound, excess.Mul(excess, c.off)))
			assert.Equal(t, c.want, ok, "%v, %v: %s", s, c.off, reason)
		}
	}
	require.Nil(t, ClosedForm(3, 40))
	for _, x := range []int64{1, 3, 1_000_000} {
		ok, _ := accepted(3, 40, big.NewRat(x, 1))
		assert.False(t, ok, x)
	}
}

// TestTargetBeyondReach: a target below the truth is refused, with a cover that says how far it got.
func TestTargetBeyondReach(t *testing.T) {
	c, err := Prove(context.Background(), 3, 3, lp.Paper, Options{Target: big.NewRat(1005, 1000)}) // the largest ratio is 1.00647
	require.ErrorIs(t, err, ErrTarget)
	require.NoError(t, covers(c.Intervals))
	assert.Positive(t, c.Bound().Cmp(big.NewRat(1006, 1000)))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Prove(ended, 3, 3, lp.Paper, Options{Target: big.NewRat(1014, 1000)})
	assert.ErrorIs(t, err, context.Canceled)
}

// TestMonotoneLevel: with the rows of monotonicity (3,4) stays below what the paper's program allows there, and certificates hold these rows with
// multipliers that cannot be changed, nor be used at the paper's level.
func TestMonotoneLevel(t *testing.T) {
	slowtest.Only(t)
	ctx := context.Background()
	target := big.NewRat(1008, 1000) // the largest ratios are 1.00883 and 1.00668
	_, err := Prove(ctx, 3, 4, lp.Paper, Options{Target: target})
	require.ErrorIs(t, err, ErrTarget)
	c, err := Prove(ctx, 3, 4, lp.Full, Options{Target: target})
	require.NoError(t, err)
	require.NoError(t, covers(c.Intervals))
	var b bytes.Buffer
	require.NoError(t, c.WriteCertificate(&b))
	text := b.String()
	ok, reason := valid(t, text)
	require.True(t, ok, reason)
	require.Contains(t, text, "\ncut m ")
	ok, _ = valid(t, strings.Replace(text, "constraints full", "constraints paper", 1))
	assert.False(t, ok)
	// The node's bound without its rows is that of the paper's program.
	var kept []string
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !strings.HasPrefix(l, "cut ") {
			kept = append(kept, l)
		}
	}
	kept[len(kept)-1] = fmt.Sprintf("end %d", len(kept)-1)
	ok, reason = valid(t, strings.Join(kept, "\n")+"\n")
	assert.False(t, ok)
	assert.Contains(t, reason, "the values prove a ratio of at most")
	for _, i := range c.Intervals[1:] {
		z := new(big.Rat).Add(i.From, i.To)
		eps, err := number.FromExp(z.Quo(big.NewRat(2, 1), z))
		require.NoError(t, err)
		a, err := lp.Ratio(ctx, lp.Request{N: 3, K: 4, Epsilon: eps, Level: lp.Full, Method: "lp", Exact: true, Mechanisms: []mechanisms.Mechanism{mechanisms.PermuteAndFlip()}})
		require.NoError(t, err)
		ratio, _ := a.Mechanisms[0].Ratio.Rat()
		assert.LessOrEqual(t, ratio.Cmp(i.Bound), 0)
	}
}

// TestUselessPoints: between points that prove nothing the bound is the universal one.
func TestUselessPoints(t *testing.T) {
	f, err := newForm(t.Context(), 3, 3, 4, 1e6)
	require.NoError(t, err)
	p := &prover{n: 3, k: 3, form: f, options: Options{Gap: MinGap}}
	nothing := make([]int64, len(f.classes))
	a, b := walk(f, 600<<10, nothing, nil), walk(f, 700<<10, nothing, nil)
	assert.Zero(t, p.piece(a, b).bound.Cmp(big.NewRat(4, 1)))
	large := make([]int64, len(f.classes))
	for i := range large {
		large[i] = -1 << 40
	}
	assert.Zero(t, p.piece(walk(f, 600<<10, large, nil), b).bound.Cmp(big.NewRat(4, 1)))
}
