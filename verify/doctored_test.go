package verify

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
)

// doctored is a mechanism with rational probabilities given by a function.
type doctored struct {
	name string
	pmf  func(t testing.TB, in *mechanisms.Instance) []*big.Rat
	t    testing.TB
}

func (d doctored) Info() mechanisms.Info { return mechanisms.Info{Name: d.name} }

func (d doctored) Exact(in *mechanisms.Instance) ([]*big.Rat, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	return d.pmf(d.t, in), nil
}

func (d doctored) Enclose(in *mechanisms.Instance, prec uint) ([]number.Interval, error) {
	return nil, mechanisms.ErrNoEnclosure
}

func (d doctored) Float(in *mechanisms.Instance) ([]float64, error) { panic("verdicts need no floats") }

func exactly(t testing.TB, name string, in *mechanisms.Instance) []*big.Rat {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	p, err := m.Exact(in)
	require.NoError(t, err)
	return p
}

// scaled changes the instance's scores by an affine map.
func scaled(in *mechanisms.Instance, a, b *big.Rat) *mechanisms.Instance {
	out := *in
	out.Scores = eachOf(in.Scores, func(q *big.Rat) *big.Rat { x := new(big.Rat).Mul(q, a); return x.Add(x, b) })
	return &out
}

func times(c *big.Rat, p []*big.Rat) []*big.Rat {
	return eachOf(p, func(x *big.Rat) *big.Rat { return new(big.Rat).Mul(c, x) })
}

func mix(w *big.Rat, p, q []*big.Rat) []*big.Rat {
	out := times(w, p)
	for i, x := range times(new(big.Rat).Sub(big.NewRat(1, 1), w), q) {
		out[i].Add(out[i], x)
	}
	return out
}

func point(n, r int) []*big.Rat {
	p := make([]*big.Rat, n)
	for i := range p {
		p[i] = new(big.Rat)
	}
	p[r].SetInt64(1)
	return p
}

func first(in *mechanisms.Instance) int {
	for r, q := range in.Scores {
		if q.Cmp(in.Best()) == 0 {
			return r
		}
	}
	panic("no best score")
}

var checked = []Property{DP, Symmetry, Shift, Monotone, Sum, DominatesEM, DominatesEMMean}

var half = big.NewRat(1, 2)

// gallery holds mechanisms broken in the ways real ones were, with the properties that they break on Q(3,2) at
// e^ε = 9/4, and the tight e^ε; "" where it is infinite.
var gallery = []struct {
	doctored
	broken  []Property
	tight   string
	unknown []Property          // undecided, as what is compared is not a probability
	at      map[Property]string // the witnesses
}{
	{doctored{name: "right", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return exactly(t, "pf", in)
	}}, nil, "9/4", nil, nil},
	{doctored{name: "the minimum instead of the maximum", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return exactly(t, "pf", scaled(in, big.NewRat(-1, 1), new(big.Rat)))
	}}, []Property{Monotone, DominatesEM, DominatesEMMean}, "9/4", nil, map[Property]string{
		Monotone:        "scores (0, 0) and (-2, 0), candidate 1: 0.5 and 0.222222222222…, a ratio of e^0.8109",
		DominatesEM:     "scores (0, -2): Pr[error >= 2] is 0.777777777777…, of em 0.307692307692…",
		DominatesEMMean: "scores (0, -2): expected error 1.55555555555…, of em 0.615384615384…",
	}},
	{doctored{name: "argmax", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return point(len(in.Scores), first(in))
	}}, []Property{DP, Symmetry}, "", nil, map[Property]string{
		DP:       "scores (0, 0) and (-2, 0), candidate 0: 1 and 0, an infinite ratio",
		Symmetry: "scores (0, 0) and (0, 0), candidate 1 (there 0): 0 and 1",
	}},
	{doctored{name: "monotonic calibration for plain neighbors", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return exactly(t, "pf", scaled(in, big.NewRat(2, 1), new(big.Rat)))
	}}, []Property{DP}, "81/16", nil, map[Property]string{
		DP: "scores (0, 0) and (0, -2), candidate 1: 0.5 and 0.0987654320987…, a ratio of e^1.622",
	}},
	{doctored{name: "half the noise would do", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		eps, err := number.ParseExp("3/2")
		require.NoError(t, err)
		half := *in
		half.Epsilon = eps
		return exactly(t, "pf", &half)
	}}, []Property{DominatesEM, DominatesEMMean}, "3/2", nil, map[Property]string{
		DominatesEM:     "scores (0, -2): Pr[error >= 2] is 0.333333333333…, of em 0.307692307692…",
		DominatesEMMean: "scores (0, -2): expected error 0.666666666666…, of em 0.615384615384…",
	}},
	{doctored{name: "loses mass", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return times(big.NewRat(99, 100), exactly(t, "pf", in))
	}}, []Property{Sum}, "", []Property{DP, Symmetry, Shift, Monotone, DominatesEM, DominatesEMMean}, map[Property]string{
		Sum: "scores (0): 0.99",
	}},
	{doctored{name: "favours the first", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		return mix(half, exactly(t, "pf", in), point(len(in.Scores), 0))
	}}, []Property{Symmetry, DominatesEM, DominatesEMMean}, "9/4", nil, map[Property]string{
		Symmetry:        "scores (0, 0) and (0, 0), candidate 1 (there 0): 0.25 and 0.75",
		DominatesEM:     "scores (-2, 0): Pr[error >= 2] is 0.611111111111…, of em 0.307692307692…",
		DominatesEMMean: "scores (-2, 0): expected error 1.22222222222…, of em 0.615384615384…",
	}},
	{doctored{name: "knows the scale", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		if in.Best().Sign() > 0 {
			return exactly(t, "em", in)
		}
		return exactly(t, "pf", in)
	}}, []Property{Shift}, "9/4", nil, map[Property]string{
		Shift: "scores (0, -2) and (2, 0), candidate 0: 0.777777777777… and 0.692307692307…, a ratio of e^0.1164",
	}},
	{doctored{name: "negative", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		p := exactly(t, "pf", in)
		if len(p) == 3 {
			p[0], p[1] = new(big.Rat).Sub(p[0], big.NewRat(2, 1)), new(big.Rat).Add(p[1], big.NewRat(2, 1))
		}
		return p
	}}, []Property{Sum}, "", []Property{DP, Symmetry, Shift, Monotone, DominatesEM, DominatesEMMean}, map[Property]string{
		Sum: "scores (0, 0, 0), candidate 0: -1.66666666666…",
	}},
	{doctored{name: "guesses where the best is alone", pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
		m := exactly(t, "pf", in)
		best, ties := in.Best(), 0
		for _, q := range in.Scores {
			if q.Cmp(best) == 0 {
				ties++
			}
		}
		if ties > 1 || len(m) == 1 {
			return m
		}
		return mix(big.NewRat(3, 4), m, exactly(t, "pf", scaled(in, new(big.Rat), new(big.Rat))))
	}}, []Property{DominatesEM, DominatesEMMean}, "9/4", nil, map[Property]string{
		DominatesEM:     "scores (0, -4): Pr[error >= 4] is 0.199074074074…, of em 0.164948453608…",
		DominatesEMMean: "scores (0, -4): expected error 0.796296296296…, of em 0.659793814432…",
	}},
}

