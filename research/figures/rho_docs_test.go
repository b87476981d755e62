package figures

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evaluate"
	"optratio/internal/slowtest"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// TestZCDPDocument: the tables of research/docs/zcdp.md.
func TestZCDPDocument(t *testing.T) {
	slowtest.Only(t)
	const document = "../../research/docs/zcdp.md"
	data, err := os.ReadFile(document)
	require.NoError(t, err)
	text := string(data)
	for name, table := range map[string]func(*testing.T) string{"real": realTable, "errors": errorTable} {
		begin, end := "<!-- table: "+name+" -->\n", "<!-- end of table -->"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, name)
		old, after, ok := strings.Cut(rest, end)
		require.True(t, ok, name)
		want := table(t)
		if *update {
			text = before + begin + want + end + after
			continue
		}
		assert.Equal(t, want, old, "go test ./internal/figures -run TestZCDPDocument -update")
	}
	if *update {
		require.NoError(t, os.WriteFile(document, []byte(text), 0o644))
	}
	tight := latticeRho(t, "pf", 2, 2, "1")
	low, _, high := ends(tight.Rho)
	prose := strings.Join(strings.Fields(text), " ") // lines of the text end anywhere
	assert.Contains(t, prose, cutTo(t, low, high, 5)+"… against 0.32965… at ε = 1")
	assert.Contains(t, prose, "24/π² = "+cutTo(t, 24/(math.Pi*math.Pi), 24/(math.Pi*math.Pi), 4)+"…")
	alpha := tight.Orders[0][0].Float64()
	assert.InDelta(t, 1.5, alpha, 0.05)
}

// row is a line of a table.
func row(cells ...any) string {
	return "| " + strings.TrimSuffix(strings.Repeat("%v | ", len(cells)), " ") + "\n"
}

func line(cells ...any) string { return fmt.Sprintf(row(cells...), cells...) }

func geometric(t *testing.T) mechanisms.Mechanism {
	m, err := mechanisms.Lookup("geo")
	require.NoError(t, err)
	return m
}

// cutTo prints a number with digits after the point, the rest cut off, once its enclosure tells them.
func cutTo(t *testing.T, low, high float64, digits int) string {
	cut := func(x float64) string {
		s := fmt.Sprintf("%.12f", x)
		return s[:len(s)-12+digits]
	}
	require.Equal(t, cut(low), cut(high), "the enclosure does not tell the digits")
	return cut(low)
}

// crossing is the distance g of two candidates, in steps of 2Δ, at which e^{gδ} + e^{-gε} = 2, and the largest error of the exponential mechanism at ε + δ over
// permute-and-flip's at ε.
func crossing(eps, delta float64) (g, most float64) {
	low, high := 1e-3, 1.0
	for range 60 {
		if g = (low + high) / 2; math.Exp(g*delta)+math.Exp(-g*eps) < 2 {
			low = g
		} else {
			high = g
		}
	}
	for g := 0.001; g < 1; g += 0.001 {
		most = max(most, 2*math.Exp(g*eps)/(1+math.Exp(g*(eps+delta))))
	}
	return low, most
}

func realTable(t *testing.T) string {
	out := line("ε", "ρ em", "ρ pf", "ρ geo", "em at pf's ρ", "g*", "em/pf at most") + "|" + strings.Repeat("---|", 7) + "\n"
	for _, text := range []string{"0.1", "1", "2", "5"} {
		eps, err := number.ParseEpsilon(text)
		require.NoError(t, err)
		cells := []any{text}
		var flip *big.Rat
		for _, m := range []mechanisms.Mechanism{mechanisms.Exponential(), mechanisms.PermuteAndFlip(), geometric(t)} {
			rho, ok := mechanisms.Concentration(m, eps, 100)
			require.True(t, ok)
			low, high := rho.Float64()
			cells = append(cells, cutTo(t, low, high, 6))
			if m == mechanisms.PermuteAndFlip() {
				flip, _ = rho.Lo().Rat(nil)
			}
		}
		_, enclosed := atEqualRho(context.Background(), mechanisms.Exponential(), flip)
		at, e := enclosed.Float64(), eps.Float()
		least, most := e+math.Log(2-math.Exp(-e)), e+2*math.Log(2-math.Exp(-e/2))
		require.Less(t, least, at)
		require.Less(t, at, most)
		g, worst := crossing(e, at-e)
		out += line(append(cells, fmt.Sprintf("%.4f", at), fmt.Sprintf("%.3f", g), fmt.Sprintf("%.3f", worst))...)
	}
	return out
}

