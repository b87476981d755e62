package evidencetest

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"

	"optratio/internal/certtext"
)

// Ended returns the lines with the count that belongs in the last one.
func Ended(l []string) []string {
	if n := len(l); n > 0 && strings.HasPrefix(l[n-1], "end ") {
		l[n-1] = fmt.Sprintf("end %d", n-1)
	}
	return l
}

// Field returns what follows the first word of the first line with it, "" where there is none.
func Field(l []string, word string) string {
	for _, line := range l {
		if rest, ok := strings.CutPrefix(line, word+" "); ok {
			return rest
		}
	}
	return ""
}

// Rational reads a number of a certificate, 0 where there is none.
func Rational(s string) *big.Rat {
	x, ok := new(big.Rat).SetString(s)
	if f, _, err := big.ParseFloat(s, 0, 2000, big.ToZero); !ok && err == nil {
		x, _ = f.Rat(nil)
	}
	if x == nil {
		x = new(big.Rat)
	}
	return x
}

// tweak changes a number.
func tweak(rng *rand.Rand, x *big.Rat) *big.Rat {
	switch rng.IntN(7) {
	case 0:
		return x.Mul(x, big.NewRat(2, 1))
	case 1:
		return x.Neg(x)
	case 2:
		return x.SetInt64(0)
	case 3:
		return x.Add(x, big.NewRat(1, 1))
	case 4:
		return x.Mul(x, big.NewRat(999, 1000))
	case 5:
		return x.Add(x, new(big.Rat).SetFrac64(1, 1<<40))
	}
	return x.SetInt64(int64(rng.IntN(5)))
}

// Forge returns a certificate with one to three changes.
func Forge(rng *rand.Rand, base []string) []string {
	l := slices.Clone(base)
	for range 1 + rng.IntN(3) {
		i := 1 + rng.IntN(len(l)-1)
		switch rng.IntN(9) {
		case 0:
			l = slices.Delete(l, i, i+1)
		case 1:
			l = slices.Insert(l, i, l[i])
		case 2:
			j := 1 + rng.IntN(len(l)-1)
			l[i], l[j] = l[j], l[i]
		case 3: // one character
			if b := []byte(l[i]); len(b) > 0 {
				b[rng.IntN(len(b))] = "0123456789/-p. x"[rng.IntN(16)]
				l[i] = string(b)
			}
		case 4, 5, 6: // one number
			f := strings.Split(l[i], " ")
			if k := rng.IntN(len(f)); k > 0 {
				f[k] = certtext.Value(tweak(rng, Rational(f[k])))
				l[i] = strings.Join(f, " ")
			}
		case 7: // mass from one cell to another
			l[i] = moveMass(rng, l[i])
		case 8: // a claim that is somewhat sharper, or false
			for i := range l {
				if f := strings.Split(l[i], " "); f[0] == "claim" && len(f) == 4 {
					low, high := Rational(f[2]), Rational(f[3])
					step := new(big.Rat).Mul(high, big.NewRat(int64(rng.IntN(3)-1), 1<<rng.IntN(50)))
					l[i] = "claim optimum " + low.Add(low, step).RatString() + " " + high.Add(high, step).RatString()
				}
			}
		}
		if len(l) < 3 {
			return base
		}
	}
	if rng.IntN(8) > 0 {
		l = Ended(l)
	}
	return l
}

// moveMass moves a part of one probability of an input to another one.
func moveMass(rng *rand.Rand, line string) string {
	f := strings.Split(line, " ")
	if f[0] != "input" || len(f) <= 2 {
		return line
	}
	a, b := 1+rng.IntN(len(f)-1), 1+rng.IntN(len(f)-1)
	share := new(big.Rat).Mul(Rational(f[a]), big.NewRat(int64(rng.IntN(9)), 1<<rng.IntN(12)))
	if a != b {
		f[a], f[b] = certtext.Value(new(big.Rat).Sub(Rational(f[a]), share)), certtext.Value(new(big.Rat).Add(Rational(f[b]), share))
	}
	return strings.Join(f, " ")
}
