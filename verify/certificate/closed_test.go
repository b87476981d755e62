package certificate_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"optratio/verify/certificate"
)

// byTheorem drafts a certificate without multipliers; epsilon is e^ε, or a whole line.
func byTheorem(n, k int, epsilon, objective, proof string) *draft {
	if !strings.Contains(epsilon, " ") {
		epsilon = "exp-epsilon " + epsilon
	}
	return &draft{header: []string{
		"optratio-certificate 3", "problem program", fmt.Sprint("n ", n), fmt.Sprint("k ", k), epsilon,
		"objective " + objective, "constraints paper", "proof " + proof, "precision 0",
	}}
}

// closedDual returns the value of the dual point of dual-closed-form, by going through all
// score vectors: A/(1+B') for each that has two best candidates, or, where B' >= 1, A/(1+B') (1 - (k-D)/B') for each whose deepest candidate is at D if that is more; under the
// objective box once for each depth that it fits in.
func (p *problem) closedDual() *big.Rat {
	total := new(big.Rat)
	for j := 1; j <= p.K; j++ {
		if j < p.K && !p.Box {
			continue
		}
		a, b := new(big.Rat), big.NewRat(1, 1)
		for v := 1; v <= j; v++ {
			b.Add(b, power(p.Z, v))
			a.Add(a, new(big.Rat).Mul(big.NewRat(int64(v), 1), power(p.Z, v)))
		}
		count, up, all := int64(0), int64(0), int64(0)
		scores(p.N, j, func(q []int) {
			best := 0
			for _, d := range q {
				if d == 0 {
					best++
				}
			}
			if best >= 2 {
				count++
			}
			up += int64(j - slices.Max(q))
			all++
		})
		a.Quo(a, b)
		worth, sum := big.NewRat(count, 1), new(big.Rat).Sub(b, big.NewRat(1, 1))
		if sum.Cmp(big.NewRat(1, 1)) >= 0 {
			deep := new(big.Rat).Quo(big.NewRat(up, 1), sum)
			if deep.Sub(big.NewRat(all, 1), deep); p.N >= 2 && deep.Cmp(worth) > 0 {
				worth = deep
			}
		}
		total.Add(total, a.Mul(a, worth))
	}
	return total
}

func TestTheorems(t *testing.T) {
	for _, exp := range []string{"1", "11/10", "3/2", "2", "7/2"} {
		for _, objective := range []string{"paper", "box"} {
			for n := 1; n <= 4; n++ {
				for k := 0; k <= 4; k++ {
					p := newProblem(n, k, exp, objective, "paper")
					mean := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, p.ScoreVectors()) }
					flip := new(big.Rat)
					for i, x := range p.FlipPoint() {
						flip.Add(flip, new(big.Rat).Mul(p.Cost(i), x))
					}
					flip, dual, em := mean(flip), mean(p.closedDual()), mean(p.exponential())
					tiny := rat("1e-60")
					off := new(big.Rat).Add(dual, tiny)

					try := func(proof string, lo, hi *big.Rat, want bool) {
						d := byTheorem(n, k, exp, objective, proof).claim("optimum", lo, hi)
						d.claim("error pf", flip, flip).claim("error em", em, em)
						if got := check(t, d.String()); got.Valid != want {
							t.Errorf("(%d, %d, %s) %s %s: valid = %v, want %v: %s", n, k, exp, objective, proof, got.Valid, want, got.Reason)
						}
					}
					try("dual-closed-form", dual, flip, true)
					if off.Cmp(flip) <= 0 {
						try("dual-closed-form", off, flip, false)
					}
					if less := new(big.Rat).Sub(flip, tiny); dual.Cmp(less) <= 0 {
						try("dual-closed-form", dual, less, false)
					}
					sum := new(big.Rat)
					for v := 1; v <= k; v++ {
						sum.Add(sum, power(p.Z, v))
					}
					applies := n <= 2 || k <= 1 || sum.Cmp(big.NewRat(1, 1)) <= 0
					if objective == "box" && n == 3 && exp != "1" {
						// The sum over lesser depths may be feasible where not all of them are. For ε > 0 it is
						// the only dual point with permute-and-flip's value.
						applies = flip.Cmp(mean(p.solve().minimum)) == 0
					}
					try("dual-recurrence", flip, flip, applies)
				}
			}
		}
	}
}

// TestRecurrenceThreshold: for k = 2 the golden ratio decides, for k = 3 the tribonacci constant.
func TestRecurrenceThreshold(t *testing.T) {
	for _, c := range []struct {
		k       int
		epsilon string
		want    bool
	}{
		{2, "exp-epsilon 1618/1000", false},
		{2, "exp-epsilon 809017/500000", true},
		{2, "exp-epsilon 1618033988/1000000000", false},
		{2, "epsilon 481211/1000000", false},
		{2, "epsilon 481212/1000000", true},
		{3, "exp-epsilon 18392/10000", false},
		{3, "exp-epsilon 18393/10000", true},
		{50, "exp-epsilon 2", true},
		{50, "exp-epsilon 1999999/1000000", false},
		{1000, "epsilon 7/10", true},
		{1000, "epsilon 69/100", false},
	} {
		word, value, _ := strings.Cut(c.epsilon, " ")
		d := byTheorem(3, c.k, word+" "+rat(value).RatString(), "paper", "dual-recurrence").claim("optimum", "0", "1000").claim("ratio pf", "1", "1")
		if rep := check(t, d.String()); rep.Valid != c.want {
			t.Errorf("k = %d, %s: valid = %v, want %v: %s", c.k, c.epsilon, rep.Valid, c.want, rep.Reason)
		}
	}
}

