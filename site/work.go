package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"optratio/internal/document"
	"optratio/internal/evaluate"
	"optratio/internal/linear"
	"optratio/internal/recommend"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/optimum"
	"optratio/verify"
	"optratio/verify/audit"
	"optratio/verify/certificate"
)

// parseStep reads 2delta, delta or 2delta/L as L.
func parseStep(text string) (int, error) {
	switch rest, fine := strings.CutPrefix(text, "2delta/"); {
	case text == "2delta":
		return 1, nil
	case text == "delta":
		return 2, nil
	case fine:
		if l, err := strconv.Atoi(rest); err == nil && l >= 1 && l <= 1<<16 {
			return l, nil
		}
	}
	return 0, errors.New("give 2delta, delta or 2delta/L")
}

// tell says how far a solver is. It lets others of this one thread run, such as the clock of the time limit.
func (l *line) tell(format string, args ...any) {
	l.at(fmt.Sprintf(format, args...))
	runtime.Gosched()
}

// ratio does a ratio job.
func ratio(ctx context.Context, l *line) (answer, error) {
	eps, text, exp := l.epsilon()
	objective, prior, loss, step := l.text("objective", "paper"), l.text("prior", ""), l.text("loss", "mean"), l.text("step", "2delta")
	if prior != "" && objective != "paper" {
		l.fail("one score vector that is the worst leaves no room for a prior: choose one of them")
	}
	r := lp.Request{
		Worst: objective == "minimax", N: l.count("n", 0), K: l.count("k", 0), Epsilon: eps, Mechanisms: l.mechanisms("pf,em"),
		Level: parsed(l, "constraints", "paper", lp.ParseLevel), Step: parsed(l, "step", "2delta", parseStep), Loss: parsed(l, "loss", "mean", lp.ParseLoss),
		Gap: big.NewRat(1, 1e9), MaxMemory: maxMemory,
		Report: func(p lp.Progress) { l.tell("%d pivots, objective %.9g", p.Pivots, p.Objective) },
	}
	switch {
	case prior != "":
		r.Prior = parsed(l, "prior", "", lp.ParsePrior)
	case objective == "box":
		r.Prior = lp.Box()
	case objective != "paper" && !r.Worst:
		l.fail("objective %q is neither paper nor box", objective)
	}
	if l.err != nil {
		return answer{}, nil
	}
	a, err := lp.Ratio(ctx, r)
	if err != nil {
		return answer{}, err
	}
	doc := document.Ratio{
		N: r.N, K: r.K, Eps: text, ExpEps: exp, Objective: objective, Constraints: r.Level.String(),
		Orbits: a.Orbits, Variables: a.Variables, Proof: a.Proof, Solver: a.Solver, Pivots: a.Pivots, Seconds: a.Seconds,
		Step: step, Loss: loss, Prior: cmp.Or(prior, map[string]string{"paper": "uniform", "box": "box", "minimax": "none"}[objective]),
		Optimum: a.Optimum, Price: a.Price, PFOptimal: a.PFOptimal, Mechanisms: a.Mechanisms, Undecided: a.Undecided,
	}
	found := answer{doc: doc, open: a.Undecided}
	for _, m := range a.Mechanisms {
		found.failed = cmp.Or(found.failed, m.Finding)
	}
	return found, nil
}

// threshold does a threshold job.
func threshold(ctx context.Context, l *line) (answer, error) {
	r := lp.Request{
		N: l.count("n", 0), K: l.count("k", 0), Level: parsed(l, "constraints", "paper", lp.ParseLevel), Step: 1, Loss: parsed(l, "loss", "mean", lp.ParseLoss),
		Gap: big.NewRat(1, 1e6), MaxMemory: maxMemory,
	}
	if l.err != nil {
		return answer{}, nil
	}
	a, err := lp.Threshold(ctx, r, nil)
	if err != nil {
		return answer{}, err
	}
	end := func(r *big.Rat) (n number.Number) {
		if r != nil {
			n = number.Exact(r)
		}
		return n
	}
	return answer{open: a.Undecided, doc: document.Threshold{
		N: r.N, K: r.K, Objective: "paper", Constraints: r.Level.String(), Step: "2delta", Loss: l.text("loss", "mean"), Prior: "uniform",
		Lower: a.Lower, Upper: a.Upper, LowerExp: end(a.LowerExp), UpperExp: end(a.UpperExp), Proof: a.Proof, Undecided: a.Undecided,
	}}, nil
}

