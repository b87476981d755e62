package verify_test

import (
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// softmaxFloat is the exponential mechanism in float64 at factor·ε.
func softmaxFloat(precision, factor float64) mechanisms.Mechanism {
	return mechanisms.FromFloat(mechanisms.Info{Name: "softmax"}, precision, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		best, total := slices.Max(scores), 0.0
		p := make([]float64, len(scores))
		for r, q := range scores {
			p[r] = math.Exp(factor * epsilon * (q - best) / (2 * sensitivity))
			total += p[r]
		}
		for r := range p {
			p[r] /= total
		}
		return p, nil
	})
}

func lattice(t *testing.T, m mechanisms.Mechanism, o verify.Options) *verify.Report {
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	report, err := verify.Lattice(context.Background(), verify.Claim{Mechanism: m, Epsilon: eps}, 2, 2, o)
	require.NoError(t, err)
	return report
}

// A claim is violated only where no reading of the numbers satisfies it, and proved only where all do.
func TestApproximateMechanisms(t *testing.T) {
	for _, c := range []struct {
		name              string
		precision, factor float64
		dp, others        verify.Verdict
	}{
		{"right", 1e-9, 1, verify.Proved, verify.Proved},
		{"far too much ε", 1e-9, 2, verify.Violated, verify.Proved},
		{"far too much ε, but nothing is known", 0.9, 2, verify.Undecided, verify.Undecided},
		{"right, but nothing is known", 0.9, 1, verify.Undecided, verify.Undecided},
	} {
		report := lattice(t, softmaxFloat(c.precision, c.factor), verify.Options{Properties: []verify.Property{verify.DP, verify.Sum, verify.Symmetry, verify.Shift}})
		assert.Equal(t, c.dp, report.Find(verify.DP).Verdict, "%s: %s", c.name, report)
		for _, p := range []verify.Property{verify.Sum, verify.Symmetry, verify.Shift} {
			assert.Equal(t, c.others, report.Find(p).Verdict, "%s: %s", c.name, report)
		}
		got, _ := report.Precision.Float64()
		assert.Equal(t, c.precision, got)
		assert.Contains(t, report.String(), "relative precision")
		tight := report.Find(verify.DP).TightEps
		_, exact := tight.Rat()
		assert.False(t, exact, "%s: %s", c.name, tight)
	}
	exact, err := mechanisms.Lookup("em")
	require.NoError(t, err)
	assert.Nil(t, lattice(t, exact, verify.Options{}).Precision)

	// Mass that is missing shows where it exceeds the precision, at whatever precision enclosures are asked for.
	for _, c := range []struct {
		precision float64
		want      verify.Verdict
	}{{1e-9, verify.Violated}, {1e-5, verify.Undecided}} {
		inner := softmaxFloat(c.precision, 1)
		loses := mechanisms.FromFloat(inner.Info(), c.precision, func(scores []float64, _, _ float64) ([]float64, error) {
			return slices.Repeat([]float64{(1 - 1e-6) / float64(len(scores))}, len(scores)), nil
		})
		report := lattice(t, loses, verify.Options{Properties: []verify.Property{verify.Sum}})
		assert.Equal(t, c.want, report.Find(verify.Sum).Verdict, "%v", c.precision)
	}
	// The shortcut by regularity needs a proof of regularity, which readings are not.
	report := lattice(t, softmaxFloat(1e-9, 1), verify.Options{Properties: []verify.Property{verify.DP}, Worst: true})
	assert.Empty(t, report.Find(verify.DP).Reason)
}

