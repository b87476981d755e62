package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/internal/slowtest"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// TestVerdictsOnTroubledTables draws tables of probabilities with every kind of numerical trouble that programs are known for, and judges
// each by definition in rational arithmetic: over the readings of all numbers, with no code of the packages under test. No verdict may be
// more than the readings give, and none less.
func TestVerdictsOnTroubledTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	seen := map[string]int{}
	for i := range 2400 {
		c := troubled(rng, i%len(troubles))
		o := Options{Epsilon: c.epsilon, Precision: c.precision, Seed: 1, Properties: []verify.Property{verify.DP}}
		if i%3 == 0 {
			o.Targets, o.Properties = atDelta(c.delta), []verify.Property{verify.ApproximateDP}
		}
		rows, err := ReadTable(strings.NewReader(c.text()), "table", Index, o.Precision)
		require.NoError(t, err, c.text())
		r, err := rows.Audit(context.Background(), false, o)
		require.NoError(t, err)
		p := r.Properties[0]
		want, strict := c.judge(o.Targets[verify.ApproximateDP])
		seen[fmt.Sprint(troubles[i%len(troubles)], " ", p.Verdict)]++
		if strict {
			require.Equal(t, want, p.Verdict, "%d, %s: %s\n%s\nε = %s, δ = %v, precision %s", i, troubles[i%len(troubles)], p.Reason, c.text(), c.ratio.RatString(), o.Targets[verify.ApproximateDP], c.precision.RatString())
		}
		if o.Targets == nil {
			least, most := c.extremes()
			lo, bounded := p.TightEps.Lower()
			if bounded && least != nil {
				x, _ := lo.Float64()
				require.LessOrEqual(t, x, logRat(least)+1e-9, c.text())
			}
			if hi, bounded := p.TightEps.Upper(); bounded {
				require.NotNil(t, most, c.text())
				x, _ := hi.Float64()
				require.GreaterOrEqual(t, x, logRat(most)-1e-9, c.text())
			}
		}
	}
	for _, kind := range troubles { // the test would say little if a kind only met one verdict
		require.Positive(t, seen[kind+" proved"], "%s: %v", kind, seen)
		require.Positive(t, seen[kind+" violated"], "%s: %v", kind, seen)
	}
	t.Log(seen)
}

// troubles are what happens to the numbers.
var troubles = []string{"fractions", "underflow", "few digits", "few digits, said", "absorbed scores", "steps of a cumulative sum", "wrong sum"}

// stated is a number as it stands in a table, and what it stands for.
type stated struct {
	text      string
	low, high *big.Rat
	zero      bool // a JSON 0, which another number may have been rounded to
}

// troubledTable is a table on the scores 0, …, n-1 of one candidate against another's 0; rows next to each other are neighbors.
type troubledTable struct {
	ratio     *big.Rat // e^ε
	epsilon   number.Epsilon
	precision *big.Rat
	delta     *big.Rat
	rows      [][]stated
}