func errorTable(t *testing.T) string {
	rhos := []string{"0.001", "0.01", "0.1", "1", "4"}
	header := []any{"n", "k"}
	for _, rho := range rhos {
		header = append(header, "ρ = "+rho)
	}
	out := line(header...) + "|" + strings.Repeat("---|", len(header)) + "\n"
	type pair struct{ pf, em number.Epsilon }
	at := map[string]pair{}
	for _, text := range rhos {
		rho, _ := new(big.Rat).SetString(text)
		pf, _ := atEqualRho(context.Background(), mechanisms.PermuteAndFlip(), rho)
		em, _ := atEqualRho(context.Background(), mechanisms.Exponential(), rho)
		at[text] = pair{pf, em}
	}
	for _, s := range [][2]int{{2, 1}, {2, 4}, {5, 4}, {50, 4}, {1000, 10}} {
		cells := []any{s[0], s[1]}
		for _, text := range rhos {
			pf, err := lp.MeanError(context.Background(), mechanisms.PermuteAndFlip(), s[0], s[1], lp.Prior{}, at[text].pf)
			require.NoError(t, err)
			em, err := lp.MeanError(context.Background(), mechanisms.Exponential(), s[0], s[1], lp.Prior{}, at[text].em)
			require.NoError(t, err)
			low, _, high := ends(evaluate.Ratio(pf, em))
			require.Greater(t, low, 1.0)
			cells = append(cells, cutTo(t, low, high, 4))
		}
		out += line(cells...)
	}
	fixed, many := []any{"any", "→ ∞"}, []any{"→ ∞", "→ ∞"}
	for _, text := range rhos {
		pf, em := at[text].pf.Float(), at[text].em.Float()
		a, b := deepLimit(pf, em), math.Expm1(em)/math.Expm1(pf)
		fixed = append(fixed, cutTo(t, a-1e-9, a+1e-9, 4))
		many = append(many, cutTo(t, b-1e-9, b+1e-9, 4))
	}
	return out + line(fixed...) + line(many...)
}

// deepLimit is the limit as k → ∞ of permute-and-flip's mean error over the exponential mechanism's at eps and at em:
// Theorem 5 of research/docs/zcdp.md.
func deepLimit(eps, em float64) float64 {
	var flip, exponential float64
	for g := 1.0; g == 1 || g*eps < 60; g++ {
		flip += g * math.Exp(-g*eps) / 2
		exponential += g / (math.Exp(g*em) + 1)
	}
	return flip / exponential
}

// TestQuotientAtEqualRho: Theorem 5 of research/docs/zcdp.md. With y = e^{ε/2} rational, e^{-ε} and the bounds of Theorem 3
// on e^{-ε'} are, so that the quotients of the errors there are exact; and it nears the limits that the theorem names.
func TestQuotientAtEqualRho(t *testing.T) {
	total := func(m mechanisms.Mechanism, n, k int, z *big.Rat) *big.Rat {
		eps, err := number.FromExp(new(big.Rat).Inv(z))
		require.NoError(t, err)
		lat, err := lattice.New(n, k)
		require.NoError(t, err)
		sum := new(big.Rat)
		for _, c := range lat.All() {
			depths := lattice.Depths(c)
			pmf, err := m.Exact(mechanisms.OnLattice(depths, eps))
			require.NoError(t, err)
			for i, v := range depths {
				term := new(big.Rat).SetInt(lattice.Multiplicity(c))
				sum.Add(sum, term.Mul(term, new(big.Rat).Mul(big.NewRat(int64(v), 1), pmf[i])))
			}
		}
		return sum
	}
	one, pf, em := big.NewRat(1, 1), mechanisms.PermuteAndFlip(), mechanisms.Exponential()
	over := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }
	for _, y := range []*big.Rat{big.NewRat(21, 20), big.NewRat(6, 5), big.NewRat(2, 1), big.NewRat(9, 1)} {
		z := over(one, new(big.Rat).Mul(y, y))
		most := new(big.Rat).Sub(new(big.Rat).Add(y, y), one) // e^{ε'/2} is at most this
		least := over(z, new(big.Rat).Sub(big.NewRat(2, 1), z))
		below := over(one, new(big.Rat).Mul(most, most))
		root := over(new(big.Rat).Mul(y, y), new(big.Rat).Mul(most, new(big.Rat).Add(y, one)))
		bound := new(big.Rat).Mul(big.NewRat(16, 1), new(big.Rat).Mul(root, root))
		require.Negative(t, bound.Cmp(big.NewRat(4, 1)))
		for _, s := range [][2]int{{2, 1}, {2, 9}, {3, 5}, {6, 2}, {12, 1}} {
			flip, moved, exponential := total(pf, s[0], s[1], z), total(pf, s[0], s[1], below), total(em, s[0], s[1], below)
			assert.LessOrEqual(t, moved.Cmp(exponential), 0)
			assert.LessOrEqual(t, over(flip, moved).Cmp(bound), 0)
			assert.GreaterOrEqual(t, flip.Cmp(total(em, s[0], s[1], least)), 0)
		}
	}
	at := func(eps float64, n, k int) (quotient, other float64) {
		e, err := number.FromEpsilon(new(big.Rat).SetFloat64(eps))
		require.NoError(t, err)
		rho, ok := mechanisms.Concentration(pf, e, 100)
		require.True(t, ok)
		low, _ := rho.Lo().Rat(nil)
		prime, _ := atEqualRho(context.Background(), em, low)
		a, err := lp.MeanError(context.Background(), pf, n, k, lp.Prior{}, e)
		require.NoError(t, err)
		b, err := lp.MeanError(context.Background(), em, n, k, lp.Prior{}, prime)
		require.NoError(t, err)
		return a.Float64() / b.Float64(), prime.Float()
	}
	for _, eps := range []float64{0.5, 2} {
		for _, n := range []int{2, 4} {
			quotient, prime := at(eps, n, 1000)
			assert.InDelta(t, deepLimit(eps, prime), quotient, 0.01, "ε = %v, n = %d", eps, n)
		}
		quotient, prime := at(eps, 20000, 20)
		assert.InDelta(t, math.Expm1(prime)/math.Expm1(eps), quotient, 0.01, "ε = %v", eps)
	}
	quotient, prime := at(300, 100000, 1)
	assert.InDelta(t, 4, quotient, 0.03)
	assert.Less(t, quotient, 4.0)
	assert.InDelta(t, 2, deepLimit(300, prime), 0.02)
	_, prime = at(1e-4, 2, 1)
	assert.InDelta(t, 24/(math.Pi*math.Pi), deepLimit(1e-4, prime), 1e-3)
}

