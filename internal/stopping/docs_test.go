package stopping

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"

	"optratio/internal/linear"
	"optratio/internal/slowtest"
)

// certain says that every number of an enclosure begins with the digits shown.
func certain(lo, hi *big.Rat, shown string) bool {
	_, digits, _ := strings.Cut(shown, ".")
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits))), nil))
	from, ok := new(big.Rat).SetString(shown)
	return ok && lo.Cmp(from) >= 0 && hi.Cmp(new(big.Rat).Add(from, unit)) < 0
}

// The tables of research/docs/stopping.md, recomputed: all digits shown are certain.
func TestDocumentTable(t *testing.T) {
	text, err := os.ReadFile("../../research/docs/stopping.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "<!-- table: optima -->")
	if !found {
		t.Fatal("no table of optima")
	}
	solvers := solvers()
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
		if n > 30 && !slowtest.Enabled {
			continue
		}
		p := problem(t, n, must(strconv.Atoi(cells[4])), must(strconv.Atoi(cells[3])), cells[1], cells[2])
		sol := check(t, p, solvers[0], solvers[1:]...)
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
	if rows < 8 {
		t.Errorf("%d rows found", rows)
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
				if bound := lawBound(n, l, e); sol.Lower.Cmp(bound) >= 0 {
					t.Errorf("n = %d, l = %d, ε = %s: %s reaches the bound %s", n, l, eps, sol.Lower.FloatString(15), bound.FloatString(15))
				}
				x, _ := rat(t, eps).Float64()
				if low, _ := sol.Lower.Float64(); low < constantRate(x, l) {
					t.Errorf("n = %d, l = %d, ε = %s: %g below the constant-rate rule's %g", n, l, eps, low, constantRate(x, l))
				}
				if d := difference(sol.Law); d.Sign() != 0 {
					t.Errorf("n = %d: the law's difference is %v", n, d)
				}
			}
		}
	}
}

// passing returns the optimum V' of rules that may pass everyone, of the whole program in floating point: at the last time nobody need be taken.
func passing(t *testing.T, p *Problem) float64 {
	t.Helper()
	lp, _, err := Model(p)
	if err != nil {
		t.Fatal(err)
	}
	n := p.N()
	for j := range n { // the rows x[n][j] - R[n] = 0 come after those that define R[2] to R[n] and those of the times before
		row := n - 1 + n*(n-1)/2 + j
		if lp.RowLower[row] != 0 || lp.RowUpper[row] != 0 {
			t.Fatalf("row %d is not x[n][%d] - R[n] = 0", row, j+1)
		}
		lp.RowLower[row] = math.Inf(-1)
	}
	res, err := linear.Embedded{}.Solve(t.Context(), lp, linear.Options{})
	if err != nil || res.Outcome != linear.Optimal {
		t.Fatalf("n = %d: %v, %v", n, res.Outcome, err)
	}
	return -res.Objective
}

// (1-w/n) V'_{n-1} <= V_n <= V'_n <= V'_{n-1} where one of the w best wins, and V'_n >= L for w = 1.
func TestLimitTheorem(t *testing.T) {
	const slack = 1e-8 // of two linear programs
	for _, c := range []struct {
		win, l     int
		eps, delta string
	}{{1, 1, "1/2", "0"}, {1, 2, "1/2", "0"}, {1, 1, "1/10", "1/100"}, {1, 3, "1", "0"}, {2, 1, "1/2", "0"}, {3, 2, "1/4", "1/50"}} {
		before := math.NaN()
		for n := max(c.l+1, c.win); n <= 14; n++ {
			p := problem(t, n, c.win, c.l, c.eps, c.delta)
			free := passing(t, p)
			sol := check(t, p, linear.Embedded{})
			lo, _ := sol.Lower.Float64()
			hi, _ := sol.Upper.Float64()
			if lo > free+slack {
				t.Errorf("%v, n = %d: V = %.10f above V' = %.10f", c, n, lo, free)
			}
			if (1-float64(c.win)/float64(n))*before > hi+slack || free > before+slack {
				t.Errorf("%v, n = %d: V' = %.10f, then V = %.10f and V' = %.10f", c, n, before, hi, free)
			}
			x, _ := rat(t, c.eps).Float64()
			if rate := max(constantRate(x, c.l), constantRate(-math.Log(0.534), 1)); c.win == 1 && math.Exp(-x/float64(c.l)) <= 0.534 && free < rate-slack {
				t.Errorf("%v, n = %d: V' = %.10f below %.10f", c, n, free, rate)
			} else if c.win == 1 && free < constantRate(x, c.l)-slack {
				t.Errorf("%v, n = %d: V' = %.10f below the limit rule's", c, n, free)
			}
			before = free
		}
	}
}

// The numbers in the prose of research/docs/stopping.md that need no large program: each is in the text as it is formatted here.
func TestNumbersOfTheProse(t *testing.T) {
	data, err := os.ReadFile("../../research/docs/stopping.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	prose := strings.Join(strings.Fields(text), " ") // lines of the text end anywhere
	contains := func(what string) {
		t.Helper()
		if !strings.Contains(prose, what) {
			t.Errorf("%q is not in the text", what)
		}
	}
	best, at := 0.0, 0.0
	for i := 1; i < 1000; i++ {
		if x := constantRate(-math.Log(float64(i)/1000), 1); x > best {
			best, at = x, float64(i)/1000
		}
	}
	contains(fmt.Sprintf("the larger of e^{-ε/l} and %.3f, where L has its maximum %.4f", at, best))
	for l := 1; l <= 3; l++ {
		eps := -math.Log(asymptotic(l + 1))
		contains(strings.TrimSuffix(fmt.Sprintf("%.3f", eps), ".000") + " for l = " + strconv.Itoa(l))
	}
	// The ratios of the optimum to the best p-mix, from the table.
	ratios := map[string]string{"30": "4.3", "100": "13.4", "300": "39.2", "1000": "130.2"}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.ReplaceAll(line, " ", ""), "|")
		if len(cells) > 7 && ratios[cells[1]] != "" && strings.Join(cells[2:6], " ") == "0.5 0 1 1" {
			a, b := must(strconv.ParseFloat(cells[6], 64)), must(strconv.ParseFloat(cells[7], 64))
			if got := fmt.Sprintf("%.1f", a/b); got != ratios[cells[1]] {
				t.Errorf("n = %s: ratio %s", cells[1], got)
			}
			delete(ratios, cells[1])
		}
	}
	contains("(4.3, 13.4, 39.2, 130.2 at n = 30, 100, 300, 1000)")
	if len(ratios) > 0 {
		t.Errorf("no rows for %v", ratios)
	}
}
