package verify

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

func problem(t *testing.T, name, eps string) Claim {
	t.Helper()
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	return Claim{Mechanism: m, Epsilon: parse(t, eps), Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
}

// parse reads "3/2" as e^ε and "0.5" as ε.
func parse(t *testing.T, s string) number.Epsilon {
	t.Helper()
	if e, err := number.ParseExp(s); err == nil {
		return e
	}
	e, err := number.ParseEpsilon(s)
	require.NoError(t, err)
	return e
}

func check(t *testing.T, p Claim, n, k int, properties ...Property) *Report {
	t.Helper()
	report, err := Lattice(context.Background(), p, n, k, Options{Properties: properties})
	require.NoError(t, err)
	return report
}

func TestPermuteAndFlipIsPrivateAndRegularAndDominates(t *testing.T) {
	for _, c := range []struct {
		eps  string
		n, k int
	}{{"3/2", 4, 3}, {"0.5", 4, 3}, {"0", 3, 2}, {"5", 2, 4}} {
		report := check(t, problem(t, "pf", c.eps), c.n, c.k)
		for _, r := range report.Properties {
			require.Equal(t, Proved, r.Verdict, "%v: %s: %s %v", c, r.Name, r.Reason, r.Witness)
			require.Positive(t, r.Checked, "%v: %s", c, r.Name)
		}
	}
	dp := check(t, problem(t, "pf", "3/2"), 4, 3).Find(DP)
	require.Equal(t, "3/2", dp.TightExpEps.RatString())
	dp = check(t, problem(t, "pf", "0.5"), 4, 3).Find(DP)
	require.Nil(t, dp.TightExpEps)
	eps, ok := dp.TightEps.Rat()
	require.True(t, ok)
	require.Equal(t, "1/2", eps.RatString())
}

// vague has only estimates.
type vague struct{ doctored }

func (vague) Exact(*mechanisms.Instance) ([]*big.Rat, error) { return nil, mechanisms.ErrNotRational }

func TestEstimatesDecideNothing(t *testing.T) {
	p := problem(t, "pf", "3/2")
	p.Mechanism = vague{doctored{name: "vague"}}
	report := check(t, p, 2, 1, All()...)
	require.Len(t, report.Properties, len(All()))
	for _, r := range report.Properties {
		require.Equal(t, Undecided, r.Verdict, r.Name)
		require.Contains(t, r.Reason, "estimates", r.Name)
		require.Nil(t, r.Witness)
	}
}

func TestLimitsLeaveUndecidedWhatIsNotRefuted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, o := range []Options{{limit: 3}, {}} {
		if o.limit > 0 {
			ctx = context.Background()
		}
		report, err := Lattice(ctx, problem(t, "pf", "3/2"), 3, 2, o)
		require.NoError(t, err)
		for _, r := range report.Properties {
			require.Equal(t, Undecided, r.Verdict, r.Name)
			require.NotEmpty(t, r.Reason)
		}
		if o.limit > 0 { // what was found so far is a lower bound
			_, bounded := report.Find(DP).TightEps.Upper()
			lo, ok := report.Find(DP).TightEps.Lower()
			require.True(t, ok && !bounded)
			require.Positive(t, lo.Sign())
		}
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
	}
}

// Every registered mechanism with an exact form is decided on the lattice, and Laplace noise, the only one with
// logarithms in it, at either kind of ε.
func TestExactFormsAreAlwaysDecided(t *testing.T) {
	for _, name := range []string{"em", "pf", "krr", "rnm-laplace", "rnm-exponential", "rnm-gumbel", "uniform"} {
		for _, eps := range []string{"3/2", "0.5", "0"} {
			for _, r := range check(t, problem(t, name, eps), 3, 2, All()[:8]...).Properties {
				require.NotEqual(t, Undecided, r.Verdict, "%s at %s: %s: %s", name, eps, r.Name, r.Reason)
				if r.Name == DP {
					require.Equal(t, Proved, r.Verdict, "%s at %s", name, eps)
				}
			}
		}
	}
	laplace := check(t, problem(t, "rnm-laplace", "0.5"), 2, 1, DominatesEM).Find(DominatesEM)
	require.Equal(t, Violated, laplace.Verdict)
	// ½ e^{-x} (1 + x/2) at x = ε, by the closed form of two candidates' Laplace noise.
	require.InDelta(t, 0.5*math.Exp(-0.5)*1.25, laplace.Witness.P.Float64(), 1e-15)
	require.InDelta(t, 1/(1+math.Exp(0.5)), laplace.Witness.PExpected.Float64(), 1e-15)
}