func troubled(rng *rand.Rand, kind int) *troubledTable {
	ratio := []*big.Rat{big.NewRat(2, 1), big.NewRat(3, 2), big.NewRat(5, 4)}[rng.IntN(3)]
	epsilon, err := number.ParseExp(ratio.RatString())
	if err != nil {
		panic(err)
	}
	c := &troubledTable{ratio: ratio, epsilon: epsilon, precision: big.NewRat(1, 1e9), delta: big.NewRat(1+rng.Int64N(50), 1000)}
	// Odds of the one candidate that grow by at most e^ε a row, or a little more in tables that are to be violated.
	growth, _ := ratio.Float64()
	growth = math.Pow(growth, []float64{0.3, 0.999, 1.001, 1.5, 3}[rng.IntN(5)])
	odds := math.Ldexp(1, -2*rng.IntN(4))
	far, digits := 0, 2+rng.IntN(12)
	switch troubles[kind] {
	case "underflow":
		far = 1050 + rng.IntN(40)
	case "few digits, said":
		c.precision = new(big.Rat).SetFrac(big.NewInt(5), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
	}
	for row := range 2 + rng.IntN(3) {
		if troubles[kind] != "absorbed scores" || row%2 == 0 { // 10^16 + 1 is 10^16 there
			odds *= growth
		}
		x := math.Ldexp(odds, -far)
		p := x / (1 + x)
		switch troubles[kind] {
		case "fractions":
			n := 1 + int64(math.Ceil(1000*p))
			c.rows = append(c.rows, []stated{exactly(big.NewRat(n, 1002)), exactly(big.NewRat(1002-n, 1002))})
		case "few digits", "few digits, said":
			c.add(fmt.Sprintf("%.*e", digits-1, p), fmt.Sprintf("%.*e", digits-1, 1-p))
		case "steps of a cumulative sum":
			p = math.Ldexp(math.Round(math.Ldexp(math.Ldexp(p, -40*rng.IntN(2)), 53)), -53)
			c.add(jsonOf(p), jsonOf(1-p))
		case "wrong sum":
			c.add(jsonOf(p), jsonOf(1-p+float64(rng.IntN(2))/1024))
		default:
			c.add(jsonOf(p), jsonOf(1-p))
		}
	}
	return c
}

func jsonOf(x float64) string {
	text, _ := json.Marshal(x)
	return string(text)
}

func exactly(x *big.Rat) stated { return stated{text: `"` + x.String() + `"`, low: x, high: x} }

// add appends a row of JSON numbers.
func (c *troubledTable) add(texts ...string) {
	var row []stated
	for _, text := range texts {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			panic(text)
		}
		off := new(big.Rat).Mul(x, c.precision)
		normal := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1022))
		step := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1074))
		if x.Sign() > 0 && x.Cmp(normal) < 0 && off.Cmp(step) < 0 {
			off = step
		}
		s := stated{text: text, low: new(big.Rat).Sub(x, off), high: new(big.Rat).Add(x, off), zero: x.Sign() == 0}
		if s.low.Sign() < 0 {
			s.low = new(big.Rat)
		}
		row = append(row, s)
	}
	c.rows = append(c.rows, row)
}

func (c *troubledTable) text() string {
	var b strings.Builder
	for i, row := range c.rows {
		fmt.Fprintf(&b, "{\"scores\":[%d,0],\"pmf\":[%s,%s]}\n", i, row[0].text, row[1].text)
	}
	return b.String()
}

// eachPair calls f for every pair of neighboring rows in both directions.
func (c *troubledTable) eachPair(f func(a, b []stated)) {
	for i := 1; i < len(c.rows); i++ {
		f(c.rows[i-1], c.rows[i])
		f(c.rows[i], c.rows[i-1])
	}
}

// roundedAway returns the most that a number which is stated as o may be, where it is held against one that is not 0.
func roundedAway(o stated) *big.Rat {
	if o.zero {
		return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1074))
	}
	return o.high
}

// judge returns the verdict by definition, and whether the readings are clear of the ends of the slack.
func (c *troubledTable) judge(delta *big.Rat) (verdict verify.Verdict, strict bool) {
	exact := true
	for _, row := range c.rows {
		for _, s := range row {
			exact = exact && strings.HasPrefix(s.text, `"`)
		}
	}
	// e^{ε(1+10^-6)} lies between loose and looser.
	ratio, _ := c.ratio.Float64()
	part := 1e-6 * math.Log(ratio)
	loose := new(big.Rat).Mul(c.ratio, new(big.Rat).SetFloat64(1+part))
	looser := new(big.Rat).Mul(c.ratio, new(big.Rat).SetFloat64(1+part+part*part+1e-15))
	strict = true
	violated, open := false, false
	c.eachPair(func(a, b []stated) {
		for _, row := range [][]stated{a, b} {
			low, high := new(big.Rat), new(big.Rat)
			for _, s := range row {
				low.Add(low, s.low)
				high.Add(high, s.high)
			}
			switch off := max(ratOf(low)-1, 1-ratOf(high)); {
			case off > 1e-14:
				open = true // no distribution in any reading
			case off > -1e-14:
				strict = false // sums are taken in double precision
			}
		}
		least, most := new(big.Rat), new(big.Rat) // of δ
		for r := range a {
			least.Add(least, excess(a[r].low, c.ratio, roundedAway(b[r])))
			most.Add(most, excess(a[r].high, c.ratio, b[r].low))
			if delta != nil {
				continue
			}
			switch {
			case excess(a[r].low, c.ratio, roundedAway(b[r])).Sign() > 0:
				violated = true
			case excess(a[r].high, c.ratio, b[r].low).Sign() == 0:
			case exact || excess(a[r].high, looser, b[r].low).Sign() > 0:
				open = true
			case excess(a[r].high, loose, b[r].low).Sign() > 0:
				strict = false
			}
		}
		if delta != nil {
			bound := delta
			if !exact {
				bound = new(big.Rat).Mul(delta, big.NewRat(1001, 1000))
			}
			violated = violated || least.Cmp(delta) > 0
			open = open || most.Cmp(bound) > 0
		}
	})
	switch {
	case violated:
		return verify.Violated, strict
	case open:
		return verify.Undecided, strict
	}
	return verify.Proved, strict
}

