package job

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"optratio/internal/clp"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/internal/stopping"
	"optratio/number"
)

// Stopping asks about private optimal stopping: of the p-mix of the secretary rule and, where ε is given, of the best private rule; or, with Distance, how far
// two orders are apart.
type Stopping struct {
	N     int    `json:"n" help:"number of candidates, at least 1"`
	P     string `json:"p" help:"play the secretary rule with this probability, else take the first candidate"`
	L     int    `json:"l" help:"neighbors swap two candidates at most l places apart, 1 to n-1"`
	Win   int    `json:"win" help:"winning is taking one of so many best"`
	Delta string `json:"delta" help:"privacy parameter δ as a decimal, 0 to 1"`
	Epsilon
	LP   bool   `json:"lp" help:"insist on the best private rule, which is found wherever ε is given and n is at most 1000"`
	Rule bool   `json:"rule" help:"with {eps}, print the best private rule: stop probabilities by time and relative rank"`
	Play string `json:"play" help:"play the rule on a file of arrival ranks, one number a line, 1 the best"`
	Seed uint64 `json:"seed" help:"seed for {play}"`
	Effort
	Distance   string `json:"distance" help:"the distance d_l from this order, a list of 1 to n, to {distance-to}: any n for l = 1 and l = n-1, at most 9 otherwise"`
	DistanceTo string `json:"distance-to" help:"see {distance} (default: 1,2,…,n)"`
}

// NewStopping returns the question with its defaults.
func NewStopping() *Stopping {
	return &Stopping{P: "1", L: 1, Win: 1, Delta: "0", Seed: 1, Effort: standardEffort()}
}

func (*Stopping) standard() (string, any) { return "stopping", NewStopping() }

// playing is a question that is read, and its answer as far as it is known.
type playing struct {
	*reading
	*Stopping
	p, delta *big.Rat
	eps      *number.Epsilon
	private  bool // the best private rule is asked for
	payoff   []*big.Rat
	solvers  []linear.Solver // each one for what those before it cannot answer
	gap      float64
	arrivals []int
	doc      *document.Stopping
	rule     *secretary.Rule // the best one, once it is found
	solution *stopping.Solution
}

func (q *Stopping) read(in *reading) *playing {
	in.refuse(q.N < 1, "{n} is missing or 0: give the number of candidates, 1 to %d", secretary.MaxCandidates)
	in.refuse(q.N > secretary.MaxCandidates, "{n} %d: give the number of candidates, 1 to %d", q.N, secretary.MaxCandidates)
	in.refuse(in.err == nil && secretary.CheckDistance(q.N, q.L) != nil, "{l} %d: give a distance from 1 to n-1 = %d", q.L, max(q.N-1, 1))
	in.refuse(q.Win < 1 || q.Win > q.N, "{win} %d: give a number from 1 to n = %d", q.Win, q.N)
	p := &playing{reading: in, Stopping: q, p: in.probability("p", q.P), delta: in.probability("delta", q.Delta)}
	if q.Epsilon != (Epsilon{}) {
		p.eps = new(in.epsilon(q.Epsilon))
	}
	in.refuse(q.LP && p.eps == nil, "{lp}: epsilon is missing: give {eps} 0.5 or {exp-eps} 3/2")
	in.refuse(q.LP && q.N > stopping.MaxCandidates, "{n} %d: {lp} takes at most %d candidates", q.N, stopping.MaxCandidates)
	p.private = q.LP || p.eps != nil && q.N <= stopping.MaxCandidates
	in.refuse(in.Certificate && !p.private, "{cert}: certifies the best private rule: give {eps}, and {n} of at most %d", stopping.MaxCandidates)
	in.refuse(q.Rule && !p.private, "{rule}: prints the best private rule: give {eps}, and {n} of at most %d", stopping.MaxCandidates)
	var err error
	p.gap, err = FloatGap(q.Gap)
	in.keep(err)
	if p.solvers = []linear.Solver{in.solver(q.Solver)}; in.err != nil {
		return p
	}
	p.payoff, err = stopping.TopK(q.N, q.Win) // which are right by now
	in.keep(err)
	if second, err := clp.New(); err == nil && q.Solver == "auto" {
		p.solvers = append(p.solvers, second)
	}
	if q.Play != "" {
		in.refuse(q.N > stopping.MaxCandidates, "{n} %d: {play} takes at most %d candidates", q.N, stopping.MaxCandidates)
		p.arrivals = in.arrivals(q.Play, q.N)
	}
	return p
}