// instance reads scores and sensitivities.
func (l *line) instance() (in *mechanisms.Instance, eps, exp *string) {
	in = &mechanisms.Instance{Scores: l.numbers("scores", "")}
	in.Epsilon, eps, exp = l.epsilon()
	in.Sensitivities = l.numbers("sensitivities", "1")
	if s, q := len(in.Sensitivities), len(in.Scores); s != 1 && s != q {
		l.fail("sensitivities: %d for %d scores, give one for each", s, q)
	} else if err := in.Check(); l.err == nil && err != nil {
		l.fail("%w", err)
	}
	return in, eps, exp
}

// pmf does a pmf job of one mechanism.
func pmf(ctx context.Context, l *line) (answer, error) {
	in, eps, exp := l.instance()
	list := l.mechanisms("pf")
	if len(list) > 1 {
		l.fail("mechanism: give one")
	}
	if l.err != nil {
		return answer{}, nil
	}
	m := lp.OnLattice(list[0], 0, lp.Paper)
	d, err := mechanisms.Ask(mechanisms.Within(ctx, m), in)
	if err != nil {
		return answer{}, err
	}
	return answer{doc: document.PMF{Mechanism: m.Info().Name, Eps: eps, ExpEps: exp, Distribution: d}}, nil
}

// choose does a recommend job, over all mechanisms that need no lattice where none are named.
func choose(ctx context.Context, l *line) (answer, error) {
	in, _, _ := l.instance()
	all := slices.DeleteFunc(mechanisms.Names(), func(name string) bool { return name == "lp-optimal" || name == "lp-extended" })
	list := l.mechanisms(strings.Join(all, ","))
	if l.err != nil {
		return answer{}, nil
	}
	r, err := recommend.For(ctx, in, list, false)
	if err != nil {
		return answer{}, err
	}
	return answer{doc: r, open: r.Undecided}, nil
}

// verdictOn turns the verdicts of a report into an answer.
func verdictOn(doc document.Document, r *verify.Report) answer {
	a := answer{doc: doc}
	var names []string
	sum := r.Verdict()
	for _, p := range r.Properties {
		if p.Verdict == sum && !p.Fact {
			names = append(names, string(p.Name))
		}
	}
	switch sum {
	case verify.Violated:
		a.failed = "violated: " + strings.Join(names, ", ")
	case verify.Undecided:
		a.open = "undecided: " + strings.Join(names, ", ")
	}
	return a
}

// verdicts does a verify job on the lattice.
func verdicts(ctx context.Context, l *line) (answer, error) {
	c := verify.Claim{Sensitivities: []*big.Rat{big.NewRat(1, 1)}}
	c.Epsilon, _, _ = l.epsilon()
	n, k, list := l.count("n", 0), l.count("k", 0), l.mechanisms("pf")
	if l.err != nil {
		return answer{}, nil
	}
	c.Mechanism = lp.OnLattice(list[0], 0, lp.Paper)
	o := verify.Options{Progress: func(p verify.Property, checked, total int64) {
		if total > 0 {
			l.tell("%s, %d of %d comparisons", p, checked, total)
		} else {
			l.tell("%s, %d comparisons", p, checked)
		}
	}}
	o.Complete()
	r, err := verify.Lattice(ctx, c, n, k, o)
	if err != nil {
		return answer{}, err
	}
	return verdictOn(r, r), nil
}