// With candidates of no sensitivity, noise by each candidate's own is not private at all, for two candidates.
func TestNoiseByOwnSensitivityIsNotPrivate(t *testing.T) {
	p := problem(t, "rnmh", "0.5")
	p.Sensitivities = rats(t, "0", "1")
	report, err := Scores(context.Background(), p, [][]*big.Rat{rats(t, "0", "0"), rats(t, "0", "-1")}, false, Options{Properties: []Property{DP}})
	require.NoError(t, err)
	dp := report.Find(DP)
	require.Equal(t, Violated, dp.Verdict)
	require.True(t, dp.TightEps.IsInf())
	require.Len(t, dp.Witness.Scores, 2)
	zero, ok := dp.Witness.PNeighbor.Rat()
	require.True(t, ok)
	require.Zero(t, zero.Sign())
}

// The vectors may be taken modulo symmetry only where that was proved, and then give the same.
func TestOrbitsGiveWhatVectorsGive(t *testing.T) {
	for _, name := range []string{"pf", "krr", "rnm-laplace"} {
		p := problem(t, name, "3/2")
		l, err := lattice.New(3, 3)
		require.NoError(t, err)
		space := &inquiry.Space{Unit: one, Gap: 2, Sensitivities: p.Sensitivities, Epsilon: p.Epsilon}
		own := inquiry.ForMechanism(p.Mechanism, space)
		em, err := mechanisms.Lookup("em")
		require.NoError(t, err)
		full := inquiry.LatticeDomain(l, space, 1)
		full.Representatives = nil
		slow, err := ask(context.Background(), inquiry.Remember(own), inquiry.Remember(own.Like(em)), own.ExpEpsilon(), full, Options{Properties: All()[:8]})
		require.NoError(t, err)
		fast := check(t, p, 3, 3, All()[:8]...)
		for _, r := range slow.Properties {
			f := fast.Find(r.Name)
			require.Equal(t, r.Verdict, f.Verdict, "%s: %s", name, r.Name)
			require.LessOrEqual(t, f.Checked, r.Checked)
			if r.Name == DP {
				require.Equal(t, r.TightEps, f.TightEps)
				require.Equal(t, r.TightExpEps, f.TightExpEps)
				require.Equal(t, r.Range, f.Range)
			}
		}
	}
}

// The divergences of two candidates' randomised response have a closed form, and bracket zero-concentration.
func TestRenyiOfRandomisedResponse(t *testing.T) {
	report, err := Lattice(context.Background(), problem(t, "krr", "3"), 2, 1, Options{
		Properties: []Property{RDP, ZCDP, DP, "rdp:1", "rdp:3/2"},
	})
	require.NoError(t, err)
	// Neighbors: (1/2, 1/2) and (3/4, 1/4).
	p, q := []float64{0.5, 0.5}, []float64{0.75, 0.25}
	divergence := func(p, q []float64, alpha float64) float64 {
		if alpha == 1 {
			return p[0]*math.Log(p[0]/q[0]) + p[1]*math.Log(p[1]/q[1])
		}
		return math.Log(math.Pow(p[0], alpha)*math.Pow(q[0], 1-alpha)+math.Pow(p[1], alpha)*math.Pow(q[1], 1-alpha)) / (alpha - 1)
	}
	for _, o := range slices.Concat(report.Find(RDP).Orders, report.Find("rdp:1").Orders, report.Find("rdp:3/2").Orders) {
		alpha := o[0].Float64()
		require.InEpsilon(t, max(divergence(p, q, alpha), divergence(q, p, alpha)), o[1].Float64(), 1e-12)
		lo, ok := o[1].Lower()
		require.True(t, ok)
		hi, _ := o[1].Upper()
		width, _ := new(big.Rat).Sub(hi, lo).Float64()
		require.Less(t, width, 1e-30)
	}
	sup := 0.0
	for alpha := 1.001; alpha < 60; alpha *= 1.01 {
		sup = max(sup, max(divergence(p, q, alpha), divergence(q, p, alpha))/alpha)
	}
	rho := report.Find(ZCDP).Rho
	lo, _ := rho.Lower()
	hi, _ := rho.Upper()
	low, _ := lo.Float64()
	high, _ := hi.Float64()
	require.LessOrEqual(t, low, sup*(1+1e-3)) // the grid's
	require.GreaterOrEqual(t, high, sup)
	require.Less(t, high/low, 1+2e-9)
	require.Equal(t, "2/1", report.Find(DP).TightExpEps.String())
	// Where supports differ, there is no finite divergence.
	inf := check(t, Claim{Mechanism: doctored{t: t, pmf: func(_ testing.TB, in *mechanisms.Instance) []*big.Rat {
		return point(len(in.Scores), first(in))
	}}, Epsilon: parse(t, "3"), Sensitivities: []*big.Rat{one}}, 2, 1, RDP, ZCDP)
	for _, r := range inf.Properties {
		require.Equal(t, Violated, r.Verdict, r.Name)
		require.NotNil(t, r.Witness)
	}
	require.True(t, inf.Find(ZCDP).Rho.IsInf())
	require.True(t, inf.Find(RDP).Orders[0][1].IsInf())
}

