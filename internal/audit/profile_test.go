package audit

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/verify"
)

// TestProfileOfTables: the profile of random tables is the greatest over both directions of all pairs, by floating point, and claims 1 % above and below
// the divergences of the orders are proved and violated, with a witness whose divergence violates the claim by itself.
func TestProfileOfTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(39, 1))
	for range 20 {
		var text strings.Builder
		var laws [3][]float64
		for i := range laws {
			weights, sum := make([]int, 4), 0
			for r := range weights {
				weights[r] = 1 + rng.IntN(20)
				sum += weights[r]
			}
			var pmf []string
			for _, w := range weights {
				pmf = append(pmf, fmt.Sprintf(`"%d/%d"`, w, sum))
				laws[i] = append(laws[i], float64(w)/float64(sum))
			}
			fmt.Fprintf(&text, `{"scores":[%d,0,0,0],"pmf":[%s]}`+"\n", i, strings.Join(pmf, ","))
		}
		rows, err := ReadTable(strings.NewReader(text.String()), "t", Index, big.NewRat(1, 1e9))
		require.NoError(t, err)
		most := func(of func(p, o []float64) float64) float64 {
			return max(of(laws[0], laws[1]), of(laws[1], laws[0]), of(laws[1], laws[2]), of(laws[2], laws[1]))
		}
		divergence := func(alpha float64) func(p, o []float64) float64 {
			return func(p, o []float64) float64 {
				sum, top := 0.0, 0.0
				for r := range p {
					sum += p[r] * math.Pow(p[r]/o[r], alpha-1)
					top = max(top, p[r]/o[r])
				}
				if math.IsInf(alpha, 1) {
					return math.Log(top)
				}
				return math.Log(sum) / (alpha - 1)
			}
		}
		o := Options{Epsilon: epsilon(t, "0.3"), Properties: []verify.Property{verify.DP}, Profile: true}
		r, err := rows.Audit(t.Context(), false, o)
		require.NoError(t, err)
		for _, at := range r.Profile {
			assert.InDelta(t, most(func(p, q []float64) float64 { return hockeyStick(p, q, at[0].Float64()) }), at[1].Float64(), 1e-12)
		}
		for _, at := range r.Renyi {
			assert.InEpsilon(t, most(divergence(at[0].Float64())), at[1].Float64(), 1e-9)
		}
		o.Profile, o.Properties, o.Targets = false, nil, map[verify.Property]*big.Rat{}
		for i, p := range []verify.Property{"rdp:1.5", "rdp:3", "rdp:inf"} {
			o.Targets[p] = new(big.Rat).SetFloat64(most(divergence([]float64{1.5, 3, math.Inf(1)}[i])) * []float64{0.99, 1.01}[rng.IntN(2)])
		}
		r, err = rows.Audit(t.Context(), false, o)
		require.NoError(t, err)
		for p, claimed := range o.Targets {
			res := r.Find(p)
			over := res.Orders[0][1].Cmp
			c, ok := over(res.Target)
			require.True(t, ok)
			assert.Equal(t, map[bool]verify.Verdict{true: verify.Violated, false: verify.Proved}[c > 0], res.Verdict, "%s", res)
			if w := res.Witness; w != nil {
				var p, q []float64
				for r := range w.PMFs[0] {
					p, q = append(p, w.PMFs[0][r].Float64()), append(q, w.PMFs[1][r].Float64())
				}
				limit, _ := claimed.Float64()
				assert.Greater(t, divergence(res.Orders[0][0].Float64())(p, q), limit)
			}
		}
	}
}

// TestProfileWithSideSet: what the side set adds is in the profile: its order ∞ is the tight ε, which is that of the domain alone where that says so.
func TestProfileWithSideSet(t *testing.T) {
	for _, name := range []string{"em", "rnm-laplace"} {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		r, err := Mechanism(t.Context(), m, Options{N: 2, K: 1, Epsilon: epsilon(t, "1"), Properties: []verify.Property{verify.DP, "rdp:inf", "rdp:2"}, Profile: true})
		require.NoError(t, err)
		require.Len(t, r.Renyi, 2)
		assert.InDelta(t, r.TightEps.Float64(), r.Renyi[0][1].Float64(), 1e-9)
		assert.Equal(t, r.Find("rdp:2").Orders[0], r.Renyi[1])
		assert.Greater(t, r.TightEps.Float64(), r.DomainEps.Float64())
	}
}

// TestOrdersAndDistances: a Rényi divergence is about neighbors at distance 1, however it is asked for.
func TestOrdersAndDistances(t *testing.T) {
	for _, o := range []Options{{Profile: true}, {Properties: []verify.Property{"rdp:2"}}, {Targets: map[verify.Property]*big.Rat{"rdp:2": nil}}} {
		o.Epsilon, o.Inputs = epsilon(t, "1"), &Inputs{Pairs: []InputPair{{From: 0, To: 1, Distance: big.NewRat(2, 1)}}}
		assert.ErrorContains(t, o.complete(), "distance", "%v", o.Properties)
	}
}