// examine does an audit job: of a table, or of a function in the page.
func examine(ctx context.Context, l *line) (answer, error) {
	o := audit.Options{N: l.count("n", 3), K: l.count("k", 2), Domain: "lattice", Seed: 1, Precision: big.NewRat(1, 1e9), Sensitivity: big.NewRat(1, 1)}
	o.Epsilon, _, _ = l.epsilon()
	o.Progress = func(n, total int64) {
		if n%32 == 0 {
			l.tell("%d of about %d questions", n, total)
		}
	}
	table, function, shifted := l.text("pmf-file", ""), l.text("pmf-javascript", ""), l.text("shifted", "") == "true"
	if (table == "") == (function == "") {
		l.fail("give a table or a function")
	}
	text := l.file(table + function)
	if l.err != nil {
		return answer{}, nil
	}
	var r *audit.Report
	var err error
	if function != "" {
		r, err = audit.Mechanism(ctx, inPage(ctx), o)
	} else {
		var rows []audit.Row
		if rows, err = audit.ReadTable(strings.NewReader(text), table, audit.Index, o.Precision); err == nil {
			r, err = audit.Table(ctx, table, rows, shifted, o)
		}
	}
	if err != nil {
		return answer{}, err
	}
	return verdictOn(r, &r.Report), nil
}

// inPage is the function that the page asks.
func inPage(ctx context.Context) mechanisms.Mechanism {
	info := mechanisms.Info{Name: "the function", Summary: "a function in JavaScript", Claim: "ε-DP", Private: true, Uniform: true}
	return mechanisms.FromFloat(info, 0, func(scores []float64, sensitivity, epsilon float64) ([]float64, error) {
		return askFunction(ctx, scores, sensitivity, epsilon)
	})
}

// histogram reads the counts of a file.
func (l *line) histogram(name string) (counts evaluate.Counts) {
	for i, row := range strings.Split(l.file(name), "\n") {
		if row = strings.TrimSpace(row); row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		if err := counts.Line(row); err != nil {
			l.fail("%s:%d: %w", name, i+1, err)
		}
	}
	if len(counts.Values) == 0 {
		l.fail("%s: has no counts, give one a line", name)
	}
	return counts
}

// errorsOf does an evaluate job on a histogram.
func errorsOf(ctx context.Context, l *line) (answer, error) {
	eps, text, exp := l.epsilon()
	task, name, list := l.text("task", ""), l.text("histogram", ""), l.mechanisms("pf,em")
	counts := l.histogram(name)
	if task != "mode" && task != "median" {
		l.fail("task %s: give mode or median", task)
	}
	if l.err != nil {
		return answer{}, nil
	}
	scores := counts.Values
	items, err := evaluate.Total(scores)
	if err == nil && task == "median" {
		scores, err = evaluate.QuantileScores(scores, big.NewRat(1, 2))
	}
	if err != nil {
		return answer{}, err
	}
	p, err := evaluate.New(scores, big.NewRat(1, 1), false)
	if err != nil {
		return answer{}, err
	}
	doc := document.Evaluate{Task: task, Bins: len(scores), Items: &items, Classes: p.Classes(), Eps: text, ExpEps: exp, Sensitivity: "1"}
	pf, em := mechanisms.PermuteAndFlip(), mechanisms.Exponential()
	found := map[mechanisms.Mechanism]number.Number{}
	for _, m := range append([]mechanisms.Mechanism{pf, em}, list...) {
		if found[m], err = p.ExpectedError(mechanisms.Within(ctx, m), eps); err != nil {
			return answer{}, err
		}
	}
	doc.Ratio = evaluate.Ratio(found[em], found[pf])
	for _, m := range list {
		row := document.Evaluated{Name: m.Info().Name, ExpectedError: found[m], Ratio: number.Int(1), EquivalentEps: eps.Number()}
		if m != pf {
			row.Ratio = evaluate.Ratio(found[m], found[pf])
			if row.EquivalentEps, err = p.Reaching(ctx, mechanisms.Within(ctx, m), found[pf]); err != nil {
				return answer{}, err
			}
		}
		doc.Mechanisms = append(doc.Mechanisms, row)
	}
	return answer{doc: doc}, nil
}

