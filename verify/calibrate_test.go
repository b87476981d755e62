package verify

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/lattice"
	"optratio/mechanisms"
	"optratio/number"
)

// calibrated finds a parameter on Q(3,2).
func calibrated(t *testing.T, name, eps string, rho *big.Rat) *Calibration {
	t.Helper()
	out, err := calibrator{Claim: problem(t, name, eps), Rho: rho, N: 3, K: 2}.calibrate(context.Background())
	require.NoError(t, err)
	return out
}

// Where the parameter is known. Noisy max with exponential noise is permute-and-flip, gem of equal sensitivities is that at ε/2. Randomised response
// with y = e^ε' among three has, from (0,0,-2) to (0,-2,-2), the ratio (y+1)/2 at the second candidate, and from (0,-2,-2) to (0,0,0)
// 3y/(y+2) at the first: both are 3/2 at y = 2.
func TestCalibration(t *testing.T) {
	for _, c := range []struct {
		name, exp string
		want      float64
	}{{"rnm-exponential", "3/2", math.Log(1.5)}, {"gem", "3/2", 2 * math.Log(1.5)}, {"krr", "3/2", math.Ln2}} {
		r := calibrated(t, c.name, c.exp, nil)
		assert.Equal(t, byDomain, r.Proof)
		assert.Empty(t, r.Undecided)
		lo, _ := r.Parameter.Lower()
		hi, _ := r.Parameter.Upper()
		low, _ := lo.Float64()
		high, _ := hi.Float64()
		assert.LessOrEqual(t, low, c.want*(1+1e-15), c.name)
		assert.GreaterOrEqual(t, high, c.want*(1-1e-15), c.name)
		assert.InDelta(t, c.want, low, 3e-9, c.name)
		assert.InDelta(t, c.want, high, 3e-9, c.name)
		assert.NotNil(t, r.Attained)
		assert.NotNil(t, r.Violated)
		assert.Positive(t, r.Tried)

		// What is claimed at either end is what Lattice finds there.
		for end, meets := range map[*big.Rat]bool{lo: true, hi: false} {
			p := problem(t, c.name, "0")
			var err error
			p.Epsilon, err = number.FromEpsilon(end)
			require.NoError(t, err)
			report, err := Lattice(context.Background(), p, 3, 2, Options{Properties: []Property{DP}, NoRange: true})
			require.NoError(t, err)
			least, _ := parse(t, c.exp).Number().Lower()
			most, _ := parse(t, c.exp).Number().Upper()
			from, _ := report.Find(DP).TightEps.Lower()
			to, _ := report.Find(DP).TightEps.Upper()
			assert.Equal(t, meets, to.Cmp(least) <= 0, "%s at %s", c.name, end.FloatString(18))
			assert.Equal(t, !meets, from.Cmp(most) > 0, "%s at %s", c.name, end.FloatString(18))
		}
	}
}

