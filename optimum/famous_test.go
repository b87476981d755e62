package optimum

import (
	"context"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
)

func rat(t testing.TB, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

func rats(t testing.TB, texts ...string) (out []*big.Rat) {
	for _, s := range texts {
		out = append(out, rat(t, s))
	}
	return out
}

func exp(t testing.TB, s string) mechanisms.Epsilon {
	e, err := mechanisms.ParseExp(s)
	require.NoError(t, err)
	return e
}

func preset(t testing.TB, s string) *Problem {
	p, err := Preset(s)
	require.NoError(t, err)
	return p
}

// with returns the problem with another loss by name and another prior, nil for the worst case.
func with(t testing.TB, p *Problem, loss string, prior []*big.Rat) *Problem {
	c := *p
	var err error
	if loss != "" {
		c.Loss, err = NamedLoss(loss, p.Inputs, p.Outputs)
		require.NoError(t, err)
	}
	c.Prior = prior
	return &c
}

func solve(t testing.TB, r Request) *Result {
	a, err := Solve(context.Background(), r)
	require.NoError(t, err)
	require.Empty(t, a.Undecided)
	return a
}

// exactly2 asserts the exact optimum at e^ε = 2.
func optimumIs(t testing.TB, want string, p *Problem, delta string) *Result {
	r := Request{Problem: p, Epsilon: exp(t, "2")}
	if delta != "" {
		r.Delta = rat(t, delta)
	}
	a := solve(t, r)
	got, ok := a.Optimum.Rat()
	if assert.True(t, ok, a.Optimum) {
		assert.Equal(t, want, got.RatString())
		assert.Equal(t, want, p.value(a.Table()).RatString())
	}
	return a
}

func TestFamousValues(t *testing.T) {
	for i, loss := range []string{"abs", "square", "zero-one"} {
		three, four := preset(t, "count:3"), preset(t, "count:4")
		optimumIs(t, []string{"17/24", "11/12", "1/2"}[i], with(t, three, loss, three.Prior), "")
		optimumIs(t, []string{"49/60", "37/30", "8/15"}[i], with(t, four, loss, four.Prior), "")
		optimumIs(t, []string{"13/18", "109/108", "16/27"}[i], with(t, four, loss, rats(t, "1/9", "2/9", "1/3", "2/9", "1/9")), "")
		optimumIs(t, []string{"36/43", "52/33", "3/5"}[i], with(t, four, loss, nil), "")
	}
	grid := preset(t, "grid:3x3")
	optimumIs(t, "10/9", grid, "")
	optimumIs(t, "8/7", with(t, grid, "", nil), "")
	optimumIs(t, "56/81", with(t, grid, "zero-one", grid.Prior), "")
	part := preset(t, "partition:5")
	optimumIs(t, new(big.Rat).Sub(big.NewRat(1, 1), big.NewRat(57, 6000)).RatString(), part, "1/1000")
	sel := preset(t, "selection:3,2")
	a := solve(t, Request{Problem: sel, Epsilon: exp(t, "3/2")})
	got, _ := a.Optimum.Rat()
	assert.Equal(t, "329/684", got.RatString())
	// traps
	path := &Problem{Inputs: numerals(3), Outputs: numerals(3), Pairs: pathPairs(3)}
	path = with(t, path, "zero-one", rats(t, "1/2", "0", "1/2"))
	optimumIs(t, "1/4", path, "")
	three := preset(t, "count:3")
	optimumIs(t, "11/20", three, "1/10")
	for x := range 4 {
		for y := range x - 1 {
			three.Pairs = append(three.Pairs, Pair{From: y, To: x, Distance: big.NewRat(int64(x-y), 1)})
		}
	}
	optimumIs(t, "51/80", three, "1/10")
	optimumIs(t, "17/24", three, "")
	hist := preset(t, "histogram:2,1")
	users := [][]*big.Rat{rats(t, "1/2", "0", "0", "1/2"), rats(t, "0", "1/2", "1/2", "0")}
	b := solve(t, Request{Problem: hist, Epsilon: exp(t, "2"), Users: users})
	t.Log(b.Users)
}