// The worst neighbors of a regular mechanism give the tight ε of all; those of others are not asked for.
func TestWorstNeighborsSuffice(t *testing.T) {
	for _, name := range []string{"pf", "em", "krr", "rnm-laplace", "uniform"} {
		for _, c := range []struct{ n, k int }{{1, 2}, {2, 1}, {2, 3}, {3, 2}, {4, 2}} {
			p := problem(t, name, "3/2")
			all := check(t, p, c.n, c.k, DP).Find(DP)
			report, err := Lattice(context.Background(), p, c.n, c.k, Options{Worst: true, Properties: []Property{DP}})
			require.NoError(t, err)
			few := report.Find(DP)
			require.Equal(t, Proved, few.Verdict)
			require.Equal(t, all.TightEps, few.TightEps, "%s %v", name, c)
			require.True(t, c.n < 4 || few.Checked < all.Checked, "%s %v", name, c)
			require.Contains(t, few.Reason, "regularity")
			require.False(t, few.Range.IsValid())
		}
	}
	// A mechanism that is not monotone is checked towards all of them.
	minimum := gallery[1]
	minimum.t = t
	p := Claim{Mechanism: minimum.doctored, Epsilon: parse(t, "9/4"), Sensitivities: []*big.Rat{one}}
	report, err := Lattice(context.Background(), p, 3, 2, Options{Worst: true, Properties: []Property{DP}})
	require.NoError(t, err)
	require.Empty(t, report.Find(DP).Reason)
	require.True(t, report.Find(DP).Range.IsValid())
}

// Two candidates far apart keep their exact form, so that permute-and-flip's tight rows are decided for irrational e^ε.
func TestDeepLatticesOfTwoAreDecided(t *testing.T) {
	m, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	eps, err := number.ParseEpsilon("0.5")
	require.NoError(t, err)
	p := Claim{Mechanism: m, Epsilon: eps, Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
	report, err := Lattice(context.Background(), p, 2, 600, Options{Properties: []Property{DP}, NoRange: true})
	require.NoError(t, err)
	dp := report.Find(DP)
	assert.Equal(t, Proved, dp.Verdict, dp.Reason)
	tight, ok := dp.TightEps.Rat()
	require.True(t, ok, "%s", dp.TightEps)
	assert.Equal(t, "1/2", tight.RatString())
	assert.False(t, dp.Range.IsValid())
}

// Bounded range is checked where it is asked for, whatever NoRange says.
func TestNoRangeLeavesBoundedRangeAlone(t *testing.T) {
	m, err := mechanisms.Lookup("pf")
	require.NoError(t, err)
	eps, err := number.ParseExp("3/2")
	require.NoError(t, err)
	p := Claim{Mechanism: m, Epsilon: eps, Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
	report, err := Lattice(context.Background(), p, 3, 2, Options{Properties: []Property{BoundedRange, DP}, NoRange: true})
	require.NoError(t, err)
	assert.Equal(t, Violated, report.Find(BoundedRange).Verdict, "permute-and-flip's range is wider than ε")
	assert.True(t, report.Find(DP).Range.IsValid())
}

// Targets of zCDP and bounded range. The exponential mechanism has range ε and, by that, ε²/8-zCDP, the range on the bound; what is
// just below is refuted. Its ρ on this lattice is 0.1232923…
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name, rho, bounded string
		zcdp, br           Verdict
	}{
		{"em", "1/8", "1", Proved, Proved},
		{"em", "49/400", "999999/1000000", Violated, Violated},
		{"em", "1232924/10000000", "1", Proved, Proved},
		{"em", "1232923/10000000", "1", Violated, Proved},
		{"pf", "1/8", "1", Violated, Violated},
		{"pf", "53/200", "3/2", Proved, Proved},
		{"uniform", "0", "0", Proved, Proved},
	} {
		eps, err := number.ParseEpsilon("1")
		require.NoError(t, err)
		p := problem(t, c.name, "0")
		p.Epsilon = eps
		options := Options{Properties: []Property{ZCDP, BoundedRange, DP}, Targets: map[Property]*big.Rat{ZCDP: rats(t, c.rho)[0], BoundedRange: rats(t, c.bounded)[0]}}
		report, err := Lattice(context.Background(), p, 3, 2, options)
		require.NoError(t, err)
		require.Equal(t, c.zcdp, report.Find(ZCDP).Verdict, "%s, ρ %s: %s", c.name, c.rho, report.Find(ZCDP))
		require.Equal(t, c.br, report.Find(BoundedRange).Verdict, "%s, range %s", c.name, c.bounded)
		for _, r := range report.Properties {
			require.Equal(t, r.Verdict == Violated, r.Witness != nil, "%s of %s", r.Name, c.name)
		}
		require.Equal(t, Proved, report.Find(DP).Verdict)
	}
}