// The theorem is applied to the mechanisms that it is about, two or more candidates of one sensitivity and neighbors that move either way.
func TestCalibrationByTheorem(t *testing.T) {
	for _, name := range []string{"pf", "em"} {
		r := calibrated(t, name, "0.5", nil)
		exact, ok := r.AllScores.Rat()
		require.True(t, ok)
		assert.Equal(t, "1/2", exact.RatString())
		// On the lattice permute-and-flip attains its ε, and the exponential mechanism does not.
		assert.Equal(t, name == "pf", r.Proof == byTheorem)
		low, _ := r.Parameter.Lower()
		assert.Equal(t, name == "pf", low.Cmp(exact) == 0, "%s: %s", name, r.Parameter)
	}
	// e^ε = 2 on Q(2,4): (1+e^{-4x})/(1+e^{-3x})·e^x = 2.
	two := calibrator{Claim: problem(t, "em", "2"), N: 2, K: 4}
	r, err := two.calibrate(context.Background())
	require.NoError(t, err)
	assert.InDelta(t, 0.74522685, r.Parameter.Float64(), 1e-8)
	assert.Equal(t, parse(t, "2").Number(), r.AllScores)
	assert.Equal(t, byDomain, r.Proof)
	assert.NotNil(t, calibrated(t, "pf", "0.5", nil).Attained)

	vectors := [][]*big.Rat{rats(t, "0", "0"), rats(t, "0", "-1"), rats(t, "0", "-2")}
	c := calibrator{Claim: problem(t, "pf", "0.5"), Vectors: vectors, Gap: big.NewRat(1, 1000)}
	all, err := c.calibrate(context.Background())
	require.NoError(t, err)
	assert.Equal(t, byDomain, all.Proof)
	assert.Equal(t, "0.5", all.AllScores.String())
	least, _ := all.Parameter.Lower()
	assert.Zero(t, least.Cmp(big.NewRat(1, 2)), "where all scores meet the target, these do")
	for _, change := range []struct {
		what string
		make func(c *calibrator)
		want float64
	}{
		{"monotonic neighbors halve ε", func(c *calibrator) { c.Monotonic = true }, 1},
		{"only one candidate moves", func(c *calibrator) { c.Claim.Sensitivities = rats(t, "1", "0") }, 1},
	} {
		other := c
		change.make(&other)
		r, err := other.calibrate(context.Background())
		require.NoError(t, err)
		assert.Equal(t, byDomain, r.Proof, change.what)
		assert.InDelta(t, change.want, r.Parameter.Float64(), 1e-3, change.what)
	}
	// One candidate is always chosen, at any parameter; and one vector is a domain like any other.
	c.Vectors = [][]*big.Rat{rats(t, "0")}
	alone, err := c.calibrate(context.Background())
	require.NoError(t, err)
	assert.Equal(t, byDomain, alone.Proof)
	assert.Contains(t, alone.Undecided, "no parameter was found that misses the target")
	c = calibrator{Claim: problem(t, "krr", "0.5"), Vectors: [][]*big.Rat{rats(t, "0", "-2", "-2")}}
	once, err := c.calibrate(context.Background())
	require.NoError(t, err)
	assert.NotNil(t, once.Violated)
	c.Vectors = append(c.Vectors, c.Vectors[0])
	twice, err := c.calibrate(context.Background())
	require.NoError(t, err)
	assert.Equal(t, twice.Parameter, once.Parameter)
}

// Run with 2Δ replaced by Δ, at neighbors that rise by up to Δ a shift-invariant mechanism has the parameter that it has at the sensitivity Δ/2 and
// neighbors that move by Δ/2 either way. Where the mechanism is left as it is, permute-and-flip has twice that at neighbors that rise.
func TestCalibrationForMonotonicScores(t *testing.T) {
	vectors := [][]*big.Rat{rats(t, "0", "0", "0"), rats(t, "0", "-1", "-1"), rats(t, "0", "0", "-1"), rats(t, "0", "-2", "-2")}
	find := func(name string, change func(c *calibrator)) *Calibration {
		c := calibrator{Claim: problem(t, name, "3/2"), Vectors: vectors}
		change(&c)
		r, err := c.calibrate(context.Background())
		require.NoError(t, err)
		require.Empty(t, r.Undecided)
		return r
	}
	for _, name := range []string{"krr", "gem", "rnm-exponential", "pf", "em"} {
		rising := find(name, func(c *calibrator) { c.Claim.Monotonic = true })
		moving := find(name, func(c *calibrator) { c.Claim.Sensitivities = rats(t, "1/2") })
		require.Equal(t, moving.Parameter, rising.Parameter, name)
		require.Equal(t, moving.Proof, rising.Proof, name)
		require.Equal(t, rising.Parameter, find(name, func(c *calibrator) { c.Claim.Monotonic, c.Monotonic = true, true }).Parameter, name)

		// The lattice of steps of Δ is that of steps of 2Δ, halved.
		halved, whole := calibrator{Claim: problem(t, name, "3/2"), N: 3, K: 2}, calibrated(t, name, "3/2", nil)
		halved.Claim.Monotonic = true
		lattice, err := halved.calibrate(context.Background())
		require.NoError(t, err)
		require.Equal(t, whole.Parameter, lattice.Parameter, name)
		require.Contains(t, lattice.Domain, "neighbors for monotonic scores")
		for r, q := range whole.Attained.Scores {
			require.Equal(t, new(big.Rat).Quo(q, big.NewRat(2, 1)).RatString(), lattice.Attained.Scores[r].RatString(), name)
		}
	}
	left := find("rnm-exponential", func(c *calibrator) { c.Monotonic = true })
	require.InDelta(t, 2*math.Log(1.5), left.Parameter.Float64(), 1e-8)
	require.InDelta(t, math.Log(1.5), find("rnm-exponential", func(c *calibrator) { c.Claim.Monotonic = true }).Parameter.Float64(), 1e-8)

	// Which parameter suits is known of shift-invariant mechanisms, and of some where sensitivities differ.
	c := calibrator{Claim: problem(t, "gem", "3/2"), Vectors: vectors}
	c.Claim.Monotonic, c.Claim.Sensitivities = true, rats(t, "1", "2", "1")
	_, err := c.calibrate(context.Background())
	require.ErrorIs(t, err, mechanisms.ErrInstance)
}

