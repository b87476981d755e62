package certificate_test

import (
	"errors"
	"flag"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/certtext"
	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

var forgeriesOfEachKind = flag.Int("forgeries", 1000, "how many forgeries of each kind TestForgeries makes; 30 times as many with the tag slow")

// subject is a certificate whose forgeries are looked at.
type subject struct {
	bases []lines // the certificate, and the same with claims that are false
	// judge fails the test if a claim of an accepted certificate is false, and reports whether that could be told.
	judge func(t *testing.T, l lines) bool
}

// Forged certificates of every kind are refused, or what they claim is true all the same.
func TestForgeries(t *testing.T) {
	forgeries := *forgeriesOfEachKind
	if slowtest.Enabled {
		forgeries *= 30
	}
	for kind, subjects := range map[string][]subject{
		"program": programSubjects(t), "witness": witnessSubjects(),
		"lattice": solvedSubjects(t, "lattice"), "heterogeneous": solvedSubjects(t, "heterogeneous"), "table": solvedSubjects(t, "table"), "stopping": solvedSubjects(t, "stopping"),
	} {
		t.Run(kind, func(t *testing.T) {
			accepted, undecided, unknown := 0, 0, 0
			each := forgeries/len(subjects) + 1
			for k, s := range subjects {
				rng := rand.New(rand.NewPCG(22, uint64(k)))
				for range each {
					base := s.bases[rng.IntN(len(s.bases))]
					l := forge(rng, base)
					r, err := checked(t, l)
					switch {
					case err != nil:
						if !errors.Is(err, certificate.ErrUnreadable) {
							require.True(t, errors.Is(err, certificate.ErrLimit) || errors.Is(err, certificate.ErrUndecided), "%v: %s", err, l)
							undecided++
						}
					case !r.Valid || slices.Equal(l, s.bases[0]):
					case s.judge(t, l):
						accepted++
					default:
						unknown++
					}
				}
			}
			t.Logf("%d forgeries, %d accepted with a true claim, %d accepted whose truth is not known, %d not decided", each*len(subjects), accepted, unknown, undecided)
			assert.Positive(t, accepted, "forgeries that only break the form test little")
		})
	}
}

// claiming returns a certificate with other claims.
func (l lines) claiming(claims ...string) (out lines) {
	for _, line := range l {
		if !strings.HasPrefix(line, "claim ") {
			out = append(out, line)
		} else if len(claims) > 0 {
			out, claims = append(out, claims...), nil
		}
	}
	return out.ended()
}

// claimedWrongly returns a certificate, one that claims somewhat less, and two with false claims where the optimum is between low and high.
func (l lines) claimedWrongly(low, high *big.Rat) []lines {
	hair, some := big.NewRat(1, 1e9), big.NewRat(1, 100)
	optimum := func(low, high *big.Rat) lines {
		return l.claiming("claim optimum " + low.RatString() + " " + high.RatString())
	}
	return []lines{
		l, optimum(new(big.Rat).Sub(low, some), new(big.Rat).Add(high, some)),
		optimum(new(big.Rat).Add(high, hair), big.NewRat(1e6, 1)), optimum(big.NewRat(-1e6, 1), new(big.Rat).Sub(low, hair)),
	}
}

// solvedSubjects are those of which a solver tells the truth.
func solvedSubjects(t *testing.T, kind string) (out []subject) {
	for _, q := range questions {
		if asked(q.text).field("problem") != kind {
			continue
		}
		base, p := certified(t, q.text)
		truth := map[string]*proof{strings.Join(base.question(), "\n"): p}
		out = append(out, subject{base.claimedWrongly(p.lower, p.upper), func(t *testing.T, l lines) bool {
			require.Empty(t, l.missing(), "%s", l)
			key := strings.Join(l.question(), "\n")
			if _, tried := truth[key]; !tried {
				truth[key], _ = l.solve()
			}
			p := truth[key]
			if p == nil {
				return false
			}
			low, high, _ := strings.Cut(l.field("claim optimum"), " ")
			require.LessOrEqual(t, rational(low).Cmp(p.upper), 0, "%s", l)
			require.GreaterOrEqual(t, rational(high).Cmp(p.lower), 0, "%s", l)
			return true
		}})
	}
	return out
}

// programSubjects are of small programs, which the simplex method of these tests solves.
func programSubjects(t *testing.T) (out []subject) {
	all := drafts(t)
	for _, proof := range []string{"dual-recurrence", "dual-closed-form"} {
		d := byTheorem(3, 2, "exp-epsilon 3/2", "paper", proof)
		if proof == "dual-recurrence" {
			d = byTheorem(3, 2, "exp-epsilon 2", "box", proof)
		}
		all[proof] = d.claim("optimum", "0", "2")
	}
	product := lumpedDraft(3, 3, "class 0x1p-01", "product 1 1 1 any 1 1/100")
	product.header[4] = "exp-epsilon 3/2"
	all["product"] = product.claim("optimum", "0", "2")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		base := asked(all[name].String())
		known, ok := truthOf(base.String())
		require.True(t, ok)
		out = append(out, subject{base.claimedWrongly(known["optimum"][0], known["optimum"][1]), func(t *testing.T, l lines) bool {
			if _, ok := truthOf(l.String()); !ok {
				return false
			}
			mustBeTrue(t, l.String(), "a forgery")
			return true
		}})
	}
	return out
}