func ratOf(x *big.Rat) float64 {
	f, _ := x.Float64()
	return f
}

// excess is max(0, p - ratio·o).
func excess(p, ratio, o *big.Rat) *big.Rat {
	x := new(big.Rat).Mul(ratio, o)
	if x.Sub(p, x); x.Sign() < 0 {
		x.SetInt64(0)
	}
	return x
}

// extremes returns the greatest ratio of two probabilities of one candidate at neighbors in the readings where it is least, and where it is
// most; nil: it has no end.
func (c *troubledTable) extremes() (least, most *big.Rat) {
	least, most = big.NewRat(1, 1), big.NewRat(1, 1)
	c.eachPair(func(a, b []stated) {
		for r := range a {
			if o := roundedAway(b[r]); a[r].low.Sign() > 0 && least != nil {
				if o.Sign() == 0 {
					least = nil
				} else if x := new(big.Rat).Quo(a[r].low, o); x.Cmp(least) > 0 {
					least = x
				}
			}
			if a[r].high.Sign() == 0 || most == nil {
				continue
			}
			if b[r].low.Sign() == 0 {
				most = nil
			} else if x := new(big.Rat).Quo(a[r].high, b[r].low); x.Cmp(most) > 0 {
				most = x
			}
		}
	})
	return least, most
}

