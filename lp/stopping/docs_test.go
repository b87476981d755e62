package stopping

import (
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"optratio/lp/linear"
	rules "optratio/mechanisms/stopping"
)

// largestRow bounds n in the rows that TestDocumentTable recomputes; the build tag slow lifts it.
var largestRow = 30

// certain says that every number of an enclosure begins with the digits shown.
func certain(lo, hi *big.Rat, shown string) bool {
	_, digits, _ := strings.Cut(shown, ".")
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil))
	from, ok := new(big.Rat).SetString(shown)
	return ok && lo.Cmp(from) >= 0 && hi.Cmp(new(big.Rat).Add(from, unit)) < 0
}

// The tables of docs/stopping.md, recomputed: all digits shown are certain.
func TestDocumentTable(t *testing.T) {
	text, err := os.ReadFile("../../docs/stopping.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "<!-- table: optima -->")
	if !found {
		t.Fatal("no table of optima")
	}
	solver := solvers()[len(solvers())-1]
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		n, err := strconv.Atoi(cells[0])
		if err != nil || len(cells) != 7 {
			continue
		}
		rows++
		if n > largestRow {
			continue
		}
		p := problem(t, n, must(strconv.Atoi(cells[4])), must(strconv.Atoi(cells[3])), cells[1], cells[2])
		sol := check(t, p, solver)
		if !certain(sol.Lower, sol.Upper, cells[5]) {
			t.Errorf("%s: optimum %s", strings.TrimSpace(line), sol.Optimum())
		}
		mix := must(p.SecretaryMix(t.Context(), sol))
		lo, _ := mix.Success.Lower()
		hi, _ := mix.Success.Upper()
		if !certain(lo, hi, cells[6]) {
			t.Errorf("%s: p-mix %s", strings.TrimSpace(line), mix.Success)
		}
	}
	if rows < 20 {
		t.Errorf("%d rows found", rows)
	}
}

// The p-mixes of the best rules for one of several best that docs/stopping.md names.
func TestWinMixes(t *testing.T) {
	for _, c := range []struct {
		n, win int
		want   string
	}{{30, 3, "0.34471909"}, {100, 3, "0.13589934"}, {100, 10, "0.75629547"}} {
		p := problem(t, c.n, c.win, 1, "1/2", "0")
		sol := must(p.withoutSearch())
		mix := must(p.FreeMix(sol))
		lo, _ := mix.Success.Lower()
		if hi, _ := mix.Success.Upper(); !certain(lo, hi, c.want) {
			t.Errorf("n = %d, win = %d: %s", c.n, c.win, mix.Success)
		}
	}
}

// n = 30, ε = 1/2: start at 10, starting times in order of rank, head of the law exactly as steep as allowed.
func TestShapeOfTheRule(t *testing.T) {
	sol := check(t, problem(t, 30, 1, 1, "1/2", "0"), linear.Embedded{})
	tight := 0
	for k := 1; k < 30; k++ {
		a, _ := sol.Law[k-1].Float64()
		b, _ := sol.Law[k].Float64()
		if math.Abs(a-math.Exp(0.5)*b) < 1e-10 {
			tight++
			if tight != k {
				t.Errorf("ranks %d, %d are tight, some better ones are not", k, k+1)
			}
		}
	}
	if tight != 7 {
		t.Errorf("%d tight ratios, want 7", tight)
	}
	for i := 2; i < 30; i++ { // at time 1 a trace of the blind choice
		for j := 2; j <= i; j++ {
			if a, b := stop(sol, i, j-1), stop(sol, i, j); b > a+1e-8 {
				t.Errorf("time %d: rank %d taken with %g, rank %d with %g", i, j-1, a, j, b)
			}
		}
		if taken := stop(sol, i, 1) > 1-1e-8; taken != (i >= 10) {
			t.Errorf("time %d: best so far taken with %g", i, stop(sol, i, 1))
		}
	}
}

func stop(sol *Solution, i, j int) float64 {
	p, _ := sol.Rule.Stop(i, j).Float64()
	return p
}

// The rule randomises at no more times than there are tight privacy rows.
func TestFewRandomTimes(t *testing.T) {
	for _, p := range []*Problem{problem(t, 30, 1, 1, "1/2", "0"), problem(t, 30, 1, 1, "3/4", "0"), problem(t, 30, 3, 1, "1/2", "0"), problem(t, 20, 1, 1, "1/2", "1/100")} {
		sol := check(t, p, linear.Embedded{})
		e, _ := p.Eps.ExpBounds(boundBits)
		tight, random := 0, 0
		for i := range sol.Law {
			for j := max(0, i-p.L); j < min(p.N(), i+p.L+1); j++ {
				d := new(big.Rat).Mul(e, sol.Law[j])
				if x, _ := d.Sub(sol.Law[i], d.Add(d, p.Delta)).Float64(); i != j && math.Abs(x) < 1e-10 {
					tight++
				}
			}
		}
		for i := 1; i < p.N(); i++ {
			for j := 1; j <= i; j++ {
				if x := stop(sol, i, j); x > 1e-7 && x < 1-1e-7 {
					random++
					break
				}
			}
		}
		if random > tight || tight == 0 {
			t.Errorf("n = %d, %v: %d random times, %d tight rows", p.N(), p.Eps, random, tight)
		}
	}
}

// l = 2: third places are taken while second places are not.
func TestThirdBeforeSecond(t *testing.T) {
	sol := check(t, problem(t, 30, 1, 2, "1/2", "0"), linear.Embedded{})
	for i := 19; i <= 20; i++ {
		if stop(sol, i, 1) < 1-1e-6 || stop(sol, i, 2) > 1e-6 || stop(sol, i, 3) < 1-1e-6 {
			t.Errorf("time %d: ranks 1 to 3 taken with %g %g %g", i, stop(sol, i, 1), stop(sol, i, 2), stop(sol, i, 3))
		}
	}
	// And it pays: the best rule that treats ranks monotonically is not what was found, as q_2 = q_3.
	if a, b := sol.Law[1], sol.Law[2]; math.Abs(ratio(a, b)-1) > 1e-7 {
		t.Errorf("q_2/q_3 = %g", ratio(a, b))
	}
}

func ratio(a, b *big.Rat) float64 {
	r, _ := new(big.Rat).Quo(a, b).Float64()
	return r
}

// Certified optima lie under the bound for any law, strictly, and above the constant-rate rule's limit.
func TestOptimaBetweenBounds(t *testing.T) {
	for _, n := range []int{2, 5, 12, 30} {
		for _, l := range []int{1, 2} {
			for _, eps := range []string{"1/10", "1/2", "1"} {
				if l >= n {
					continue
				}
				p := problem(t, n, 1, l, eps, "0")
				sol := check(t, p, linear.Embedded{})
				_, e := p.Eps.ExpBounds(256)
				if bound := must(rules.LawBound(n, l, e)); sol.Lower.Cmp(bound) >= 0 {
					t.Errorf("n = %d, l = %d, ε = %s: %s reaches the bound %s", n, l, eps, sol.Lower.FloatString(15), bound.FloatString(15))
				}
				x, _ := rat(t, eps).Float64()
				if low, _ := sol.Lower.Float64(); low < rules.ConstantRate(x, l) {
					t.Errorf("n = %d, l = %d, ε = %s: %g below the constant-rate rule's %g", n, l, eps, low, rules.ConstantRate(x, l))
				}
				if d := rules.Difference(sol.Law); d.Sign() != 0 {
					t.Errorf("n = %d: the law's difference is %v", n, d)
				}
			}
		}
	}
}
