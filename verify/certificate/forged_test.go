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

	"optratio/internal/evidence/evidencetest"
	"optratio/internal/slowtest"
	"optratio/verify/certificate"
)

var forgeriesOfEachKind = flag.Int("forgeries", 1000, "how many forgeries of each kind TestForgeries makes; 10 times as many with the tag slow")

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
		forgeries *= 10
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
			require.True(t, l.field("property") == "dominates-em" || l.close(), "%s", l)
			return true
		}})
	}
	return out
}

// forge returns a certificate with one to three changes.
func forge(rng *rand.Rand, base lines) lines { return evidencetest.Forge(rng, base) }

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
