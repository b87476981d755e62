package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"optratio/mechanisms"
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
			o.Delta, o.Properties = c.delta, []verify.Property{verify.ApproximateDP}
		}
		rows, err := ReadTable(strings.NewReader(c.text()), "table", o.Precision)
		require.NoError(t, err, c.text())
		r, err := Table(context.Background(), "table", rows, false, o)
		require.NoError(t, err)
		p := r.Properties[0]
		want, strict := c.judge(o.Delta)
		seen[fmt.Sprint(troubles[i%len(troubles)], " ", p.Verdict)]++
		if strict {
			require.Equal(t, want, p.Verdict, "%d, %s: %s\n%s\nε = %s, δ = %v, precision %s", i, troubles[i%len(troubles)], p.Reason, c.text(), c.ratio.RatString(), o.Delta, c.precision.RatString())
		}
		if o.Delta == nil {
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
	epsilon   mechanisms.Epsilon
	precision *big.Rat
	delta     *big.Rat
	rows      [][]stated
}

func troubled(rng *rand.Rand, kind int) *troubledTable {
	ratio := []*big.Rat{big.NewRat(2, 1), big.NewRat(3, 2), big.NewRat(5, 4)}[rng.IntN(3)]
	epsilon, err := mechanisms.ParseExp(ratio.RatString())
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
