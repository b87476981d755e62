package compose

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/internal/evidence/evidencetest"
	"optratio/internal/slowtest"
	"optratio/number"
	"optratio/verify/certificate"
)

// The checker, which shares only arithmetic with the recursion, accepts its certificates, of mixed steps too. Of forged ones it accepts none whose claim is false:
// none that excludes the enclosure of a finer grid.
func TestCertificates(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 5))
	accepted, refused := 0, 0
	cases, times := 3, 12
	if slowtest.Enabled {
		cases, times = 10, 30
	}
	for range cases {
		p := &Problem{Gap: 0.03, Prove: true}
		total := 0.0
		for range 1 + r.IntN(3) {
			k := randomKind(r, "em", "pf", "em", "pf", "geo", "krr")
			k.Eps = eps(t, fmt.Sprintf("%.2f", 0.05+r.Float64()))
			p.Steps = append(p.Steps, Step{k, 1 + r.IntN(3)})
			total += k.Eps.Float() * float64(p.Steps[len(p.Steps)-1].Count)
		}
		ask := func(p *Problem) (*Answer, error) { return p.Eps(t.Context(), big.NewRat(1, 1000)) }
		if r.IntN(2) == 0 {
			s, _ := new(big.Rat).SetString(fmt.Sprintf("%.3f", total*0.9*r.Float64()))
			ask = func(p *Problem) (*Answer, error) { return p.Delta(t.Context(), s) }
		}
		yes, no := forge(t, r, p, times, ask)
		accepted, refused = accepted+yes, refused+no
	}
	// blocks, equal queries, and bounds below 10^-40 far up a table
	for _, p := range []*Problem{
		{Steps: []Step{{Kind{"em", eps(t, "0.5"), 0}, 150}, {Kind{"krr", eps(t, "0.5"), 3}, 150}}, Gap: 0.2, Prove: true},
		{Steps: []Step{{Kind{"pf", eps(t, "0.1"), 0}, 200}}, Gap: 0.03, Prove: true, Equal: true},
		{Steps: []Step{{Kind{"em", eps(t, "0.1"), 0}, 15}}, Gap: 1e-2, Prove: true},
	} {
		yes, no := forge(t, r, p, times/2, func(p *Problem) (*Answer, error) { return p.Eps(t.Context(), big.NewRat(1, 1000000)) })
		accepted, refused = accepted+yes, refused+no
	}
	assert.Greater(t, accepted, 5)
	assert.Greater(t, refused, 30)
}

// forge writes a certificate and forges it so many times. It returns how many of these the checker accepts and refuses.
func forge(t *testing.T, r *rand.Rand, p *Problem, times int, ask func(*Problem) (*Answer, error)) (accepted, refused int) {
	a, err := ask(p)
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, a.WriteCertificate(&file))
	rep, err := certificate.Check(bytes.NewReader(file.Bytes()), certificate.Options{})
	require.NoError(t, err)
	require.True(t, rep.Valid, "%v: %s", p.Steps, rep.Reason)
	fine := *p
	fine.Gap, fine.Prove = p.Gap/10, false
	truth, err := ask(&fine)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(file.String(), "\n"), "\n")
	for range times {
		rep, err := certificate.Check(strings.NewReader(strings.Join(forged(r, lines, a), "\n")+"\n"), certificate.Options{})
		if err != nil {
			continue
		}
		if !rep.Valid {
			refused++
			continue
		}
		accepted++
		low, high := rep.Claims[0].Value.Ends()
		require.LessOrEqual(t, down(number.FromRat(low, prec)), up(truth.Upper)*(1+1e-12), "%v", p.Steps)
		require.GreaterOrEqual(t, up(number.FromRat(high, prec)), down(truth.Lower)*(1-1e-12), "%v", p.Steps)
	}
	return accepted, refused
}

