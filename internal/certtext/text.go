// Package certtext writes the lines of certificates, in the format of docs/reference/certificate.md. The packages that find proofs use it; the checker does not, and shares
// nothing with it.
package certtext

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"optratio/internal/decimal"
	"optratio/number"
)

// ErrNone is wrapped by the errors of results of which there is no certificate.
var ErrNone = errors.New("no certificate")

// Writer writes the lines of a certificate and counts them.
type Writer struct {
	w     *bufio.Writer
	lines int
}

// NewWriter begins a certificate of the given section.
func NewWriter(w io.Writer, section string) *Writer {
	c := &Writer{w: bufio.NewWriter(w)}
	c.Line("optratio-certificate 3")
	c.Line("problem %s", section)
	return c
}

// Line writes a line.
func (c *Writer) Line(format string, args ...any) {
	fmt.Fprintf(c.w, format+"\n", args...) // bufio keeps the first error for End
	c.lines++
}

// Epsilon writes the line of e^ε where exp is not nil, else that of ε.
func (c *Writer) Epsilon(exp, eps *big.Rat) {
	if exp != nil {
		c.Line("exp-epsilon %s", exp.RatString())
	} else {
		c.Line("epsilon %s", eps.RatString())
	}
}

// Claim writes the line of an enclosure of the optimum: exactly where both ends are equal, else in decimals that are rounded outwards.
func (c *Writer) Claim(low, high *big.Rat) { c.Claimed("optimum", low, high) }

// Claimed is Claim for something else than the optimum.
func (c *Writer) Claimed(what string, low, high *big.Rat) {
	lo, hi := low.RatString(), high.RatString()
	if low.Cmp(high) != 0 {
		lo, hi, _ = number.Bounds(low, high).Strings()
	}
	c.Line("claim %s %s %s", what, lo, hi)
}

// Values writes a line of numbers.
func (c *Writer) Values(word string, xs []*big.Rat) {
	texts := make([]string, len(xs))
	for i, x := range xs {
		texts[i] = Value(x)
	}
	c.Line("%s %s", word, strings.Join(texts, " "))
}

// End writes the last line.
func (c *Writer) End() error {
	c.Line("end %d", c.lines)
	return c.w.Flush()
}

// Value writes a rational, or a dyadic one as a hexadecimal float, exactly.
func Value(x *big.Rat) string {
	if d := x.Denom(); !x.IsInt() && d.TrailingZeroBits() == uint(d.BitLen()-1) {
		return decimal.Hex(x)
	}
	return x.RatString()
}