// logRat is ln x in double precision, for x that may be beyond it.
func logRat(x *big.Rat) float64 {
	num, den := new(big.Float).SetInt(x.Num()), new(big.Float).SetInt(x.Denom())
	m, e := new(big.Float).Quo(num, den), 0
	e = m.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

// TestVerdictsOnTroubledMechanisms does the same for mechanisms that compute in double precision, with kinds of trouble that only they have.
// What is proved must hold on every pair of neighbors of the domain, which the test goes through by itself; what clearly fails there must be
// found; and every witness must be two neighbors of which the claim is false by the mechanism's own answers.
func TestVerdictsOnTroubledMechanisms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 13))
	kinds := []string{"none", "no number far from 0", "errors where all are tied", "absorbed scores", "steps of a cumulative sum", "few digits", "overflow", "nothing answered"}
	seen, count := map[string]int{}, 32
	if slowtest.Enabled {
		count = runs(96)
	}
	for i := range count {
		kind := kinds[i%len(kinds)]
		factor := []float64{0.25, 0.5, 0.5, 0.8}[rng.IntN(4)] // of ε; 1/2 is the exponential mechanism's
		far, digits := []float64{5, 1000, 1e6}[rng.IntN(3)], 3+rng.IntN(8)
		law := func(scores []float64, _, eps float64) ([]float64, error) {
			top, all := slices.Max(scores), 0.0
			if kind == "nothing answered" || kind == "errors where all are tied" && slices.Min(scores) == top {
				return nil, errors.New("no answer")
			}
			p := make([]float64, len(scores))
			for r, q := range scores {
				switch {
				case kind == "no number far from 0" && math.Abs(q) > far:
					q = math.NaN()
				case kind == "absorbed scores":
					q = (q + 0x1p53) - 0x1p53
				}
				p[r] = math.Exp(factor * eps * (q - top))
				if kind == "overflow" {
					p[r] = math.Exp(factor * eps * q)
				}
				all += p[r]
			}
			sum, before := 0.0, 0.0
			for r := range p {
				p[r] /= all
				switch kind {
				case "steps of a cumulative sum":
					sum += p[r]
					p[r], before = math.Round(sum*1024)/1024-before, math.Round(sum*1024)/1024
				case "few digits":
					p[r], _ = strconv.ParseFloat(strconv.FormatFloat(p[r], 'e', digits-1, 64), 64)
				}
			}
			return p, nil
		}
		precision := 1e-12
		if kind == "few digits" {
			precision = 5 * math.Pow(10, -float64(digits))
		}
		eps, n := []string{"1", "0.5"}[rng.IntN(2)], 2+rng.IntN(2)
		o := Options{N: n, K: 1 + rng.IntN(4-n), Epsilon: epsilon(t, eps), Seed: 1, Properties: []verify.Property{verify.DP}}
		m := mechanisms.FromFloat(mechanisms.Info{Name: "subject"}, precision, law)
		r, err := Mechanism(context.Background(), m, o)
		require.NoError(t, err)
		p := r.Properties[0]
		seen[fmt.Sprint(kind, " ", p.Verdict)]++
		most, answered := greatestLogRatio(n, o.K, func(q []float64) []float64 {
			a, err := law(q, 1, o.Epsilon.Float())
			if err != nil || math.IsNaN(a[0]+a[len(a)-1]) {
				return nil
			}
			return a
		})
		e := o.Epsilon.Float()
		about := fmt.Sprintf("%d, %s, factor %v, ε = %s, n = %d, k = %d, far %v, %d digits: %s, %s; by enumeration %v", i, kind, factor, eps, n, o.K, far, digits, p.Verdict, p.Reason, most)
		switch p.Verdict {
		case verify.Proved:
			require.True(t, answered, about)
			require.LessOrEqual(t, most, e*(1+1e-6)+1e-11, about)
		case verify.Violated:
			require.NotNil(t, p.Witness, about)
			q, other := floats(p.Witness.Scores), floats(p.Witness.Neighbor)
			for r := range q {
				require.LessOrEqual(t, math.Abs(q[r]-other[r]), 1.0, about)
			}
			a, errA := law(q, 1, e)
			b, errB := law(other, 1, e)
			failed := func(p []float64, err error) bool {
				return err != nil || slices.ContainsFunc(p, func(x float64) bool { return !(x >= 0 && x <= 2) })
			}
			if failed(a, errA) != failed(b, errB) {
				continue
			}
			require.NotNil(t, p.Witness.Candidate, about)
			require.Greater(t, a[*p.Witness.Candidate], math.Exp(e)*b[*p.Witness.Candidate], about)
		default:
			require.False(t, answered && most > e*1.001+3*precision, about)
		}
	}
	require.Equal(t, count/len(kinds), seen["nothing answered undecided"])
	for _, verdict := range []string{"none proved", "none violated", "no number far from 0 violated", "errors where all are tied violated", "overflow violated"} {
		require.Positive(t, seen[verdict], "%v", seen)
	}
	t.Log(seen)
}

// greatestLogRatio goes through the lattice of n candidates and depth k in steps of 2Δ = 2 and all neighbors, and returns the largest ln of a
// ratio of probabilities, +Inf where one of two neighbors is answered alone, and whether any vector of the lattice is answered.
func greatestLogRatio(n, k int, law func([]float64) []float64) (most float64, answered bool) {
	q, step := make([]float64, n), make([]float64, n)
	var vectors, steps func(r int)
	steps = func(r int) {
		if r < n {
			for step[r] = -1; step[r] <= 1; step[r]++ {
				steps(r + 1)
			}
			return
		}
		other := make([]float64, n)
		for i := range q {
			other[i] = q[i] + step[i]
		}
		a, b := law(q), law(other)
		switch {
		case (a == nil) != (b == nil):
			most = math.Inf(1)
		case a != nil:
			for i := range a {
				if a[i] != 0 || b[i] != 0 {
					most = max(most, math.Abs(math.Log(a[i]/b[i])))
				}
			}
		}
		answered = answered || a != nil
	}
	vectors = func(r int) {
		if r < n {
			for q[r] = -2 * float64(k); q[r] <= 0; q[r] += 2 {
				vectors(r + 1)
			}
			return
		}
		if slices.Max(q) == 0 {
			steps(0)
		}
	}
	vectors(0)
	return most, answered
}