// A certificate of the largest ε has tables for the lower end, and an attack at the upper one: neither end can be moved inwards by much.
func TestCertificatesOfTheLargest(t *testing.T) {
	for _, p := range []Problem{
		{Steps: []Step{{Kind{Mechanism: "em"}, 8}}, Gap: 1e-2, Prove: true},
		{Steps: []Step{{Kind{Mechanism: "pf"}, 30}}, Gap: 1e-2, Prove: true, Equal: true},
	} {
		found, err := p.Largest(t.Context(), big.NewRat(1, 1), big.NewRat(1, 1000000))
		require.NoError(t, err)
		require.NoError(t, found.Stopped)
		lower, upper := found.Lower, found.Upper
		var file bytes.Buffer
		require.NoError(t, found.Shown.WriteCertificate(&file))
		check := func(text string) *certificate.Report {
			rep, err := certificate.Check(strings.NewReader(text), certificate.Options{})
			require.NoError(t, err)
			return rep
		}
		rep := check(file.String())
		require.True(t, rep.Valid, rep.Reason)
		low, high := rep.Claims[0].Value.Ends()
		assert.True(t, low.Cmp(lower) <= 0 && high.Cmp(upper) >= 0)
		claim := regexp.MustCompile(`claim parameter \S+ \S+`)
		at := func(low, high *big.Rat) string {
			return claim.ReplaceAllString(file.String(), fmt.Sprintf("claim parameter %s %s", low.RatString(), high.RatString()))
		}
		assert.False(t, check(at(lower, mul(lower, big.NewRat(1001, 1000)))).Valid, "a smaller ε is not refuted")
		assert.False(t, check(at(mul(lower, big.NewRat(1001, 1000)), upper)).Valid, "the tables are for a smaller ε")
		moved := strings.Replace(file.String(), " "+lower.RatString()+"\n", " "+mul(upper, big.NewRat(1001, 1000)).RatString()+"\n", 1)
		assert.False(t, check(moved).Valid, "the tables are for another ε")
	}
}

// A bound of 1 needs no proof, no δ is above 1, and an ε in total of 0 is exact.
func TestCertificatesOfTrivialEnds(t *testing.T) {
	p := &Problem{Steps: []Step{{Kind{"pf", eps(t, "7.5"), 0}, 1}, {Kind{"em", eps(t, "21"), 0}, 1}, {Kind{"krr", eps(t, "14"), 10}, 1}}, Gap: 1e-2, Prove: true}
	zero := &Problem{Steps: []Step{{Kind{"em", eps(t, "2"), 0}, 1}}, Gap: 1e-3, Prove: true}
	a, err := p.Delta(t.Context(), new(big.Rat))
	require.NoError(t, err)
	assert.LessOrEqual(t, up(a.Upper), 1.0)
	b, err := zero.Eps(t.Context(), big.NewRat(9, 10))
	require.NoError(t, err)
	assert.Zero(t, up(b.Upper))
	for _, a := range []*Answer{a, b} {
		require.NoError(t, a.Stopped)
		var file bytes.Buffer
		require.NoError(t, a.WriteCertificate(&file))
		rep, err := certificate.Check(&file, certificate.Options{})
		require.NoError(t, err)
		assert.True(t, rep.Valid, rep.Reason)
	}
}

// A coarse table may have the best attack, and blocks of a finer one the best bound.
func TestCertificatesOfEventsAndBlocks(t *testing.T) {
	p := &Problem{Steps: []Step{{Kind{"em", eps(t, "7"), 0}, 1}, {Kind{"em", eps(t, "1"), 0}, 1}}, Gap: 1e-3, Prove: true}
	a, err := p.Eps(t.Context(), big.NewRat(1, 1000000))
	require.NoError(t, err)
	var file bytes.Buffer
	require.NoError(t, a.WriteCertificate(&file))
	require.Contains(t, file.String(), "\nstride ")
	require.Contains(t, file.String(), "\nevent ")
	rep, err := certificate.Check(bytes.NewReader(file.Bytes()), certificate.Options{})
	require.NoError(t, err)
	assert.True(t, rep.Valid, rep.Reason)
	rep, err = certificate.Check(strings.NewReader(strings.Replace(file.String(), "claim cost 7.8", "claim cost 7.9", 1)), certificate.Options{})
	require.NoError(t, err)
	assert.Contains(t, rep.Reason, "the attack does not show")
}

