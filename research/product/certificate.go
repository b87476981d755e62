package product

import (
	"io"
	"math/big"

	"optratio/internal/certtext"
	"optratio/internal/decimal"
	"optratio/number"
)

// WriteCertificate writes what proves that the optimum of Q(n,k) is at most a number, in the format of docs/reference/certificate.md.
func (r *Result) WriteCertificate(w io.Writer, n, k int, eps number.Epsilon, most *big.Rat) error {
	c := certtext.NewWriter(w, "product")
	c.Line("n %d", n)
	c.Line("k %d", k)
	c.Epsilon(eps.Exp(), eps.Eps())
	c.Line("precision %d", r.Saving.Prec())
	c.Claim(new(big.Rat), most)
	value := func(x *big.Rat) string {
		if x.Sign() == 0 {
			return "0"
		}
		return decimal.Hex(x)
	}
	for _, q := range r.Injections {
		where := "any"
		if q.Deepest {
			where = "deepest"
		}
		c.Line("product %d %d %d %s %s %s", q.Tops, q.Depth, q.Empty, where, value(q.Ratio), value(q.Amount))
	}
	return c.End()
}