// On finer lattices the mechanisms for all real scores keep their ε, which a row attains; what is only made for steps of 2Δ does not.
func TestFinerLattices(t *testing.T) {
	rough := mechanisms.FromRational(mechanisms.Info{Name: "rough", ShiftInvariant: true}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		// permute-and-flip, once scores are rounded down to multiples of 2Δ relative to the best
		scores := make([]*big.Rat, len(in.Scores))
		for i, q := range in.Scores {
			d := new(big.Rat).Sub(in.Best(), q)
			d.Quo(d, new(big.Rat).Mul(in.Sensitivities[0], big.NewRat(2, 1)))
			d.SetInt(new(big.Int).Quo(d.Num(), d.Denom()))
			scores[i] = d.Neg(d).Mul(d, new(big.Rat).Mul(in.Sensitivities[0], big.NewRat(2, 1)))
		}
		return mechanisms.PermuteAndFlip().Exact(&mechanisms.Instance{Scores: scores, Sensitivities: in.Sensitivities, Epsilon: in.Epsilon})
	})
	for _, step := range []int{1, 2, 3} {
		for _, name := range []string{"pf", "geo", "em"} {
			report, err := Lattice(context.Background(), problem(t, name, "3/2"), 3, 2, Options{Step: step})
			require.NoError(t, err)
			for _, r := range report.Properties {
				if r.Name == DominatesEM && name == "geo" && step > 1 {
					continue
				}
				require.Equal(t, Proved, r.Verdict, "%s %d %s %v", name, step, r.Name, r.Witness)
			}
			want := big.NewRat(3, 2)
			if name == "em" { // its ratio is e^ε only in the limit
				require.Negative(t, report.Find(DP).TightExpEps.Cmp(want))
				continue
			}
			require.Equal(t, "3/2", report.Find(DP).TightExpEps.RatString())
		}
		p := problem(t, "pf", "3/2")
		p.Mechanism = rough
		report, err := Lattice(context.Background(), p, 3, 2, Options{Step: step, Properties: []Property{DP}})
		require.NoError(t, err)
		want := Violated
		if step == 1 {
			want = Proved
		}
		require.Equal(t, want, report.Find(DP).Verdict, "step %d", step)
	}
	_, err := Lattice(context.Background(), problem(t, "pf", "3/2"), 2, 1<<19, Options{Step: 4})
	require.ErrorIs(t, err, lattice.ErrSize)
}

// ask is Check of a question in parts.
func ask(ctx context.Context, subject, em inquiry.Subject, exp *inquiry.Value, dom *inquiry.Domain, o Options) (*Report, error) {
	return Check(ctx, &inquiry.Question{Subject: subject, EM: em, Exp: exp, Domain: dom, Readings: o.readings}, o)
}
