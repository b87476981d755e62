package evidence

import (
	"math/big"
	"testing"

	"optratio/number"
)

// TestRepairEncloses: the weight of the repair for wide enclosures holds those of all numbers in them.
func TestRepairEncloses(t *testing.T) {
	r := Enclosing{Zz: number.FromFloat(0.5, 64), Prec: 64}
	iv := func(lo, hi float64) number.Interval { return number.NewInterval(big.NewFloat(lo), big.NewFloat(hi)) }
	x := NewExact(big.NewRat(1, 2), big.NewInt(1), ample())
	for _, c := range []struct{ a, b, p, q float64 }{
		{-2, -1, 1, 3}, {-2, 1, 1, 3}, {-1, -1, 1, 1}, {1, 2, -1, 1}, {-2, -1, -1, 3}, {-2, -1, -3, -1}, {-3, 0, 0, 5}, {0, 0, 0, 0},
	} {
		got := r.Repair(iv(c.a, c.b), iv(c.p, c.q)).Enclosure(0)
		least, most := big.NewRat(2, 1), big.NewRat(-1, 1)
		for i := range 9 {
			for j := range 9 {
				a := big.NewInt(int64(8*c.a) + int64(c.b-c.a)*int64(i))
				p := big.NewInt(int64(8*c.p) + int64(c.q-c.p)*int64(j))
				theta, _ := x.Repair(Scaled{a, 3}, Scaled{p, 3}).Rat()
				if !got.Contains(theta) {
					t.Errorf("[%v, %v], [%v, %v]: %v does not hold %v", c.a, c.b, c.p, c.q, got, theta)
				}
				if theta.Cmp(least) < 0 {
					least = theta
				}
				if theta.Cmp(most) > 0 {
					most = theta
				}
			}
		}
		// The ends are attained, but where the enclosure of p reaches 0 and below.
		if hi, _ := got.Hi().Float64(); c.p > 0 {
			if m, _ := most.Float64(); float32(hi) != float32(m) {
				t.Errorf("[%v, %v], [%v, %v]: up to %v, want %v", c.a, c.b, c.p, c.q, hi, m)
			}
		}
	}
}

// TestExactRing compares scaled integers with rationals.
func TestExactRing(t *testing.T) {
	z := big.NewRat(2, 3)
	r := NewExact(z, big.NewInt(60), ample())
	values := []*big.Rat{new(big.Rat), big.NewRat(1, 4), big.NewRat(-7, 15), big.NewRat(5, 1)}
	var elements []Scaled
	var want []*big.Rat
	for _, v := range values {
		e, w := r.Rat(v), v
		for range 3 {
			elements, want = append(elements, e), append(want, w)
			e, w = r.Z(e), new(big.Rat).Mul(w, z)
		}
	}
	same := func(what string, e Scaled, w *big.Rat) {
		t.Helper()
		if got, ok := r.Value(e).Rat(); !ok || got.Cmp(w) != 0 {
			t.Errorf("%s: %v, want %v", what, got, w)
		}
		if !r.Bounds(e).Contains(w) {
			t.Errorf("%s: %v does not hold %v", what, r.Bounds(e), w)
		}
	}
	for i, a := range elements {
		for j, b := range elements {
			v, w := want[i], want[j]
			same("sum", r.Add(a, b), new(big.Rat).Add(v, w))
			same("difference", r.Sub(a, b), new(big.Rat).Sub(v, w))
			lo, hi := v, w
			if v.Cmp(w) > 0 {
				lo, hi = w, v
			}
			same("minimum", r.Min(a, b), lo)
			same("maximum", r.Max(a, b), hi)
		}
		same("multiple", r.Scale(a, big.NewInt(-4)), new(big.Rat).Mul(want[i], big.NewRat(-4, 1)))
		if r.Nonneg(a) != (want[i].Sign() >= 0) {
			t.Errorf("sign of %v", want[i])
		}
	}
}

// ample is what a check may cost without options.
func ample() *Effort { return NewEffort(WithDefaults(Options{})) }
