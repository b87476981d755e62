package audit

import (
	"fmt"
	"math"
	"slices"

	"optratio/verify"
)

// Independence: a sampler's draws do not repeat each other.
const Independence verify.Property = "independence"

// independence tests by fair bets whether the samples of a program repeat each other. Its wealth is a weighted average of its players'. It exceeds x with
// probability 1/x at most if the samples are independent (Ville 1939), whatever the outcomes' probabilities are.
type independence struct {
	logs     [players]float64 // the logarithms of their wealth
	children [][]float64      // those of one for each pair of children, which bets that the second repeats the first
	compared int64            // pairs of counts that could tell
	repeated int64            // of which the counts were the same
	worst    float64          // the least probability of one of those
	example  string
	broken   bool   // the wealth reached its limit, or the samples change
	changed  string // how
}

// The players. One bets that the halves of a sample repeat each other; one that halves are too much alike, as those of a stream are that comes round; one that a question is answered as it
// was at any time before; and one for each number of questions ago.
const (
	repeating    = 0
	alike        = 1
	anyBefore    = 2
	mostAgo      = 10
	players      = anyBefore + mostAgo + 1
	childrenPart = 0.25 // of the average
)

// courage is the share of its wealth that a player puts on each bet, and weight its part of the average.
func courage(player int) (courage, weight float64) {
	switch player {
	case repeating:
		return 0.25, 0.5
	case alike, anyBefore:
		return 0.5, 1.0 / 16
	}
	return 0.5, 1.0 / 8 / mostAgo
}

// dependent is the wealth at which independence is given up: one correct sampler in 1000 gets there at most.
const dependent = 1000

// bettered returns the logarithm of a wealth after a share of it was put on a bet that paid so much for each 1.
func bettered(log, share, pays float64) float64 {
	// A little is taken off for rounding: the logarithms are good to 10 digits.
	return log + math.Log1p(share*(float64(min(pays, 1e250)*(1-1e-6))-1)) - 1e-12
}

// bet settles a player's bet.
func (t *independence) bet(player int, pays float64) {
	share, _ := courage(player)
	t.logs[player] = bettered(t.logs[player], share, pays)
}

// judge gives independence up where the wealth has reached its limit.
func (t *independence) judge(describe func() string) {
	if t.broken {
		return
	}
	sum, limit := 0.0, math.Log(dependent)
	for i, x := range t.logs {
		_, weight := courage(i)
		sum += float64(weight * math.Exp(x-limit))
	}
	for _, first := range t.children {
		for _, x := range first {
			sum += float64(childrenPart / float64(len(t.children)*(len(t.children)-1)/2) * math.Exp(x-limit))
		}
	}
	if sum > 1 {
		t.broken = true
		if t.example == "" {
			t.example = describe()
		}
	}
}

// took counts a comparison, and remembers the least likely repetition; log is the logarithm of its probability.
func (t *independence) took(same bool, log float64, describe func() string) {
	t.compared++
	if !same {
		return
	}
	t.repeated++
	if t.example == "" || log < t.worst {
		t.worst, t.example = log, describe()
	}
}

