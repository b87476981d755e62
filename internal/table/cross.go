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

// near puts rows in force that the near table leaves little slack, unless the context ends.
func (p *Program) near(ctx context.Context, z factors) bool {
	private := z.floats()
	return p.Each(func(r Row) bool {
		if p.nearSlack(r, private) <= closeRow {
			p.add(r)
		}
		return ctx.Err() == nil
	})
}

// nearSlack is a row's at the near table, relative to the entry above.
func (p *Program) nearSlack(r Row, private []float64) float64 {
	below := p.Near[r.Below]
	if r.Private {
		below *= private[r.Distance]
	}
	return (p.Near[r.Above] - below) / p.Near[r.Above]
}

// nearStart is where the simplex method goes on from the near table: variables that are off their bounds there are basic; linear.Embedded.Crossover says how.
func (p *Program) nearStart(z factors) linear.Start {
	cols := p.cells()
	if p.Worst {
		cols++
	}
	start := linear.Start{X: make([]float64, cols)}
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
			place(cols+p.groups()+i, loss < most*(1-tight))
		}
	}
	private := z.floats()
	for i, c := range p.rows {
		q := c.Parts[0]
		place(cols+p.fixed()+i, p.nearSlack(Row{q.Above, q.Below, c.Private, q.Distance}, private) > tight)
	}
	return start
}
