package verify

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/inquiry"
	"optratio/mechanisms"
	"optratio/number"
)

// readingsOf checks properties on two neighbors with stated numbers, e^ε = 2 being claimed.
func readingsOf(t *testing.T, o Options, p, q []*inquiry.Value) *Report {
	t.Helper()
	space := &inquiry.Space{Unit: one, Sensitivities: []*big.Rat{one}, Epsilon: parse(t, "2")}
	a, b := inquiry.Vector{0, 0}, inquiry.Vector{1, 0}
	pair := func(yield func(inquiry.Vector, inquiry.Vector) bool) { yield(a, b) }
	dom := &inquiry.Domain{Name: "two vectors", Space: space, Neighbors: pair, Shifted: pair, Lowered: pair,
		Vectors: func(yield func(inquiry.Vector) bool) { _ = yield(a) && yield(b) }}
	subject := inquiry.SubjectFunc(func(v inquiry.Vector) (*inquiry.Answer, error) {
		if v[0] == 0 {
			return &inquiry.Answer{P: p}, nil
		}
		return &inquiry.Answer{P: q}, nil
	})
	o.readings = true
	report, err := ask(context.Background(), subject, inquiry.ForMechanism(mechanisms.Exponential(), space), inquiry.ExpEpsilon(space.Epsilon), dom, o)
	require.NoError(t, err)
	return report
}

// numbersOf reads decimals as JSON numbers of the given relative precision.
func numbersOf(t *testing.T, precision string, texts ...string) (out []*inquiry.Value) {
	t.Helper()
	part, ok := new(big.Rat).SetString(precision)
	require.True(t, ok)
	for _, text := range texts {
		x, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		out = append(out, inquiry.Nearly(x, part))
	}
	return out
}

// A claim is proved where every reading of the numbers keeps it, but for the slack, and then at the upper end of the tight ε.
func TestProvedForEveryReading(t *testing.T) {
	for _, c := range []struct {
		precision string
		p, q      []string
		dp        Verdict
		reason    string
	}{
		{"1e-9", []string{"0.5", "0.5"}, []string{"0.75", "0.25"}, Proved, "proved at ε <= 0.6931471826 (claimed 0.6931471806; the numbers are good to 5e-9)"},
		{"1e-9", []string{"0.5", "0.5"}, []string{"0.7", "0.3"}, Proved, ""},
		{"1e-9", []string{"0.5", "0.5"}, []string{"0.7501", "0.2499"}, Violated, ""},
		{"1e-3", []string{"0.5", "0.5"}, []string{"0.75", "0.25"}, Undecided, "by its numbers the tight ε is in [0.691147, 0.695148], and 0.6931471806 is claimed"},
		{"1e-3", []string{"0.5", "0.5"}, []string{"0.7501", "0.2499"}, Undecided, "by its numbers the tight ε is in"},
		{"0.5", []string{"0.5", "0.5"}, []string{"0.9", "0.1"}, Undecided, "by its numbers the tight ε is in"},
		// What underflows may be 0, on either side.
		{"1e-9", []string{"1", "1e-400"}, []string{"1", "0"}, Undecided, "[0, ∞]"},
		{"1e-9", []string{"1", "1e-400"}, []string{"1", "1e-400"}, Undecided, "[0, ∞]"},
		{"1e-9", []string{"1", "5e-324"}, []string{"1", "1e-323"}, Undecided, "by its numbers the tight ε is in"},
		{"1e-9", []string{"1", "1e-400"}, []string{"1", "1e-300"}, Violated, ""},
		// A 0 is 0, but 10^-323 beside it may be within e^ε of what was rounded to it.
		{"1e-9", []string{"1", "0"}, []string{"1", "0"}, Proved, ""},
		{"1e-9", []string{"1", "0"}, []string{"1", "1e-323"}, Undecided, "∞]"},
		{"1e-9", []string{"1", "0"}, []string{"1", "1e-320"}, Violated, ""},
		{"1e-9", []string{"1", "0"}, []string{"0.9", "0.1"}, Violated, ""},
		{"0", []string{"1", "0"}, []string{"0." + strings.Repeat("9", 323), "1e-323"}, Violated, ""},
	} {
		dp := readingsOf(t, Options{Properties: []Property{DP}}, numbersOf(t, c.precision, c.p...), numbersOf(t, c.precision, c.q...)).Properties[0]
		assert.Equal(t, c.dp, dp.Verdict, "%v: %s", c, dp)
		if c.reason == "" {
			assert.Empty(t, dp.Reason, "%v", c)
		}
		assert.Contains(t, dp.Reason, c.reason, "%v", c)
		if hi, bounded := dp.TightEps.Upper(); c.dp == Proved {
			require.True(t, bounded)
			assert.LessOrEqual(t, hi.Cmp(plus(big.NewRat(693148, 1000000), epsSlack)), 0)
		}
	}
}

