package certificate_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify/certificate"
)

// section returns a certificate of the given lines.
func section(body string) lines {
	l := append(lines{"optratio-certificate 3"}, asked(body)...)
	return append(l, "end").withEnd()
}

func (l lines) withEnd() lines {
	l[len(l)-1] = "end 0"
	return l.ended()
}

// Two inputs with the 0/1 loss at distance d have the optimum 1/(1+e^{dε}), by two multipliers; with one direction of privacy alone it is 1/(2e^ε), and where an output is
// forbidden at a neighbor, it cannot be answered. All of it is worked out by hand.
func TestTablesByHand(t *testing.T) {
	const head = "problem table\ninputs 2\noutputs 2\ndelta 0\nexp-epsilon %s\nprecision 64\nclaim optimum %s\nprior 1 1\nloss 0 1\nloss 1 0\n"
	for name, c := range map[string]struct {
		body  string
		valid bool
	}{
		"d = 2":            {fmt.Sprintf(head, "2", "1/5 1/5") + "pair 0 1 2\ninput 4/5 1/5\ninput 1/5 4/5\nmultiplier 1 3 1 4/5\nmultiplier 2 0 1 4/5", true},
		"d = 2, too good":  {fmt.Sprintf(head, "2", "1/6 1/6") + "pair 0 1 2\ninput 5/6 1/6\ninput 1/6 5/6\nmultiplier 1 3 1 4/5\nmultiplier 2 0 1 4/5", false},
		"d = 1/2":          {fmt.Sprintf(head, "4", "0.333333333 0.333333334") + "pair 0 1 1/2\ninput 0.6666666666 0.3333333334\ninput 0.3333333334 0.6666666666", false}, // decimals are for claims
		"d = 1/2, e^ε = 4": {fmt.Sprintf(head, "4", "0.333333333 0.333333334") + "pair 0 1 1/2\ninput 6666666666/10000000000 3333333334/10000000000\ninput 1 0", false},
		"d = 1/2, dyadic": {fmt.Sprintf(head, "4", "0.333332 0.333334") + "pair 0 1 1/2\ninput 349525/524288 174763/524288\ninput 174763/524288 349525/524288\n" +
			"multiplier 1 3 1 2/3\nmultiplier 2 0 1 2/3", true},
		"d = 0":        {fmt.Sprintf(head, "2", "1/2 1/2") + "pair 0 1 0\ninput 1/2 1/2\ninput 1/2 1/2\nmultiplier 1 3 1 1/2\nmultiplier 2 0 1 1/2", true},
		"one way":      {fmt.Sprintf(head, "2", "1/4 1/4") + "arrow 0 1 1\ninput 1/2 1/2\ninput 0 1\nmultiplier 1 3 1 1", true},
		"not that way": {fmt.Sprintf(head, "2", "1/4 1/4") + "arrow 1 0 1\ninput 1/2 1/2\ninput 0 1\nmultiplier 1 3 1 1", false},
		"both ways":    {fmt.Sprintf(head, "2", "1/4 1/4") + "pair 0 1 1\ninput 1/2 1/2\ninput 0 1\nmultiplier 1 3 1 1", false},
		"forbidden":    {fmt.Sprintf(head, "2", "1/2 1/2") + "forbidden 0 1\npair 0 1 1\ninput 1 0\ninput 1 0\nmultiplier 1 3 1 2", true},
		"answered":     {fmt.Sprintf(head, "2", "1/3 1/2") + "forbidden 0 1\npair 0 1 1\ninput 2/3 1/3\ninput 1/3 2/3\nmultiplier 1 3 1 2", false},
		"allowed":      {fmt.Sprintf(head, "2", "1/2 1/2") + "pair 0 1 1\ninput 1 0\ninput 1 0\nmultiplier 1 3 1 2", false}, // the optimum is 1/3 then
		"no row":       {fmt.Sprintf(head, "2", "0 1") + "pair 0 1 1\ninput 1 0\ninput 1 0\nmultiplier 0 3 1 1", false},
		"an outcome":   {fmt.Sprintf(head, "2", "0 1") + "pair 0 1 1\ninput 1 0\ninput 1/2 1/4", false},
		"twice":        {fmt.Sprintf(head, "2", "0 1") + "pair 0 1 1\npair 1 0 2\ninput 1 0\ninput 1 0", false},
	} {
		l := section(c.body)
		r, err := checked(t, l)
		require.NoError(t, err, name)
		assert.Equal(t, c.valid, r.Valid, "%s: %s\n%s", name, r.Reason, l)
	}
}

