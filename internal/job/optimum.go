package job

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/inquiry"
	"optratio/internal/optimum"
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
		p = file(in, "", q.File, optimum.ReadJSON)
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