// An exact tie between enclosures that do not narrow is undecided; none is read in the mechanism's favour.
func TestEnclosuresThatDoNotTell(t *testing.T) {
	m := mechanisms.FromEnclosure(mechanisms.Info{Name: "wide", Uniform: true}, func(in *mechanisms.Instance, _ uint) (lower, upper []*big.Float, err error) {
		for range in.Scores {
			lower, upper = append(lower, big.NewFloat(0.25)), append(upper, big.NewFloat(0.75))
		}
		return lower, upper, nil
	})
	report := lattice(t, m, verify.Options{Properties: []verify.Property{verify.Sum, verify.DP}})
	assert.Equal(t, verify.Undecided, report.Find(verify.Sum).Verdict)
	assert.Equal(t, verify.Undecided, report.Find(verify.DP).Verdict)
}

// Required fields that are missing are errors, and the others have defaults.
func TestZeroProblems(t *testing.T) {
	em, err := mechanisms.Lookup("em")
	require.NoError(t, err)
	eps, err := number.ParseEpsilon("1")
	require.NoError(t, err)
	ctx, one := context.Background(), big.NewRat(1, 1)
	vectors := [][]*big.Rat{{new(big.Rat), one}}
	for _, c := range []struct {
		p    verify.Claim
		want string
	}{
		{verify.Claim{}, "no mechanism"},
		{verify.Claim{Mechanism: em}, "epsilon is not set"},
		{verify.Claim{Mechanism: em, Epsilon: eps, Sensitivities: []*big.Rat{nil}}, "sensitivity"},
	} {
		for k := range 2 {
			_, err := verify.Lattice(ctx, c.p, 2, k, verify.Options{})
			assert.ErrorContains(t, err, c.want)
		}
		_, err := verify.Scores(ctx, c.p, vectors, false, verify.Options{})
		assert.ErrorContains(t, err, c.want)
	}
	p := verify.Claim{Mechanism: em, Epsilon: eps}
	for _, size := range [][2]int{{0, 0}, {-1, 1}, {1, -1}, {1, 0}} {
		_, err := verify.Lattice(ctx, p, size[0], size[1], verify.Options{})
		assert.Error(t, err, "%v", size)
	}
	for _, bad := range [][][]*big.Rat{nil, {nil}, {{nil}}, {{one, nil}}} {
		_, err := verify.Scores(ctx, p, bad, false, verify.Options{})
		assert.Error(t, err, "%v", bad)
	}
	report, err := verify.Scores(ctx, p, vectors, false, verify.Options{})
	require.NoError(t, err)
	assert.Equal(t, verify.Proved, report.Verdict())
	_, err = verify.Check(ctx, nil, verify.Options{})
	assert.ErrorIs(t, err, inquiry.ErrClaim)
}

// TestWitnessHasBothDistributions compares the probabilities of a witness with the mechanism's own.
func TestWitnessHasBothDistributions(t *testing.T) {
	half := mechanisms.FromRational(mechanisms.Info{Name: "half"}, func(in *mechanisms.Instance) ([]*big.Rat, error) {
		if in.Scores[0].Cmp(in.Scores[1]) == 0 {
			return []*big.Rat{big.NewRat(1, 2), big.NewRat(1, 2)}, nil
		}
		if in.Scores[0].Cmp(in.Scores[1]) > 0 {
			return []*big.Rat{big.NewRat(9, 10), big.NewRat(1, 10)}, nil
		}
		return []*big.Rat{big.NewRat(1, 10), big.NewRat(9, 10)}, nil
	})
	report := lattice(t, half, verify.Options{Properties: []verify.Property{verify.DP}})
	assert.Equal(t, "1", report.Claimed.String())
	w := report.Find(verify.DP).Witness
	require.NotNil(t, w)
	for _, side := range []struct {
		scores []*big.Rat
		pmf    []number.Number
		p      number.Number
	}{{w.Scores, w.PMFs[0], w.P}, {w.Neighbor, w.PMFs[1], w.PNeighbor}} {
		require.Len(t, side.pmf, 2)
		assert.Equal(t, side.p, side.pmf[*w.Candidate])
		for r, p := range side.pmf {
			want := []string{"0.1", "0.5", "0.9"}[1+side.scores[r].Cmp(side.scores[1-r])]
			assert.Equal(t, want, p.String())
		}
	}
}