func TestDoctoredMechanismsBreakWhatTheyBreak(t *testing.T) {
	eps := parse(t, "9/4")
	for _, g := range gallery {
		g.t = t
		p := Claim{Mechanism: g.doctored, Epsilon: eps, Sensitivities: []*big.Rat{one}}
		report, err := Lattice(context.Background(), p, 3, 2, Options{Properties: checked})
		require.NoError(t, err, g.name)
		for _, r := range report.Properties {
			switch {
			case slices.Contains(g.broken, r.Name):
				require.Equal(t, Violated, r.Verdict, "%s: %s", g.name, r.Name)
				require.NotNil(t, r.Witness)
				require.Equal(t, g.at[r.Name], r.Witness.String(), "%s: %s", g.name, r.Name)
			case slices.Contains(g.unknown, r.Name):
				require.Equal(t, Undecided, r.Verdict, "%s: %s", g.name, r.Name)
				require.NotEmpty(t, r.Reason)
			default:
				require.Equal(t, Proved, r.Verdict, "%s: %s: %s %v", g.name, r.Name, r.Reason, r.Witness)
				require.Nil(t, r.Witness)
			}
		}
		if g.unknown != nil {
			continue
		}
		dp := report.Find(DP)
		if g.tight == "" {
			require.True(t, dp.TightEps.IsInf(), g.name)
			require.Nil(t, dp.TightExpEps)
			continue
		}
		require.Equal(t, g.tight, dp.TightExpEps.RatString(), g.name)
		// The pair said to attain it does.
		a, ok := dp.Attained.P.Rat()
		require.True(t, ok)
		b, _ := dp.Attained.PNeighbor.Rat()
		require.Equal(t, g.tight, new(big.Rat).Quo(a, b).RatString(), g.name)
		require.Equal(t, a.RatString(), exactAt(g.doctored, eps, dp.Attained.Scores)[*dp.Attained.Candidate].RatString())
		require.Equal(t, b.RatString(), exactAt(g.doctored, eps, dp.Attained.Neighbor)[*dp.Attained.Candidate].RatString())
	}
}

func exactAt(d doctored, eps number.Epsilon, scores []*big.Rat) []*big.Rat {
	return d.pmf(d.t, &mechanisms.Instance{Scores: scores, Sensitivities: []*big.Rat{one}, Epsilon: eps})
}

// A mechanism that treats candidates unlike at one vector alone is caught at it, wherever its place is: in descending order, reversed, in between,
// or at a tie.
func TestOneAsymmetricVector(t *testing.T) {
	for _, scores := range [][]int64{{0, -2, 0}, {0, 0, -2}, {-2, 0, 0}, {0, 0, 0}, {-2, 0, -4}, {0, -2, -4}} {
		m := doctored{name: "unlike once", t: t, pmf: func(t testing.TB, in *mechanisms.Instance) []*big.Rat {
			p := eachOf(exactly(t, "pf", in), func(x *big.Rat) *big.Rat { return new(big.Rat).Set(x) })
			for r, q := range in.Scores {
				if len(p) != 3 || q.Cmp(big.NewRat(scores[r], 1)) != 0 {
					return p
				}
			}
			p[0].Sub(p[0], big.NewRat(1, 1e9))
			p[2].Add(p[2], big.NewRat(1, 1e9))
			return p
		}}
		claim := Claim{Mechanism: m, Epsilon: parse(t, "9/4"), Sensitivities: []*big.Rat{one}}
		r, err := Lattice(context.Background(), claim, 3, 2, Options{Properties: []Property{Symmetry}})
		require.NoError(t, err)
		require.Equal(t, Violated, r.Properties[0].Verdict, scores)
	}
}

func eachOf(scores []*big.Rat, f func(*big.Rat) *big.Rat) (out []*big.Rat) {
	for _, q := range scores {
		out = append(out, f(q))
	}
	return out
}