// What is no table and what is no rule is refused, whatever it would gain.
func TestNoTableAndNoRule(t *testing.T) {
	const rule = "problem stopping\nn 2\ndistance 1\ndelta 1\npayoff %s\nexp-epsilon 2\nprecision 0\nclaim optimum %s\n"
	for text, want := range map[string]string{
		"problem table\ninputs 1\noutputs 2\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum -1 -1\nprior 1\nloss 0 1\ninput 2 -1":              "negative",
		"problem table\ninputs 2\noutputs 1\ndelta 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nprior 2 -1\nloss 0\nloss 1\ninput 1\ninput 1": "a weight is negative",
		fmt.Sprintf(rule, "1 0", "1/2 1/2") + "take 1 1 1 all":                                                                                     "",
		fmt.Sprintf(rule, "1 0", "1/2 1/2") + "take 2 1 2 all":                                                                                     "",
		fmt.Sprintf(rule, "1 0", "1 1") + "take 1 1 1 2\ntake 2 1 2 all":                                                                           "more is taken than reaches it",
		fmt.Sprintf(rule, "-1 -1", "-1/2 0") + "take 1 1 1 1/2":                                                                                    "taken nobody",
		fmt.Sprintf(rule, "-1 -1", "-1/2 0") + "take 1 1 1 1/2\ntake 2 1 1 all":                                                                    "taken nobody",
		fmt.Sprintf(rule, "1 0", "0 1") + "take 1 1 1 all\ntake 1 1 1 all":                                                                         "no relative ranks",
		fmt.Sprintf(strings.Replace(rule, "delta 1", "delta 0", 1), "1 -1", "0 1/4") + "multiplier 1 2 1\ntake 1 1 1 all":                          "and less is claimed",
	} {
		r, err := checked(t, section(text))
		require.NoError(t, err, text)
		assert.Equal(t, want == "", r.Valid, "%s: %s", r.Reason, text)
		assert.Contains(t, r.Reason, want)
	}
	// Only what is a row of the problem has a multiplier, and no multiplier is negative.
	const three = "problem stopping\nn 3\ndistance 1\ndelta 0\npayoff 1 0 0\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1\nmultiplier "
	for row, want := range map[string]string{"1 2 1": "", "1 3 1": "not neighbors", "2 2 1": "not neighbors", "1 2 -1": "not positive", "1 4 1": "more than 3", "2 1 1\nmultiplier 1 2 1": "not after the row"} {
		r, err := checked(t, section(three+row+"\ntake 3 1 3 all"))
		require.NoError(t, err, row)
		assert.Equal(t, want == "", r.Valid, "%s: %s", row, r.Reason)
		assert.Contains(t, r.Reason, want)
	}
	// Without stopping at the first, the best of two is taken if it comes last; a rule that waits for it is not private.
	r, err := checked(t, section("problem stopping\nn 3\ndistance 1\ndelta 0\npayoff 1 0 0\nexp-epsilon 11/10\nprecision 0\nclaim optimum 1/2 1/2\ntake 2 1 1 all\ntake 3 1 3 all"))
	require.NoError(t, err)
	assert.False(t, r.Valid)
	assert.Contains(t, r.Reason, "not private")
}

