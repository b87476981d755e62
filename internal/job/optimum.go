package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/heterogeneous"
	"optratio/internal/inquiry"
	"optratio/internal/linear"
	"optratio/internal/optimum"
	"optratio/internal/topk"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// Optimum asks for the best private mechanism of a finite problem.
type Optimum struct {
	File   string `json:""`
	Preset string `json:"preset" help:"a ready problem instead of FILE, such as count:4"`
	Epsilon
	Delta   string `json:"delta" default:"0" help:"δ, a decimal or fraction from 0 to 1"`
	Worst   bool   `json:"worst" help:"-"`
	Rate    string `json:"rate" help:"compare this table with the optimum: a CSV file with the columns input,output,probability, or one that ends in .jsonl with a line {\"input\":NAME,\"pmf\":{\"a\":0.5,\"b\":\"1/2\"}} for each input"`
	Pairs   string `json:"pairs" help:"pairs of neighbors, a CSV file with the columns x,y or x,y,d"`
	Loss    string `json:"loss" help:"abs, square, zero-one, or a CSV file with the columns x,o,value"`
	Prior   string `json:"prior" help:"uniform, worst, or a CSV file with the columns x,p"`
	Users   string `json:"users" help:"priors of users who share one mechanism: CSV files, separated by commas"`
	Rounded bool   `json:"-"` // the rounded mechanism is wanted, be the optimal one exact or not

	problem *optimum.Problem // once it is read
}

// Problem reads the problem that the file, the preset and the fields say.
func (q *Optimum) Problem(ctx context.Context, h *Host) (*optimum.Problem, error) {
	return read(func() *optimum.Problem { return q.read(&reading{Host: h, ctx: ctx}) })
}

func (q *Optimum) read(in *reading) *optimum.Problem {
	if q.problem != nil {
		return q.problem
	}
	refuse(q.File != "" && q.Preset != "", "{preset} %s: it takes the place of %s, give one of them", escape.Quoted(q.Preset), escape.Quoted(q.File))
	p, isNew := &optimum.Problem{}, false
	switch {
	case q.File != "":
		err := caught(func() { p = file(in, "", q.File, optimum.ReadJSON) })
		_, wrong := optimum.Preset(q.File)
		refuse(errors.Is(err, fs.ErrNotExist) && wrong == nil, "%w; give {preset} %s", err, q.File)
		throw(err)
	case q.Preset != "":
		var err error
		p, err = optimum.Preset(q.Preset)
		refuse(err != nil, "{preset} %s: %w", escape.Quoted(q.Preset), err)
	default:
		isNew = true
		refuse(q.Pairs == "" || q.Loss == "", "the problem is missing: give FILE, {preset} such as count:4, or {pairs} and {loss}")
	}
	q.change(in, p, isNew)
	throw(q.about(p.Check()))
	q.problem = p
	return p
}

// about says which problem an error is about.
func (q *Optimum) about(err error) error {
	if err == nil {
		return nil
	}
	return refusal("%s: %w", cmp.Or(q.File, "the problem"), err)
}

// change puts what the fields say in the place of what a problem has. A new one takes its inputs and outputs from the files.
func (q *Optimum) change(in *reading, p *optimum.Problem, isNew bool) {
	if q.Pairs != "" {
		file(in, "pairs", q.Pairs, func(name string, text io.Reader) (_ any, err error) { return nil, p.ReadPairs(name, text, isNew) })
	}
	switch {
	case q.Loss == "":
	case slices.Contains(optimum.Losses(), q.Loss):
		if p.Outputs == nil {
			p.Outputs = p.Inputs
		}
		var err error
		p.Loss, err = optimum.NamedLoss(q.Loss, p.Inputs, p.Outputs)
		refuse(err != nil, "{loss} %s: %w", escape.Quoted(q.Loss), err)
	default:
		file(in, "loss", q.Loss, func(name string, text io.Reader) (_ any, err error) { return nil, p.ReadLoss(name, text, isNew) })
	}
	refuse(q.Worst && q.Prior != "" && q.Prior != "worst", "{worst} and {prior} %s exclude each other: give one of them", escape.Quoted(q.Prior))
	switch {
	case q.Worst || q.Prior == "worst":
		p.Prior = nil
	case q.Prior == "uniform":
		p.Prior = p.Uniform()
	case q.Prior != "":
		p.Prior = file(in, "prior", q.Prior, p.ReadPrior)
	}
}