// arrivals reads one rank a line: a permutation of 1 to n.
func (in *reading) arrivals(path string, n int) []int {
	seen := map[int]bool{}
	arrivals := lines(in, "play", path, "", fmt.Sprintf("0 ranks: give all n = %d, one a line", n), func(text string) (int, error) {
		rank, err := strconv.Atoi(text)
		switch {
		case err != nil || rank < 1 || rank > n:
			return 0, fmt.Errorf("%s: give a rank from 1 to n = %d", escape.Quoted(text), n)
		case seen[rank]:
			return 0, fmt.Errorf("rank %d is there already: give every rank once", rank)
		}
		seen[rank] = true
		return rank, nil
	})
	in.refuse(len(arrivals) != n, "{play} %s: %d ranks: give all n = %d, one a line", escape.Quoted(path), len(arrivals), n)
	return arrivals
}

func (q *Stopping) answer(in *reading) (*Answer, error) {
	if q.Distance != "" || q.DistanceTo != "" {
		return q.distance(in)
	}
	p := q.read(in)
	if p.err != nil {
		return nil, p.err
	}
	at := number.Epsilon{}
	if p.eps != nil {
		at = *p.eps
	}
	report, err := p.Begin(fmt.Sprintf("n = %d", q.N), at)
	if err != nil {
		return nil, err
	}
	p.doc = &document.Stopping{N: q.N, P: q.P, L: q.L, AtEpsilon: document.At(q.Eps, q.Exp), Delta: q.Delta, Win: q.Win}
	p.law()
	if p.private {
		p.best(report)
	}
	if p.arrivals != nil {
		p.doc.Play = stage(p, func() (*secretary.Game, error) {
			if p.rule == nil {
				if p.rule, err = secretary.SecretaryMix(q.N, p.p); err != nil {
					return nil, err
				}
			}
			game, err := p.rule.Seeded(p.arrivals, q.Seed)
			return &game, err
		})
	}
	return answered(p.doc, p.doc.Undecided, p.solution.WriteCertificate), p.err
}

// stage is one of the computations that make up the document. Where it fails, or a limit ends it, or one before did, its result is the zero value.
func stage[T any](in *playing, compute func() (T, error)) (none T) {
	if in.err != nil || in.doc.Undecided != "" {
		return none
	}
	x, err := Settle(in.ctx, compute, func(why string) T { in.doc.Undecided = why; return none })
	in.keep(err)
	return x
}

// law computes what is known of the p-mix of the secretary rule, as far as the limits let it.
func (in *playing) law() {
	doc := in.doc
	doc.Threshold = stage(in, func() (int, error) { return secretary.Threshold(in.N) })
	law := stage(in, func() (secretary.Law, error) { return secretary.SecretaryMixLaw(in.ctx, in.N, in.p) })
	doc.Outcome = stage(in, func() ([]number.Number, error) { return law.Numbers(), nil })
	doc.Success = stage(in, func() (number.Number, error) { return law.Payoff(in.payoff), nil })
	doc.TightEps = stage(in, func() (number.Number, error) {
		tight, err := secretary.TightEps(law, in.L, in.delta)
		return tight.Eps(), err
	})
	if in.eps != nil {
		doc.TightDelta = stage(in, func() (*number.Number, error) {
			lo, hi, _, err := secretary.TightDelta(law, in.L, *in.eps)
			if err != nil {
				return nil, err
			}
			return new(number.Bounds(lo, hi)), nil
		})
	}
}

