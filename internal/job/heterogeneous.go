package job

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"optratio/internal/document"
	"optratio/internal/escape"
	"optratio/internal/heterogeneous"
	"optratio/internal/optimum"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

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
	why := "not a range"
	switch {
	case err != nil:
		why = err.Error()
	case len(ends) != 3:
	case ends[2].Sign() <= 0 || ends[1].Cmp(ends[0]) <= 0:
		why = "the step must be > 0 and the range not empty"
	default:
		width := new(big.Rat).Sub(ends[1], ends[0])
		switch width.Quo(width, ends[2]); {
		case !width.IsInt():
			why = "the step does not divide the range"
		case width.Cmp(big.NewRat(heterogeneous.MaxVectors, 1)) > 0:
			why = "too many steps"
		default:
			return ends[0], ends[2], int(width.Num().Int64())
		}
	}
	throw(refusal("{grid} %s: %s; give from:to, from:to:step such as 0:4:0.5, or 4 for 0:4", escape.Quoted(text), why))
	return nil, nil, 0
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