// The exponential mechanism is ε²/8-zCDP, so that at least 1 is found for ρ = 1/8.
func TestCalibrationToRho(t *testing.T) {
	r := calibrated(t, "em", "0", big.NewRat(1, 8))
	lo, _ := r.Parameter.Lower()
	assert.True(t, lo.Cmp(big.NewRat(1, 1)) >= 0)
	assert.Empty(t, r.Undecided)
	assert.NotNil(t, r.Violated)
	assert.InDelta(t, 1.0070042, r.Parameter.Float64(), 1e-6)
}

// What no parameter misses, and what is stopped, is undecided with the ends so far.
func TestCalibrationWithoutEnd(t *testing.T) {
	r := calibrated(t, "uniform", "3/2", nil)
	assert.Contains(t, r.Undecided, "no parameter was found that misses the target")
	_, bounded := r.Parameter.Upper()
	assert.False(t, bounded)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := calibrator{Claim: problem(t, "krr", "3/2"), N: 3, K: 2}.calibrate(ctx)
	require.NoError(t, err)
	assert.NotEmpty(t, r.Undecided)
	_, err = calibrator{Claim: Claim{Mechanism: problem(t, "krr", "0").Mechanism}, N: 3, K: 2}.calibrate(context.Background())
	assert.ErrorIs(t, err, inquiry.ErrClaim)
	for _, c := range []calibrator{{N: 2, K: 1}, {AllScores: true}} { // a ρ beyond that of the largest ε
		c.Claim, c.Rho = problem(t, "em", "0"), big.NewRat(1e9, 1)
		r, err := c.calibrate(context.Background())
		require.NoError(t, err)
		low, high := r.Parameter.Ends()
		assert.Equal(t, "8192", low.RatString())
		assert.Nil(t, high)
		assert.Contains(t, r.Undecided, "up to 8192")
	}
	r, err = calibrator{Claim: problem(t, "krr", "0"), Rho: big.NewRat(1e9, 1), N: 2, K: 1}.calibrate(context.Background())
	require.NoError(t, err)
	assert.Contains(t, r.Undecided, "up to 4096")
}

