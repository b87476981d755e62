package mechanisms_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

// lottery gives candidates the tickets 0, 1, 2, … whatever the scores.
func lottery(in *mechanisms.Instance) ([]*big.Rat, error) {
	p, total := make([]*big.Rat, len(in.Scores)), int64(len(in.Scores)*(len(in.Scores)-1)/2)
	for r := range p {
		p[r] = big.NewRat(int64(r), total)
	}
	return p, nil
}

func TestFromRational(t *testing.T) {
	m := mechanisms.FromRational(mechanisms.Info{Name: "lottery"}, lottery)
	in := mechanisms.OnLattice([]int{0, 1, 2}, parseEps(t, "1"))
	p, err := m.Exact(in)
	require.NoError(t, err)
	assert.Equal(t, "0 1/3 2/3", p[0].RatString()+" "+p[1].RatString()+" "+p[2].RatString())
	boxes, err := m.Enclose(in, 64)
	require.NoError(t, err)
	assert.True(t, boxes[1].Contains(big.NewRat(1, 3)) && boxes[1].RelWidth() < 1e-18)
	f, err := m.Float(in)
	require.NoError(t, err)
	assert.Equal(t, []float64{0, 1.0 / 3, 2.0 / 3}, f)
	answer, err := mechanisms.Ask(m, in)
	require.NoError(t, err)
	assert.Equal(t, "1.66666666666…", answer.ExpectedError.String())

	none := mechanisms.FromRational(mechanisms.Info{Name: "none"}, func(*mechanisms.Instance) ([]*big.Rat, error) { return nil, mechanisms.ErrNotRational })
	_, err = none.Exact(in)
	assert.ErrorIs(t, err, mechanisms.ErrNotRational)
	_, err = none.Enclose(in, 64)
	assert.ErrorIs(t, err, mechanisms.ErrNoEnclosure)
	_, err = none.Float(in)
	assert.ErrorIs(t, err, mechanisms.ErrNotRational)
	_, err = mechanisms.Ask(none, in)
	assert.ErrorIs(t, err, mechanisms.ErrNoAnswer)
}

// Draws have the probabilities exactly: over all words of 8 bits, each candidate comes as often as its share says.
func TestRationalSampler(t *testing.T) {
	m := mechanisms.FromRational(mechanisms.Info{Name: "lottery"}, func(*mechanisms.Instance) ([]*big.Rat, error) {
		return []*big.Rat{new(big.Rat), big.NewRat(1, 4), new(big.Rat), big.NewRat(1, 2), big.NewRat(1, 4), new(big.Rat)}, nil
	})
	draw, err := mechanisms.Draws(m, mechanisms.OnLattice(make([]int, 6), parseEps(t, "1")), &counting{})
	require.NoError(t, err)
	counts := make([]int, 6)
	for range 256 {
		counts[draw()]++
	}
	assert.Equal(t, []int{0, 64, 0, 128, 64, 0}, counts)

	short := mechanisms.FromRational(mechanisms.Info{Name: "short"}, func(*mechanisms.Instance) ([]*big.Rat, error) { return []*big.Rat{big.NewRat(9, 10)}, nil })
	_, err = mechanisms.Draws(short, mechanisms.OnLattice([]int{0}, parseEps(t, "1")), rand.NewPCG(1, 1))
	assert.ErrorContains(t, err, "sum to 0.9")
}

// counting counts 0, 1, 2, … in the first 8 bits of a word.
type counting struct{ next uint64 }

func (c *counting) Uint64() uint64 { c.next++; return (c.next - 1) << 56 }

