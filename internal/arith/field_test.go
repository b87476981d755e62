package arith

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"optratio/number"
)

const seed = 71

var ratOne = big.NewRat(1, 1)

func newRand(t testing.TB) *rand.Rand {
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomRat(r *rand.Rand) *big.Rat {
	switch r.IntN(6) {
	case 0:
		return new(big.Rat)
	case 1:
		return big.NewRat(1, 1)
	}
	return big.NewRat(r.Int64N(41)-20, 1+r.Int64N(12))
}

// program is one formula for every field: a random straight-line program over the constants, which
// skips divisions by what is 0 in the rationals.
type program struct {
	constants []*big.Rat
	steps     [][3]int // operation, operands
}

func randomProgram(r *rand.Rand) program {
	var p program
	for range 3 {
		p.constants = append(p.constants, randomRat(r))
	}
	for range 12 {
		n := len(p.constants) + len(p.steps)
		p.steps = append(p.steps, [3]int{r.IntN(6), r.IntN(n), r.IntN(n)})
	}
	return p
}

// run returns all values of p in the field; nonzero says for each step whether its second operand can
// divide.
func run[T any](f Field[T], p program, nonzero func(step int, v T) bool) []T {
	var vs []T
	for _, c := range p.constants {
		vs = append(vs, f.FromRat(c))
	}
	for i, s := range p.steps {
		a, b := vs[s[1]], vs[s[2]]
		switch {
		case s[0] == 0:
			a = f.Add(a, b)
		case s[0] == 1:
			a = f.Sub(a, b)
		case s[0] == 2:
			a = f.Mul(a, b)
		case s[0] == 3 && nonzero(i, b):
			a = f.Quo(a, b)
		case s[0] == 4:
			a = f.Neg(a)
		default:
			a = Sum(f, Pow(f, a, 2), f.FromInt(3), f.One(), f.Zero(), b)
		}
		vs = append(vs, a)
	}
	return vs
}

func TestFieldsAgree(t *testing.T) {
	r := newRand(t)
	for range 1000 {
		p := randomProgram(r)
		divides := make([]bool, len(p.steps))
		exact := run[*big.Rat](Rat{}, p, func(i int, v *big.Rat) bool {
			divides[i] = v.Sign() != 0
			return divides[i]
		})
		again := run[*big.Rat](Rat{}, p, func(i int, v *big.Rat) bool { return divides[i] })
		enclosed := run[number.Interval](Interval{100}, p, func(i int, _ number.Interval) bool { return divides[i] })
		functions := run[RatFunc](Poly{}, p, func(i int, _ RatFunc) bool { return divides[i] })
		for i, v := range exact {
			if v.Cmp(again[i]) != 0 {
				t.Fatalf("%v: value %d was modified", p, i)
			}
			if !enclosed[i].Contains(v) {
				t.Fatalf("%v: value %d is %v, not in %v", p, i, v, enclosed[i])
			}
			if c, ok := functions[i].Rat(); !ok || c.Cmp(v) != 0 {
				t.Fatalf("%v: value %d is %v as a rational function, want %v", p, i, functions[i], v)
			}
		}
	}
}

func TestFloat(t *testing.T) {
	f := Float{}
	x := f.Quo(f.Sub(f.Mul(f.FromInt(7), f.FromRat(big.NewRat(1, 4))), f.One()), f.Add(f.Neg(f.FromInt(2)), f.Zero()))
	if x != -0.375 {
		t.Errorf("(7/4 - 1)/(-2) = %g", x)
	}
	if y := f.Quo(f.One(), f.Zero()); !math.IsInf(y, 1) {
		t.Errorf("1/0 = %g", y)
	}
}

func TestPowersAndSums(t *testing.T) {
	f := Rat{}
	x := big.NewRat(-2, 3)
	for n, p := range Powers[*big.Rat](f, x, 9) {
		if want := Pow[*big.Rat](f, x, n); p.Cmp(want) != 0 {
			t.Errorf("x^%d = %v, want %v", n, p, want)
		}
		if q := Pow[*big.Rat](f, x, -n); new(big.Rat).Mul(p, q).Cmp(ratOne) != 0 {
			t.Errorf("x^-%d = %v", n, q)
		}
	}
	if got := Pow[*big.Rat](f, x, 3); got.Cmp(big.NewRat(-8, 27)) != 0 {
		t.Errorf("(-2/3)^3 = %v", got)
	}
	if got := Sum[*big.Rat](f); got.Sign() != 0 {
		t.Errorf("empty sum = %v", got)
	}
	if got := Sum[*big.Rat](f, x, x, x); got.Cmp(big.NewRat(-2, 1)) != 0 {
		t.Errorf("3·(-2/3) = %v", got)
	}
}

// TestLogRat: enclosures hold what float64 arithmetic gives, and get as narrow as is asked where the addends cancel; by its form, a + b·ln z is rational only
// where b is 0.
func TestLogRat(t *testing.T) {
	r := newRand(t)
	for range 300 {
		z := big.NewRat(1+r.Int64N(30), 1+r.Int64N(30))
		x := LogRat{randomRat(r), randomRat(r)}
		a, _ := x.A.Float64()
		b, _ := x.B.Float64()
		zf, _ := z.Float64()
		v := a + b*math.Log(zf)
		lo, hi := x.Enclose(z, 100).Float64()
		if lo > v+1e-9 || hi < v-1e-9 || hi-lo > 1e-9 {
			t.Fatalf("%v at z = %v is in [%g, %g], want %g", x, z, lo, hi, v)
		}
		if r, ok := x.Rat(); ok != (x.B.Sign() == 0) || ok && r.Cmp(x.A) != 0 {
			t.Fatalf("%v as a rational: %v, %t", x, r, ok)
		}
	}
	// A is -ln 2 rounded to 300 bits, downward and upward: 64 bits do not see what is left, 400 do.
	z := big.NewRat(2, 1)
	l := number.LogRat(z, 300)
	for _, c := range []struct {
		end  *big.Float
		sign int
	}{{l.Lo(), 1}, {l.Hi(), -1}} {
		a, _ := c.end.Rat(nil)
		x := LogRat{a.Neg(a), ratOne}
		if got, ok := x.Enclose(z, 400).Sign(); !ok || got != c.sign {
			t.Errorf("sign of ln 2 - %g is %d, want %d", c.end, got, c.sign)
		}
		if s, ok := x.Enclose(z, 64).Sign(); ok {
			t.Errorf("64 bits claim the sign %d", s)
		}
	}
	if x := (LogRat{big.NewRat(-3, 1), ratOne}).Enclose(ratOne, 64); !IsPoint(x) || x.Near() != -3 {
		t.Errorf("-3 + ln 1 is %v", x)
	}
}
