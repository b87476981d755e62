package lp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate"
)

// liar is a solver whose answers are made up.
type liar struct {
	answer func(m *linear.Model, o linear.Options) *linear.Result
}

func (liar) Name() string { return "liar" }
func (l liar) Solve(_ context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	return l.answer(m, o), nil
}

// A wrong proposal makes an enclosure wide, not wrong: with solvers that claim the start basis to be
// optimal, with statuses of every kind, nothing but the truth is decided.
func TestLyingSolversDecideNothingWrong(t *testing.T) {
	for _, status := range []linear.VarStatus{linear.AtLower, linear.AtUpper, linear.Free} {
		for _, e := range []number.Epsilon{expEps(t, 5, 4), decimalEps(t, "0.25")} {
			lie := liar{func(m *linear.Model, o linear.Options) *linear.Result {
				b := o.Basis.Clone()
				for i, s := range b.Row {
					if s != linear.Basic {
						b.Row[i] = status
					}
				}
				for j, s := range b.Col {
					if s != linear.Basic {
						b.Col[j] = status
					}
				}
				return &linear.Result{Outcome: linear.Optimal, X: make([]float64, m.Cols()), Duals: make([]float64, m.Rows()), Basis: b}
			}}
			a, err := Ratio(context.Background(), Request{N: 3, K: 4, Epsilon: e, Mechanisms: pfAndEM(t), Method: methodLP, solver: lie, Gap: big.NewRat(1, 1e9)})
			require.NoError(t, err)
			truth, err := Ratio(context.Background(), Request{N: 3, K: 4, Epsilon: e, Mechanisms: pfAndEM(t), Method: methodLP, Gap: big.NewRat(1, 1e9)})
			require.NoError(t, err)
			for i := range a.Mechanisms {
				lo, _ := a.Mechanisms[i].Ratio.Lower()
				hi, _ := a.Mechanisms[i].Ratio.Upper()
				low, _ := truth.Mechanisms[i].Ratio.Lower()
				high, _ := truth.Mechanisms[i].Ratio.Upper()
				assert.True(t, lo.Cmp(high) <= 0 && low.Cmp(hi) <= 0, "%v %v: %s, truth %s", status, e, a.Mechanisms[i].Ratio, truth.Mechanisms[i].Ratio)
			}
		}
	}
}

// Stopped at any moment, here at a progress report, the answer holds the truth and its certificate is accepted.
func TestStoppedAnswersAreCertified(t *testing.T) {
	truth, err := Ratio(context.Background(), Request{N: 6, K: 6, Epsilon: decimalEps(t, "0.4"), Mechanisms: pfAndEM(t)[:1], Gap: big.NewRat(1, 1e9)})
	require.NoError(t, err)
	want, _ := truth.Mechanisms[0].Ratio.Lower()
	undecided := 0
	for _, level := range []Level{Paper, Full} {
		for _, limit := range []int{0, 1, 2, 5} {
			ctx, cancel := context.WithCancel(context.Background())
			if limit == 0 {
				cancel()
			}
			reports := 0
			a, err := Ratio(ctx, Request{N: 6, K: 6, Epsilon: decimalEps(t, "0.4"), Level: level, Mechanisms: pfAndEM(t), Gap: big.NewRat(1, 1e9), Certified: true,
				Report: func(int, float64) {
					if reports++; reports == limit {
						cancel()
					}
				}})
			cancel()
			require.NoError(t, err)
			if a.Undecided != "" {
				undecided++
			}
			require.Len(t, a.Mechanisms, 2, "there is time for the exponential mechanism")
			if level == Paper {
				hi, _ := a.Mechanisms[0].Ratio.Upper()
				assert.LessOrEqual(t, want.Cmp(hi), 0)
			}
			var b bytes.Buffer
			require.NoError(t, a.WriteCertificate(&b))
			report, err := certificate.Check(&b, certificate.Options{})
			require.NoError(t, err)
			assert.True(t, report.Valid, "%v %v: %s", level, limit, report.Reason)
		}
	}
	assert.GreaterOrEqual(t, undecided, 4)
}

// The optimum's own mechanism has ratio 1, at every level and for both objectives, by every method that bounds the optimum.
func TestOptimalMechanismIsRatedOnOneLattice(t *testing.T) {
	m, err := mechanisms.Lookup("lp-optimal")
	require.NoError(t, err)
	one := big.NewRat(1, 1)
	for level := Paper; level <= Full; level++ {
		for _, e := range []number.Epsilon{decimalEps(t, "0.3"), expEps(t, 5, 4)} {
			for _, o := range []Prior{{}, Box()} {
				for _, method := range []string{methodAuto, methodClosedForm, methodLumped, methodLP} {
					a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: e, Level: level, Prior: o, Method: method,
						Mechanisms: []mechanisms.Mechanism{m}, Gap: big.NewRat(1, 1e15)})
					require.NoError(t, err)
					r := a.Mechanisms[0].Ratio
					lo, _ := r.Lower()
					hi, _ := r.Upper()
					assert.True(t, lo.Cmp(one) <= 0 && hi.Cmp(one) >= 0, "%v %v %v %v: %s", level, e, o, method, r)
					if method == methodLP {
						assert.InDelta(t, 1, r.Float64(), 1e-11)
						_, exact := r.Rat()
						assert.Equal(t, e.Exp() != nil, exact)
					}
				}
			}
		}
	}
}

