package check_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evidence/evidencetest"
	"optratio/internal/slowtest"
	"optratio/research/check"
	"optratio/verify/certificate"
)

// lines are a certificate.
type lines []string

func (l lines) String() string { return strings.Join(l, "\n") + "\n" }

func (l lines) field(word string) string { return evidencetest.Field(l, word) }

var rational = evidencetest.Rational

func (l lines) whole(word string) int { i, _ := strconv.Atoi(l.field(word)); return i }

// subject is a certificate whose forgeries are looked at.
type subject struct {
	bases []lines // the certificate, and the same with claims that are false
	// judge fails the test if a claim of an accepted certificate is false, and reports whether that could be told.
	judge func(t *testing.T, l lines) bool
}

// Forged certificates are refused, or what they claim is true all the same.
func TestForgeries(t *testing.T) {
	forgeries := 1000
	if slowtest.Enabled {
		forgeries *= 30
	}
	accepted := 0
	for k, s := range append(intervalSubjects(), productSubject()) {
		rng := rand.New(rand.NewPCG(22, uint64(k)))
		for range forgeries / 6 {
			l := lines(evidencetest.Forge(rng, s.bases[rng.IntN(len(s.bases))]))
			r, err := check.Check(strings.NewReader(l.String()), certificate.Options{MaxSteps: 1 << 24})
			switch {
			case err != nil:
				require.True(t, errors.Is(err, certificate.ErrUnreadable) || errors.Is(err, certificate.ErrLimit) || errors.Is(err, certificate.ErrUndecided), "%v: %s", err, l)
			case r.Valid && !slices.Equal(l, s.bases[0]) && slices.Contains([]string{"interval", "product"}, l.field("problem")) && s.judge(t, l):
				accepted++
			}
		}
	}
	assert.Positive(t, accepted, "forgeries that only break the form test little")
}

// intervalSubjects are of ranges, whose ratios are looked at in some places.
func intervalSubjects() (out []subject) {
	truth := map[string]*big.Rat{}
	ratio := func(n, k int, level string, z *big.Rat) *big.Rat {
		key := fmt.Sprint(n, k, level, z)
		if truth[key] == nil {
			x, ok := answer(n, k, level, z).Mechanisms[0].Ratio.Rat()
			if !ok {
				panic("not exact")
			}
			truth[key] = x
		}
		return truth[key]
	}
	largest := func(n, k int, level string, from, to *big.Rat) *big.Rat {
		most := big.NewRat(1, 1)
		for i := int64(1); i <= 2; i++ {
			z := new(big.Rat).Sub(to, from)
			if x := ratio(n, k, level, z.Mul(z, big.NewRat(i, 2)).Add(z, from)); x.Cmp(most) > 0 {
				most = x
			}
		}
		return most
	}
	judge := func(t *testing.T, l lines) bool {
		n, k, level := l.whole("n"), l.whole("k"), l.field("constraints")
		claim := strings.Fields(l.field("claim ratio pf"))
		from, to := rational(claim[0]), rational(claim[1])
		if n*k > 6 || to.Denom().BitLen() > 24 || from.Denom().BitLen() > 24 {
			return false
		}
		require.LessOrEqual(t, largest(n, k, level, from, to).Cmp(rational(claim[2])), 0, "%s", l)
		return true
	}
	for _, c := range []struct {
		n, k, top int
		level     string
		z         []string
	}{{3, 2, 3, "paper", []string{"7/10", "4/5", "1"}}, {3, 2, 2, "full", []string{"3/5", "7/10"}}, {3, 2, 3, "monotone", []string{"4/5", "9/10"}}} {
		p := newProblem(c.n, c.k, "3/2", c.level)
		class, classes := p.classOf(c.top)
		var nodes []node
		for _, z := range c.z {
			x := node{z: rat(z), y: make([]*big.Rat, classes)}
			for o, y := range multipliers(c.n, c.k, rat(z)) {
				f, _ := y.Float64()
				x.y[class[o]] = big.NewRat(int64(f*nodeScale), nodeScale)
			}
			nodes = append(nodes, x)
		}
		from, to := nodes[0].z, nodes[len(nodes)-1].z
		certificate := func(bound *big.Rat) lines {
			claim := fmt.Sprintf("claim ratio pf %s %s %s", from.RatString(), to.RatString(), bound.RatString())
			return split(intervalText(c.n, c.k, c.level, append([]string{claim}, p.nodeLines(c.top, nodes, bound)...)...))
		}
		most := largest(c.n, c.k, c.level, from, to)
		less := new(big.Rat).Mul(most, big.NewRat(999_999, 1_000_000))
		bases := []lines{certificate(big.NewRat(2, 1)), certificate(new(big.Rat).Mul(most, big.NewRat(101, 100)))}
		if less.Cmp(big.NewRat(1, 1)) > 0 {
			bases = append(bases, certificate(less))
		}
		out = append(out, subject{bases, judge})
	}
	for _, text := range []string{"claim ratio pf 0 309/500 1|threshold 309/500", "claim ratio pf 0 1 15/7|closed-form 15/7", "claim ratio pf 0 1 2|threshold 1/2|closed-form 12/11"} {
		out = append(out, subject{[]lines{split(intervalText(3, 2, "paper", strings.Split(text, "|")...))}, judge})
	}
	return out
}

// productSubject is a point, whose claim is compared with the optimum.
func productSubject() subject {
	text := func(most string) lines {
		return split(productText(3, 3, "exp-epsilon 5/4", most, "product 2 1 0 any 1/2 1/100", "product 2 2 1 deepest 1/4 1/1000"))
	}
	return subject{[]lines{text("2"), text("1")}, func(t *testing.T, l lines) bool {
		n, k, exp := l.whole("n"), l.whole("k"), rational(l.field("exp-epsilon"))
		if n*k > 9 || exp.Sign() == 0 || exp.Denom().BitLen() > 24 || exp.Num().BitLen() > 24 {
			return false
		}
		_, most, _ := strings.Cut(l.field("claim optimum"), " ")
		least, ok := answer(n, k, "paper", new(big.Rat).Inv(exp)).Optimum.Lower()
		require.True(t, ok)
		require.GreaterOrEqual(t, rational(most).Cmp(least), 0, "%s", l)
		return true
	}}
}