func TestFromEnclosure(t *testing.T) {
	third := func(prec uint) (lo, hi *big.Float) {
		lo = new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).Quo(big.NewFloat(1), big.NewFloat(3))
		hi = new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).Quo(big.NewFloat(1), big.NewFloat(3))
		return lo, hi
	}
	m := mechanisms.FromEnclosure(mechanisms.Info{Name: "thirds"}, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
		for range in.Scores {
			lo, hi := third(prec)
			lower, upper = append(lower, lo), append(upper, hi)
		}
		return lower, upper, nil
	})
	in := mechanisms.OnLattice([]int{0, 0, 0}, parseEps(t, "1"))
	_, err := m.Exact(in)
	assert.ErrorIs(t, err, mechanisms.ErrNotRational)
	for _, prec := range []uint{64, 256} {
		boxes, err := m.Enclose(in, prec)
		require.NoError(t, err)
		assert.True(t, boxes[2].Contains(big.NewRat(1, 3)))
		assert.Less(t, boxes[2].RelWidth(), math.Ldexp(1, 2-int(prec)))
	}
	f, err := m.Float(in)
	require.NoError(t, err)
	assert.Equal(t, 1.0/3, f[0])
	_, err = mechanisms.Draws(m, in, nil)
	assert.ErrorIs(t, err, mechanisms.ErrNoEnclosure)

	ends := func(lo, hi *big.Float) mechanisms.Mechanism {
		return mechanisms.FromEnclosure(mechanisms.Info{Name: "ends"}, func(*mechanisms.Instance, uint) (lower, upper []*big.Float, err error) {
			return []*big.Float{lo}, []*big.Float{hi}, nil
		})
	}
	one := mechanisms.OnLattice([]int{0}, parseEps(t, "1"))
	boxes, err := ends(new(big.Float), new(big.Float).SetInf(false)).Enclose(one, 64)
	require.NoError(t, err)
	assert.Equal(t, "[0, 1]", boxes[0].String(), "a probability is at most 1")
	for _, c := range [][2]*big.Float{
		{big.NewFloat(0.5), big.NewFloat(0.4)}, {big.NewFloat(-0.5), big.NewFloat(-0.4)}, {nil, big.NewFloat(1)}, {big.NewFloat(1), nil},
		{new(big.Float).SetInf(false), new(big.Float).SetInf(false)},
	} {
		_, err := ends(c[0], c[1]).Enclose(one, 64)
		assert.ErrorIs(t, err, mechanisms.ErrAnswer, "%v", c)
	}
}

func constant(precision float64, p ...float64) mechanisms.Mechanism {
	return mechanisms.FromFloat(mechanisms.Info{Name: "constant"}, precision, func([]float64, float64, float64) ([]float64, error) { return p, nil })
}

// Each number stands for all within the precision of it, whatever precision is asked for; nothing is exact.
func TestFromFloat(t *testing.T) {
	in := mechanisms.OnLattice([]int{0, 1, 2}, parseExp(t, "3/2"))
	m := constant(1e-6, 0.75, 0.25, 0)
	assert.True(t, m.Info().Uniform)
	_, err := m.Exact(in)
	assert.ErrorIs(t, err, mechanisms.ErrNotRational)
	for _, prec := range []uint{24, 64, 1024} {
		boxes, err := m.Enclose(in, prec)
		require.NoError(t, err)
		for _, within := range []string{"0.75", "0.74999926", "0.75000074"} {
			assert.True(t, boxes[0].Contains(ratOf(t, within)), within)
		}
		for _, outside := range []string{"0.749999", "0.750001"} {
			assert.False(t, boxes[0].Contains(ratOf(t, outside)), outside)
		}
		assert.Equal(t, "[0, 0]", boxes[2].String(), "0 is 0")
	}
	assert.Equal(t, big.NewRat(1, 1e6), precisionOf(m))
	assert.Equal(t, big.NewRat(1, 1e9), precisionOf(constant(0)))

	// Below the normal numbers, rounding is to multiples of 2^-1074.
	tiny := math.SmallestNonzeroFloat64
	boxes, err := constant(1e-9, 1, 3*tiny, 0).Enclose(in, 64)
	require.NoError(t, err)
	lo, hi := boxes[1].Lo(), boxes[1].Hi()
	step := new(big.Float).SetMantExp(big.NewFloat(1), -1074)
	assert.Zero(t, lo.Cmp(new(big.Float).Mul(step, big.NewFloat(2))))
	assert.Zero(t, hi.Cmp(new(big.Float).Mul(step, big.NewFloat(4))))

	answer, err := mechanisms.Ask(m, in)
	require.NoError(t, err)
	assert.Equal(t, "0.75000000 ± 0.0000008", answer.PMF[0].String())
	_, err = mechanisms.Draws(m, in, nil)
	assert.ErrorIs(t, err, mechanisms.ErrNoEnclosure)

	// The scores are the user's own, so that a mechanism that is not shift-invariant shows.
	var seen []float64
	spy := mechanisms.FromFloat(mechanisms.Info{Name: "spy"}, 0, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		seen = append(append([]float64(nil), scores...), sensitivity, epsilon)
		scores[0] = 99
		return []float64{1}, nil
	})
	odd := &mechanisms.Instance{Scores: []*big.Rat{big.NewRat(-7, 2)}, Sensitivities: []*big.Rat{big.NewRat(3, 4)}, Epsilon: parseEps(t, "0.5")}
	_, err = spy.Float(odd)
	require.NoError(t, err)
	assert.Equal(t, []float64{-3.5, 0.75, 0.5}, seen)
	assert.Equal(t, "-7/2", odd.Scores[0].RatString())
}