// What cannot be counted or handed to a solver is refused at once.
func TestSizesThatCannotBeAreRefused(t *testing.T) {
	const huge = int(^uint(0) >> 1)
	for _, s := range [][2]int{{1e9, 10}, {1, 1e9}, {1e9, 1e9}, {huge, huge}, {huge, 1}, {1, huge}} {
		_, err := Ratio(context.Background(), Request{N: s[0], K: s[1], Epsilon: decimalEps(t, "0.7"), Mechanisms: pfAndEM(t)[:1], Gap: big.NewRat(1, 1e9)})
		assert.ErrorIs(t, err, ErrTooLarge, "%v", s)
		_, err = Threshold(context.Background(), Request{N: s[0], K: s[1], Gap: big.NewRat(1, 1e6)}, nil)
		assert.ErrorIs(t, err, ErrTooLarge, "%v", s)
	}
	// What can be counted has an answer, if a wide one, whatever the method.
	for _, s := range [][2]int{{300, 300}, {12, 12}, {60, 60}} {
		a, err := Ratio(context.Background(), Request{N: s[0], K: s[1], Epsilon: decimalEps(t, "0.5"), Mechanisms: pfAndEM(t)[:1], Method: methodLP, Gap: big.NewRat(1, 1e18)})
		require.NoError(t, err)
		assert.Contains(t, a.Undecided, "n = ")
		assert.Equal(t, proofClosedForm, a.Proof)
		upper, _ := a.Mechanisms[0].Ratio.Upper()
		assert.Negative(t, upper.Cmp(big.NewRat(26, 10)), "1/(1 - e^-0.5) = 2.54…")
	}
}

// Extreme ε give wide answers at worst, never a panic.
func TestExtremeEpsilons(t *testing.T) {
	for _, eps := range []string{"1e-300", "1e-12", "40", "8192"} {
		for _, method := range []string{methodAuto, methodClosedForm, methodLP, methodLumped} {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			a, err := Ratio(ctx, Request{N: 3, K: 3, Epsilon: decimalEps(t, eps), Mechanisms: pfAndEM(t), Method: method, Gap: big.NewRat(1, 1e9)})
			cancel()
			require.NoError(t, err, "%s %v", eps, method)
			sound(t, a, eps)
			lo, ok := a.Mechanisms[0].Ratio.Lower()
			require.True(t, ok)
			assert.LessOrEqual(t, lo.Cmp(big.NewRat(11, 10)), 0, "%s %v: %s", eps, method, a.Mechanisms[0].Ratio)
		}
	}
}

// At the largest ε permute-and-flip is optimal as ever, and the exponential mechanism at most twice as bad.
func TestRatiosOfLargeEpsilons(t *testing.T) {
	for _, eps := range []string{"1000", "8192"} {
		a, err := Ratio(context.Background(), Request{N: 3, K: 3, Epsilon: decimalEps(t, eps)})
		require.NoError(t, err)
		assert.Equal(t, proofRecurrence, a.Proof)
		exact, _ := a.Mechanisms[0].Ratio.Rat()
		assert.Zero(t, exact.Cmp(big.NewRat(1, 1)))
		lo, _ := a.Mechanisms[1].Ratio.Lower()
		hi, ok := a.Mechanisms[1].Ratio.Upper()
		assert.True(t, ok && lo.Cmp(big.NewRat(1, 1)) >= 0 && hi.Cmp(big.NewRat(2, 1)) <= 0, "%v", a.Mechanisms[1].Ratio)
	}
	// The bound of 2 holds where both are known, and is sharp for large ε and many depths.
	largest := new(big.Rat)
	for _, s := range [][2]int{{2, 1}, {3, 3}, {2, 40}, {5, 2}} {
		for _, e := range []number.Epsilon{expEps(t, 2, 1), expEps(t, 1000, 1)} {
			a, err := Ratio(context.Background(), Request{N: s[0], K: s[1], Epsilon: e})
			require.NoError(t, err)
			r, exact := a.Mechanisms[1].Ratio.Rat()
			require.True(t, exact)
			assert.True(t, r.Cmp(big.NewRat(1, 1)) >= 0 && r.Cmp(big.NewRat(2, 1)) < 0, "%v %v: %v", s, e, r)
			if r.Cmp(largest) > 0 {
				largest = r
			}
		}
	}
	assert.Positive(t, largest.Cmp(big.NewRat(19, 10)))
}

// Where the closed form is close and the program large, lumping is tried first.
func TestAutoTriesLumping(t *testing.T) {
	slowtest.Only(t)
	a, err := Ratio(context.Background(), Request{N: 16, K: 6, Epsilon: decimalEps(t, "0.5"), Mechanisms: pfAndEM(t)[:1], Gap: big.NewRat(1, 1600)})
	require.NoError(t, err)
	assert.Equal(t, proofLumped, a.Proof)
	assert.Empty(t, a.Undecided)
}

func TestThresholdStopsWithWhatIsDecided(t *testing.T) {
	stop := errors.New("enough")
	for decided := range 4 {
		ctx, cancel := context.WithCancelCause(context.Background())
		count := 0
		r := Request{N: 4, K: 3, Method: methodLP, Gap: big.NewRat(1, 1e6)}
		report := func(*big.Rat, bool) {
			if count++; count == decided {
				cancel(stop)
			}
		}
		if decided == 0 {
			cancel(stop)
		}
		a, err := Threshold(ctx, r, report)
		cancel(nil)
		require.NoError(t, err)
		assert.Equal(t, "enough", a.Undecided)
		assert.Equal(t, decided > 0, a.Ends[1].IsValid(), fmt.Sprint(decided))
		assert.Equal(t, a.Exp[0] != nil, a.Ends[0].IsValid())
		assert.Equal(t, a.Exp[0] != nil, a.Optima[0] != nil)
		assert.Equal(t, a.Exp[1] != nil, a.Optima[1] != nil)
	}
}
