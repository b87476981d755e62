package check

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evidence"
	"optratio/number"
	"optratio/verify/certificate"
)

// TestClassesHoldTheirVectors counts the score vectors of each class orbit by orbit, and walks the chain of every orbit of the others: it visits the classes that the
// chain of its class visits.
func TestClassesHoldTheirVectors(t *testing.T) {
	for n := 3; n <= 6; n++ {
		for k := 1; k <= 5; k++ {
			for top := 1; top <= k+1; top++ {
				c := newClasses(n, k, top, 1e6, ample())
				count := make([]*big.Int, len(c.mass))
				for i := range count {
					count[i] = new(big.Int)
				}
				l := evidence.NewLattice(n, k)
				for _, m := range l.Orbits() {
					i, ok := c.index[c.name(m)]
					require.True(t, ok, "%v", m)
					count[i].Add(count[i], l.Multiplicity(m))
				}
				assert.Equal(t, c.mass, count, "n = %d, k = %d, top = %d", n, k, top)
				if top == k+1 {
					assert.Len(t, c.mass, int(evidence.OrbitCount(n, k)))
				}
				// Every chain of the lattice, found by the lattice's own enumerator, is one of the classes' chains.
				known := map[string]bool{}
				name := ""
				for i := range c.class {
					name += string(rune(c.class[i])) + string(rune(c.depth[i]))
					if c.last[i] {
						known[name], name = true, ""
					}
				}
				for _, others := range evidence.NewLattice(n-1, k).Orbits() {
					name := ""
					for at := range evidence.Chain(others) {
						name += string(rune(c.index[c.name(at.M)])) + string(rune(at.V))
					}
					assert.True(t, known[name], "n = %d, k = %d, top = %d", n, k, top)
				}
			}
		}
	}
	assert.ErrorIs(t, evidence.Try(func() { newClasses(8, 6, 3, 100, ample()) }), evidence.ErrLimit)
}

// TestIntervalLimits: the check of a range ends with its context, and does not begin on numbers that are too long, or classes that are too many.
func TestIntervalLimits(t *testing.T) {
	text, err := os.ReadFile("../../testdata/interval.cert")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Check(strings.NewReader(string(text)), certificate.Options{Context: ctx})
	assert.ErrorIs(t, err, context.Canceled)
	head := "optratio-certificate 3\nproblem interval\nn %d\nk %d\nconstraints paper\nclaim ratio pf 0 1 2\n"
	for _, c := range []struct {
		n, k int
		body string
	}{{5000, 2, "top 1\nscale 1\n"}, {3, 2000, "top 1\nscale 1\n"}, {400, 30, "top 9\nscale 1\n"}} {
		_, err := Check(strings.NewReader(fmt.Sprintf(head, c.n, c.k)+c.body), certificate.Options{MaxMemory: 1 << 24})
		assert.ErrorIs(t, err, evidence.ErrLimit)
	}
	few := fmt.Sprintf(head, 3, 60) + "top 50\nscale 1\n"
	_, err = Check(strings.NewReader(few), certificate.Options{MaxSteps: 1 << 20})
	assert.ErrorIs(t, err, evidence.ErrLimit)
	for _, c := range []struct {
		n, k int
		body string
	}{{3, 1 << 20, "threshold 1/3\nend 7\n"}, {1 << 30, 1 << 20, "closed-form 2\nend 7\n"}} {
		r, err := Check(strings.NewReader(fmt.Sprintf(head, c.n, c.k)+c.body), certificate.Options{})
		require.NoError(t, err)
		assert.False(t, r.Valid)
		assert.Contains(t, r.Reason, "too long")
	}
}

// TestSagBetweenNodes: where the bound is 100 at both nodes and sags by 40/4 between them, and permute-and-flip's error grows by next to nothing, a ratio is
// proved if 90 times it is at least the error.
func TestSagBetweenNodes(t *testing.T) {
	whole := func(x int64) number.Interval { return number.FromInt(x, intervalBits) }
	p := &stretch{
		certificate: &intervalCertificate{n: 3, k: 2, cost: ample()}, bow: whole(40),
		a: &dualPoint{z: big.NewRat(900_000_000, 1_000_000_000), value: whole(100)}, b: &dualPoint{z: big.NewRat(900_000_001, 1_000_000_000), value: whole(100)},
	}
	zero, one := new(big.Rat), big.NewRat(1, 1)
	end := p.flip(one)
	for millionths, want := range map[int64]bool{-1: false, 1: true} {
		p.most = end.Quo(whole(90)).Mul(number.FromRat(big.NewRat(1_000_000+millionths, 1_000_000), intervalBits))
		why := evidence.Try(func() { p.decide(zero, one, end, 0) })
		assert.Equal(t, want, why == nil, why)
	}
}