// With a slack of one's own, a claim is about ε and the slack, of exact numbers too.
func TestSlack(t *testing.T) {
	half, three := []*inquiry.Value{ratio64(1, 2), ratio64(1, 2)}, []*inquiry.Value{ratio64(751, 1000), ratio64(249, 1000)} // e^ε = 500/249, ε = ln 2 + 0.00401
	for text, want := range map[string]Verdict{"0": Violated, "4/1000": Violated, "41/10000": Proved} {
		slack, _ := new(big.Rat).SetString(text)
		dp := readingsOf(t, Options{Properties: []Property{DP}, Slack: slack}, half, three).Properties[0]
		assert.Equal(t, want, dp.Verdict, text)
		if want == Proved {
			assert.Equal(t, "proved at ε <= 0.697155202 (claimed 0.6931471806)", dp.Reason)
		}
	}
	dp := readingsOf(t, Options{Properties: []Property{DP}, Slack: new(big.Rat)}, numbersOf(t, "1e-9", "0.5", "0.5"), numbersOf(t, "1e-9", "0.75", "0.25")).Properties[0]
	assert.Equal(t, Undecided, dp.Verdict, "without any slack, rounded numbers do not prove what is met exactly")
	for slack, want := range map[string]Verdict{"": Proved, "0": Undecided, "1/1000000": Proved} {
		o := Options{Properties: []Property{BoundedRange}}
		if slack != "" {
			o.Slack, _ = new(big.Rat).SetString(slack)
		}
		r := readingsOf(t, o, numbersOf(t, "1e-9", "0.4", "0.6"), numbersOf(t, "1e-9", "0.25", "0.75")).Properties[0] // a range of ln 2
		assert.Equal(t, want, r.Verdict, "slack %q: %s", slack, r)
	}
}

// Every property fails closed on numbers that are too coarse, or that underflow.
func TestOtherPropertiesOfReadings(t *testing.T) {
	others := []Property{BoundedRange, Symmetry, Shift, Monotone, Sum, DominatesEM, DominatesEMMean, RDP, ZCDP}
	fair := readingsOf(t, Options{Properties: others}, numbersOf(t, "1e-9", "0.5", "0.5"), numbersOf(t, "1e-9", "0.5", "0.5"))
	for _, p := range fair.Properties {
		want := Proved
		if p.Name == DominatesEM || p.Name == DominatesEMMean {
			want = Violated // a candidate that is worse is as likely
		}
		assert.Equal(t, want, p.Verdict, "%s", p)
	}
	assert.Equal(t, "to within 3e-9, the precision of the answers", fair.Find(Shift).Remark())
	coarse := readingsOf(t, Options{Properties: others}, numbersOf(t, "0.9", "0.5", "0.5"), numbersOf(t, "0.9", "0.6", "0.4"))
	for _, p := range coarse.Properties {
		want := Undecided
		if p.Name == RDP || p.Name == ZCDP {
			want = Proved // the divergences are finite in every reading
		}
		assert.Equal(t, want, p.Verdict, "%s", p)
	}
	for _, q := range []string{"0", "1e-400", "1e-310"} {
		under := readingsOf(t, Options{Properties: []Property{BoundedRange, Shift, Monotone, RDP, ZCDP, "rdp:1", "rdp:2.5", "rdp:inf"}},
			numbersOf(t, "1e-9", "1", "1e-400"), numbersOf(t, "1e-9", "1", q))
		for _, p := range under.Properties {
			if q == "1e-310" && inquiry.Kind(p.Name) != RDP && p.Name != ZCDP {
				continue // it is above every reading of the other
			}
			if q == "0" && p.Name == Monotone {
				assert.Equal(t, Proved, p.Verdict, "a candidate that is to be no likelier is not, in any reading")
				continue
			}
			assert.Equal(t, Undecided, p.Verdict, "%s: %s", q, p)
			for _, x := range []interface{ Upper() (*big.Rat, bool) }{p.Range, p.Rho} {
				_, bounded := x.Upper()
				assert.False(t, bounded, "%s: %s", q, p)
			}
		}
	}
	// ρ of two vectors with e^l = 3/2 and 1/2: 0.1589… with the target at it, and above.
	rho := func(precision, target string) Result {
		r, _ := new(big.Rat).SetString(target)
		return *readingsOf(t, Options{Properties: []Property{ZCDP}, Targets: map[Property]*big.Rat{ZCDP: r}}, numbersOf(t, precision, "0.5", "0.5"), numbersOf(t, precision, "0.75", "0.25")).Find(ZCDP)
	}
	assert.Equal(t, Proved, rho("1e-9", "0.2").Verdict)
	assert.Equal(t, Violated, rho("1e-9", "0.1").Verdict)
	assert.Equal(t, Undecided, rho("0.3", "0.2").Verdict)
	// So are Rényi divergences: that of order 2 is ln 4/3 = 0.28768207245178…
	order := func(precision, target string) Verdict {
		r, _ := new(big.Rat).SetString(target)
		return readingsOf(t, Options{Targets: map[Property]*big.Rat{"rdp:2": r}, Properties: []Property{"rdp:2"}}, numbersOf(t, precision, "0.5", "0.5"), numbersOf(t, precision, "0.75", "0.25")).Verdict()
	}
	assert.Equal(t, Proved, order("1e-9", "0.2876820724"))
	assert.Equal(t, Violated, order("0", "0.2876820724"))
	assert.Equal(t, Violated, order("1e-9", "0.2876"))
	assert.Equal(t, Undecided, order("0.1", "0.28"))
}

