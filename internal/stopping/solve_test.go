package stopping

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"optratio/internal/clp"
	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/number"
)

func rat(t testing.TB, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("bad rational %q", s)
	}
	return r
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// problem is winning with one of the k best; eps starts with "e" for e^ε given.
func problem(t testing.TB, n, k, l int, eps, delta string) *Problem {
	t.Helper()
	p := &Problem{Payoff: must(TopK(n, k)), L: l, Delta: rat(t, delta)}
	if eps[0] == 'e' {
		p.Eps = must(number.FromExp(rat(t, eps[1:])))
	} else {
		p.Eps = must(number.FromEpsilon(rat(t, eps)))
	}
	return p
}

func solvers() []linear.Solver {
	out := []linear.Solver{linear.Embedded{}}
	if s, err := clp.New(); err == nil {
		out = append(out, s)
	}
	return out
}

// check solves and verifies the certificate with nothing but the rule and the definitions. What solver s gives no answer to is asked of the next.
func check(t testing.TB, p *Problem, s linear.Solver, next ...linear.Solver) *Solution {
	t.Helper()
	sol, err := Solve(context.Background(), p, Options{Solvers: append([]linear.Solver{s}, next...)})
	if err != nil {
		t.Fatal(err)
	}
	if sol.Stopped != nil {
		t.Errorf("stopped: %v", sol.Stopped)
	}
	law := sol.Rule.Law()
	_, above := p.Eps.ExpBounds(256)
	total := new(big.Rat)
	for i, q := range law {
		total.Add(total, q)
		for j := max(0, i-p.L); j < min(len(law), i+p.L+1); j++ {
			d := new(big.Rat).Mul(above, law[j])
			if d.Add(d, p.Delta).Cmp(q) < 0 {
				t.Errorf("ranks %d, %d break privacy", i+1, j+1)
			}
		}
	}
	if total.Cmp(big.NewRat(1, 1)) != 0 {
		t.Error("law does not sum to one")
	}
	if sol.Lower.Cmp(dot(p.Payoff, law)) != 0 || sol.Lower.Cmp(sol.Upper) > 0 {
		t.Errorf("lower %v, upper %v, rule gains %v", sol.Lower, sol.Upper, dot(p.Payoff, law))
	}
	return sol
}

// The reference values, with both solvers.
func TestReferences(t *testing.T) {
	for _, s := range solvers() {
		for _, c := range []struct {
			n    int
			want float64
		}{{10, 0.38166219}, {30, 0.35555568}} {
			sol := check(t, problem(t, c.n, 1, 1, "1/2", "0"), s)
			if got, _ := sol.Lower.Float64(); math.Abs(got-c.want) > 5e-9 || sol.Gap() > 1e-9 {
				t.Errorf("%s: n = %d: optimum %.10f with gap %g, want %.8f", s.Name(), c.n, got, sol.Gap(), c.want)
			}
		}
	}
}

// The decomposition against the whole linear program solved at once, both solvers.
func TestAgainstWholeModel(t *testing.T) {
	for _, s := range solvers() {
		for _, p := range []*Problem{
			problem(t, 2, 1, 1, "1/2", "0"),
			problem(t, 3, 1, 2, "1/2", "1/10"),
			problem(t, 6, 1, 1, "e3/2", "0"),
			problem(t, 8, 2, 3, "1", "1/50"),
			problem(t, 9, 1, 8, "1/4", "1/20"),
			problem(t, 12, 1, 1, "1/5", "0"),
			problem(t, 12, 5, 2, "0", "1/100"),
			{Payoff: []*big.Rat{rat(t, "-1"), rat(t, "5/2"), rat(t, "0"), rat(t, "1"), rat(t, "3"), rat(t, "-2"), rat(t, "1/3")}, L: 2, Eps: must(number.FromEpsilon(rat(t, "7/10"))), Delta: rat(t, "1/40")},
		} {
			sol := check(t, p, s)
			lp, law, err := Model(p)
			if err != nil {
				t.Fatal(err)
			}
			if err := lp.Check(); err != nil {
				t.Fatal(err)
			}
			res, err := s.Solve(context.Background(), lp, linear.Options{})
			if err != nil || res.Outcome != linear.Optimal {
				t.Fatalf("%s, n = %d, %v: %v, %v", s.Name(), p.N(), p.Eps, res.Outcome, err)
			}
			lo, _ := sol.Lower.Float64()
			if math.Abs(lo+res.Objective) > 1e-8 || sol.Gap() > 1e-9 {
				t.Errorf("%s, n = %d, l = %d, %v: optimum %.12f (gap %g), whole model %.12f", s.Name(), p.N(), p.L, p.Eps, lo, sol.Gap(), -res.Objective)
			}
			total := 0.0
			for k := 1; k <= p.N(); k++ {
				total += res.X[law(k)]
			}
			if math.Abs(total-1) > 1e-9 {
				t.Errorf("whole model's law sums to %g", total)
			}
		}
	}
}