// TestCalibrationToRhoOnBothSides: at the ends of the parameter the enclosed ρ is on either side of the target, on a lattice and for all scores, and on the
// lattice the parameter is the larger one.
func TestCalibrationToRhoOnBothSides(t *testing.T) {
	target := big.NewRat(1, 5)
	for _, name := range []string{"pf", "em", "geo", "krr", "rnm-laplace"} {
		c := calibrator{Claim: problem(t, name, "0"), Rho: target, N: 3, K: 2}
		r, err := c.calibrate(context.Background())
		require.NoError(t, err)
		require.Empty(t, r.Undecided, name)
		require.Equal(t, byDomain, r.Proof)
		low, _ := r.Parameter.Lower()
		high, _ := r.Parameter.Upper()
		require.True(t, narrow(low, high, big.NewRat(1, 1e9)), name)
		require.Less(t, r.Tried, 8, "%s: proposals spare the bisection", name)
		for i, end := range []*big.Rat{low, high} {
			claim := c.Claim
			claim.Epsilon, err = number.FromEpsilon(end)
			require.NoError(t, err)
			report, err := Lattice(context.Background(), claim, 3, 2, Options{Properties: []Property{ZCDP}, Targets: map[Property]*big.Rat{ZCDP: target}})
			require.NoError(t, err)
			want := []Verdict{Proved, Violated}[i]
			// The full enclosure is wider than the gap of the parameter, and may leave the lower end open.
			if got := report.Find(ZCDP).Verdict; i == 1 || got != Undecided {
				require.Equal(t, want, got, "%s at %s", name, end.FloatString(12))
			}
		}
		c.AllScores = true
		all, err := c.calibrate(context.Background())
		if name == "krr" || name == "rnm-laplace" {
			require.ErrorIs(t, err, inquiry.ErrClaim)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, byTheorem, all.Proof)
		require.Empty(t, all.Undecided)
		lowest, _ := all.Parameter.Lower()
		highest, _ := all.Parameter.Upper()
		require.True(t, narrow(lowest, highest, big.NewRat(1, 1e9)), name)
		require.Negative(t, highest.Cmp(low), name)
		for i, end := range []*big.Rat{lowest, highest} {
			eps, err := number.FromEpsilon(end)
			require.NoError(t, err)
			rho, ok := mechanisms.Concentration(c.Claim.Mechanism, eps, 100)
			require.True(t, ok)
			f, _ := target.Float64()
			require.Equal(t, i == 1, rho.Near() > f, name)
		}
	}
	// ε-DP for all scores is another matter, and a lattice that is too large has the theorem's parameter.
	_, err := calibrator{Claim: problem(t, "pf", "3/2"), AllScores: true}.calibrate(context.Background())
	require.ErrorIs(t, err, inquiry.ErrClaim)
	// What 128 bits do not decide ends the search.
	fine := calibrator{Claim: problem(t, "em", "0"), Rho: target, AllScores: true, Gap: new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 150))}
	close, err := fine.calibrate(context.Background())
	require.NoError(t, err)
	require.Contains(t, close.Undecided, "128 bits")
	// The theorem is on candidates that all move by the same, either way: fewer neighbors have a larger parameter.
	for _, change := range []func(c *calibrator){func(c *calibrator) { c.Claim.Sensitivities = rats(t, "1", "0") }, func(c *calibrator) { c.Monotonic = true }} {
		c := calibrator{Claim: problem(t, "pf", "0"), Rho: target, AllScores: true}
		change(&c)
		_, err := c.calibrate(context.Background())
		require.ErrorIs(t, err, inquiry.ErrClaim)
	}
	r, err := calibrator{Claim: problem(t, "pf", "0"), Rho: target, N: 100, K: 50}.calibrate(context.Background())
	require.NoError(t, err)
	require.NotEmpty(t, r.Undecided)
	_, err = calibrator{Claim: problem(t, "krr", "0"), Rho: target, N: 100, K: 50}.calibrate(context.Background())
	require.ErrorIs(t, err, lattice.ErrSize, "of which no theorem knows the parameter")
	low, _ := r.Parameter.Lower()
	require.Positive(t, low.Sign())
	_, bounded := r.Parameter.Upper()
	require.False(t, bounded)
}

// TestEndsAroundWhatIsOpen: parameters that are not decided are between the ends; the search goes on below the least and above the greatest of them, until
// each is close to its end, and upwards alone while no parameter misses the target.
func TestEndsAroundWhatIsOpen(t *testing.T) {
	gap := big.NewRat(1, 1000)
	e := &ends{low: big.NewRat(1, 1)}
	require.Zero(t, e.next(gap).Cmp(big.NewRat(2, 1)))
	for _, x := range []int64{4, 2, 8, 6} {
		e.open(big.NewRat(x, 1))
	}
	require.Zero(t, e.least.Cmp(big.NewRat(2, 1)))
	require.Zero(t, e.most.Cmp(big.NewRat(8, 1)))
	require.Zero(t, e.next(gap).Cmp(big.NewRat(16, 1)))
	e.high = big.NewRat(10, 1)
	require.Zero(t, e.next(gap).Cmp(big.NewRat(3, 2)), "below the least open one first")
	e.low = big.NewRat(19_999, 10_000)
	require.Zero(t, e.next(gap).Cmp(big.NewRat(9, 1)), "then above the greatest")
	e.low = big.NewRat(3, 1)
	require.Zero(t, e.next(gap).Cmp(big.NewRat(9, 1)), "what is met beyond an open one")
	e.high = big.NewRat(80_005, 10_000)
	require.Nil(t, e.next(gap))
	e.low, e.least, e.most = big.NewRat(8, 1), nil, nil
	require.Nil(t, e.next(gap), "as close as asked")
	e.low = big.NewRat(79, 10)
	require.Zero(t, e.next(gap).Cmp(big.NewRat(159_005, 20_000)))
}
