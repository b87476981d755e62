package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/number"
)

// ladder is an instance with scores 1..n and sensitivity 1.
func ladder(t testing.TB, n int, eps string, params Params) *Instance {
	in := &Instance{Sensitivities: ratsOf(t, "1"), Epsilon: decimalEps(t, eps), Params: params}
	for i := range n {
		in.Scores = append(in.Scores, big.NewRat(int64(i+1), 1))
	}
	return in
}

// φ and φ' at integer shapes are rational; shapes that no power of v survives in float64 included.
func TestStoppingLawsOfLargeShapes(t *testing.T) {
	power := func(x *big.Rat, n int64) *big.Rat {
		e := big.NewInt(n)
		return new(big.Rat).SetFrac(new(big.Int).Exp(x.Num(), e, nil), new(big.Int).Exp(x.Denom(), e, nil))
	}
	for _, c := range []struct{ gamma, h, eta int64 }{{16, 512, 1000}, {16, 4096, 300}, {2, 8, 1000}, {1 << 40, 1 << 38, 30}, {16, 8, 2}} {
		gamma, h := big.NewRat(1, c.gamma), big.NewRat(1, c.h)
		rest := new(big.Rat).Sub(ratOne, gamma)
		v := new(big.Rat).Mul(rest, h)
		v.Add(v, gamma)
		scale := new(big.Rat).Sub(power(new(big.Rat).Inv(gamma), c.eta), ratOne)
		value := new(big.Rat).Sub(power(new(big.Rat).Inv(v), c.eta), ratOne)
		value.Quo(value, scale)
		slope := power(new(big.Rat).Inv(v), c.eta+1)
		slope.Mul(slope.Mul(slope, rest), big.NewRat(c.eta, 1)).Quo(slope, scale)
		f := enclosedCalculus(256)
		l := newStoppingLaw(f, gamma, big.NewRat(c.eta, 1), 1)
		require.Positive(t, value.Sign(), "%v", c)
		for got, want := range map[*number.Interval]*big.Rat{ptr(l.value(f.FromRat(h))): value, ptr(l.density(f.FromRat(h))): slope} {
			assert.True(t, got.Contains(want), "%v", c)
			assert.Less(t, got.RelWidth(), 1e-50, "%v", c)
		}
	}
	for _, eta := range []string{"1e-300", "5e-324", "-1e-300"} { // as good as the logarithmic law
		f := enclosedCalculus(128)
		l, log, h := newStoppingLaw(f, big.NewRat(1, 20), ratOf(t, eta), 1), newStoppingLaw(f, big.NewRat(1, 20), new(big.Rat), 1), f.FromRat(big.NewRat(3, 10))
		assert.InDelta(t, log.value(h).Near(), l.value(h).Near(), 1e-16)
		assert.InDelta(t, log.density(h).Near(), l.density(h).Near(), 1e-15)
		assert.Less(t, l.density(h).RelWidth(), 1e-30)
	}
}

func ptr[T any](x T) *T { return &x }

// Whatever γ and η, an answer has probabilities that add up to 1, and there is an error where there is none.
func TestExtremeStoppingLaws(t *testing.T) {
	slowtest.Only(t)
	refused := 0
	for _, n := range []int{2, 12} {
		for _, eps := range []string{"0", "1"} {
			for _, p := range []Params{
				{Gamma: ratOf(t, "1e-9")}, {Gamma: ratOf(t, "1e-18")}, {Gamma: ratOf(t, "1e-300")}, {Gamma: ratOf(t, "1e-320")}, {Gamma: ratOf(t, "1e-400")},
				{Eta: ratOf(t, "1e-300")}, {Eta: ratOf(t, "1e-320")}, {Eta: ratOf(t, "1000")}, {Eta: ratOf(t, "1e300")}, {Eta: ratOf(t, "1e400")},
				{Gamma: ratOf(t, "1e-300"), Eta: ratOf(t, "2")}, {Gamma: ratOf(t, "1e-300"), Eta: ratOf(t, "-0.5")}, {Gamma: ratOf(t, "1e-18"), Eta: ratOf(t, "0")},
			} {
				msg := fmt.Sprint(n, " candidates, ε = ", eps, ", γ = ", p.Gamma, ", η = ", p.Eta)
				a, err := Ask(registry["rs-tnb"], ladder(t, n, eps, p))
				if err != nil {
					assert.ErrorIs(t, err, ErrNoAnswer, msg)
					refused++
					continue
				}
				total := 0.0
				for _, x := range a.PMF {
					total += x.Float64()
				}
				assert.InDelta(t, 1, total, 1e-5, msg)
			}
		}
	}
	assert.Greater(t, refused, 10)
	assert.Less(t, refused, 40)
	for _, p := range []Params{{Gamma: ratOf(t, "1e-400")}, {Gamma: ratOf(t, "1e-60")}, {Eta: ratOf(t, "1e300")}} {
		_, err := registry["rs-tnb"].Enclose(ladder(t, 2, "1", p), 128)
		assert.ErrorIs(t, err, ErrNoEnclosure)
	}
	_, err := registry["rs"].Float(ladder(t, 2, "1", Params{Gamma: ratOf(t, "1e-300")}))
	assert.ErrorIs(t, err, ErrNoAnswer)
	log, err := registry["rs-log"].Enclose(ladder(t, 3, "1", Params{}), 100)
	require.NoError(t, err)
	tiny, err := registry["rs-tnb"].Enclose(ladder(t, 3, "1", Params{Eta: ratOf(t, "1e-300")}), 100)
	require.NoError(t, err)
	large, err := registry["rs-tnb"].Enclose(ladder(t, 3, "1", Params{Eta: ratOf(t, "1000")}), 100)
	require.NoError(t, err)
	total := number.FromInt(0, 100)
	for i := range log {
		_, overlap := log[i].Intersect(tiny[i])
		assert.True(t, overlap)
		assert.Less(t, tiny[i].RelWidth(), 1e-25)
		total = total.Add(large[i])
	}
	assert.True(t, total.Contains(ratOne))
	assert.Less(t, total.RelWidth(), 1e-20)
}