func (q *Optimum) request(in *reading) (r optimum.Request) {
	p := q.read(in)
	r.Problem = p
	r.Delta, r.Epsilon = privacyDelta(q.Delta), q.Epsilon.value()
	farthest := big.NewRat(1, 1)
	for _, pair := range p.Pairs {
		if d := pair.Distance; d != nil && d.Cmp(farthest) > 0 {
			farthest = d
		}
	}
	in.enclosable(r.Epsilon, farthest)
	if q.Rate != "" {
		r.Rate = file(in, "rate", q.Rate, Choose(strings.HasSuffix(q.Rate, ".jsonl"), statedRows(p), p.ReadTable))
	}
	for _, name := range must(SplitNames("users", q.Users)) {
		r.Users = append(r.Users, file(in, "users", name, p.ReadPrior))
	}
	return r
}

// statedPrecision is how closely numbers of JSON are read that are not exact.
var statedPrecision = big.NewRat(1, 1e9)

// statedRows reads a mechanism as audits do, a line for each input.
func statedRows(p *optimum.Problem) func(string, io.Reader) (*optimum.Table, error) {
	return func(name string, text io.Reader) (*optimum.Table, error) {
		t, err := audit.ReadTable(text, name, audit.Labels, statedPrecision)
		if err != nil {
			return nil, err
		}
		return p.TableOf(t.Name, t.Labels, t.Inputs, inquiry.Numbers(t.PMF))
	}
}

func (q *Optimum) answer(in *reading) *Answer {
	r := q.request(in)
	in.begin("optimum", r.Epsilon)
	r.Report = in.pivots
	a := settled(in, func() *optimum.Result {
		a, err := optimum.Solve(in.ctx, r)
		if errors.Is(err, optimum.ErrProblem) {
			err = q.about(err)
		}
		return must(a, err)
	}, func(why string) *optimum.Result {
		return &optimum.Result{Optimum: number.Bounds(new(big.Rat), nil), Undecided: why}
	})
	rounded, err := Await(in.ctx, Grace/4, func() (*optimum.Mechanism, error) { return a.Round(in.ctx) })
	if err != nil && a.Undecided == "" && (q.Rounded || !a.Exact()) {
		a.Undecided = err.Error()
	}
	doc := q.document(&r, a, rounded)
	found := answered(doc, a.Undecided, a.WriteCertificate)
	if r := a.Rated; r != nil && r.DP == verify.Violated {
		found.Violated = "violated: the table is not private as asked"
	}
	return found
}

func (q *Optimum) document(r *optimum.Request, a *optimum.Result, rounded *optimum.Mechanism) *document.Optimum {
	doc := &document.Optimum{
		Inputs: len(r.Problem.Inputs), Outputs: len(r.Problem.Outputs), Pairs: a.Pairs, Rows: a.Rows, Orbits: a.Orbits, Variables: a.Variables,
		AtEpsilon: document.At(q.Eps, q.Exp), Delta: r.Delta.RatString(),
		Objective: Choose(r.Problem.Prior == nil, "worst", "mean"), Optimum: a.Optimum,
		InputNames: r.Problem.Inputs, OutputNames: r.Problem.Outputs, Rounded: rounded, Rated: a.Rated, Users: a.Users,
		Proof: "lp", Solver: solverName, Pivots: a.Pivots, Seconds: a.Seconds, Undecided: a.Undecided,
	}
	table := a.Table()
	if rounded != nil && !a.Exact() {
		table = rounded.Table()
	}
	for _, row := range table {
		doc.Mechanism = append(doc.Mechanism, exactNumbers(row))
	}
	doc.Losses = exactNumbers(r.Problem.Losses(table))
	return doc
}

