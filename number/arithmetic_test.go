package number

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// known is a number with a rational that it stands for.
type known struct {
	Number
	value *big.Rat
}

// randomKnown returns what is known of a random rational, often 0 or an end.
func randomKnown(r *rand.Rand) known {
	x := big.NewRat(r.Int64N(7)-2, 1+r.Int64N(4))
	below := new(big.Rat).Sub(x, big.NewRat(r.Int64N(3), 1+r.Int64N(9)))
	above := new(big.Rat).Add(x, big.NewRat(r.Int64N(3), 1+r.Int64N(9)))
	prec := 10 + uint(r.IntN(100))
	switch r.IntN(6) {
	case 0:
		return known{Bounds(below, nil), x}
	case 1:
		return known{Bounds(nil, above), x}
	case 2, 3:
		return known{Enclosed(Hull(FromRat(below, prec), FromRat(above, prec))), x}
	case 4:
		return known{Bounds(below, above), x}
	}
	return known{Exact(x), x}
}

// TestArithmeticEncloses checks every operation and comparison against what it says of the rationals that the operands stand for.
func TestArithmeticEncloses(t *testing.T) {
	const seed = 5
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 20000 {
		a, b := randomKnown(r), randomKnown(r)
		results := map[string]known{
			"+":   {a.Add(b.Number), new(big.Rat).Add(a.value, b.value)},
			"-":   {a.Sub(b.Number), new(big.Rat).Sub(a.value, b.value)},
			"*":   {a.Mul(b.Number), new(big.Rat).Mul(a.value, b.value)},
			"min": {a.Min(b.Number), a.value},
			"max": {a.Max(b.Number), b.value},
		}
		c := a.value.Cmp(b.value)
		if c > 0 {
			results["min"], results["max"] = known{a.Min(b.Number), b.value}, known{a.Max(b.Number), a.value}
		}
		if b.value.Sign() != 0 {
			results["/"] = known{a.Quo(b.Number), new(big.Rat).Quo(a.value, b.value)}
			if a.value.Sign() >= 0 && b.value.Sign() > 0 {
				results["over"] = known{a.Over(b.Number), new(big.Rat).Quo(a.value, b.value)}
			}
		}
		if c <= 0 {
			results["between"] = known{Between(a.Number, b.Number), a.value}
		}
		for op, x := range results {
			lo, hi := x.Ends()
			require.False(t, lo != nil && lo.Cmp(x.value) > 0 || hi != nil && hi.Cmp(x.value) < 0, "%v %s %v = %v, not %v", a.Number, op, b.Number, x.Number, x.value)
			if a.kind == exact && b.kind == exact && op != "between" {
				require.True(t, x.Within(new(big.Rat)), "%v %s %v = %v", a.Number, op, b.Number, x.Number)
			}
		}
		if s, ok := a.Cmp(Int(0)); ok {
			require.Equal(t, a.value.Sign(), s, "%v", a.Number)
		}
		if got, ok := a.Cmp(b.Number); ok {
			require.Equal(t, c, got, "%v against %v", a.Number, b.Number)
		}
		if holds, ok := a.LessEq(b.Number); ok {
			require.Equal(t, c <= 0, holds, "%v against %v", a.Number, b.Number)
		}
		require.True(t, a.Enclosure(64).Contains(a.value))
	}
}

func TestRationalBoundsStayRational(t *testing.T) {
	third := Bounds(big.NewRat(1, 3), big.NewRat(2, 3))
	assert.Equal(t, Bounds(big.NewRat(1, 6), big.NewRat(1, 3)), third.Mul(Exact(big.NewRat(1, 2))))
	assert.Equal(t, Bounds(big.NewRat(-2, 3), big.NewRat(-1, 3)), Int(-1).Mul(third))
	assert.Equal(t, Int(0), third.Mul(Int(0)))
	assert.Equal(t, Bounds(big.NewRat(1, 2), big.NewRat(2, 1)), third.Over(third))
	assert.Equal(t, Bounds(big.NewRat(1, 3), nil), Between(third, Infinity()))
	holds, ok := third.LessEq(Exact(big.NewRat(2, 3)))
	assert.True(t, holds && ok, "touching in 2/3, which no float is")
}

func TestOver(t *testing.T) {
	positive, vague := Exact(big.NewRat(1, 3)), Bounds(new(big.Rat), big.NewRat(1, 3))
	box := Enclosed(ExpRat(big.NewRat(1, 1), 64))
	assert.Equal(t, Int(1), Int(0).Over(Int(0)))
	assert.True(t, positive.Over(Int(0)).IsInf())
	assert.True(t, box.Over(Int(0)).IsInf())
	assert.True(t, Infinity().Over(box).IsInf())
	assert.Equal(t, Bounds(new(big.Rat), nil), vague.Over(Int(0)))
	assert.Equal(t, Bounds(big.NewRat(1, 1), nil), positive.Over(vague))
	assert.Equal(t, Estimate(0.5, "sum"), Estimate(1, "sum").Over(Int(2)))
	assert.Equal(t, Estimate(2, "sum"), Int(2).Over(Estimate(1, "sum")))
	assert.Equal(t, Int(1), Estimate(0, "sum").Over(Int(0)))
	assert.Equal(t, Infinity(), Estimate(1, "sum").Over(Int(0)))
}

func TestWithin(t *testing.T) {
	gap := big.NewRat(1, 10)
	assert.True(t, Bounds(big.NewRat(9, 1), big.NewRat(10, 1)).Within(gap), "exactly the gap")
	assert.False(t, Bounds(big.NewRat(899, 100), big.NewRat(10, 1)).Within(gap))
	assert.True(t, Int(0).Within(gap))
	for _, n := range []Number{Bounds(new(big.Rat), nil), Infinity(), Estimate(1, "sum"), {}} {
		assert.False(t, n.Within(gap), "%v", n)
	}
}

func TestBetweenContradicting(t *testing.T) {
	assert.Panics(t, func() { Between(Int(2), Int(1)) })
	assert.Panics(t, func() { Between(Int(3), Enclosed(ExpRat(big.NewRat(1, 1), 64))) })
}