// witnesses are violations, by mechanisms with a formula and by stated numbers.
var witnesses = []string{
	"problem witness\nproperty dominates-em\nmechanism krr\nexp-epsilon 2\nscale 2\nscores 0 -4\nt 4",
	"problem witness\nproperty dominates-em\nmechanism krr\nepsilon 1/2\nscale 1\nscores 0 0 -3 -4\nt 3",
	// Neighbors that differ by 2Δ where the mechanism is run for Δ.
	"problem witness\nproperty dp\nmechanism em\nexp-epsilon 3/2\nscale 1\nscores 2 0 0\nneighbors linf\nsensitivity 1\ndelta 0\nneighbor 1 1 1\ncandidate 0",
	"problem witness\nproperty dp\nmechanism pf\nepsilon 1\nscale 1\nscores 0 -1\nneighbors monotonic\nsensitivity 2\ndelta 1/100\nneighbor 2 -1",
	"problem witness\nproperty dp\nmechanism table\nexp-epsilon 2\nscale 2\nscores 0 1\nneighbors linf\nsensitivity 1\ndelta 0\nneighbor 1 1\ncandidate 1\npmf - 0.9\nneighbor-pmf 0.55,0.57 0.44,0.448",
	"problem witness\nproperty dp\nmechanism table\nexp-epsilon 2\nscale 2\nscores 0 1\nneighbors stated\nsensitivity 1\ndelta 1/10\nneighbor 7 1\npmf 1/10 9/10\nneighbor-pmf 7/10 3/10",
	// One probability of an event, at inputs, of which d = 2 makes e^dε = 4, or at scores.
	"problem witness\nproperty dp\nmechanism table\nexp-epsilon 2\ninput [3,1]\nneighbor-input [3,\"1\"]\ndistance 2\ndelta 0\nevent [0,2]\npmf 9/10\nneighbor-pmf 0.1,0.2",
	"problem witness\nproperty dp\nmechanism table\nepsilon 1/2\ninput 1\nneighbor-input 10\ndistance 1/3\ndelta 1/10\nevent error\npmf 1\nneighbor-pmf 0",
	"problem witness\nproperty dp\nmechanism table\nexp-epsilon 2\nscale 2\nscores 0 1\nneighbors linf\nsensitivity 1\ndelta 1/10\nneighbor 1 1\nevent [\"a\"]\npmf 4/5\nneighbor-pmf 0.3,0.34",
	// Rényi divergences, of the exponential mechanism as autodp had them.
	"problem witness\nproperty rdp\nmechanism em\nepsilon 1\nscale 2\nscores -3/4 0\nneighbors shifted\nsensitivity 1\norder 8\nclaimed 10809/25000\nneighbor 0 -5/4",
	"problem witness\nproperty rdp\nmechanism pf\nexp-epsilon 3/2\nscale 2\nscores 0 0\nneighbors shifted\nsensitivity 1\norder 3/2\nclaimed 1/100\nneighbor 0 -2",
	"problem witness\nproperty rdp\nmechanism krr\nexp-epsilon 2\nscale 2\nscores 1 0 -4\nneighbors linf\nsensitivity 1\norder inf\nclaimed 1/2\nneighbor 0 1 -4",
	"problem witness\nproperty rdp\nmechanism table\nepsilon 1\ninput 1\nneighbor-input 2\ndistance 1\norder 1\nclaimed 1/10\nevent [\"a\",\"b\",\"none\"]\npmf 1/2 0 1/2\nneighbor-pmf 0.2,0.22 1/100 7/9",
	"problem witness\nproperty rdp\nmechanism table\nepsilon 1\nscale 2\nscores 0 1\nneighbors linf\nsensitivity 1\norder 2\nclaimed 100\nneighbor 1 1\nevent [0,1]\npmf 1/2 1/2\nneighbor-pmf 1 0",
}

