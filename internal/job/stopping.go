package job

import (
	"fmt"
	"math/big"
	"time"

	"optratio/internal/clp"
	"optratio/internal/document"
	"optratio/internal/linear"
	"optratio/internal/secretary"
	"optratio/internal/stopping"
	"optratio/number"
)

// Stopping asks about private optimal stopping: of the p-mix of the secretary rule and, where ε is given, of the best private rule.
type Stopping struct {
	N     int    `json:"n" help:"number of candidates, at least 1"`
	P     string `json:"p" default:"1" help:"play the secretary rule with this probability, else take the first candidate"`
	L     int    `json:"l" default:"1" help:"neighbors swap two candidates at most l places apart, 1 to n-1"`
	Win   int    `json:"win" default:"1" help:"how many of the best candidates count as a win"`
	Delta string `json:"delta" default:"0" help:"privacy parameter δ as a decimal, 0 to 1"`
	Epsilon
	LP   bool `json:"lp" help:"-"`
	Rule bool `json:"rule" help:"with {eps}, print the best private rule: stop probabilities by time and relative rank"`
}

// playing is a question that is read, and its answer as far as it is known.
type playing struct {
	*reading
	*Stopping
	p        *big.Rat         // of the p-mix
	problem  stopping.Problem // of the best private rule; without ε there is none
	doc      *document.Stopping
	solution *stopping.Solution
}

func (q *Stopping) answer(in *reading) *Answer {
	refuse(q.N < 1, "{n} is missing or 0: give the number of candidates, 1 to %d", secretary.MaxCandidates)
	refuse(q.N > secretary.MaxCandidates, "{n} %d: give the number of candidates, 1 to %d", q.N, secretary.MaxCandidates)
	refuse(secretary.CheckDistance(q.N, q.L) != nil, "{l} %d: give a distance from 1 to n-1 = %d", q.L, max(q.N-1, 1))
	refuse(q.Win < 1 || q.Win > q.N, "{win} %d: give a number from 1 to n = %d", q.Win, q.N)
	p := &playing{reading: in, Stopping: q, problem: stopping.Problem{L: q.L, Delta: privacyDelta(q.Delta)}, p: must(Probability("p", q.P))}
	given := q.Epsilon != (Epsilon{})
	if given {
		p.problem.Eps = q.Epsilon.value()
	}
	refuse(q.LP && !given, "{lp}: epsilon is missing: give {eps} 0.5 or {exp-eps} 3/2")
	refuse(q.LP && q.N > stopping.MaxCandidates, "{n} %d: {lp} takes at most %d candidates", q.N, stopping.MaxCandidates)
	private := given && q.N <= stopping.MaxCandidates // the best private rule is asked for
	refuse(in.Certificate && !private, "{cert}: certifies the best private rule: give {eps}, and {n} of at most %d", stopping.MaxCandidates)
	refuse(q.Rule && !private, "{rule}: prints the best private rule: give {eps}, and {n} of at most %d", stopping.MaxCandidates)
	p.problem.Payoff = must(stopping.TopK(q.N, q.Win)) // which are right by now
	in.begin(fmt.Sprintf("n = %d", q.N), p.problem.Eps)
	p.doc = &document.Stopping{N: q.N, P: q.P, L: q.L, AtEpsilon: document.At(q.Eps, q.Exp), Delta: q.Delta, Win: q.Win}
	p.law(given)
	if private {
		p.best()
	}
	return answered(p.doc, p.doc.Undecided, p.solution.WriteCertificate)
}

// stage is one of the computations that make up the document. Where it fails, or a limit ends it, or one before did, its result is the zero value.
func stage[T any](in *playing, compute func() T) (none T) {
	if in.doc.Undecided != "" {
		return none
	}
	return settled(in.reading, compute, func(why string) T { in.doc.Undecided = why; return none })
}

// law computes what is known of the p-mix of the secretary rule, as far as the limits let it.
func (in *playing) law(given bool) {
	doc := in.doc
	doc.Threshold = stage(in, func() int { return must(secretary.Threshold(in.N)) })
	law := stage(in, func() secretary.Law { return must(secretary.SecretaryMixLaw(in.ctx, in.N, in.p)) })
	doc.Outcome = stage(in, law.Numbers)
	doc.Success = stage(in, func() number.Number { return law.Payoff(in.problem.Payoff) })
	doc.TightEps = stage(in, func() number.Number { return must(secretary.TightEps(law, in.L, in.problem.Delta)).Eps() })
	if given {
		doc.TightDelta = stage(in, func() *number.Number {
			lo, hi, _, err := secretary.TightDelta(law, in.L, in.problem.Eps)
			throw(err)
			return new(number.Bounds(lo, hi))
		})
	}
}

// stoppingGap is the relative width that is wanted of the optimum.
const stoppingGap = 1e-9

// best finds the best private rule.
func (in *playing) best() {
	doc, p, solvers := in.doc, &in.problem, []linear.Solver{linear.Embedded{}}
	if second, err := clp.New(); err == nil {
		solvers = append(solvers, second) // for what the first cannot answer
	}
	// Taking the first candidate is private, and takes one of the best with this probability.
	any := number.Bounds(big.NewRat(int64(in.Win), int64(in.N)), one)
	b := &document.BestRule{
		Optimum: any, PMixBest: document.PMix{P: number.Bounds(new(big.Rat), one), Success: any}, Ratio: number.Bounds(one, nil),
		Solver: solverName,
	}
	doc.BestRule = b
	options := stopping.Options{Solvers: solvers, Gap: stoppingGap, Report: func(p stopping.Progress) {
		in.report("round %d, optimum between %.9g and %.9g", p.Round, p.Lower, p.Upper)
	}}
	start := time.Now()
	sol := stage(in, func() *stopping.Solution { return must(stopping.Solve(in.ctx, p, options)) })
	if sol == nil {
		return
	}
	in.solution = sol
	b.Optimum, b.Rounds, b.Pivots, b.Solver = sol.Optimum(), sol.Rounds, sol.Pivots, sol.Solver
	b.OptimalOutcome = stage(in, func() []number.Number { return secretary.ExactLaw(sol.Law).Numbers() })
	if in.Rule {
		b.Rule = sol.Rule.Moments()
	}
	if mix := stage(in, func() *stopping.Mix { return new(must(p.SecretaryMix(in.ctx, sol))) }); mix != nil {
		b.PMixBest, b.Ratio = document.PMix{P: mix.P, Success: mix.Success}, mix.Ratio
	}
	if in.Win > 1 {
		if mix := stage(in, func() *stopping.Mix { return new(must(p.FreeMix(sol))) }); mix != nil {
			b.WinMixBest = &document.PMix{P: mix.P, Success: mix.Success}
		}
	}
	b.Seconds = time.Since(start).Seconds()
	if gap := sol.Gap(); gap > stoppingGap {
		doc.Undecided = fmt.Sprintf("the relative gap of the optimum is %.1e, not %g", gap, stoppingGap)
		if sol.Stopped != nil {
			doc.Undecided += ": " + sol.Stopped.Error()
		}
	}
}