// Without a privacy constraint that matters the answer is the unconstrained optimum.
func TestNoPrivacy(t *testing.T) {
	for _, p := range []*Problem{problem(t, 15, 1, 1, "1/2", "1"), problem(t, 15, 3, 14, "100", "0")} {
		want, _, err := secretary.Best(p.Payoff)
		if err != nil {
			t.Fatal(err)
		}
		sol := check(t, p, linear.Embedded{})
		if sol.Upper.Cmp(want) < 0 || sol.Gap() > 1e-9 || sol.Lower.Cmp(want) > 0 {
			t.Errorf("optimum in [%v, %v], want %v", sol.Lower, sol.Upper, want)
		}
	}
}

// ε = δ = 0 leaves the uniform law only.
func TestPerfectPrivacy(t *testing.T) {
	sol := check(t, problem(t, 20, 1, 1, "0", "0"), linear.Embedded{})
	if want := big.NewRat(1, 20); sol.Lower.Cmp(want) != 0 || sol.Gap() > 1e-9 {
		t.Errorf("optimum in [%v, %v], want %v", sol.Lower, sol.Upper, want)
	}
}

// Weak duality: any multipliers bound any private rule.
func TestUpperBoundHoldsForAnyMultipliers(t *testing.T) {
	p := problem(t, 12, 1, 2, "1/2", "1/100")
	best := check(t, p, linear.Embedded{}).Lower
	for _, lambda := range []multipliers{{}, {row{0, 1}: 0.3}, {row{0, 2}: 0.7, row{3, 4}: 0.01}, {row{5, 4}: 2}} {
		if bound := must(p.upperBound(lambda)); bound.Cmp(best) < 0 {
			t.Errorf("multipliers %v: bound %v below a private rule's %v", lambda, bound, best)
		}
	}
	for _, bad := range []float64{-0.1, math.Inf(1), math.NaN()} {
		if _, err := p.upperBound(multipliers{row{0, 1}: bad}); err == nil {
			t.Errorf("multiplier %g accepted", bad)
		}
	}
}

// A solver that lies costs quality, never correctness.
type liar struct{ linear.Embedded }

func (liar) Solve(ctx context.Context, m *linear.Model, o linear.Options) (*linear.Result, error) {
	r, err := linear.Embedded{}.Solve(ctx, m, o)
	if err != nil {
		return nil, err
	}
	for j := range r.X {
		r.X[j] = math.Abs(r.X[j] + 0.01*math.Sin(float64(j)))
	}
	for i := range r.Duals {
		r.Duals[i] *= 1.3
	}
	return r, nil
}

func TestLyingSolver(t *testing.T) {
	p := problem(t, 10, 1, 1, "1/2", "0")
	honest := check(t, p, linear.Embedded{})
	sol, err := Solve(context.Background(), p, Options{Solvers: []linear.Solver{liar{}}, Rounds: 15})
	if err != nil {
		t.Fatal(err)
	}
	if sol.Lower.Cmp(honest.Upper) > 0 || sol.Upper.Cmp(honest.Lower) < 0 {
		t.Errorf("a lying solver's bounds [%v, %v] exclude the optimum", sol.Lower, sol.Upper)
	}
	if sol.Gap() < 1e-6 {
		t.Errorf("gap %g: the lies had no effect, the test is void", sol.Gap())
	}
}

// A solver that never finishes leaves the best p-mix and a bound.
type idler struct{}

func (idler) Name() string { return "idler" }
func (idler) Solve(context.Context, *linear.Model, linear.Options) (*linear.Result, error) {
	return &linear.Result{Outcome: linear.Stopped}, nil
}

