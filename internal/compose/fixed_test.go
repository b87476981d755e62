package compose

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// Attacks that ask the same at all selections of a step have no more than what their queries attain, in rationals, however coarsely losses are rounded, and
// nearly that where they are hardly rounded.
func TestFixedQueries(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 1))
	for range 30 {
		p := &Problem{}
		var steps [][]ratPair
		var xs []number.Interval
		total, count := 0.0, 0
		for range 1 + r.IntN(3) {
			k, times := randomKind(r, "em", "pf", "em", "pf", "geo", "krr"), 1+r.IntN(3)
			all := queries(k, 12)
			pair := all[r.IntN(len(all))]
			if k.adaptive() && len(pair.p) > 2 {
				pair = all[0]
			}
			for range times {
				steps = append(steps, []ratPair{pair})
			}
			x := 0.0
			if k.adaptive() {
				x = k.asked(pair)
			}
			xs = append(xs, exact(x))
			p.Steps = append(p.Steps, Step{k, times})
			total, count = total+float64(times)*k.Eps.Float(), count+times
		}
		alpha := new(big.Rat).SetFloat64(math.Exp(total * r.Float64() * 0.9))
		truth, _ := tree(steps, alpha).Float64()
		for _, parts := range []float64{2, 400} {
			w := &work{Problem: p, ctx: t.Context(), count: count, target: target{s: number.LogRat(alpha, prec)}}
			w.best.Lower = number.FromInt(0, prec)
			w.fixed(total/float64(count)/parts, xs, 1e-30)
			got := down(w.best.Lower)
			require.LessOrEqual(t, got, truth*(1+1e-11)+1e-13, "%v at %v, d = ε/%v", p.Steps, xs, parts)
			if parts > 2 {
				require.GreaterOrEqual(t, got, truth-0.01, "%v at %v", p.Steps, xs)
			}
		}
	}
}

// asked returns the x of two outcomes.
func (k Kind) asked(pair ratPair) float64 {
	p, _ := pair.p[0].Float64()
	if k.Mechanism == "em" {
		return min(k.Eps.Float(), -math.Log1p(p*math.Expm1(-k.Eps.Float())))
	}
	return min(k.Eps.Float(), -math.Log(2*(1-p)))
}

// Thousands of selections of mixed kinds have both ends. Steps of one kind have what equal queries have.
func TestMixedSteps(t *testing.T) {
	long := &Problem{Steps: []Step{{Kind{"em", eps(t, "0.1"), 0}, 3000}, {Kind{"pf", eps(t, "0.2"), 0}, 2000}}, Gap: 0.3}
	a, err := long.Eps(t.Context(), big.NewRat(1, 1000000))
	require.NoError(t, err)
	require.NoError(t, a.Stopped)
	assert.Len(t, a.Queries(), 2)
	for _, text := range []string{"0.01", "0.5"} {
		for _, mechanism := range []string{"em", "pf"} {
			k := Kind{mechanism, eps(t, text), 0}
			at := target{delta: number.FromRat(big.NewRat(1, 1000000), prec), eps: true}
			rho := 50 * k.rho()
			one := &work{Problem: &Problem{Steps: []Step{{k, 50}}}, ctx: t.Context(), count: 50, rho: rho, target: at}
			two := &work{Problem: &Problem{Steps: []Step{{k, 20}, {k, 30}}}, ctx: t.Context(), count: 50, rho: rho, target: at}
			one.best.Lower, two.best.Lower = exact(0), exact(0)
			one.attacks()
			two.attacks()
			assert.LessOrEqual(t, two.best.Lower.Near(), one.best.Lower.Near()*(1+1e-9), "%v", k)
			assert.GreaterOrEqual(t, two.best.Lower.Near(), one.best.Lower.Near()*0.99, "%v", k)
		}
	}
}
