package certificate

import (
	"fmt"
	"math"
	"math/big"

	"optratio/internal/evidence"
)

// stopping is the best private rule of optimal stopping (research/docs/stopping.md). n candidates arrive in random order; at time i a rule knows the relative ranks of the first i alone,
// stops with the i-th or goes on, and must take the last one if it comes to that. With q_k the probability of taking the k-th best,
//
//	maximise   Σ payoff_k q_k    subject to   q_i <= e^ε q_j + δ   for 0 < |i-j| <= distance.
//
// A file holds multipliers λ >= 0 of these rows. The optimum is at most the best value of any rule for the payoffs payoff_k - Σ_j λ_kj + e^ε Σ_i λ_ik, plus δ Σ λ, by weak
// duality. That value is a dynamic program: with g_i(j) the expected payoff of stopping at time i with relative rank j, which is 1 the best,
//
//	g_n(j) = w_j,   g_{i-1}(j) = (j g_i(j+1) + (i-j) g_i(j))/i,   V_n = mean of g_n,   V_i = mean over j of max(g_i(j), V_{i+1}),
//
// since the i-th arrival has each of the i ranks with the same probability, and j of them are above. And a rule, by x_i(j) = Pr[time i is reached, and its candidate
// taken | its relative rank is j]. The law of what it takes follows the same transition forwards, from x_i(j)/i at time i and relative rank j; if it satisfies
// the rows, its payoff is a lower bound. Both are worked out in whole numbers.
type stopping struct {
	evidence.Setting
	n        int
	distance int
	delta    *big.Rat
	payoff   []*big.Rat
	lambda   []rankPair
	takes    []take
	cost     *evidence.Effort
}

// rankPair is a row with its multiplier; ranks count from 0.
type rankPair struct {
	i, j int
	nu   *big.Rat
}

// take says that x_i(j) = x for j from from to to; a nil x is the probability that time i is reached.
type take struct {
	time, from, to int
	x              *big.Rat
}

func (s *stopping) Read(r *evidence.Reader, o evidence.Options) {
	r.Long = evidence.MaxSectionLine
	s.cost = r.Cost
	s.n = r.Whole("n", 1, evidence.MaxDepth)
	s.distance = r.Whole("distance", 1, max(s.n-1, 1))
	s.delta = r.Number("delta")
	s.payoff = r.Numbers("payoff", s.n)
	s.Parameters(r)
	n := float64(s.n)
	evidence.Sized(o, float64(n*n*(float64(n*math.Log2(n+1))+1024)/32)+float64(n*float64(2*s.distance)))
	var last []int
	for r.Is("multiplier") {
		f := r.Fields("multiplier", 3)
		at := [2]int{r.Integer("multiplier", f[0], 1, s.n), r.Integer("multiplier", f[1], 1, s.n)}
		if gap := at[0] - at[1]; gap == 0 || max(gap, -gap) > s.distance {
			r.Failf("multiplier: the ranks %d and %d are not neighbors", at[0], at[1])
		}
		r.Ordered(&last, at[:], "multiplier: not after the row of the line before")
		s.lambda = append(s.lambda, rankPair{at[0] - 1, at[1] - 1, r.Positive("multiplier", f[2])})
	}
	time, rank := 0, 0
	for r.Is("take") {
		f := r.Fields("take", 4)
		t := take{time: r.Integer("take", f[0], 0, s.n), from: r.Integer("take", f[1], 0, s.n), to: r.Integer("take", f[2], 0, s.n)}
		if t.time < time || t.time == time && t.from <= rank || t.from < 1 || t.to < t.from || t.to > t.time {
			r.Failf("take: no relative ranks after those of the line before")
		}
		if time, rank = t.time, t.to; f[3] != "all" {
			t.x = r.Positive("take", f[3])
		}
		s.takes = append(s.takes, t)
	}
}

func (s *stopping) Decide(o evidence.Options) {
	low, high := s.Power(big.NewRat(1, 1), min(uint(s.Precision)+64, o.MaxPrecision))
	var most *big.Rat // at least e^ε
	if low.Sign() > 0 {
		most = new(big.Rat).Inv(low)
	} else if len(s.lambda) > 0 {
		evidence.Refute("e^ε is not enclosed at this precision")
	}
	upper := s.upper(most)
	law, den := s.law()
	s.obeys(law, den, new(big.Rat).Inv(high))
	lower := new(big.Rat)
	for k, q := range law {
		s.cost.Sum(lower, s.payoff[k], new(big.Rat).SetInt(q))
	}
	evidence.Judge(&s.Claims[0], lower.Quo(lower, new(big.Rat).SetInt(den)), upper)
}