// oracle works a witness's excess out with the registered mechanisms.
func (l lines) oracle(t *testing.T) number.Interval {
	const prec = 300
	eps, err := l.epsilon()
	require.NoError(t, err)
	at := func(name, scores string) []number.Interval {
		m, err := mechanisms.Lookup(name)
		require.NoError(t, err)
		half := new(big.Rat).Quo(rational(l.field("scale")), big.NewRat(2, 1))
		p, err := mechanisms.EnclosedDistribution(m, &mechanisms.Instance{Scores: rationals(scores), Sensitivities: []*big.Rat{half}, Epsilon: eps}, prec)
		require.NoError(t, err)
		return p
	}
	stated := func(word string) (out []number.Interval) {
		for _, f := range strings.Fields(l.field(word)) {
			lo, hi, two := strings.Cut(f, ",")
			if !two {
				hi = lo
			}
			out = append(out, number.Hull(number.FromRat(rational(lo), prec), number.FromRat(rational(hi), prec)))
		}
		return out
	}
	name := l.field("mechanism")
	sum := number.FromInt(0, prec)
	if l.field("property") == "dominates-em" {
		scores, p, em := rationals(l.field("scores")), at(name, l.field("scores")), at("em", l.field("scores"))
		best := slices.MaxFunc(scores, (*big.Rat).Cmp)
		for r, q := range scores {
			if new(big.Rat).Sub(best, q).Cmp(rational(l.field("t"))) >= 0 {
				sum = sum.Add(p[r].Sub(em[r]))
			}
		}
		return sum
	}
	var p, other []number.Interval
	if name == "table" {
		p, other = stated("pmf"), stated("neighbor-pmf")
	} else {
		p, other = at(name, l.field("scores")), at(name, l.field("neighbor"))
	}
	d := big.NewRat(1, 1)
	if l.field("input") != "" {
		d = rational(l.field("distance"))
	}
	if l.field("property") == "rdp" {
		return l.renyi(p, other)
	}
	e := eps.ExpNeg(d.Neg(d), prec)
	if delta := rational(l.field("delta")); delta.Sign() > 0 {
		for r := range p {
			sum = sum.Add(p[r].Sub(e.Mul(other[r])).Max(number.FromInt(0, prec)))
		}
		return sum.Sub(number.FromRat(delta, prec))
	}
	r := 0
	if l.field("event") == "" {
		r = l.whole("candidate")
	}
	return p[r].Sub(e.Mul(other[r]))
}

// renyi is what the divergence exceeds the claim by.
func (l lines) renyi(p, other []number.Interval) number.Interval {
	const prec = 300
	c, order := rational(l.field("claimed")), l.field("order")
	sum, most := number.FromInt(0, prec), number.FromInt(0, prec)
	for r := range p {
		if s, ok := p[r].Sign(); ok && s == 0 {
			continue
		}
		if s, ok := other[r].Sign(); ok && s == 0 {
			return number.FromInt(1, prec)
		}
		ratio := p[r].Quo(other[r])
		most = most.Max(number.Log(ratio))
		switch order {
		case "inf":
		case "1":
			sum = sum.Add(p[r].Mul(number.Log(ratio)))
		default:
			s := new(big.Rat).Sub(rational(order), big.NewRat(1, 1))
			sum = sum.Add(p[r].Mul(number.Exp(number.FromRat(s, prec).Mul(number.Log(ratio)))))
		}
	}
	switch order {
	case "inf":
		sum = most
	case "1":
	default:
		sum = number.Log(sum).Quo(number.FromRat(rational(order), prec).Sub(number.FromInt(1, prec)))
	}
	return sum.Sub(number.FromRat(c, prec))
}

// close reports whether the vectors are neighbors, by the definition.
func (l lines) close() bool {
	if a := l.field("input"); a != "" {
		return l.field("mechanism") == "table" && a != l.field("neighbor-input")
	}
	if l.field("scores") == l.field("neighbor") {
		return false
	}
	p, q, delta := rationals(l.field("scores")), rationals(l.field("neighbor")), rational(l.field("sensitivity"))
	up, down, near := true, true, true
	for r := range p {
		d := new(big.Rat).Sub(q[r], p[r])
		up, down = up && d.Sign() >= 0, down && d.Sign() <= 0
		near = near && new(big.Rat).Abs(d).Cmp(delta) <= 0
	}
	switch l.field("neighbors") {
	case "stated":
		return l.field("mechanism") == "table"
	case "shifted":
		for r := range p {
			for s := range p {
				d := new(big.Rat).Sub(q[r], p[r])
				if d.Sub(d, new(big.Rat).Sub(q[s], p[s])).Cmp(new(big.Rat).Mul(delta, big.NewRat(2, 1))) > 0 {
					return false
				}
			}
		}
		return true
	case "monotonic":
		return near && (up || down)
	}
	return near
}