// witnessSubjects are violations, which the registered mechanisms have as well.
func witnessSubjects() (out []subject) {
	for _, text := range witnesses {
		out = append(out, subject{[]lines{section(text)}, func(t *testing.T, l lines) bool {
			if strings.Contains(l.field("pmf")+l.field("neighbor-pmf"), "-") {
				l = slices.Clone(l)
				for i := range l {
					l[i] = strings.ReplaceAll(l[i], " - ", " 0 ") // of no interest to the oracle
				}
			}
			require.Positive(t, l.oracle(t).Hi().Sign(), "%s", l)
			require.True(t, l.field("property") != "dp" || l.close(), "%s", l)
			return true
		}})
	}
	return out
}

// forge returns a certificate with one to three changes.
func forge(rng *rand.Rand, base lines) lines {
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
				x := rational(f[k])
				switch rng.IntN(7) {
				case 0:
					x.Mul(x, big.NewRat(2, 1))
				case 1:
					x.Neg(x)
				case 2:
					x.SetInt64(0)
				case 3:
					x.Add(x, big.NewRat(1, 1))
				case 4:
					x.Mul(x, big.NewRat(999, 1000))
				case 5:
					x.Add(x, new(big.Rat).SetFrac64(1, 1<<40))
				case 6:
					x.SetInt64(int64(rng.IntN(5)))
				}
				f[k] = certtext.Value(x)
				l[i] = strings.Join(f, " ")
			}
		case 7: // mass from one cell to another
			f := strings.Split(l[i], " ")
			if f[0] == "input" && len(f) > 2 {
				a, b := 1+rng.IntN(len(f)-1), 1+rng.IntN(len(f)-1)
				share := new(big.Rat).Mul(rational(f[a]), big.NewRat(int64(rng.IntN(9)), 1<<rng.IntN(12)))
				if a != b {
					f[a], f[b] = certtext.Value(new(big.Rat).Sub(rational(f[a]), share)), certtext.Value(new(big.Rat).Add(rational(f[b]), share))
				}
				l[i] = strings.Join(f, " ")
			}
		case 8: // a claim that is somewhat sharper, or false
			for i := range l {
				if f := strings.Split(l[i], " "); f[0] == "claim" && len(f) == 4 {
					low, high := rational(f[2]), rational(f[3])
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
		l = l.ended()
	}
	return l
}

// missing says what a section cannot do without, "" where all is there.
func (l lines) missing() string {
	for _, word := range []string{"problem", "claim", "end"} {
		if l.field(word) == "" {
			return word
		}
	}
	if l.field("epsilon") == "" && l.field("exp-epsilon") == "" {
		return "epsilon"
	}
	if l.field("problem") != "stopping" && l.field("input") == "" {
		return "input"
	}
	return ""
}