// upper returns the bound of the multipliers, with e at least e^ε.
func (s *stopping) upper(e *big.Rat) *big.Rat {
	w := make([]*big.Rat, s.n)
	for k, c := range s.payoff {
		w[k] = new(big.Rat).Set(c)
	}
	total := new(big.Rat)
	for _, l := range s.lambda {
		s.cost.Sum(w[l.i], new(big.Rat).Neg(l.nu))
		s.cost.Sum(w[l.j], e, l.nu)
		s.cost.Sum(total, l.nu)
	}
	g, scale := s.cost.Common(w)
	price := 2 * s.n * (1 + scale.BitLen()/64)
	// g is scale times g_i; with v = scale·i·V_i, the next time's is scale·V_{i+1} in the units of this one.
	v := new(big.Int)
	for _, x := range g {
		v.Add(v, x)
	}
	var a big.Int
	for i := s.n; i > 1; i-- {
		s.cost.Spend(price)
		scale.Mul(scale, a.SetInt64(int64(i)))
		sum := new(big.Int)
		for j := 1; j < i; j++ {
			x := g[j-1]
			x.Mul(x, a.SetInt64(int64(i-j)))
			x.Add(x, a.Mul(a.SetInt64(int64(j)), g[j])) // g[j] still belongs to time i
			if x.Cmp(v) > 0 {
				sum.Add(sum, x)
			} else {
				sum.Add(sum, v)
			}
		}
		v = sum
	}
	return total.Mul(total, s.delta).Add(total, new(big.Rat).SetFrac(v, scale))
}

// settle gives the takes of all who reach a time their probability.
func (s *stopping) settle() {
	reach, last := big.NewRat(1, 1), 0
	for at := 0; at < len(s.takes); {
		time, taken, ranks := s.takes[at].time, new(big.Rat), 0
		for ; at < len(s.takes) && s.takes[at].time == time; at++ {
			t := &s.takes[at]
			if t.x == nil {
				t.x = new(big.Rat).Set(reach)
			}
			if t.x.Cmp(reach) > 0 {
				evidence.Refute("take: at time %d more is taken than reaches it", time)
			}
			if t.x.Cmp(reach) == 0 {
				ranks += t.to - t.from + 1
			}
			s.cost.Sum(taken, t.x, big.NewRat(int64(t.to-t.from+1), 1))
		}
		if last = time; time == s.n && ranks == s.n {
			reach = new(big.Rat)
			continue
		}
		reach = new(big.Rat).Set(reach)
		s.cost.Sum(reach, taken, big.NewRat(-1, int64(time)))
	}
	if reach.Sign() != 0 {
		evidence.Refute("take: after time %d the rule has taken nobody with probability %s", last, evidence.Quote(reach.RatString()))
	}
}

// law returns the probabilities of taking the k-th best, over a common denominator.
func (s *stopping) law() (law []*big.Int, den *big.Int) {
	s.settle()
	var values []*big.Rat
	for _, t := range s.takes {
		values = append(values, t.x)
	}
	num, den := s.cost.Common(values)
	price := 2 * s.n * (1 + den.BitLen()/64)
	// f is i!·den times the probability of having taken the one that has relative rank j+1 among the first i.
	f := make([]*big.Int, s.n)
	for j := range f {
		f[j] = new(big.Int)
	}
	factorial := big.NewInt(1) // (i-1)!
	var a, b big.Int
	at := 0
	for i := 1; i <= s.n; i++ {
		s.cost.Spend(price)
		for j := i - 1; j >= 0; j-- {
			f[j].Mul(f[j], a.SetInt64(int64(i-1-j)))
			if j > 0 {
				f[j].Add(f[j], b.Mul(f[j-1], a.SetInt64(int64(j))))
			}
		}
		for ; at < len(s.takes) && s.takes[at].time == i; at++ {
			x := new(big.Int).Mul(num[at], factorial)
			for j := s.takes[at].from; j <= s.takes[at].to; j++ {
				f[j-1].Add(f[j-1], x)
			}
		}
		factorial.Mul(factorial, a.SetInt64(int64(i)))
	}
	return f, den.Mul(den, factorial)
}

// obeys makes sure that a law satisfies all rows with e, which is at most e^ε.
func (s *stopping) obeys(law []*big.Int, den *big.Int, e *big.Rat) {
	// q_i <= e q_j + δ, times all denominators.
	unit := new(big.Int).Mul(e.Denom(), s.delta.Denom())
	room := new(big.Int).Mul(s.delta.Num(), e.Denom())
	room.Mul(room, den)
	grown := new(big.Int).Mul(e.Num(), s.delta.Denom())
	left, most := make([]*big.Int, s.n), make([]*big.Int, s.n)
	for j, q := range law {
		left[j] = new(big.Int).Mul(q, unit)
		most[j] = new(big.Int).Mul(q, grown)
		most[j].Add(most[j], room)
	}
	for i, q := range left {
		for j := max(0, i-s.distance); j < min(s.n, i+s.distance+1); j++ {
			if j != i && q.Cmp(most[j]) > 0 {
				evidence.Refute("the rule is not private: ranks %d and %d", i+1, j+1)
			}
		}
	}
}

func (s *stopping) About(p *evidence.Problem) bool {
	p.N, p.Objective, p.Constraints = s.n, "mean", "dp"
	s.Describe(p)
	p.About = fmt.Sprintf("optimal stopping with n = %d candidates, neighbors at distance %d", s.n, s.distance)
	if s.delta != nil && s.delta.Sign() > 0 {
		p.Constraints = "approximate"
		p.About += ", δ = " + s.delta.RatString()
	}
	return true
}
