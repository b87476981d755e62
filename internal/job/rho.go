package job

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"optratio/internal/document"
	"optratio/lattice"
	"optratio/lp"
	"optratio/mechanisms"
	"optratio/number"
	"optratio/verify"
)

// withRho are the fields that go with Rho.
var withRho = strings.Fields("rho n k mechanism objective gap monotonic-scores sensitivity")

// atRho compares mechanisms at equal ρ.
func (q *Ratio) atRho(in *reading) *Answer {
	begin := time.Now()
	refuse(q.Eps != "" || q.Exp != "", "{rho} and {eps} exclude each other: with {rho} each mechanism has its own ε; give one of them")
	var others []string
	for _, f := range given(q) {
		if !slices.Contains(withRho, f.Name) {
			others = append(others, f.Name)
		}
	}
	if in.Certificate {
		others = append(others, "cert")
	}
	if len(others) > 0 {
		refuse(true, "{"+slices.Min(others)+"}: makes no sense with {rho}, which compares mechanisms with each other on the lattice of step 2Δ; leave it out")
	}
	rho := positive("rho", q.Rho)
	r := q.request(in)
	refuse(q.N < 2, "{n} %d: with {rho} give at least 2 candidates; one makes no error at any ρ", q.N)
	in.begin(fmt.Sprintf("n = %d, k = %d", q.N, q.K), number.Epsilon{})
	doc := &document.Rho{N: q.N, K: q.K, Rho: number.Exact(rho), Domain: "lattice", Objective: q.Objective, Monotonic: q.Monotonic, Orbits: lattice.Orbits(q.N, q.K)}
	for _, m := range r.Mechanisms {
		row := settled(in, func() (document.AtRho, error) { return q.calibrated(in, r, m, rho, doc) }, func(why string) document.AtRho {
			doc.Undecided = why
			unknown := number.Bounds(new(big.Rat), nil)
			return document.AtRho{Name: m.Info().Name, Proof: "none", Parameter: unknown, Error: number.Bounds(new(big.Rat), big.NewRat(int64(q.K), 1)), Ratio: unknown}
		})
		switch {
		case len(doc.Mechanisms) == 0:
			row.Ratio = number.Int(1)
		case !row.Ratio.IsValid():
			row.Ratio = row.Error.Over(doc.Mechanisms[0].Error)
		}
		doc.Mechanisms = append(doc.Mechanisms, row)
	}
	doc.Seconds = time.Since(begin).Seconds()
	return answered(doc, doc.Undecided, nil)
}

// calibrated calibrates one mechanism and rates it.
func (q *Ratio) calibrated(in *reading, r lp.Request, m mechanisms.Mechanism, rho *big.Rat, doc *document.Rho) (row document.AtRho, err error) {
	name, ctx := m.Info().Name, in.ctx
	cal, err := verify.Calibrate(ctx, verify.Claim{Mechanism: m, Monotonic: q.Monotonic}, q.N, q.K, verify.Options{
		Targets: map[verify.Property]*big.Rat{verify.ZCDP: rho}, Gap: r.Gap,
		Narrowed: func(tried int, low, _ *big.Rat) { in.report("%s at least %s", name, low.FloatString(9)) },
	})
	if err != nil {
		return row, err
	}
	if cal.Undecided != "" {
		doc.Undecided = name + ": " + cal.Undecided
	}
	least, _ := cal.Parameter.Lower()
	eps, err := number.FromEpsilon(least)
	if err != nil {
		return row, err
	}
	mean, err := lp.MeanError(ctx, m, q.N, q.K, r.Prior, eps)
	if errors.Is(err, lp.ErrTooLarge) || ctx.Err() != nil {
		doc.Undecided, mean, err = fmt.Sprint(err), number.Bounds(new(big.Rat), big.NewRat(int64(q.K), 1)), nil
		if ctx.Err() != nil {
			doc.Undecided = context.Cause(ctx).Error()
		}
	}
	row = document.AtRho{Name: name, Parameter: cal.Parameter, Proof: cal.Proof, Error: mean}
	if cal.Attained != nil {
		row.Attained = cal.Attained
	}
	return row, err
}

// concentrated refuses mechanisms of which no theorem gives ρ for all real scores.
func concentrated(m mechanisms.Mechanism) {
	_, ok := mechanisms.Concentration(m, must(number.FromEpsilon(new(big.Rat))), 64)
	refuse(!ok, "{domain} real: ρ for all real scores is known for pf, em and geo only, not for %s; give {domain} lattice", m.Info().Name)
}
