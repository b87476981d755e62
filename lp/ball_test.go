package lp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/number"
)

// holds reports whether x is in the ball, in exact arithmetic.
func holds(b ball, x *big.Rat) bool {
	if math.IsInf(b.err, 1) {
		return true
	}
	off := ratFloat(b.hi)
	off.Add(off, ratFloat(b.lo)).Sub(off, x).Abs(off)
	return off.Cmp(ratFloat(b.err)) <= 0
}

// randomBall returns a ball, often an extreme one, and a number in it, often at its very edge.
func randomBall(rng *rand.Rand) (ball, *big.Rat) {
	scale := []int{0, 0, 1, 60, -60, 300, -300, 540, -540, 1000, -1000}[rng.IntN(11)]
	hi := math.Ldexp(rng.NormFloat64(), scale)
	if rng.IntN(8) == 0 {
		hi = float64(rng.IntN(5) - 2)
	}
	b := ball{hi: hi}
	if rng.IntN(3) > 0 {
		b.lo = hi * 0x1p-53 * (2*rng.Float64() - 1) / 2
	}
	b.hi, b.lo = twoSum(b.hi, b.lo)
	if rng.IntN(3) > 0 {
		b.err = math.Abs(hi) * math.Ldexp(rng.Float64(), -rng.IntN(110))
	}
	x := ratFloat(b.hi)
	x.Add(x, ratFloat(b.lo))
	return b, x.Add(x, new(big.Rat).Mul(ratFloat(b.err), ratFloat([]float64{-1, 0, 1, 2*rng.Float64() - 1}[rng.IntN(4)])))
}

// TestBalls: whatever the numbers in the balls are, the results hold theirs, and are no wider than what ballError and the operands' errors allow.
func TestBalls(t *testing.T) {
	f, exact := balls{}, exactNumbers{}
	rng := rand.New(rand.NewPCG(5, 6))
	const rounds = 5_000
	finite := 0
	for range rounds {
		a, x := randomBall(rng)
		b, y := randomBall(rng)
		if rng.IntN(4) == 0 { // nearly equal
			b, y = a, x
			b.lo *= 1 - 0x1p-50
			y = new(big.Rat).Add(x, new(big.Rat).Sub(ratFloat(b.lo), ratFloat(a.lo)))
		}
		check := func(op string, got ball, want *big.Rat) {
			require.True(t, holds(got, want), "%s of %v and %v: %v does not hold %s", op, a, b, got, want.FloatString(40))
			if !math.IsInf(got.err, 1) {
				finite++
			}
		}
		check("sum", f.Add(a, b), exact.Add(x, y))
		check("difference", f.Sub(a, b), exact.Sub(x, y))
		check("product", f.Mul(a, b), exact.Mul(x, y))
		check("maximum", f.Max(a, b), exact.Max(x, y))
		check("minimum", f.Min(a, b), exact.Min(x, y))
		if y.Sign() != 0 {
			check("quotient", f.Quo(a, b), exact.Quo(x, y))
		}
		assert.True(t, x.Sign() >= 0 || f.Negative(a), "%v", a)
		if low := f.Floor(a); low != nil {
			require.LessOrEqual(t, low.Cmp(x), 0)
			require.GreaterOrEqual(t, f.Ceil(a).Cmp(x), 0)
		}
		require.True(t, holds(f.FromRat(x), x))
		third := new(big.Rat).Quo(x, big.NewRat(3, 1))
		require.True(t, holds(f.FromRat(third), third))
		require.True(t, holds(f.fromInterval(number.FromRat(third, 128)), third))
		require.True(t, holds(f.fromInterval(number.NewInterval(big.NewFloat(b.hi-b.err), big.NewFloat(b.hi+2*b.err))), ratFloat(b.hi)))
	}
	assert.Greater(t, finite, 5*rounds, "most results say something")
}