// δ: a set of readings proves what exceeds the claimed δ by a thousandth of it at most.
func TestDeltaOfReadings(t *testing.T) {
	for _, c := range []struct {
		precision, delta string
		want             Verdict
	}{
		{"1e-9", "1/20", Proved}, {"1e-9", "51/1000", Proved}, {"1e-9", "49/1000", Violated}, {"1e-3", "1/20", Undecided}, {"1e-9", "1e-12", Violated},
	} {
		d, _ := new(big.Rat).SetString(c.delta)
		r := readingsOf(t, Options{Properties: []Property{ApproximateDP}, Targets: map[Property]*big.Rat{ApproximateDP: d}}, numbersOf(t, c.precision, "0.5", "0.5"), numbersOf(t, c.precision, "0.775", "0.225")).Properties[0]
		assert.Equal(t, c.want, r.Verdict, "%v: %s", c, r)
	}
	// An excess of 10^-10, which numbers of nine digits do not show.
	d := big.NewRat(1, 1_000_000_000_000)
	p, q := []string{"0.5", "0.5"}, []string{"0.7500000001", "0.2499999999"}
	r := readingsOf(t, Options{Properties: []Property{ApproximateDP}, Targets: map[Property]*big.Rat{ApproximateDP: d}}, numbersOf(t, "1e-9", p...), numbersOf(t, "1e-9", q...)).Properties[0]
	assert.Equal(t, Undecided, r.Verdict, "%s", r)
	r = readingsOf(t, Options{Properties: []Property{ApproximateDP}, Targets: map[Property]*big.Rat{ApproximateDP: d}}, numbersOf(t, "0", p...), numbersOf(t, "0", q...)).Properties[0]
	assert.Equal(t, Violated, r.Verdict, "%s", r)
}