// What floating-point numbers have no room for is no proof: bounds that vanish where V does not, and probabilities times more than the greatest number.
func TestCertificatesBeyondFloats(t *testing.T) {
	const count, d = 46, 0x1p-10
	p := 1 / (1 + math.Exp(-d)*(1<<30-1))
	lines := []string{"problem compose", fmt.Sprintf("selections krr:%d %d 1/1024", 1<<30, count), "delta 1/1" + strings.Repeat("0", 500), "grid " + dyadic(d),
		fmt.Sprintf("claim cost 0 %d/1024", count-1)}
	for t, b := 0, -math.Expm1(-d); t < count; t++ { // V_{t+1}(td) = p^{t+1}(1-e^{-d})
		if b *= p * (1 + 1e-9); b > 0 {
			b += math.SmallestNonzeroFloat64
		}
		lines = append(lines, "bound"+strings.Repeat(" 1", t)+" "+dyadic(b)+" 0")
	}
	for _, lines := range [][]string{lines, {"problem compose", "selections em 100000 1/2", "total 20", "adversary equal", "claim cost 0 1/10"}, {"problem compose", "selections geo 20 1/2", "total 9/10", "adversary equal", "claim cost 2/3 1", "attack 1000 -3", "query 1/2 1 1"}} {
		lines = append(lines, fmt.Sprintf("end %d", len(lines)+1))
		rep, err := certificate.Check(strings.NewReader("optratio-certificate 3\n"+strings.Join(lines, "\n")+"\n"), certificate.Options{})
		require.NoError(t, err)
		assert.False(t, rep.Valid)
		assert.Regexp(t, "row 3. node 3.|some equal queries|does not show", rep.Reason)
	}
}

// forged is a certificate with some bounds lowered, some queries or events of the attack changed, or a claim that is moved inwards, upwards or downwards.
func forged(r *rand.Rand, lines []string, a *Answer) []string {
	out := append([]string(nil), lines...)
	for i, line := range out {
		f := strings.Fields(line)
		switch {
		case f[0] == "bound" && r.IntN(len(out)) < 3:
			at := 1 + r.IntN(len(f)-1)
			x := evidencetest.Rational(f[at])
			v, _ := x.Float64()
			f[at] = fmt.Sprintf("%x", v*(1-[]float64{1e-9, 1e-5, 1e-2, 1}[r.IntN(4)]))
			if f[at] == "0x0p+00" {
				f[at] = "0"
			}
		case f[0] == "event" && r.IntN(len(out)) < 3:
			at := 4 + r.IntN(2)
			f[at] = fmt.Sprint(r.IntN(200) - 20)
		case f[0] == "losses" && r.IntN(3) == 0:
			for range 1 + len(f)/4 {
				at := 2 + r.IntN(len(f)-2)
				v, _ := evidencetest.Rational(f[at]).Float64()
				if f[at] = fmt.Sprintf("%x", v*(1-[]float64{1e-9, 1e-3, 0.1}[r.IntN(3)])); v == 0 {
					f[at] = "0"
				}
			}
		case (f[0] == "attack" || f[0] == "query") && r.IntN(4) == 0:
			f[2] = fmt.Sprint(r.IntN(9) - 4)
		case f[0] == "claim":
			low, high := down(a.Lower), up(a.Upper)
			width := high - low
			switch r.IntN(4) {
			case 0:
				high -= width * r.Float64()
			case 1:
				low += width * r.Float64()
			case 2:
				low, high = low*0.9, high*1.1
			}
			f = []string{"claim", "cost", fmt.Sprintf("%.17f", low), fmt.Sprintf("%.17f", max(low, high))}
		}
		out[i] = strings.Join(f, " ")
	}
	return out
}