// What a user's function must not return is an error that names the mechanism and says what it was.
func TestBadAnswers(t *testing.T) {
	in := mechanisms.OnLattice([]int{0, 1}, parseEps(t, "1"))
	rational := func(p ...*big.Rat) mechanisms.Mechanism {
		return mechanisms.FromRational(mechanisms.Info{Name: "constant"}, func(*mechanisms.Instance) ([]*big.Rat, error) { return p, nil })
	}
	for _, c := range []struct {
		m    mechanisms.Mechanism
		want string
	}{
		{constant(0, 1), "constant states 1 probabilities for 2 scores"},
		{constant(0), "0 probabilities"},
		{constant(0, 0.5, math.NaN()), "probability NaN of candidate 1"},
		{constant(0, -0.5, 1), "probability -0.5 of candidate 0"},
		{constant(0, math.Inf(1), 1), "+Inf"},
		{constant(math.NaN(), 1, 0), "precision of constant"},
		{constant(-1e-9, 1, 0), "precision of constant"},
		{constant(1, 1, 0), "precision of constant"},
		{rational(big.NewRat(1, 1)), "1 probabilities for 2 scores"},
		{rational(big.NewRat(1, 1), nil), "candidate 1"},
		{rational(big.NewRat(-1, 2), big.NewRat(3, 2)), "probability -1/2 of candidate 0"},
		{mechanisms.FromRational(mechanisms.Info{Name: "falls"}, func(in *mechanisms.Instance) ([]*big.Rat, error) { panic(in.Scores[1]) }), "falls panics: -1"},
		{mechanisms.FromEnclosure(mechanisms.Info{Name: "falls"}, func(*mechanisms.Instance, uint) (lower, upper []*big.Float, err error) { panic("x") }), "falls panics: x"},
		{mechanisms.FromFloat(mechanisms.Info{Name: "falls"}, 0, func(s []float64, _, _ float64) ([]float64, error) { return nil, fmt.Errorf("%v", s[7]) }), "falls panics: runtime error: index out of range"},
		{mechanisms.FromRational(mechanisms.Info{Name: "empty"}, nil), "empty was made without a function"},
		{mechanisms.FromEnclosure(mechanisms.Info{Name: "empty"}, nil), "empty was made without a function"},
		{mechanisms.FromFloat(mechanisms.Info{Name: "empty"}, 0, nil), "empty was made without a function"},
	} {
		for _, err := range []error{second(c.m.Enclose(in, 64)), second(c.m.Float(in)), second(mechanisms.Ask(c.m, in))} {
			assert.ErrorIs(t, err, mechanisms.ErrAnswer)
			assert.ErrorContains(t, err, c.want)
		}
		_, err := c.m.Float(mechanisms.OnLattice(nil, parseEps(t, "1")))
		assert.ErrorIs(t, err, mechanisms.ErrInstance)
	}
	own := errors.New("own")
	_, err := mechanisms.FromFloat(mechanisms.Info{}, 0, func([]float64, float64, float64) ([]float64, error) { return nil, own }).Enclose(in, 64)
	assert.ErrorIs(t, err, own)
	_, err = constant(0, 1).Float(&mechanisms.Instance{Scores: []*big.Rat{ratOf(t, "1e999")}, Sensitivities: []*big.Rat{big.NewRat(1, 1)}, Epsilon: parseEps(t, "1")})
	assert.ErrorContains(t, err, "beyond float64")
}