// Witnesses are decided anew.
func TestWitnesses(t *testing.T) {
	for _, text := range witnesses {
		base := section(text)
		r, err := checked(t, base)
		require.NoError(t, err, text)
		require.True(t, r.Valid, "%s: %s", r.Reason, text)
		require.Len(t, r.Claims, 1)
		low, ok := r.Claims[0].Value.Lower()
		require.True(t, ok)
		assert.Positive(t, low.Sign())
		if strings.Contains(text, "property rdp") { // a divergence is of all probabilities, and nothing depends on the name of an event
			assert.NotContains(t, r.Problem.About, "event")
		}
	}
}

// What cannot be decided is not called valid.
func TestWitnessesUndecided(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(witnesses[0], "mechanism krr", "mechanism rs", 1):                 "there is no formula for mechanism",
		strings.Replace(witnesses[4], "0.44,0.448", "0.44,0.46", 1):                       "too close to tell",
		strings.Replace(witnesses[4], "neighbor-pmf 0.55,0.57", "neighbor-pmf -", 1):      "", // not needed
		strings.Replace(witnesses[4], "0.44,0.448", "-", 1):                               "not there",
		strings.Replace(witnesses[5], "7/10 3/10", "7/10 -", 1):                           "not there",
		strings.Replace(witnesses[4], "neighbors linf", "neighbors monotonic", 1):         "",
		strings.Replace(witnesses[4], "sensitivity 1", "sensitivity 1/2", 1):              "not neighbors",
		strings.Replace(witnesses[2], "neighbors linf", "neighbors stated", 1):            "is decided here",
		strings.Replace(witnesses[2], "neighbors linf", "neighbors monotonic", 1):         "not neighbors",
		strings.Replace(witnesses[2], "candidate 0", "candidate 1", 1):                    "not violated there",
		strings.Replace(witnesses[2], "scale 1", "scale 2", 1):                            "not violated there",
		strings.Replace(witnesses[5], "pmf 1/10 9/10", "pmf 1/5 9/10", 1):                 "do not sum to 1",
		strings.Replace(witnesses[3], "\nneighbor 2 -1", "\nneighbor 2 -1 0", 1):          "2 were expected",
		strings.Replace(witnesses[2], "neighbor 1 1 1", "neighbor 2 0 0", 1):              "vectors are equal",
		strings.Replace(witnesses[5], "neighbor 7 1", "neighbor 0 1", 1):                  "vectors are equal",
		strings.Replace(witnesses[6], `[3,"1"]`, `[3.00, 10e-1]`, 1):                      "inputs are equal",
		strings.Replace(witnesses[6], `[3,"1"]`, `[3,"n1e0"]`, 1):                         "",
		strings.Replace(witnesses[6], `[3,"1"]`, `[3, 1`, 1):                              "not a JSON value",
		strings.Replace(witnesses[6], `[3,"1"]`, `[3, 1e`+strings.Repeat("9", 20)+`]`, 1): "exponent",
		strings.Replace(witnesses[6], `[3,"1"]`, `"\ud800"`, 1):                           "surrogate",
		strings.Replace(witnesses[6], `[3,"1"]`, `"\\ud800"`, 1):                          "",
		strings.Replace(witnesses[6], `[3,"1"]`, "\"\xff\"", 1):                           "UTF-8",
		strings.Replace(witnesses[6], "distance 2", "distance 4", 1):                      "not violated there",
		strings.Replace(witnesses[6], "distance 2", "distance 0", 1):                      "distance is 0",
		strings.Replace(witnesses[6], "event [0,2]", "event ", 1):                         "no name",
		strings.Replace(witnesses[6], "pmf 9/10", "pmf 10/9", 1):                          "do not sum to 1",
		strings.Replace(witnesses[6], "0.1,0.2", "-", 1):                                  "not there",
		strings.Replace(witnesses[6], "mechanism table", "mechanism em", 1):               "scale",
		strings.Replace(witnesses[8], "delta 1/10", "delta 1/5", 1):                       "too close to tell",
		strings.Replace(witnesses[4], "\nneighbor-pmf 0.55,0.57 0.44,0.448", "", 1):       "neighbor-pmf",
	} {
		r, err := checked(t, section(text))
		switch {
		case err != nil:
			assert.ErrorIs(t, err, certificate.ErrUndecided)
			assert.ErrorContains(t, err, want)
		case want == "":
			assert.True(t, r.Valid, "%s: %s", r.Reason, text)
		default:
			assert.False(t, r.Valid, text)
			assert.Contains(t, r.Reason, want)
		}
	}
}