// Numbers that are no distribution prove nothing about one. They refute what fails whatever they miss the sum 1 by belongs to, in numbers that allow it
// and in the numbers divided by their sum.
func TestNoDistributionIsNotPrivate(t *testing.T) {
	all := []Property{DP, ApproximateDP, BoundedRange, ZCDP}
	for _, c := range []struct {
		p, q   []string
		want   []Verdict // of all
		reason string
	}{
		{[]string{"0.1", "0.1"}, []string{"0.1", "0.1"}, []Verdict{Undecided, Undecided, Undecided, Undecided}, inquiry.NoDistribution},
		{[]string{"0.3", "0.3"}, []string{"0.1", "0.1"}, []Verdict{Undecided, Undecided, Undecided, Undecided}, inquiry.NoDistribution}, // 1/2 each, of their sums
		{[]string{"0.5", "1e400"}, []string{"0.5", "0.5"}, []Verdict{Undecided, Undecided, Undecided, Undecided}, inquiry.NoDistribution},
		{[]string{"0.5", "1.5"}, []string{"0.5", "0.5"}, []Verdict{Undecided, Undecided, Undecided, Undecided}, inquiry.NoDistribution},
		{[]string{"0.9", "0.0999"}, []string{"0.4", "0.6"}, []Verdict{Violated, Violated, Violated, Violated}, ""},
		{[]string{"0.9", "0.2"}, []string{"0.3", "0.7"}, []Verdict{Violated, Violated, Violated, Violated}, ""},
		{[]string{"-0.1", "1.1"}, []string{"0.5", "0.5"}, []Verdict{Undecided, Undecided, Undecided, Undecided}, inquiry.Negative},
		{[]string{"-1e-400", "1"}, []string{"-1e-400", "1"}, []Verdict{Proved, Proved, Proved, Proved}, ""}, // 0 is the only reading
	} {
		for i, p := range all {
			o := Options{Properties: []Property{p}, Targets: map[Property]*big.Rat{ApproximateDP: big.NewRat(1, 10)}}.only(p)
			if p == ZCDP {
				o.Targets[ZCDP] = big.NewRat(1, 10)
			}
			for _, precision := range []string{"1e-9", "0"} {
				r := readingsOf(t, o, numbersOf(t, precision, c.p...), numbersOf(t, precision, c.q...)).Find(p)
				if precision == "0" && c.p[0] == "-1e-400" {
					require.Equal(t, []any{Undecided, inquiry.Negative}, []any{r.Verdict, r.Reason}, "%v: %s", c, r)
					continue
				}
				require.Equal(t, c.want[i], r.Verdict, "%v: %s", c, r)
				if c.reason != "" && r.Verdict == Undecided {
					require.Equal(t, c.reason, r.Reason, "%v: %s", c, r)
				}
			}
		}
	}
}

// A row that is not a distribution decides nothing about single probabilities, whatever it has in common with the other row, and no upper end of what
// is tight: what it misses may belong to any output. What is wrong with it is said with its place.
func TestNoDistributionDecidesNothing(t *testing.T) {
	half := []string{"0.5", "0.5"}
	for _, c := range []struct {
		p     []string
		fault string
		value float64
	}{
		{[]string{"0.5", "0.4"}, inquiry.NoDistribution, 0.9},
		{[]string{"0.5", "0.6"}, inquiry.NoDistribution, 1.1},
		{[]string{"-0.5", "1.5"}, inquiry.Negative, -0.5},
	} {
		for _, precision := range []string{"1e-9", "0"} {
			p, q := numbersOf(t, precision, c.p...), numbersOf(t, precision, half...)
			fault, place, value := (&inquiry.Answer{P: p}).Fault()
			require.Equal(t, c.fault, fault)
			require.Zero(t, place)
			require.InDelta(t, c.value, value.Float64(), 1e-12)
			for _, rows := range [][2][]*inquiry.Value{{p, q}, {q, p}, {p, p}} {
				asked := slices.DeleteFunc(All(), func(p Property) bool { return p == DominatesEM || p == DominatesEMMean }) // which are about one row
				report := readingsOf(t, Options{Properties: asked, Targets: map[Property]*big.Rat{ZCDP: big.NewRat(10, 1), ApproximateDP: big.NewRat(9, 10)}}, rows[0], rows[1])
				for _, r := range report.Properties {
					if r.Name == Sum {
						require.Equal(t, Violated, r.Verdict)
						continue
					}
					require.Equal(t, Undecided, r.Verdict, "%v: %s", c, r)
					require.Contains(t, []string{inquiry.NoDistribution, inquiry.Negative}, r.Reason, "%v: %s", c, r)
					for _, tight := range []number.Number{r.TightEps, r.Range, r.Rho} {
						_, bounded := tight.Upper()
						require.False(t, bounded, "%v: %s", c, r)
					}
				}
			}
		}
	}
	fault, _, _ := (&inquiry.Answer{P: numbersOf(t, "1e-9", "0.333333333", "0.666666667")}).Fault()
	require.Empty(t, fault)
	fault, _, _ = (&inquiry.Answer{Event: "error"}).Fault()
	require.Empty(t, fault)
}