// Heterogeneous asks how far mechanisms are from the best one for unequal sensitivities.
type Heterogeneous struct {
	Sensitivities string `json:"sensitivities" help:"sensitivities, one for each candidate"`
	Grid          string `json:"grid" default:"0:4:1" help:"scores of every candidate: from:to[:step], or the largest alone, from 0 in steps of 1"`
	Epsilon
	Mechanism      string `json:"mechanism" help:""`
	Worst          bool   `json:"worst" help:"-"`
	ShiftInvariant bool   `json:"shift-invariant" help:"compare with mechanisms that look only at differences of scores"`
}

// RatedByDefault are the mechanisms that are rated where none is named.
const RatedByDefault = "pf-pair,pf-mixed,geo-mixed,rnm-exponential,rnm-laplace,gem,mgem,combined-gem,rs,krr"

// parseGrid reads a grid: from:to, from:to:step, or the largest score alone.
func parseGrid(text string) (from, step *big.Rat, steps int) {
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		parts = []string{"0", text}
	}
	ends, err := splitNumbers(strings.Join(parts, ","))
	if err == nil && len(ends) == 2 {
		ends = append(ends, one)
	}
	unless := func(right bool, why string) {
		refuse(!right, "{grid} %s: %s; give from:to, from:to:step such as 0:4:0.5, or 4 for 0:4", escape.Quoted(text), why)
	}
	unless(err == nil, fmt.Sprint(err))
	unless(len(ends) == 3, "not a range")
	unless(ends[2].Sign() > 0 && ends[1].Cmp(ends[0]) > 0, "the step must be > 0 and the range not empty")
	width := new(big.Rat).Sub(ends[1], ends[0])
	unless(width.Quo(width, ends[2]).IsInt(), "the step does not divide the range")
	unless(width.Cmp(big.NewRat(heterogeneous.MaxVectors, 1)) <= 0, "too many steps")
	return ends[0], ends[2], int(width.Num().Int64())
}

// gridText is the grid with both of its ends.
func (q *Heterogeneous) gridText() string {
	return Choose(strings.Contains(q.Grid, ":"), q.Grid, "0:"+q.Grid)
}

func (q *Heterogeneous) request(in *reading) (r heterogeneous.Request) {
	g := &r.Grid
	g.Sensitivities = in.numbers("sensitivities", q.Sensitivities)
	refuse(g.Sensitivities == nil, "sensitivities are missing: give {sensitivities} 1,2, one for each candidate")
	g.From, g.Step, g.Steps = parseGrid(q.Grid)
	g.ShiftInvariant = q.ShiftInvariant
	err := g.Check()
	refuse(err != nil, "{sensitivities} %s with {grid} %s: %w", escape.Quoted(q.Sensitivities), escape.Quoted(q.gridText()), err)
	r.Epsilon = q.Epsilon.value()
	in.enclosable(r.Epsilon, nil)
	r.Worst = q.Worst
	list := q.Mechanism
	if list == "" {
		list = RatedByDefault
		for m := 1; m < len(g.Sensitivities); m++ {
			list += fmt.Sprintf(",geo-pair:%d", m)
		}
	}
	r.Mechanisms = must(FindMechanisms(list, mechanisms.LookupFewer))
	for _, m := range r.Mechanisms {
		refuse(m.Info().Name == "lp-optimal", "{mechanism} lp-optimal: that one is for equal sensitivities; this command finds its own optimum")
	}
	return r
}

// exactNumbers returns rationals as numbers.
func exactNumbers(xs []*big.Rat) []number.Number {
	out := make([]number.Number, len(xs))
	for i, x := range xs {
		out[i] = number.Exact(x)
	}
	return out
}

