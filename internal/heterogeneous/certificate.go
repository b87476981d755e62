package heterogeneous

import (
	"fmt"
	"io"
	"math/big"

	"optratio/internal/certtext"
)

// ErrNoCertificate says that nothing was solved.
var ErrNoCertificate = fmt.Errorf("%w: nothing was solved", certtext.ErrNone)

// WriteCertificate writes what proves the enclosure of the optimum, in the format of docs/reference/certificate.md. The same answer gives the same bytes.
func (a *Result) WriteCertificate(w io.Writer) error {
	if a.program == nil || a.solution == nil {
		return ErrNoCertificate
	}
	p, g := a.program, a.program.grid
	c := certtext.NewWriter(w, "heterogeneous")
	c.Values("sensitivities", g.Sensitivities)
	c.Values("from", []*big.Rat{g.From})
	c.Values("step", []*big.Rat{g.Step})
	c.Line("steps %d", g.Steps)
	c.Line("mechanisms %s", map[bool]string{false: "all", true: "shift-invariant"}[g.ShiftInvariant])
	c.Line("loss %s", map[Loss]string{Absolute: "error", Squared: "mse"}[p.loss])
	c.Line("prior %s", map[Criterion]string{Mean: "uniform", Worst: "worst"}[p.criterion])
	c.Epsilon(a.epsilon.Exp(), a.epsilon.Eps())
	c.Line("precision %d", a.solution.Precision())
	unit := p.unit()
	c.Claim(new(big.Rat).Mul(a.solution.Lower, unit), new(big.Rat).Mul(a.solution.Upper, unit))
	p.table.Write(c, a.solution, unit, nil)
	return c.End()
}