// TestLargeLattice checks sizes that no one enumerates, against float64 values of the closed forms.
func TestLargeLattice(t *testing.T) {
	const n, k, eps = 20000, 100, 0.1
	z := math.Exp(-eps)
	a, b := 0.0, 1.0
	for v := 1; v <= k; v++ {
		a += float64(v) * math.Pow(z, float64(v))
		b += math.Pow(z, float64(v))
	}
	// The terms with (k/(k+1))^n and less are beyond float64.
	flip := a / b
	d := byTheorem(n, k, "epsilon 1/10", "paper", "dual-closed-form")
	lo, hi := fmt.Sprintf("%.12f", flip*(1-1e-10)), fmt.Sprintf("%.12f", flip*(1+1e-10))
	d.claim("optimum", lo, hi).claim("error pf", lo, hi).claim("ratio pf", "1", "1."+strings.Repeat("0", 954)+"1")
	if rep := check(t, d.String()); !rep.Valid {
		t.Error(rep.Reason)
	}
	d.claims[2] = "claim ratio pf 1 1"
	if check(t, d.String()).Valid {
		t.Error("the closed form proved permute-and-flip optimal")
	}
	d.claims[2] = "claim ratio pf 1 1." + strings.Repeat("0", 955) + "1"
	if check(t, d.String()).Valid {
		t.Error("a ratio closer to 1 than ((k-B')/(k+1))^n / B' was proved")
	}
	d.header[5] = "objective box"
	d.claims = nil
	if rep := check(t, d.claim("optimum", "1", "100").claim("ratio pf", "1", "1.001").String()); !rep.Valid {
		t.Error(rep.Reason)
	}
}

func TestExponentialNeedsEnumeration(t *testing.T) {
	d := byTheorem(1000, 100, "epsilon 1", "paper", "dual-recurrence").claim("optimum", "0", "100").claim("error em", "0", "100")
	if _, err := certificate.Check(strings.NewReader(d.String()), certificate.Options{}); !errors.Is(err, certificate.ErrLimit) {
		t.Errorf("error %v, want ErrLimit", err)
	}
}

// TestThreeInABox: with three candidates in a box permute-and-flip is optimal where Σ_{j<=k} A_j (1 - B'_j) >= 0, A_j = Σ_{v<=j} v z^v and B'_j =
// Σ_{v<=j} z^v: the sum falls from positive to negative between z = 1/2 and 1, and certificates are decided on either side of its root, for a rational e^ε,
// also of so many digits that the closed forms are not worked out exactly, and for a rational ε.
func TestThreeInABox(t *testing.T) {
	for k := 2; k <= 5; k++ {
		positive := func(z *big.Rat) bool {
			a, rest, sum, power := new(big.Rat), big.NewRat(1, 1), new(big.Rat), big.NewRat(1, 1)
			for j := int64(1); j <= int64(k); j++ {
				power.Mul(power, z)
				a.Add(a, new(big.Rat).Mul(big.NewRat(j, 1), power))
				rest.Sub(rest, power)
				sum.Add(sum, new(big.Rat).Mul(a, rest))
			}
			return sum.Sign() > 0
		}
		lo, hi := big.NewRat(1, 2), big.NewRat(1, 1)
		for range 100 {
			mid := new(big.Rat).Add(lo, hi)
			if mid.Quo(mid, big.NewRat(2, 1)); positive(mid) {
				lo = mid
			} else {
				hi = mid
			}
		}
		try := func(epsilon string, want bool) {
			t.Helper()
			d := byTheorem(3, k, epsilon, "box", "dual-recurrence").claim("optimum", "0", "1000").claim("ratio pf", "1", "1")
			if rep := check(t, d.String()); rep.Valid != want {
				t.Errorf("k = %d, %.80s: valid = %v, want %v: %s", k, epsilon, rep.Valid, want, rep.Reason)
			}
		}
		// The same to 4000 bits, beyond which the root does not lie.
		long := func(z *big.Rat, sign int64) *big.Rat {
			return new(big.Rat).Add(z, new(big.Rat).SetFrac(big.NewInt(sign), new(big.Int).Lsh(big.NewInt(1), 4000)))
		}
		for z, want := range map[*big.Rat]bool{lo: true, hi: false, long(lo, -1): true, long(hi, 1): false} {
			try("exp-epsilon "+new(big.Rat).Inv(z).RatString(), want)
		}
		z, _ := lo.Float64()
		for off, want := range map[float64]bool{1e-9: true, -1e-9: false} {
			try("epsilon "+new(big.Rat).SetFloat64(off-math.Log(z)).RatString(), want)
		}
	}
}