func (q *Heterogeneous) answer(in *reading) *Answer {
	r := q.request(in)
	in.begin("sensitivities "+q.Sensitivities, r.Epsilon)
	r.Report = in.pivots
	a := settled(in, func() *heterogeneous.Result {
		a, err := heterogeneous.Solve(in.ctx, r)
		refuse(errors.Is(err, mechanisms.ErrInstance), "{mechanism}: %w", err)
		refuse(errors.Is(err, heterogeneous.ErrGrid), "{grid} %s: %w", escape.Quoted(q.gridText()), err)
		return must(a, err)
	}, func(why string) *heterogeneous.Result {
		a := &heterogeneous.Result{Result: &optimum.Result{Optimum: number.Bounds(new(big.Rat), nil), Undecided: why}}
		for _, m := range r.Mechanisms {
			a.Mechanisms = append(a.Mechanisms, heterogeneous.Rating{Name: m.Info().Name, Loss: a.Optimum, Ratio: a.Optimum, DP: verify.Undecided})
		}
		return a
	})
	doc := &document.Heterogeneous{
		Sensitivities: exactNumbers(r.Grid.Sensitivities), Grid: q.gridText(), AtEpsilon: document.At(q.Eps, q.Exp),
		Objective: Choose(q.Worst, "worst", "mean"), Loss: "mean", ShiftInvariant: q.ShiftInvariant,
		Vectors: len(a.Scores), Neighbors: a.Pairs, Variables: len(a.Scores) * len(r.Grid.Sensitivities), Rows: a.Rows, Solver: solverName, Pivots: a.Pivots,
		Seconds: a.Seconds, Optimum: a.Optimum, Mechanisms: a.Mechanisms, Recommended: a.Recommended, Undecided: a.Undecided,
	}
	return answered(doc, a.Undecided, a.WriteCertificate)
}

// TopK asks how far choices of several candidates are from the best one.
type TopK struct {
	Size
	Top int `json:"top" default:"2" help:"how many candidates are chosen"`
	Epsilon
	Mechanism string `json:"mechanism" default:"peel:em,peel:pf,one-shot:exponential,joint:em,joint:pf,pairwise,completed" help:"mechanisms to rate"`
}

func (q *TopK) answer(in *reading) *Answer {
	q.Size.check()
	refuse(q.Top < 1 || q.Top > q.N, "{top} %d: give how many of the %d candidates are chosen, from 1 to %d", q.Top, q.N, q.N)
	r := topk.Request{N: q.N, K: q.K, Top: q.Top, Epsilon: q.Epsilon.value()}
	in.enclosable(r.Epsilon, nil)
	for _, name := range must(SplitNames("mechanism", q.Mechanism)) {
		r.Mechanisms = append(r.Mechanisms, must(Parsed("mechanism", name, topk.ParseMechanism)))
	}
	in.begin(fmt.Sprintf("n = %d, k = %d, top %d", q.N, q.K, q.Top), r.Epsilon)
	r.Report = func(p linear.Progress) { in.pivots(p.Pivots, p.Objective) }
	a := settled(in, func() *topk.Answer {
		a, err := topk.Solve(in.ctx, r)
		refuse(errors.Is(err, topk.ErrProbability), "{mechanism}: %w", err)
		return must(a, err)
	}, func(why string) *topk.Answer {
		most := big.NewRat(int64(min(q.Top, q.N-q.Top)), 1) // as many candidates at most are not among the best ones
		return &topk.Answer{Optimum: number.Bounds(new(big.Rat), most.Mul(most, big.NewRat(int64(q.K), 1))), Mechanisms: []topk.Rated{}, Undecided: why}
	})
	a.Solver = solverName
	return answered(&document.TopK{N: q.N, K: q.K, Top: q.Top, AtEpsilon: document.At(q.Eps, q.Exp), Answer: a}, a.Undecided, a.WriteCertificate)
}
