package check

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/arith"
	"optratio/internal/evidence"
	"optratio/internal/slowtest"
	"optratio/number"
	"optratio/verify/certificate"
)

// randomPoint returns a point with random numbers up to most.
func randomPoint(r *rand.Rand, best, depth, reach, limit int, most int64) *constantPoint {
	p := &constantPoint{best: best, depth: depth, reach: reach, most: limit, scale: 1000}
	for top := make([]int, best-1); top != nil; top = nextTop(top, depth) {
		row := make([]int64, reach+1)
		for i := range row {
			if top[0] < depth {
				row[i] = r.Int64N(most)
			}
		}
		p.tops, p.y = append(p.tops, top), append(p.y, row)
	}
	return p
}

// at returns scale times y of a score vector with these depths, ascending, straight from the definition.
func (p *constantPoint) at(depths []int, k int) int64 {
	top := make([]int, p.best-1)
	for i := range top {
		top[i] = p.depth
		if i+1 < len(depths) {
			top[i] = min(p.depth, depths[i+1])
		}
	}
	for i, t := range p.tops {
		if fmt.Sprint(t) == fmt.Sprint(top) {
			return p.y[i][min(p.reach, k-depths[len(depths)-1])]
		}
	}
	panic("no such top")
}

// ascending calls f with all nondecreasing sequences of length l of the numbers 0 to most that begin with 0.
func ascending(l, most int, f func([]int)) {
	v := make([]int, l)
	for tail := v[1:]; tail != nil; tail = nextTop(tail, most) {
		f(append([]int{0}, tail...))
		if l == 1 {
			return
		}
	}
}

// everyChain decides Lemma 0 of research/docs/universal.md on every chain of Q(n,k).
func (p *constantPoint) everyChain(n, k int, z *big.Rat) bool {
	ok := true
	ascending(n-1, k, func(others []int) {
		lambda := new(big.Rat)
		for u := k; u >= others[n-2]-k && ok; u-- {
			q := sorted(others, max(u, 0))
			if u < 0 {
				q = []int{0}
				for _, o := range others {
					q = append(q, o-u)
				}
			}
			lambda.Mul(lambda, z).Add(lambda, big.NewRat(int64(max(u, 0)), 1)).Sub(lambda, big.NewRat(p.at(q, k), p.scale))
			ok = lambda.Sign() >= 0
		}
	})
	return ok
}

// Theorem 9's conditions imply Lemma 0 on every chain, for every n and all larger k; and they are not much too strict: points that are scaled up until they fail fail on some
// chain too, soon after.
func TestConditionsOfConstantPointsImplyEveryChain(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	passed, refused, tight := 0, 0, 0
	for range 60 {
		best, depth, reach := 2+r.IntN(3), 1+r.IntN(3), 1+r.IntN(3)
		limit := 0
		if r.IntN(3) == 0 {
			limit = 3 + r.IntN(2)
		}
		k := depth + reach - 1 + r.IntN(3)
		z := big.NewRat(int64(50+r.IntN(45)), 100)
		p := randomPoint(r, best, depth, reach, limit, 4000)
		c := &constantCertificate{cost: evidence.NewEffort(evidence.WithDefaults(evidence.Options{MaxSteps: 1 << 40}))}
		for i := 0; i < 40 && !c.feasible(p, z, k); i++ {
			refused++
			p.scale = p.scale * 5 / 4
		}
		if !c.feasible(p, z, k) {
			continue
		}
		passed++
		for n := 2; n <= 5 && (limit == 0 || n <= limit); n++ {
			for more := 0; more < 3 && n+k+more < 12; more++ {
				require.True(t, p.everyChain(n, k+more, z), "n %d k %d+%d z %v best %d depth %d reach %d limit %d %v", n, k, more, z, best, depth, reach, limit, p.y)
			}
		}
		p.scale = p.scale * 2 / 3
		for n := 3; n <= 5; n++ {
			if !p.everyChain(n, k, z) {
				tight++
				break
			}
		}
	}
	assert.Greater(t, passed, 40)
	assert.Greater(t, refused, 40)
	assert.Greater(t, tight, passed/2)
}

// The value is the sum over all score vectors, one by one.
func TestValueOfConstantPointIsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 2))
	for range 40 {
		best, depth, reach := 2+r.IntN(4), 1+r.IntN(3), 1+r.IntN(3)
		n, k := 2+r.IntN(5), depth+reach-1+r.IntN(3)
		p := randomPoint(r, best, depth, reach, 0, 4000)
		p.count(evidence.NewEffort(evidence.WithDefaults(evidence.Options{})))
		want := new(big.Rat)
		ascending(n, k, func(q []int) {
			x := new(big.Rat).SetInt(orders(q))
			want.Add(want, x.Mul(x, big.NewRat(p.at(q, k), p.scale)))
		})
		got := p.value(n, k)
		require.True(t, got.Contains(want), "n %d k %d best %d depth %d reach %d: %v %v", n, k, best, depth, reach, got, want.FloatString(6))
		assert.Less(t, got.RelWidth(), 1e-20)
	}
}

// orders counts the score vectors with these depths.
func orders(q []int) *big.Int {
	x := new(big.Int).MulRange(1, int64(len(q)))
	run := int64(0)
	for i := range q {
		if run++; i+1 == len(q) || q[i+1] != q[i] {
			x.Quo(x, new(big.Int).MulRange(1, run))
			run = 0
		}
	}
	return x
}