func TestNamesThatRegister(t *testing.T) {
	for _, name := range []string{"", "two words", "a,b", "pf"} {
		assert.Panics(t, func() { mechanisms.Register(mechanisms.FromRational(mechanisms.Info{Name: name}, lottery)) }, "%q", name)
	}
}

// A function that works in place and answers in the same slice each time spoils neither the question nor an earlier answer.
func TestFunctionsWorkOnCopies(t *testing.T) {
	var buffer []*big.Rat
	careless := func(in *mechanisms.Instance) []*big.Rat {
		for len(buffer) < len(in.Scores) {
			buffer = append(buffer, new(big.Rat))
		}
		sum := new(big.Rat)
		for _, q := range in.Scores {
			sum.Add(sum, q.Add(q, big.NewRat(1, 1)))
		}
		for r, q := range in.Scores {
			buffer[r].Quo(q, sum)
		}
		slices.SortFunc(in.Scores, (*big.Rat).Cmp)
		in.Sensitivities[0].SetInt64(7)
		return buffer[:len(in.Scores)]
	}
	one := big.NewRat(1, 1)
	first := &mechanisms.Instance{Scores: []*big.Rat{big.NewRat(2, 1), big.NewRat(1, 1), new(big.Rat)}, Sensitivities: []*big.Rat{one}, Epsilon: parseEps(t, "1")}
	second := &mechanisms.Instance{Scores: []*big.Rat{new(big.Rat), new(big.Rat), new(big.Rat)}, Sensitivities: []*big.Rat{one}, Epsilon: parseEps(t, "1")}
	exact := mechanisms.FromRational(mechanisms.Info{Name: "careless"}, func(in *mechanisms.Instance) ([]*big.Rat, error) { return careless(in), nil })
	p, err := exact.Exact(first)
	require.NoError(t, err)
	_, err = exact.Exact(second)
	require.NoError(t, err)
	assert.Equal(t, "[1/2 1/3 1/6]", fmt.Sprint(p))
	_, err = mechanisms.FromEnclosure(mechanisms.Info{Name: "careless"}, func(in *mechanisms.Instance, prec uint) (lower, upper []*big.Float, err error) {
		for _, x := range careless(in) {
			lower, upper = append(lower, new(big.Float).SetMode(big.ToNegativeInf).SetPrec(prec).SetRat(x)), append(upper, new(big.Float).SetMode(big.ToPositiveInf).SetPrec(prec).SetRat(x))
		}
		return lower, upper, nil
	}).Enclose(first, 64)
	require.NoError(t, err)
	numbers := make([]float64, 3)
	float := mechanisms.FromFloat(mechanisms.Info{Name: "careless"}, 0, func(scores []float64, _, _ float64) ([]float64, error) {
		for r, q := range scores {
			numbers[r] = q / 4
		}
		return numbers, nil
	})
	f, err := float.Float(first)
	require.NoError(t, err)
	_, err = float.Float(second)
	require.NoError(t, err)
	assert.Equal(t, []float64{0.5, 0.25, 0}, f)
	assert.Equal(t, "[2/1 1/1 0/1] [1/1]", fmt.Sprint(first.Scores, first.Sensitivities))
}

func precisionOf(m mechanisms.Mechanism) *big.Rat {
	p, _ := mechanisms.Precision(m)
	return p
}
