package proptest

import (
	"errors"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

func registered(t *testing.T, name string) mechanisms.Mechanism {
	m, err := mechanisms.Lookup(name)
	require.NoError(t, err)
	return m
}

// A mechanism that has answers only where e^{-ε·depth} is rational is tested there, and what is wrong there is found.
func TestMechanismsOfRationals(t *testing.T) {
	em := registered(t, "em")
	right := mechanisms.FromRational(em.Info(), em.Exact)
	failures, err := Check(Of(right), Options{Cases: 40})
	require.NoError(t, err)
	require.Empty(t, failures)

	loses := mechanisms.FromRational(em.Info(), func(in *mechanisms.Instance) ([]*big.Rat, error) {
		p, err := em.Exact(in)
		for r := range p {
			p[r] = new(big.Rat).Mul(p[r], big.NewRat(999, 1000))
		}
		return p, err
	})
	failures, err = Check(Of(loses), Options{Cases: 40})
	require.NoError(t, err)
	require.Len(t, failures, 1)
	require.Equal(t, verify.Sum, failures[0].Property)

	// Twice the ε, and a panic where e^ε is not a fraction.
	steep := func(guard bool) mechanisms.Mechanism {
		return mechanisms.FromRational(em.Info(), func(in *mechanisms.Instance) ([]*big.Rat, error) {
			exp, twice := in.Epsilon.Exp(), *in
			if guard && exp == nil {
				return nil, mechanisms.ErrNotRational
			}
			var err error
			if twice.Epsilon, err = number.FromExp(new(big.Rat).Mul(exp, exp)); err != nil {
				return nil, err
			}
			return em.Exact(&twice)
		})
	}
	never := mechanisms.FromRational(em.Info(), func(*mechanisms.Instance) ([]*big.Rat, error) { return nil, mechanisms.ErrNotRational })
	for _, c := range []struct {
		m    mechanisms.Mechanism
		p    verify.Property
		want string
	}{{steep(true), verify.DP, "dp fails"}, {steep(false), Answers, "em panics"}, {never, verify.DP, nowhere}} {
		failures, err = Check(Of(c.m), Options{Properties: []verify.Property{c.p}})
		require.NoError(t, err)
		require.Len(t, failures, 1, c.want)
		require.Contains(t, failures[0].String(), c.want)
	}
}

// The precision is the mechanism's own, and decides.
func TestMechanismsOfFloats(t *testing.T) {
	em := registered(t, "em")
	about := func(precision, factor float64) mechanisms.Mechanism {
		return mechanisms.FromFloat(em.Info(), precision, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
			p := softmax(Case{Scores: scores, Sensitivity: sensitivity, Epsilon: epsilon}, 1)
			for r := range p {
				p[r] *= factor
			}
			return p, nil
		})
	}
	for _, c := range []struct {
		precision, factor float64
		want              int
	}{{1e-9, 1, 0}, {0, 1, 0}, {1e-6, 1 + 1e-7, 0}, {1e-9, 1 + 1e-7, 1}} {
		failures, err := Check(Of(about(c.precision, c.factor)), Options{Properties: []verify.Property{verify.Sum, verify.DP}, Cases: 20})
		require.NoError(t, err)
		require.Len(t, failures, c.want, "%v", c)
	}
}

func TestSubjectsAreChecked(t *testing.T) {
	_, err := Check(PMF(func(Case) ([]float64, error) { return nil, nil }), Options{Precision: -1})
	require.ErrorContains(t, err, "precision")
	failures, err := Check(Of(mechanisms.FromFloat(mechanisms.Info{Name: "fails"}, 0, func([]float64, float64, float64) ([]float64, error) {
		return nil, errors.New("no luck")
	})), Options{Properties: []verify.Property{Answers}})
	require.NoError(t, err)
	require.Contains(t, failures[0].reason, "no luck")
}

// explosive is a mechanism that nothing guards.
type explosive struct{ mechanisms.Mechanism }

func (explosive) Exact(*mechanisms.Instance) ([]*big.Rat, error) { panic("boom") }

func (explosive) Enclose(*mechanisms.Instance, uint) ([]number.Interval, error) { panic("boom") }

// A panic, also at the first question which finds out what the mechanism takes for ε, is a finding.
func TestPanicsOfMechanismsAreFindings(t *testing.T) {
	failures, err := Check(Of(explosive{registered(t, "em")}), Options{Properties: []verify.Property{Answers}})
	require.NoError(t, err)
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].String(), "boom")
}