func TestIdleSolver(t *testing.T) {
	p := problem(t, 10, 1, 1, "1/2", "0")
	sol, err := Solve(context.Background(), p, Options{Solvers: []linear.Solver{idler{}}})
	if err != nil || sol.Stopped == nil {
		t.Fatalf("%v, %+v", err, sol)
	}
	mix := must(p.SecretaryMix(t.Context(), sol))
	if lo, _ := mix.Success.Lower(); math.Abs(ratio(sol.Lower, lo)-1) > 1e-12 || sol.Upper.Cmp(sol.Lower) <= 0 {
		t.Errorf("bounds [%v, %v], p-mix %v", sol.Lower, sol.Upper, mix.Success)
	}
	if sol = check(t, p, idler{}, linear.Embedded{}); sol.Gap() > 1e-9 || sol.Solver != (linear.Embedded{}).Name() {
		t.Errorf("gap %g of solver %s, where the second one takes over", sol.Gap(), sol.Solver)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	rounds := 0
	sol, err := Solve(ctx, problem(t, 30, 1, 1, "1/2", "0"), Options{Solvers: []linear.Solver{linear.Embedded{}}, Report: func(Progress) {
		if rounds++; rounds == 3 {
			cancel()
		}
	}})
	if err != nil || !errors.Is(sol.Stopped, context.Canceled) || sol.Lower.Cmp(sol.Upper) > 0 || rounds != 3 {
		t.Errorf("%v after %d rounds: %+v", err, rounds, sol)
	}
}

func TestProblemCheck(t *testing.T) {
	good := problem(t, 5, 1, 1, "1/2", "0")
	for name, p := range map[string]*Problem{
		"no candidates": {L: 1, Eps: good.Eps, Delta: good.Delta},
		"l":             {Payoff: good.Payoff, L: 5, Eps: good.Eps, Delta: good.Delta},
		"delta":         {Payoff: good.Payoff, L: 1, Eps: good.Eps, Delta: rat(t, "2")},
	} {
		if _, err := Solve(context.Background(), p, Options{Solvers: []linear.Solver{linear.Embedded{}}}); !errors.Is(err, secretary.ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, k := range []int{0, 6} {
		if _, err := TopK(5, k); !errors.Is(err, secretary.ErrRange) {
			t.Errorf("win = %d: %v", k, err)
		}
	}
}

func benchmarkSolve(b *testing.B, n int, s linear.Solver) {
	for b.Loop() {
		if sol := check(b, problem(b, n, 1, 1, "1/2", "0"), s); sol.Gap() > 1e-9 {
			b.Fatalf("gap %g", sol.Gap())
		}
	}
}

func BenchmarkSolve100Embedded(b *testing.B) { benchmarkSolve(b, 100, linear.Embedded{}) }
func BenchmarkSolve100CLP(b *testing.B) {
	s, err := clp.New()
	if err != nil {
		b.Skip(err)
	}
	benchmarkSolve(b, 100, s)
}

// SecretaryMix mixes the secretary rule whatever the payoff, FreeMix the best rule for it. At n = 6 with δ = 1 everything is private: the secretary rule takes one of
// the two best with r_1 + r_2 = 77/180 + 41/180 = 59/90, the best rule for that with 31/45.
func TestWhichRuleIsMixed(t *testing.T) {
	p := problem(t, 6, 2, 1, "1/2", "1")
	sol := check(t, p, linear.Embedded{})
	for _, c := range []struct {
		mix  Mix
		want *big.Rat
	}{{must(p.SecretaryMix(t.Context(), sol)), big.NewRat(59, 90)}, {must(p.FreeMix(sol)), big.NewRat(31, 45)}} {
		share, _ := c.mix.P.Rat()
		success, ok := c.mix.Success.Rat()
		if !ok || share.Cmp(big.NewRat(1, 1)) != 0 || success.Cmp(c.want) != 0 {
			t.Errorf("p = %v, success %v, want 1 and %v", c.mix.P, c.mix.Success, c.want)
		}
	}
	// For the secretary problem the two rules are one.
	p = problem(t, 12, 1, 2, "1/2", "1/100")
	sol = check(t, p, linear.Embedded{})
	a, b := must(p.SecretaryMix(t.Context(), sol)), must(p.FreeMix(sol))
	if a.P.String() != b.P.String() || a.Success.String() != b.Success.String() {
		t.Errorf("%v and %v", a, b)
	}
	// At n = 4 the secretary rule takes one of the two best with 3/4, as much as any rule, and its tight ε is ln 2: at ε = 1 it is its
	// best p-mix, while another best rule, which stops on every tie, has to be mixed.
	p = problem(t, 4, 2, 1, "1", "0")
	sol = check(t, p, linear.Embedded{})
	a, b = must(p.SecretaryMix(t.Context(), sol)), must(p.FreeMix(sol))
	if success, ok := a.Success.Rat(); !ok || success.Cmp(big.NewRat(3, 4)) != 0 || math.Abs(a.Ratio.Float64()-1) > 1e-9 || !(b.P.Float64() < 1) {
		t.Errorf("%v and %v", a, b)
	}
}

// Whatever ends the search, at whatever time, what is certified stays: a rule that is private and a bound.
func TestDeadlines(t *testing.T) {
	p := problem(t, 60, 1, 1, "1/2", "0")
	best := check(t, p, linear.Embedded{})
	for _, limit := range []time.Duration{0, 10 * time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		sol, err := Solve(ctx, p, Options{Solvers: []linear.Solver{linear.Embedded{}}})
		cancel()
		if err != nil || sol.Lower.Cmp(best.Upper) > 0 || sol.Upper.Cmp(best.Lower) < 0 || sol.Rule == nil {
			t.Fatalf("%v: %v", limit, err)
		}
		if limit == 0 && !errors.Is(sol.Stopped, context.DeadlineExceeded) {
			t.Errorf("stopped by %v", sol.Stopped)
		}
	}
}