// Powers of e^ε that fill pages are enclosed instead; randomised response takes none.
func TestLongRationalsAreEnclosed(t *testing.T) {
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	for depth, exact := range map[string]bool{"-100": true, "-1000000": false} {
		in := &Instance{Scores: ratsOf(t, "0", depth), Sensitivities: ratsOf(t, "1"), Epsilon: eps}
		for _, name := range []string{"pf", "em", "gem"} {
			a, err := Ask(registry[name], in)
			require.NoError(t, err)
			_, ok := a.PMF[0].Rat()
			assert.Equal(t, exact, ok, "%s at %s", name, depth)
			assert.True(t, a.PMF[0].IsRigorous())
		}
		a, err := Ask(registry["krr"], in)
		require.NoError(t, err)
		_, ok := a.PMF[0].Rat()
		assert.True(t, ok)
	}
	// both ways to enclose a power agree about where they meet, at 2^14 bits
	for _, x := range []int64{5400, 5460, 5462, 6300, 6400, 20_000, -20_000} {
		p, ok := eps.ExpNegRat(big.NewRat(x, 1))
		require.True(t, ok)
		box := eps.ExpNeg(big.NewRat(x, 1), 100)
		assert.True(t, box.Contains(p), "%d", x)
		assert.Less(t, box.RelWidth(), 1e-28)
	}
	in := &Instance{Scores: ratsOf(t, "0", "-1"), Sensitivities: ratsOf(t, "1", "1e-4"), Epsilon: eps}
	assert.False(t, lengthy(registry["pf"], in))
	assert.True(t, lengthy(registry["rnmh"], in))
}

// What float64 answers state as their error holds against enclosures, and mechanisms for many candidates state one.
func TestStatedRelativeErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for _, spread := range []float64{0.1, 2000} {
		in := &Instance{Epsilon: decimalEps(t, "0.7")}
		for range 20 {
			in.Scores = append(in.Scores, new(big.Rat).SetFloat64(spread*rng.NormFloat64()))
			in.Sensitivities = append(in.Sensitivities, new(big.Rat).SetFloat64(math.Exp(2*rng.NormFloat64())))
		}
		for _, name := range []string{"pf", "em", "krr", "uniform", "gem", "mgem", "combined-gem", "pf-trio"} {
			m := registry[name].(stater)
			stated := m.relativeError(mustFloats(t, in))
			require.Less(t, stated, 1e-6)
			got, err := m.Float(in)
			require.NoError(t, err)
			boxes, err := m.Enclose(in, 100)
			require.NoError(t, err)
			for i, b := range boxes {
				if lo, hi := b.Float64(); lo > 1e-290 {
					require.InEpsilon(t, (lo+hi)/2, got[i], stated, "%s, spread %g", name, spread)
				}
			}
		}
	}
	many := ladder(t, enclosedCandidates+1, "0.001", Params{})
	for _, name := range []string{"pf", "em", "krr", "gem", "combined-gem", "pf-trio"} {
		a, err := Ask(registry[name], many)
		require.NoError(t, err)
		for _, n := range []string{a.PMF[0].Method(), a.MSE.Method()} {
			assert.Regexp(t, `^float64, relative error below \de-1[0-2] `, n, name)
		}
	}
	many.Sensitivities = ratsOf(t, "1e-12")
	_, err := Ask(registry["gem"], many)
	assert.ErrorIs(t, err, ErrNoAnswer)
}

func TestRoundedToTheStatedError(t *testing.T) {
	for _, c := range []struct{ x, err, want float64 }{
		{0.123456789, 1e-3, 0.123}, {0.123456789, 3e-4, 0.1235}, {0.9999, 0.01, 1}, {123456, 1000, 123000}, {123456, 0, 123456},
		{1e-20, 1e-15, 0}, {-0.126, 0.01, -0.13}, {0.5, math.Inf(1), 0.5},
	} {
		assert.Equal(t, c.want, rounded(c.x, c.err), "%v", c)
	}
	in := ladder(t, 2, "1", Params{})
	_, err := estimates(in, []float64{0.5, 0.5}, accuracy{method: "m", absolute: 2e-6})
	assert.ErrorIs(t, err, ErrNoAnswer)
	_, err = estimates(in, []float64{math.NaN(), 0.5}, accuracy{method: "m", absolute: 1e-9})
	assert.ErrorIs(t, err, ErrNoAnswer)
	a, err := estimates(in, []float64{0.4444444444, 0.5555555555}, accuracy{method: "m", absolute: 1e-7})
	require.NoError(t, err)
	assert.Equal(t, "≈0.4444444", a.PMF[0].String())
}