// TestOnlyWhatIsCertainFollows: an error of 3 is at most the ratio times a bound of 2 where the ratio is at least 3/2 for certain, all of them enclosed.
func TestOnlyWhatIsCertainFollows(t *testing.T) {
	between := func(lo, hi int64) number.Interval {
		return number.Hull(number.FromRat(big.NewRat(lo, 2), intervalBits), number.FromRat(big.NewRat(hi, 2), intervalBits))
	}
	for _, c := range []struct {
		end, bound, most [2]int64 // halves
		want             bool
	}{
		{[2]int64{6, 6}, [2]int64{4, 4}, [2]int64{3, 3}, true}, {[2]int64{5, 6}, [2]int64{4, 5}, [2]int64{3, 4}, true},
		{[2]int64{5, 7}, [2]int64{4, 5}, [2]int64{3, 4}, false}, {[2]int64{6, 6}, [2]int64{3, 5}, [2]int64{3, 3}, false}, {[2]int64{6, 6}, [2]int64{4, 4}, [2]int64{2, 4}, false},
		{[2]int64{0, 0}, [2]int64{0, 0}, [2]int64{3, 3}, false},
	} {
		p := &stretch{most: between(c.most[0], c.most[1])}
		assert.Equal(t, c.want, p.follows(between(c.end[0], c.end[1]), between(c.bound[0], c.bound[1])), "%v", c)
	}
}

// TestPartsEnd: where the bound rises up to the largest ratio, at the right end, ever smaller parts prove a claim that is ever closer to it, down to parts of 2^-24.
func TestPartsEnd(t *testing.T) {
	whole := func(x int64) number.Interval { return number.FromInt(x, intervalBits) }
	p := &stretch{
		certificate: &intervalCertificate{n: 3, k: 2, cost: ample()}, bow: whole(0),
		a: &dualPoint{z: big.NewRat(1, 2), value: whole(99)}, b: &dualPoint{z: big.NewRat(9, 10), value: whole(100)},
	}
	zero, one := new(big.Rat), big.NewRat(1, 1)
	end := p.flip(one)
	for room, want := range map[int64]bool{1e4: true, 1e12: false} {
		p.most = end.Quo(whole(100)).Mul(number.FromRat(big.NewRat(room+1, room), intervalBits))
		why := evidence.Try(func() { p.decide(zero, one, end, 0) })
		assert.Equal(t, want, why == nil, "%d: %s", room, why)
	}
}

// ample is what a check may cost without options.
func ample() *evidence.Effort { return evidence.NewEffort(evidence.WithDefaults(evidence.Options{})) }

// What a file asks for before it proves anything is counted: these took from 1 to more than 36 seconds.
func TestWorkIsCounted(t *testing.T) {
	for name, text := range map[string]string{
		"classes":      "problem interval\nn 4096\nk 2\nconstraints paper\nclaim ratio pf 1/2 1 2\ntop 2\nscale 1\n",
		"closed forms": "problem constant\nk 1000\nclaim ratio pf 1/2 513/1024 1000\ncell 1/2 513/1024\nrange 1000 1010\nrange 1011 inf\nend 7\n",
	} {
		_, err := Check(strings.NewReader(evidence.Magic+"\n"+text), certificate.Options{MaxSteps: 1 << 24})
		assert.ErrorIs(t, err, evidence.ErrLimit, name)
	}
}

func TestOptimalUpToAThreshold(t *testing.T) {
	for k := 2; k < 9; k++ {
		for i := int64(0); i <= 64; i++ {
			z, sum := big.NewRat(i, 64), new(big.Rat)
			for v := range k {
				sum.Add(sum, big.NewRat(1, 1).SetFrac(new(big.Int).Exp(z.Num(), big.NewInt(int64(v+1)), nil), new(big.Int).Exp(z.Denom(), big.NewInt(int64(v+1)), nil)))
			}
			assert.Equal(t, sum.Cmp(big.NewRat(1, 1)) <= 0, optimal(z, k), "z = %v, k = %d", z, k)
		}
	}
}
