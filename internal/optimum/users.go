package optimum

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"optratio/internal/arith"
	"optratio/number"
)

// Users says what users with priors of their own get from one mechanism, whose outputs each may take for others.
type Users struct {
	Optima []number.Number `json:"optima"` // of each user with a mechanism of its own
	Joint  number.Number   `json:"joint"`  // the least sum of all losses with one mechanism; it serves all iff that is the sum of the optima
	// BestCommonRatio is the least r such that one mechanism has at most r times the optimum of each user. None where an optimum is 0.
	BestCommonRatio number.Number `json:"best_common_ratio"`
	undecided       string
}

// share answers what users get from one mechanism.
func (r *Request) share(ctx context.Context) (*Users, error) {
	out := &Users{}
	for _, prior := range r.Users {
		own := *r.Problem
		own.Prior = prior
		s, err := r.optimum(ctx, &own)
		if err != nil {
			return nil, err
		}
		out.Optima = append(out.Optima, s.bounds)
		out.undecided = cmp.Or(out.undecided, s.Undecided)
	}
	shared, each, err := r.choices()
	if err != nil {
		return nil, err
	}
	joint, err := r.joint(ctx, shared, each, slices.Repeat([]*big.Rat{one}, len(each)))
	if err != nil {
		return nil, err
	}
	out.Joint = joint.bounds
	out.undecided = cmp.Or(out.undecided, joint.Undecided)
	for _, b := range out.Optima {
		if s, ok := b.Cmp(number.Int(0)); !ok || s == 0 {
			return out, nil
		}
	}
	return out, r.common(ctx, shared, each, out)
}

// choices returns a problem, without losses, whose mechanism all users share, and what each of them loses by it. It has an output for each choice of an output by every user: nothing
// is lost by that, since whatever a mechanism's outputs are, what the users make of one is such a choice.
func (r *Request) choices() (shared *Problem, each []*Problem, err error) {
	p := r.Problem
	outputs := 1
	for range r.Users {
		if outputs *= len(p.Outputs); outputs > maxCells/len(p.Inputs) {
			return nil, nil, faultf("users: %d of them choose among %d outputs: more than %d probabilities", len(r.Users), len(p.Outputs), maxCells)
		}
	}
	shared = &Problem{Inputs: p.Inputs, Pairs: p.Pairs, OneWay: p.OneWay, Outputs: numerals(outputs)}
	shared.Prior = shared.Uniform()
	step := 1
	for _, prior := range r.Users {
		own := &Problem{Prior: prior}
		for x := range p.Inputs {
			row := make([]*big.Rat, outputs)
			for c := range row {
				o := c / step % len(p.Outputs)
				if row[c] = p.Loss[x][o]; p.forbidden(x, o) {
					shared.forbid(x, c)
				}
			}
			own.Loss = append(own.Loss, row)
		}
		each = append(each, own)
		step *= len(p.Outputs)
	}
	return shared, each, nil
}

// joint minimises Σ_i factor_i loss_i over one mechanism.
func (r *Request) joint(ctx context.Context, shared *Problem, each []*Problem, factor []*big.Rat) (*solved, error) {
	size := new(big.Rat).SetInt64(int64(len(shared.Inputs)))
	shared.Loss = nil
	for x := range shared.Inputs {
		row := make([]*big.Rat, len(shared.Outputs))
		for c := range row {
			row[c] = new(big.Rat)
			for i, own := range each {
				l := new(big.Rat).Mul(own.Prior[x], own.Loss[x][c])
				row[c].Add(row[c], l.Mul(l, factor[i]))
			}
			row[c].Mul(row[c], size)
		}
		shared.Loss = append(shared.Loss, row)
	}
	return r.optimum(ctx, shared)
}

// commonRounds bounds the mechanisms that are tried for the best common ratio.
const commonRounds = 200

// common encloses the best common ratio, min over mechanisms of max_i loss_i/opt_i = max over weights λ of min Σ λ_i loss_i/opt_i. For weights at hand the
// inner minimum is a joint optimum, a lower bound; its mechanism is one more to mix, and the best mixture of those so far is an upper bound, whose dual are the next weights.
// Where optima are only enclosed, losses are compared with the lower ends for the upper bound and with the upper ends for the lower one.
func (r *Request) common(ctx context.Context, shared *Problem, each []*Problem, out *Users) error {
	weights := slices.Repeat([]*big.Rat{big.NewRat(1, int64(len(each)))}, len(each))
	var least *big.Rat
	var points [][]*big.Rat
	for range commonRounds {
		factor, ratios := make([]*big.Rat, len(each)), make([]*big.Rat, len(each))
		for i, b := range out.Optima {
			_, high := b.Ends()
			factor[i] = new(big.Rat).Quo(weights[i], high)
		}
		s, err := r.joint(ctx, shared, each, factor)
		if err != nil {
			return err
		}
		if low, _ := s.bounds.Ends(); least == nil || low.Cmp(least) > 0 {
			least = low
		}
		table := s.expand(s.Solution)
		for i, own := range each {
			low, _ := out.Optima[i].Ends()
			ratios[i] = new(big.Rat).Quo(own.value(table), low)
		}
		points = append(points, ratios)
		e, err := minimax(ctx, [][][]*big.Rat{points}, r.solver) // a mixture of points
		if err != nil {
			return err
		}
		if least.Cmp(one) < 0 && e.Objective.Cmp(one) >= 0 { // nothing is better than an optimum
			least = one
		}
		out.BestCommonRatio = number.Bounds(least, e.Objective)
		if s.Undecided != "" || arith.IsExact(out.BestCommonRatio) || !arith.IsExact(s.bounds) && out.BestCommonRatio.Within(r.Gap) {
			out.undecided = cmp.Or(out.undecided, s.Undecided)
			return nil
		}
		for i := range weights {
			weights[i] = e.Y.Rat(1 + i)
		}
	}
	out.undecided = cmp.Or(out.undecided, "the best common ratio was not found in time")
	return nil
}
