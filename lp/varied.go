package lp

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"optratio/lattice"
	"optratio/lp/table"
	"optratio/lp/variant"
	"optratio/mechanisms"
	"optratio/number"
)

// Varied reports whether a request asks more than the published program: then package variant answers it.
func (r *Request) Varied() bool {
	return r.Step > 1 || r.Worst || !r.Loss.IsMean() || r.Prior != nil
}

// question returns the request as package variant takes it.
func (r *Request) question() variant.Question {
	q := variant.Question{
		N: r.N, K: r.K, L: max(1, r.Step), Epsilon: r.Epsilon, Loss: r.Loss, Worst: r.Worst,
		Neighbors: r.Level == DP || r.Level == Full, Monotone: r.Level == Monotone || r.Level == Full,
	}
	switch {
	case r.Prior != nil:
		q.Prior = *r.Prior
	case r.Objective == lattice.Box:
		q.Prior = variant.Box()
	}
	return q
}

// variedRatio answers a varied request.
func variedRatio(ctx context.Context, r Request) (*Answer, error) {
	if r.Method == ClosedForm || r.Method == Lumped {
		return nil, fmt.Errorf("%w: %s is for the mean error on the lattice of step 2Δ under the uniform or box prior; use --method lp", ErrMethod, r.Method)
	}
	p, err := variant.New(r.question())
	if err != nil {
		return nil, err
	}
	a := &Answer{Request: r, Orbits: big.NewInt(int64(p.Orbits())), Variables: big.NewInt(int64(p.Variables())), Solver: "none"}
	if optimal, decided := p.PermuteAndFlipOptimal(); decided {
		a.PFOptimal = &optimal
	}
	pf, err := mechanisms.Lookup("pf")
	if err != nil {
		return nil, err
	}
	prec := 192 + 2*uint(bitLength(r.N)+bitLength(r.K))
	var optimum table.Bounds
	if a.PFOptimal != nil && *a.PFOptimal && r.Method == Auto {
		a.Proof = ProofRecurrence
		if optimum, err = p.Rate(ctx, pf, prec); err != nil {
			return nil, err
		}
	} else {
		s, err := p.Solve(ctx, r.Solver, r.Gap, r.Report)
		if err != nil {
			return nil, err
		}
		optimum, a.varied = s.Optimum, s
		a.Proof, a.Solver, a.Pivots, a.Undecided = ProofLP, r.Solver.Name(), s.Pivots, s.Undecided
		if r.Exact && a.Undecided == "" && !optimum.Exact() {
			a.Undecided = "the optimum is not known exactly"
		}
	}
	a.Optimum = number.Bounds(optimum.Low, optimum.High)
	for _, m := range r.Mechanisms {
		rated := Rated{Name: m.Info().Name}
		if rated.Error, rated.Ratio, err = variedRating(ctx, p, m, optimum, prec); err != nil {
			if ctx.Err() != nil {
				a.Undecided = context.Cause(ctx).Error()
				break
			}
			if errors.Is(err, mechanisms.ErrAnswer) {
				rated.Finding = rated.Name + ": " + err.Error()
				a.Mechanisms = append(a.Mechanisms, rated)
				continue
			}
			return nil, fmt.Errorf("%s: %w", rated.Name, err)
		}
		if m == pf && a.PFOptimal != nil && *a.PFOptimal {
			rated.Ratio = number.Int(1)
		}
		a.Mechanisms = append(a.Mechanisms, rated)
	}
	return a, nil
}

// variedRating returns a mechanism's objective and its ratio to the optimum, 1 where both are 0.
func variedRating(ctx context.Context, p *variant.Program, m mechanisms.Mechanism, optimum table.Bounds, prec uint) (loss, ratio number.Number, err error) {
	m = mechanisms.Within(ctx, m)
	b, err := p.Rate(ctx, m, prec)
	if errors.Is(err, mechanisms.ErrNoEnclosure) {
		x, err := p.Estimate(ctx, m)
		if err != nil {
			return loss, ratio, err
		}
		const method = "floating-point sum over the lattice"
		at, _ := new(big.Rat).Add(optimum.Low, optimum.High).Float64()
		switch {
		case at > 0:
			ratio = number.Estimate(2*x/at, method)
		case x == 0:
			ratio = number.Int(1)
		default:
			ratio = number.Infinity()
		}
		return number.Estimate(x, method), ratio, nil
	}
	if err != nil {
		return loss, ratio, err
	}
	return number.Bounds(b.Low, b.High), b.Over(optimum), nil
}