// The δ is that of the claimed ε, whatever the tight ε may exceed it by.
func TestSlackIsNoneOfDelta(t *testing.T) {
	for _, precision := range []string{"0", "1e-9"} {
		o := Options{Properties: []Property{ApproximateDP}, Targets: map[Property]*big.Rat{ApproximateDP: big.NewRat(1, 20)}, Slack: big.NewRat(1, 2)}
		r := readingsOf(t, o, numbersOf(t, precision, "0.5", "0.5"), numbersOf(t, precision, "0.8", "0.2")).Properties[0]
		require.Equal(t, Violated, r.Verdict, "%s", r)
		require.InDelta(t, 0.1, r.TightDelta.Float64(), 1e-8)
	}
}

// TestSlackIsOneRule: what is not exact is proved up to the slack above the claim and violated beyond it, whether the slack is the default or given, and undecided only
// where the readings lie on both sides; what is exact has no slack but that which is given. An excess that the first digits do not show is named.
func TestSlackIsOneRule(t *testing.T) {
	ln2 := ratOf("0.693147180559945309417232121458")
	above := func(offset string) (b, a string) { // 1 - a and a = 2^-(2+x), up to x³
		y := new(big.Rat).Mul(ratOf(offset), ln2)
		square := new(big.Rat).Mul(y, y)
		y.Sub(square.Mul(square, big.NewRat(1, 2)), y)
		y.Mul(y.Add(y, big.NewRat(1, 1)), big.NewRat(1, 4))
		return new(big.Rat).Sub(big.NewRat(1, 1), y).FloatString(40), y.FloatString(40)
	}
	for _, c := range []struct {
		offset      string // of the tight ε, as a part of ε
		near, exact Verdict
	}{
		{"-1e-6", Proved, Proved}, {"-1e-12", Proved, Proved}, {"1e-12", Proved, Violated}, {"0.5e-6", Proved, Violated}, {"0.99e-6", Proved, Violated},
		{"1e-6", Undecided, Violated}, {"1.01e-6", Violated, Violated}, {"1e-3", Violated, Violated},
	} {
		b, a := above(c.offset)
		for _, o := range []Options{{}, {Slack: new(big.Rat).Mul(ln2, epsSlack)}} {
			o.Properties = []Property{DP}
			dp := readingsOf(t, o, numbersOf(t, "1e-9", "0.5", "0.5"), numbersOf(t, "1e-9", b, a)).Properties[0]
			assert.Equal(t, c.near, dp.Verdict, "%s, slack %v: %s", c.offset, o.Slack, dp)
			want := c.exact
			if o.Slack != nil && want == Violated && c.near == Proved {
				want = Proved
			}
			if c.near != Undecided || o.Slack == nil {
				dp = readingsOf(t, o, numbersOf(t, "0", "0.5", "0.5"), numbersOf(t, "0", b, a)).Properties[0]
				assert.Equal(t, want, dp.Verdict, "%s, slack %v: %s", c.offset, o.Slack, dp)
			}
			if dp.Verdict == Violated {
				assert.Equal(t, ratOf(c.offset).Cmp(big.NewRat(1, 100_000)) < 0, strings.Contains(dp.Reason, "exceeds the claimed one by"), "%s", dp)
			}
		}
	}
	b, a := above("1e-12")
	dp := readingsOf(t, Options{Properties: []Property{DP}}, numbersOf(t, "0", "0.5", "0.5"), numbersOf(t, "0", b, a)).Properties[0]
	assert.Equal(t, "the tight ε exceeds the claimed one by 6.9e-13, which a slack of 7e-13 allows", dp.Reason)
	// δ at ε = ln 2: 0.8 - 2·0.1 = 0.6.
	for delta, want := range map[string]Verdict{"0.6": Proved, "0.5995": Proved, "0.599": Violated, "0.61": Proved, "0.5994008": Undecided} {
		o := Options{Properties: []Property{ApproximateDP}, Targets: map[Property]*big.Rat{ApproximateDP: ratOf(delta)}}
		near := readingsOf(t, o, numbersOf(t, "1e-6", "0.8", "0.2"), numbersOf(t, "1e-6", "0.1", "0.9")).Properties[0]
		assert.Equal(t, want, near.Verdict, "δ = %s: %s", delta, near)
		exact := readingsOf(t, o, numbersOf(t, "0", "0.8", "0.2"), numbersOf(t, "0", "0.1", "0.9")).Properties[0]
		assert.Equal(t, map[bool]Verdict{true: Proved, false: Violated}[o.Targets[ApproximateDP].Cmp(ratOf("0.6")) >= 0], exact.Verdict, "δ = %s: %s", delta, exact)
	}
}

func ratOf(text string) *big.Rat { x, _ := new(big.Rat).SetString(text); return x }