// At the largest parameters at which both are ρ-zCDP on a lattice the exponential mechanism's error is the smaller one.
func TestExponentialMechanismIsAheadOnLattices(t *testing.T) {
	slowtest.Only(t)
	for _, s := range [][2]int{{3, 6}, {6, 1}} {
		for _, text := range []string{"0.1", "1", "4"} {
			rho, _ := new(big.Rat).SetString(text)
			var found [2]float64
			for i, m := range []mechanisms.Mechanism{mechanisms.PermuteAndFlip(), mechanisms.Exponential()} {
				r, err := verify.Calibrate(context.Background(), verify.Claim{Mechanism: m}, s[0], s[1], verify.Options{Targets: map[verify.Property]*big.Rat{verify.ZCDP: rho}})
				require.NoError(t, err)
				require.Empty(t, r.Undecided)
				least, _ := r.Parameter.Lower()
				eps, err := number.FromEpsilon(least)
				require.NoError(t, err)
				e, err := lp.MeanError(context.Background(), m, s[0], s[1], lp.Prior{}, eps)
				require.NoError(t, err)
				found[i] = e.Float64()
			}
			assert.Greater(t, found[0], found[1])
		}
	}
}

func latticeRho(t *testing.T, name string, n, k int, eps string) *verify.Result {
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	e, err := number.ParseEpsilon(eps)
	require.NoError(t, err)
	report, err := verify.Lattice(context.Background(), verify.Claim{Mechanism: m, Epsilon: e}, n, k, verify.Options{Properties: []verify.Property{verify.ZCDP}})
	require.NoError(t, err)
	return report.Find(verify.ZCDP)
}

// TestMoreCandidatesCanBeWorseOnLattices: at ε = 5 three candidates have a larger ρ on the lattice than two, and less at ε = 1.
func TestMoreCandidatesCanBeWorseOnLattices(t *testing.T) {
	for eps, more := range map[string]bool{"1": false, "5": true} {
		two, _, twoHigh := ends(latticeRho(t, "pf", 2, 3, eps).Rho)
		three, _, threeHigh := ends(latticeRho(t, "pf", 3, 3, eps).Rho)
		assert.Equal(t, more, three > twoHigh, eps)
		assert.Equal(t, !more, two > threeHigh, eps)
	}
}

// TestExponentialMechanismIsAheadAtEqualRho: Theorem 4 of research/docs/zcdp.md, on every orbit of some lattices: the quotient of the distributions falls with the depth,
// at the parameter ε + ln(2 - e^{-ε}), and does not at one that is clearly smaller.
func TestExponentialMechanismIsAheadAtEqualRho(t *testing.T) {
	for _, eps := range []float64{0.05, 0.5, 1, 3, 8} {
		for _, share := range []float64{1, 0.8} {
			pf, err := number.FromEpsilon(new(big.Rat).SetFloat64(eps))
			require.NoError(t, err)
			em, err := number.FromEpsilon(new(big.Rat).SetFloat64(eps + share*math.Log(2-math.Exp(-eps))))
			require.NoError(t, err)
			falls := true
			for _, s := range [][2]int{{2, 4}, {3, 4}, {5, 3}} {
				lat, err := lattice.New(s[0], s[1])
				require.NoError(t, err)
				for _, m := range lat.All() {
					in := &mechanisms.Instance{Sensitivities: []*big.Rat{big.NewRat(1, 2)}}
					for _, d := range lattice.Depths(m) {
						in.Scores = append(in.Scores, big.NewRat(int64(-d), 1))
					}
					in.Epsilon = pf
					flip, err := mechanisms.PermuteAndFlip().Float(in)
					require.NoError(t, err)
					in.Epsilon = em
					exp, err := mechanisms.Exponential().Float(in)
					require.NoError(t, err)
					for i := 1; i < len(flip); i++ {
						falls = falls && exp[i]/flip[i] <= exp[i-1]/flip[i-1]*(1+1e-12)
					}
				}
			}
			assert.Equal(t, share == 1, falls, "ε = %v, share %v", eps, share)
		}
	}
}