// What bounds a box bounds each n and k in it, and is close where the box is small.
func TestConstantBoxesBoundWhatIsInThem(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	field := arith.Interval{Prec: constantBits}
	for range 60 {
		p := randomPoint(r, 3+r.IntN(2), 1+r.IntN(4), 1+r.IntN(4), 0, 4000)
		cost := evidence.NewEffort(evidence.WithDefaults(evidence.Options{}))
		p.count(cost)
		n, k := 3+r.IntN(30), 20+r.IntN(40)
		z := big.NewRat(int64(50+r.IntN(40)), 100)
		b := &constantBoxes{c: &constantCertificate{cost: cost}, q: &constantRange{from: 15, points: []constantPoint{*p}}}
		b.mean = new(big.Rat).Quo(z, new(big.Rat).Sub(big.NewRat(1, 1), z))
		mu, s := big.NewRat(int64(n-2), int64(k)), big.NewRat(1, int64(k))
		unit := number.FromInt(int64(k), constantBits).Pow(n - 2).Mul(number.FromInt(int64(n*(n-1)), constantBits))
		flip := evidence.ClosedForms(field, evidence.MayBeNegative, number.FromRat(z, constantBits), n, k, false).Flip.Quo(unit)
		value := p.value(n, k).Quo(unit)
		small := b.terms(&constantBox{mu, mu, s, s})
		assert.LessOrEqual(t, small[0].value(p).Lo().Cmp(value.Hi()), 0)
		assert.InEpsilon(t, value.Near(), small[0].value(p).Near(), .02)
		grow := func(x *big.Rat, by int64) *big.Rat { return new(big.Rat).Mul(x, big.NewRat(100+by, 100)) }
		x := &constantBox{grow(mu, -r.Int64N(20)), grow(mu, r.Int64N(20)), grow(s, -r.Int64N(20)), grow(s, r.Int64N(20))}
		terms := b.terms(x)
		// In between, both are compared with the chord.
		theta := number.FromInt(0, constantBits)
		if wide := new(big.Rat).Sub(x.m2, x.m1); wide.Sign() > 0 {
			theta = number.FromRat(new(big.Rat).Quo(new(big.Rat).Sub(mu, x.m1), wide), constantBits)
		}
		chord := func(a, c number.Interval) number.Interval {
			return a.Add(c.Sub(a).Mul(theta))
		}
		assert.LessOrEqual(t, chord(terms[0].value(p), terms[1].value(p)).Lo().Cmp(value.Hi()), 0, "n %d k %d z %v", n, k, z)
		assert.GreaterOrEqual(t, chord(b.flip(x.m1, x.s1), b.flip(x.m2, x.s1)).Hi().Cmp(flip.Lo()), 0, "n %d k %d z %v", n, k, z)
		assert.InEpsilon(t, flip.Near(), b.flip(mu, s).Near(), .5)
	}
}

// smallConstant is what research constant --bound 1.2 --to 0.685 writes.
const smallConstant = "../testdata/small-constant.cert"

func TestForgedConstants(t *testing.T) {
	file, err := os.ReadFile(smallConstant)
	require.NoError(t, err)
	text := string(file)
	decide := func(text string) (bool, string) {
		r, err := Check(strings.NewReader(text), certificate.Options{MaxSteps: 1 << 34})
		if err != nil {
			return false, err.Error()
		}
		return r.Valid, r.Reason
	}
	valid, reason := decide(text)
	require.True(t, valid, reason)
	lines := strings.SplitAfter(text, "\n")
	for _, c := range []struct{ from, to, why string }{
		{"k 10\n", "k 9\n", "no proof for k = 9"},
		{" 6/5\n", " 11/10\n", "no point"},
		{"range 12 13", "range 13 13", "no proof for k = 12"},
		{" inf\n", " 60\n", "no proof for k = 61"},
		{"cell 1/2 ", "cell 129/256 ", "no proof from"},
		{"claim ratio pf 1/2 ", "claim ratio pf 2065/4096 ", "no range"},
	} {
		forged := strings.Replace(text, c.from, c.to, 1)
		require.NotEqual(t, text, forged, c.from)
		valid, reason := decide(forged)
		assert.False(t, valid, c.from)
		assert.Contains(t, reason, c.why, c.from)
	}
	r := rand.New(rand.NewPCG(9, 4))
	trials := 40
	if slowtest.Enabled {
		trials = 400
	}
	for range trials { // a number of a point that is larger by half breaks a condition
		i := r.IntN(len(lines))
		if !strings.HasPrefix(lines[i], "top ") {
			continue
		}
		f := strings.Fields(lines[i])
		at := 1 + r.IntN(len(f)-1)
		x, _ := new(big.Int).SetString(f[at], 10)
		if x.BitLen() < 18 {
			continue
		}
		forged := append([]string{}, lines...)
		f[at] = x.Add(x, new(big.Int).Rsh(x, 1)).String()
		forged[i] = strings.Join(f, " ") + "\n"
		valid, _ := decide(strings.Join(forged, ""))
		assert.False(t, valid, lines[i])
	}
	for i := 1; i < len(lines)-1; i++ {
		valid, _ := decide(strings.Join(lines[:i], "") + strings.Join(lines[i+1:], ""))
		assert.False(t, valid, "without %s", lines[i])
	}
}
