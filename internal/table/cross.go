package table

import (
	"context"
	"math/big"

	"optratio/internal/linear"
)

// What a row may leave open at the near table, relative to its entry above: up to tight it counts as one without slack, and up to closeRow it is in
// force from the start, as it may be without slack at the optimum.
const (
	tight    = 1e-9
	closeRow = 0.02
)

// cross makes the near table a basis that is optimal for the rows in force, to which those come that it leaves little slack. Variables that are off their
// bounds at the table are basic; linear.Embedded.Crossover says how.
func (p *Program) cross(ctx context.Context, g *linear.Growing, z factors, report func(linear.Progress)) error {
	private := z.floats()
	slack := func(r Row) float64 {
		below := p.Near[r.Below]
		if r.Private {
			below *= private[r.Distance]
		}
		return (p.Near[r.Above] - below) / p.Near[r.Above]
	}
	if !p.Each(func(r Row) bool {
		if slack(r) <= closeRow {
			p.add(r)
		}
		return ctx.Err() == nil
	}) {
		return nil
	}
	m := p.rational(z).Model()
	start := linear.Start{X: make([]float64, m.Cols())}
	place := func(v int, off bool) {
		if off {
			start.Off = append(start.Off, int32(v))
		} else {
			start.Spare = append(start.Spare, int32(v))
		}
	}
	losses, most := make([]float64, p.groups()), 0.0
	for j, x := range p.Near {
		start.X[j] = x * float64(p.Count[j])
		loss, _ := new(big.Float).SetInt(p.Loss[j]).Float64()
		losses[p.of[j]] += float64(loss * start.X[j])
		most = max(most, losses[p.of[j]])
		place(j, true)
	}
	if p.Worst {
		start.X[p.cells()] = most
		place(p.cells(), true)
		for i, loss := range losses {
			place(m.Cols()+p.groups()+i, loss < most*(1-tight))
		}
	}
	for i, c := range p.rows {
		q := c.Parts[0]
		place(m.Cols()+p.fixed()+i, slack(Row{q.Above, q.Below, c.Private, q.Distance}) > tight)
	}
	result, err := linear.Embedded{}.Crossover(ctx, m, start, report)
	if err == nil && result.Outcome == linear.Optimal {
		g.Basis, g.Pivots = result.Basis, result.Pivots
	}
	return err
}