// compare takes two halves of n draws each into account. Given how often each outcome came in both together, m_1, m_2, …, the first half's counts a have the
// probability
//
//	H(a) = Π C(m_r, a_r) / C(2N, N),
//
// whatever the outcomes' probabilities are. A bet that they equal the second half's pays 1/H(a); one that the count of one outcome is uniform over its
// range pays its uniform over its hypergeometric probability; and one that the two counts of it are about the same pays 1 over the probability of that. Samplers
// that start afresh with every question win the first, those that draw once and repeat it the second.
func (t *independence) compare(a, b []int64, n int64, describe func() string) {
	all := make([]int64, max(len(a), len(b))) // outcomes, some of which came in one half alone
	a, b = added(slices.Clone(all), a), added(all, b)
	widest, logH := 0, -logChoose(2*n, n)
	for r := range a {
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
	same := slices.Equal(a, b)
	t.took(same, logH, describe)
	pays := float64(math.Exp(min(-math.Log(float64(high-low+1))-logSplit(n, m, a[widest]), 600)) / 2)
	if same {
		pays += float64(math.Exp(min(-logH, 600)) / 2)
	}
	t.bet(repeating, pays)

	spread := math.Sqrt(float64(m)*float64(2*n-m)/float64(2*n-1)) / 2 // of a, given m
	near := max(m%2, int64(spread/3))
	chance := 0.0
	for x := max(low, (m-near+1)/2); x <= min(high, (m+near)/2); x++ {
		chance += math.Exp(logSplit(n, m, x))
	}
	pays = 0
	if abs(a[widest]-b[widest]) <= near {
		pays = 1 / min(1, chance)
	}
	t.bet(alike, pays)
	t.judge(describe)
}

// logSplit returns the logarithm of the probability that x of m are in the first half of n draws, given that m are in both halves.
func logSplit(n, m, x int64) float64 {
	return logChoose(m, x) + logChoose(2*n-m, n-x) - logChoose(2*n, n)
}

// again takes an answer into account to a question that was answered before, each time for as many draws.
func (t *independence) again(answer []int64, before [][]int64, describe func() string) {
	each, all := make([]float64, len(before)), 0.0
	for i, b := range before {
		pays, tells := t.repeats(answer, b, describe)
		if !tells {
			return
		}
		each[i], all = pays, all+pays/float64(len(before))
	}
	t.bet(anyBefore, all)
	for ago := 1; ago <= min(len(before), mostAgo); ago++ {
		t.bet(anyBefore+ago, each[len(before)-ago])
	}
	t.judge(describe)
}

// siblings takes into account what children answered that were asked for as many draws each.
func (t *independence) siblings(answers [][]int64, describe func() string) {
	for i, answer := range answers {
		if len(t.children) <= i {
			t.children = append(t.children, make([]float64, i))
		}
		for j, other := range answers[:i] {
			if pays, tells := t.repeats(answer, other, describe); tells {
				t.children[i][j] = bettered(t.children[i][j], 0.5, pays)
			}
		}
	}
	t.judge(describe)
}

// repeats returns what a bet pays that an answer of n draws is the one before, b. That happens with a probability of at most
//
//	n! Π (b_r/n)^{b_r} / b_r!,
//
// whatever the outcomes' probabilities are and whatever came before. It tells nothing where b is a constant answer.
func (t *independence) repeats(answer, b []int64, describe func() string) (pays float64, tells bool) {
	log := logLikeliest(b)
	if log == 0 {
		return 0, false
	}
	same := slices.Equal(trimmed(answer), trimmed(b))
	t.took(same, log, describe)
	if same {
		pays = math.Exp(min(-log, 600))
	}
	return pays, true
}

// logLikeliest returns the logarithm of the greatest probability that counts can have, that of a binomial count for one outcome after the other.
func logLikeliest(counts []int64) (sum float64) {
	left := sumOf(counts)
	for _, c := range counts {
		for _, part := range []int64{c, left - c} {
			if part > 0 {
				sum += float64(float64(part) * math.Log(float64(part)/float64(left)))
			}
		}
		if sum += logChoose(left, c); left == c {
			break
		}
		left -= c
	}
	return min(0, sum)
}

// trimmed leaves out the outcomes at the end that did not come.
func trimmed(counts []int64) []int64 {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	return counts
}

// result is the verdict.
func (t *independence) result() verify.Result {
	res := verify.Result{Name: Independence, Verdict: verify.Undecided, Checked: t.compared}
	switch {
	case t.changed != "":
		res.Verdict = verify.Violated
		res.Reason = fmt.Sprintf("the samples change, p < 1/%d: %s", changing, t.changed)
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

// Samples that change: the first ones are drawn again at the end of an audit, and compared.
const (
	lateShare   = 64     // such a part of what is drawn comes then, for samples
	fewestDated = 50     // of at least so many draws, early and late,
	mostDated   = 12     // the first so many of them,
	nearlySure  = 0.9    // but where a private mechanism would take one candidate so often: there is little to see
	changing    = 10_000 // what the bets on a change have to pay: one correct sampler in so many gets there at most
)

// dated is a sample that is drawn again.
type dated struct {
	place  int
	drawn  int64
	counts []int64
	late   []int64 // nil: an error came, or nothing was drawn
}

// date keeps a sample, if it is one of the first that are large enough. That, and how large it is, must not depend on its own counts.
func (s *statistics) date(place int, counts []int64, drawn int64) {
	if f := s.field; f.guess.made && slices.Max(exponential(f.places[place].q, f.guess.private)) > nearlySure {
		return
	}
	known := slices.ContainsFunc(s.early, func(d dated) bool { return d.place == place })
	if !known && drawn >= fewestDated && len(s.early) < mostDated {
		s.early = append(s.early, dated{place: place, drawn: drawn, counts: slices.Clone(counts)})
	}
}

// drawLate draws at the places of the first samples once more, the last one first, and compares.
func (s *statistics) drawLate() (err error) {
	budget := s.drawn / (lateShare - 1)
	early := s.early[:min(int64(len(s.early)), budget/fewestDated)]
	for i := range slices.Backward(early) {
		if early[i].late, err = s.draw(early[i].place, s.even(budget/int64(len(early)))); err != nil {
			return err
		}
	}
	logs := make([]float64, len(early))
	for i := range early {
		logs[i] = early[i].logPays()
	}
	if worth(logs) <= changing {
		return nil
	}
	d := early[slices.Index(logs, slices.Max(logs))]
	s.repeats.broken = true
	s.repeats.changed = fmt.Sprintf("asked early for %d samples at %s, it answered %v, and late for %d, %v", d.drawn, s.at(s.field.places[d.place].q), d.counts, sumOf(d.late), d.late)
	return errRepeats
}

// worth is what bets on pairs of samples pay whose logarithms are known: half of the stake is on all pairs together, the other half divided among them. It is the only
// bet on them, and fair, so that it pays more than x with probability 1/x at most.
func worth(logs []float64) float64 {
	if len(logs) == 0 {
		return 1
	}
	together, sum := 0.0, 0.0
	for _, x := range logs {
		together, sum = together+x, sum+math.Exp(x)
	}
	return float64(math.Exp(min(together, 600))/2) + sum/float64(2*len(logs))
}

// logPays returns the logarithm of what a bet pays that the two samples come from different distributions, divided among the outcomes: given the sum m of an outcome's
// two counts, the first one is hypergeometric where they come from one, and as likely to be any number where the bet is right.
func (d *dated) logPays() float64 {
	pays, ways, n, other := 0.0, 0.0, d.drawn, sumOf(d.late)
	for r := range max(len(d.counts), len(d.late)) {
		a := countAt(d.counts, r)
		m := a + countAt(d.late, r)
		if m == 0 || m == n+other || other == 0 {
			continue
		}
		choices := min(m, n) - max(0, m-other) + 1
		log := logChoose(n+other, n) - logChoose(m, a) - logChoose(n+other-m, n-a) - math.Log(float64(choices))
		pays, ways = pays+math.Exp(min(log, 600)), ways+1
	}
	if ways == 0 {
		return 0 // a constant sampler, or an error
	}
	return math.Log(pays/ways) - 1e-6 // for rounding
}

// countAt is how often an outcome came, 0 for one that is not there.
func countAt(counts []int64, r int) int64 {
	if r < len(counts) {
		return counts[r]
	}
	return 0
}