// TestBallsAreNarrow: without errors of operands, results err by ballError at most, and small whole numbers not at all.
func TestBallsAreNarrow(t *testing.T) {
	f := balls{}
	third := f.FromRat(big.NewRat(1, 3))
	for _, b := range []ball{third, f.Add(third, f.One()), f.Mul(third, third), f.Quo(f.One(), third)} {
		assert.LessOrEqual(t, b.err, 20*ballError*math.Abs(b.hi))
	}
	assert.Equal(t, ball{hi: -7}, f.FromInt(-7))
	assert.False(t, f.Negative(f.Zero()))
	assert.False(t, f.Negative(f.FromInt(3)))
	assert.True(t, f.Negative(f.FromInt(-3)))
	assert.True(t, holds(f.FromInt(math.MaxInt64), big.NewRat(math.MaxInt64, 1)))
	for _, nothing := range []ball{f.Quo(f.One(), f.Zero()), f.Mul(ball{hi: math.MaxFloat64}, f.FromInt(2)), f.fromInterval(number.Whole(128)),
		f.FromRat(new(big.Rat).SetInt(new(big.Int).Lsh(one, 2000)))} {
		assert.True(t, math.IsInf(nothing.err, 1))
		assert.Nil(t, f.Floor(nothing))
		assert.Nil(t, f.Ceil(nothing))
		assert.True(t, f.Negative(nothing))
		assert.True(t, math.IsInf(f.Mul(nothing, f.Zero()).err, 1))
	}
}

// TestBallProductsAreRounded: a compiler may fuse a product into a sum that it finds its way into, as those for arm64 do, unless a conversion to float64 stands between. So
// every product that is kept in a variable has one. The tests of balls themselves notice only on the processor that they run on.
func TestBallProductsAreRounded(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "ball.go", nil, 0)
	require.NoError(t, err)
	bare := func(e ast.Expr) bool {
		b, ok := e.(*ast.BinaryExpr)
		return ok && b.Op == token.MUL
	}
	rounded := 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				assert.False(t, bare(e) && n.Tok == token.DEFINE, "a product is kept as it is")
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "float64" && bare(n.Args[0]) {
				rounded++
			}
		}
		return true
	})
	assert.Positive(t, rounded)
}

// TestBallsBeyondTheExponents: such an end makes a wide ball, at once.
func TestBallsBeyondTheExponents(t *testing.T) {
	tiny := new(big.Float).SetMantExp(big.NewFloat(0.5), -1<<30)
	b := balls{}.fromInterval(number.NewInterval(tiny, big.NewFloat(0.25)))
	for _, x := range []float64{0, 0.25} {
		assert.True(t, holds(b, ratFloat(x)))
	}
	assert.LessOrEqual(t, balls{}.fromInterval(number.Point(tiny)).err, 2*ballTiny)
	huge := new(big.Float).SetMantExp(big.NewFloat(0.5), 1<<30)
	assert.True(t, math.IsInf(balls{}.fromInterval(number.Point(huge)).err, 1))
}

// TestBallsAgainstIntervals: the same proposal proves the same by balls as by intervals, but for rounding.
func TestBallsAgainstIntervals(t *testing.T) {
	p := largeProgram(t, 6, 8, "3/2")
	o := p.firstOrder(big.NewRat(1, 1e4))
	prop := o.proposal()
	fast, slow := p.enclose(prop, floatPrecision), p.enclose(prop, 192)
	tolerance := new(big.Rat).Mul(slow.upper, big.NewRat(1, 1e18))
	for _, pair := range [][2]*big.Rat{{fast.lower, slow.lower}, {slow.upper, fast.upper}} {
		off := new(big.Rat).Sub(pair[1], pair[0])
		assert.GreaterOrEqual(t, off.Sign(), 0)
		assert.LessOrEqual(t, off.Cmp(tolerance), 0)
		assert.Positive(t, off.Sign(), "balls took part")
	}
}