// problem reads the problem of an optimum job, and the table that is compared with its optimum.
func (l *line) problem() (p *optimum.Problem, rated *optimum.Table, err error) {
	preset, worst, rate := l.text("preset", ""), l.text("worst", "") == "true", l.text("rate", "")
	switch {
	case (preset == "") == (len(l.args) != 1):
		return nil, nil, errors.New("give a problem or a preset")
	case preset != "":
		p, err = optimum.Preset(preset)
	default:
		p, err = optimum.ReadJSON(l.args[0], strings.NewReader(l.file(l.args[0])))
	}
	if err != nil {
		return nil, nil, err
	}
	if worst {
		p.Prior = nil
	}
	if err := p.Check(); err != nil || rate == "" {
		return p, nil, err
	}
	rated, err = p.ReadTable(rate, strings.NewReader(l.file(rate)))
	return p, rated, err
}

// best does an optimum job.
func best(ctx context.Context, l *line) (answer, error) {
	eps, text, exp := l.epsilon()
	delta := l.number("delta", "0")
	p, rated, err := l.problem()
	if l.err == nil && err != nil {
		l.fail("%w", err)
	}
	if l.err != nil {
		return answer{}, nil
	}
	solver := linear.Embedded{}
	a, err := optimum.Solve(ctx, optimum.Request{
		Problem: p, Epsilon: eps, Delta: delta, Rate: rated, Gap: big.NewRat(1, 1e9),
		Report: func(pivots int, objective float64) { l.tell("%d pivots, objective %.9g", pivots, objective) },
	})
	if err != nil {
		return answer{}, err
	}
	rounded, err := a.Round(ctx)
	if err != nil && a.Undecided == "" && !a.Exact() {
		a.Undecided = err.Error()
	}
	doc := document.Optimum{
		Inputs: len(p.Inputs), Outputs: len(p.Outputs), Pairs: a.Pairs, Rows: a.Rows, Orbits: a.Orbits, Variables: a.Variables,
		Eps: text, ExpEps: exp, Delta: delta.RatString(), Objective: "mean", Optimum: a.Optimum,
		InputNames: p.Inputs, OutputNames: p.Outputs, Rounded: rounded, Rated: a.Rated, Users: a.Users,
		Proof: "lp", Solver: solver.Name(), Pivots: a.Pivots, Seconds: a.Seconds, Undecided: a.Undecided,
	}
	if p.Prior == nil {
		doc.Objective = "worst"
	}
	table := a.Table()
	if rounded != nil && !a.Exact() {
		table = rounded.Table()
	}
	for _, row := range table {
		doc.Mechanism = append(doc.Mechanism, exactly(row))
	}
	doc.Losses = exactly(p.Losses(table))
	found := answer{doc: doc, open: a.Undecided}
	if a.Rated != nil && a.Rated.DP == verify.Violated {
		found.failed = "violated: the table is not private as asked"
	}
	return found, nil
}

// exactly returns rationals as numbers.
func exactly(xs []*big.Rat) []number.Number {
	out := make([]number.Number, len(xs))
	for i, x := range xs {
		out[i] = number.Exact(x)
	}
	return out
}

// check does a check job.
func check(ctx context.Context, l *line) (answer, error) {
	if len(l.args) != 1 {
		l.fail("give the certificate")
		return answer{}, nil
	}
	text := l.file(l.args[0])
	if l.err != nil {
		return answer{}, nil
	}
	r, err := certificate.Check(strings.NewReader(text), certificate.Options{Context: ctx, MaxMemory: maxMemory})
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", l.args[0], err)
	}
	a := answer{doc: document.Check{Report: r}}
	if !r.Valid {
		a.failed = "invalid certificate: " + r.Reason
	}
	return a, nil
}
