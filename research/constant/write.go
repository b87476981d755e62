package constant

import (
	"io"
	"math"
	"strconv"
	"strings"

	"optratio/internal/certtext"
)

// scale is the denominator of the numbers of a certificate.
const scale = 1 << 20

// WriteCertificate writes what proves the bound, in the format that research/docs/points.md describes.
func (c *Cover) WriteCertificate(w io.Writer) error {
	t := certtext.NewWriter(w, "constant")
	t.Line("k %d", c.From)
	t.Line("claim ratio pf %s %s %s", c.Cells[0].Low.RatString(), c.Cells[len(c.Cells)-1].High.RatString(), c.Bound.RatString())
	for _, cell := range c.Cells {
		t.Line("cell %s %s", cell.Low.RatString(), cell.High.RatString())
		for _, r := range cell.Ranges {
			to := "inf"
			if r.To > 0 {
				to = strconv.Itoa(r.To)
			}
			t.Line("range %d %s", r.From, to)
			for _, p := range r.Points {
				t.Line("point %d %d %d %d %d", p.S, p.J, p.I, p.Most, scale)
				for i, top := range tops(p.S-1, p.J) {
					if top[0] == p.J {
						continue
					}
					var row []string
					for _, y := range p.Y[i] {
						row = append(row, strconv.FormatInt(int64(math.Floor(y*scale)), 10))
					}
					t.Line("top %s", strings.Join(row, " "))
				}
			}
		}
	}
	return t.End()
}
