package audit

import (
	"fmt"
	"math"
	"slices"

	"optratio/verify"
)

// Independence: a sampler's draws do not repeat each other.
const Independence verify.Property = "independence"

// independence tests whether two halves of a sample, asked for one after the other, are independent. Given how often each outcome
// came in both halves together, m_1, m_2, …, the first half's counts a of N draws have the probability
//
//	H(a) = Π C(m_r, a_r) / C(2N, N),
//
// whatever the outcomes' probabilities are. A bet that they equal the second half's pays 1/H(a), and one that the count of
// one outcome is uniform over its range pays its uniform over its hypergeometric probability: samplers that start
// afresh with every question win the one, those that draw once and repeat it the other. Both are fair bets, so that
// the wealth exceeds x with probability 1/x at most (Ville 1939).
type independence struct {
	logs     [2]float64 // wealth of a bold and a timid player
	compared int64      // pairs of halves that could tell
	repeated int64      // of which the counts were the same
	worst    float64    // the least H(a) of those
	example  string
	broken   bool // the wealth reached its limit
}

// courage is the share of its wealth that a player puts on each bet.
var courage = [2]float64{0.25, 1.0 / 64}

// dependent is the wealth at which independence is given up: one correct sampler in 1000 gets there at most.
const dependent = 1000

// compare takes two halves of n draws each at scores into account.
func (t *independence) compare(a, b []int64, n int64, describe func() string) {
	same, widest := true, 0
	logH := -logChoose(2*n, n)
	a, b = slices.Clone(a), slices.Clone(b)
	for len(a) != len(b) { // outcomes that came in one half alone
		if len(a) < len(b) {
			a = append(a, 0)
		} else {
			b = append(b, 0)
		}
	}
	for r := range a {
		same = same && a[r] == b[r]
		logH += logChoose(a[r]+b[r], a[r])
		if abs(a[r]+b[r]-n) < abs(a[widest]+b[widest]-n) {
			widest = r
		}
	}
	m := a[widest] + b[widest]
	low, high := max(0, m-n), min(m, n)
	if low == high {
		return // a constant sampler cannot repeat itself
	}
	spread := -math.Log(float64(high-low+1)) - logChoose(m, a[widest]) - logChoose(2*n-m, n-a[widest]) + logChoose(2*n, n)
	t.compared++
	pays := float64(math.Exp(min(spread, 600)) / 2)
	if same {
		pays += float64(math.Exp(min(-logH, 600)) / 2)
		t.repeated++
		if t.example == "" || logH < t.worst {
			t.worst, t.example = logH, describe()
		}
	}
	for i, c := range courage {
		// A little is taken off for rounding: the logarithms are good to 10 digits.
		t.logs[i] += math.Log1p(c*(float64(pays*(1-1e-6))-1)) - 1e-12
	}
	if max(t.logs[0], t.logs[1])-math.Ln2 > math.Log(dependent) && !t.broken {
		t.broken = true
		if t.example == "" {
			t.example = describe()
		}
	}
}

// result is the verdict.
func (t *independence) result() verify.Result {
	res := verify.Result{Name: Independence, Verdict: verify.Undecided, Checked: t.compared}
	switch {
	case t.broken:
		res.Verdict = verify.Violated
		res.Reason = fmt.Sprintf("samples repeat each other, as those of a generator that is seeded anew for every question do (%d of %d times the same counts twice), p < 1/%d: %s",
			t.repeated, t.compared, dependent, t.example)
	case t.compared == 0:
		res.Reason = "no question was answered twice in a way that could tell"
	default:
		res.Reason = "samples cannot prove independence; no repetition was found"
	}
	return res
}

// logChoose returns ln C(n, k), in floating point.
func logChoose(n, k int64) float64 {
	lgamma := func(x int64) float64 { y, _ := math.Lgamma(float64(x) + 1); return y }
	return lgamma(n) - lgamma(k) - lgamma(n-k)
}

func abs(x int64) int64 { return max(x, -x) }
