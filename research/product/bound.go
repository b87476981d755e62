package product

import (
	"context"
	"math"
	"math/big"

	"optratio/internal/arith"
	"optratio/number"
)

// Result is a feasible point, and how much better than permute-and-flip it is.
type Result struct {
	// Saving is by how much Σ_m N(m) Σ_v v m_v x[m][v] is less at the point than at permute-and-flip, in lattice steps of 2Δ.
	Saving     number.Interval
	Injections []Injection
}

// Bound proves a point to be feasible with prec bits, and returns the best point that it finds; the one without injections, which is permute-and-flip, where it finds nothing
// better. report hears how many steps are done. The context's error is returned where it ended.
func Bound(ctx context.Context, n, k int, eps number.Epsilon, prec uint, report func(done, total int)) (*Result, error) {
	z := eps.ExpNeg(big.NewRat(1, 1), prec)
	list, err := propose(ctx, n, k, z.Near(), report)
	if err != nil || len(list) == 0 {
		return &Result{Saving: number.FromInt(0, prec)}, err
	}
	return prove(ctx, n, k, z, list)
}

// prove makes the injections feasible and returns what the point is worth.
func prove(ctx context.Context, n, k int, z number.Interval, list []Injection) (*Result, error) {
	f := arith.Interval{Prec: z.Prec()}
	share, err := feasible(ctx, n, k, z, list)
	if err != nil {
		return nil, err
	}
	power := arith.Powers(f, z, k)
	r := &Result{Saving: f.Zero()}
	for _, q := range list {
		if q.Amount = new(big.Rat).Mul(q.Amount, share); q.Amount.Sign() == 0 {
			continue
		}
		r.Injections = append(r.Injections, q)
		r.Saving = f.Sub(r.Saving, f.Mul(f.FromRat(q.Amount), cost(f, &q, power, n, k)))
	}
	if r.Saving.Lo().Sign() <= 0 {
		return &Result{Saving: f.Zero()}, nil
	}
	return r, nil
}

// feasible returns a share, 0 to 1, of the injections that makes the point feasible: every slack is positive at permute-and-flip and affine in the share.
func feasible(ctx context.Context, n, k int, z number.Interval, list []Injection) (*big.Rat, error) {
	f := arith.Interval{Prec: z.Prec()}
	e := newEvaluation(f, n, k, z, list)
	amounts := make([]number.Interval, len(list))
	for i := range list {
		amounts[i] = f.FromRat(list[i].Amount)
	}
	share := 1.0
	err := e.rows(ctx, list, func(r row[number.Interval]) error {
		change := f.Zero()
		for i, x := range r.response {
			change = f.Add(change, f.Mul(amounts[i], x))
		}
		if s := change.Lo(); s.Sign() < 0 {
			most, _ := r.slack.Quo(number.Point(s).Neg()).Float64()
			share = min(share, most)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !(share > 0) { // NaN too
		return new(big.Rat), nil
	}
	return new(big.Rat).SetFloat64(math.Nextafter(share, 0)), nil
}