// best finds the best private rule.
func (in *playing) best(report func(string, ...any)) {
	doc, p := in.doc, &stopping.Problem{Payoff: in.payoff, L: in.L, Eps: *in.eps, Delta: in.delta}
	// Taking the first candidate is private, and takes one of the best with this probability.
	any := number.Bounds(big.NewRat(int64(in.Win), int64(in.N)), one)
	b := &document.BestRule{
		Optimum: any, PMixBest: document.PMix{P: number.Bounds(new(big.Rat), one), Success: any}, Ratio: number.Bounds(one, nil),
		Solver: in.solvers[0].Name(),
	}
	doc.BestRule = b
	options := stopping.Options{Solvers: in.solvers, Gap: in.gap, Report: func(p stopping.Progress) {
		report("round %d, optimum between %.9g and %.9g", p.Round, p.Lower, p.Upper)
	}}
	start := time.Now()
	sol := stage(in, func() (*stopping.Solution, error) { return stopping.Solve(in.ctx, p, options) })
	if sol == nil {
		return
	}
	in.solution, in.rule = sol, sol.Rule
	b.Optimum, b.Rounds, b.Pivots, b.Solver = sol.Optimum(), sol.Rounds, sol.Pivots, sol.Solver
	b.OptimalOutcome = stage(in, func() ([]number.Number, error) { return secretary.ExactLaw(sol.Law).Numbers(), nil })
	if in.Rule {
		b.Rule = sol.Rule.Moments()
	}
	if mix := stage(in, func() (*stopping.Mix, error) { m, err := p.SecretaryMix(in.ctx, sol); return &m, err }); mix != nil {
		b.PMixBest, b.Ratio = document.PMix{P: mix.P, Success: mix.Success}, mix.Ratio
	}
	if in.Win > 1 {
		if mix := stage(in, func() (*stopping.Mix, error) { m, err := p.FreeMix(sol); return &m, err }); mix != nil {
			b.WinMixBest = &document.PMix{P: mix.P, Success: mix.Success}
		}
	}
	b.Seconds = time.Since(start).Seconds()
	if gap := sol.Gap(); gap > in.gap {
		doc.Undecided = fmt.Sprintf("the relative gap of the optimum is %.1e, not %s", gap, in.Gap)
		if sol.Stopped != nil {
			doc.Undecided += ": " + sol.Stopped.Error()
		}
	}
}

// distance tells how far two orders are apart.
func (q *Stopping) distance(in *reading) (*Answer, error) {
	from := in.order("distance", q.Distance)
	to := make([]int, len(from))
	for i := range to {
		to[i] = i + 1
	}
	if q.DistanceTo != "" {
		to = in.order("distance-to", q.DistanceTo)
	}
	if in.err != nil {
		return nil, in.err
	}
	if _, err := in.Begin("distance", number.Epsilon{}); err != nil {
		return nil, err
	}
	doc, err := Await(in.ctx, Grace, func() (*document.Distance, error) {
		distance, method, err := secretary.SwapDistance(from, to, q.L)
		return &document.Distance{From: from, To: to, L: q.L, Distance: distance, Method: method}, err
	})
	if err != nil {
		if len(from) == len(to) && q.L > 1 && q.L < len(from)-1 {
			return nil, refuse("{distance}: %w; {l} 1 and {l} n-1 take any number", err)
		}
		return nil, refuse("{distance}: %w", err)
	}
	return answered(doc, ""), nil
}

// order reads an order: whole numbers separated by commas, which SwapDistance checks.
func (in *reading) order(field, text string) (out []int) {
	in.refuse(text == "", "{"+field+"}: is missing; give an order such as 3,1,2")
	for item := range strings.SplitSeq(text, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(item))
		in.refuse(err != nil, "{"+field+"} %s: %s is no whole number; give an order such as 3,1,2", escape.Quoted(text), escape.Quoted(item))
		out = append(out, v)
	}
	return out
}