// A few bytes ask for no more than a moment: what takes longer is refused by its header, with the figure.
func TestSectionsThatCostTooMuch(t *testing.T) {
	const rest = "\nexp-epsilon 2\nprecision 0\nclaim optimum 0 1"
	for _, text := range []string{
		"problem heterogeneous\nsensitivities 1 1 1 1 1 1 1 1\nfrom 0\nstep 1\nsteps 1000000\nmechanisms all\nloss error\nprior uniform" + rest,
		"problem heterogeneous\nsensitivities 1 1 1\nfrom 0\nstep 1\nsteps 400\nmechanisms shift-invariant\nloss error\nprior uniform" + rest,
		"problem lattice\nn 1000\nk 1\nstep 1\ntop 400\nconstraints dp\nloss 0 1\nprior uniform" + rest,
		"problem lattice\nn 1000000\nk 1\nstep 1\ntop 1\nconstraints dp\nloss 0 1\nprior uniform" + rest,
		"problem lattice\nn 12\nk 6\nstep 1\ntop 6\nconstraints dp\nloss 0 1 2 3 4 5 6\nprior uniform" + rest,
		"problem lattice\nn 20\nk 1\nstep 4\ntop 1\nconstraints approximate\ndelta 0\nloss 0 1 2 3 4\nprior uniform" + rest,
		"problem stopping\nn 3000\ndistance 1\ndelta 0\npayoff" + strings.Repeat(" 1", 3000) + rest,
		"problem table\ninputs 2\noutputs 1\ndelta 0" + rest + "\nprior 1 1\nloss 0\nloss 0\npair 0 1 1" + strings.Repeat("0", 300) + "\ninput 1\ninput 1",
		"problem witness\nproperty dominates-em\nmechanism pf\nexp-epsilon 2\nscale 1\nscores" + strings.Repeat(" 1", 3000) + "\nt 1",
		"problem witness\nproperty dominates-em\nmechanism pf\nexp-epsilon 2\nscale 1\nscores 0 1" + strings.Repeat("0", 300) + "\nt 1",
	} {
		begin := processorTime()
		r, err := certificate.Check(strings.NewReader(section(text).String()), certificate.Options{})
		if assert.Error(t, err, "%.60s: %v", text, r) {
			assert.True(t, errors.Is(err, certificate.ErrLimit), "%v", err)
		}
		assert.Less(t, processorTime()-begin, 10*time.Second, "%.60s", text)
	}
}

// Where z is irrational, a table that violates a row by less than any enclosure of z shows is refused, and so is a bound that is above the optimum by as little.
func TestEndsOfEnclosures(t *testing.T) {
	z, _ := number.ExpRat(big.NewRat(-1, 2), 600).Lo().Rat(nil)
	one := big.NewRat(1, 1)
	for bits := uint(60); bits < 260; bits++ {
		hair := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), bits))
		for _, above := range []bool{false, true} {
			at := new(big.Rat).Sub(z, hair)
			body := "input %[1]s %[2]s\ninput %[2]s %[1]s"
			if above {
				at = new(big.Rat).Add(z, hair)
				body = "input 1/2 1/2\ninput 1/2 1/2\nmultiplier 1 3 1 %[1]s\nmultiplier 2 0 1 %[1]s"
			}
			more := new(big.Rat).Inv(new(big.Rat).Add(one, at))
			less := new(big.Rat).Sub(one, more) // the optimum at e^-ε = at
			low, high := "0", "1"
			if above {
				low = less.RatString()
			}
			r, err := checked(t, section("problem table\ninputs 2\noutputs 2\ndelta 0\nepsilon 1/2\nprecision 0\nclaim optimum "+low+" "+high+"\nprior 1 1\nloss 0 1\nloss 1 0\npair 0 1 1\n"+fmt.Sprintf(body+"%.0[2]s", more.RatString(), less.RatString())))
			require.NoError(t, err)
			require.False(t, r.Valid, "%d bits, above: %v", bits, above)
		}
	}
}

// processorTime is what this process has used; a busy machine does not change it.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
