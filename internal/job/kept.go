package job

import (
	"cmp"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"optratio/internal/audit"
	"optratio/internal/certtext"
	"optratio/verify"
)

// writeProof writes what proves dp or approximate-dp, section private of docs/reference/certificate.md, where one of these was proved of stated probabilities.
func writeProof(w io.Writer, r *audit.Report, o *audit.Options) error {
	k, asked := r.Kept(), false
	for _, name := range []verify.Property{verify.DP, verify.ApproximateDP} {
		p := r.Find(name)
		asked = asked || p != nil && !p.Fact
		switch {
		case p == nil || p.Verdict != verify.Proved || p.Fact:
			continue
		case k == nil:
			return fmt.Errorf("%w: the inputs were a stream, and the certificate of a proof needs them from a file; give inputs FILE and neighbors FILE", certtext.ErrNone)
		case p.Doubt > 0:
			return fmt.Errorf("%w: %s is proved to within the precision of the answers alone; give probabilities as fractions \"p/q\", or a greater ε", certtext.ErrNone, name)
		case !k.Whole || len(k.Pairs) == 0:
			return fmt.Errorf("%w: not every answer is a distribution", certtext.ErrNone)
		}
		delta := new(big.Rat)
		if name == verify.ApproximateDP {
			delta = cmp.Or(o.Targets[name], delta)
		}
		if !proves(k, o, delta) {
			return fmt.Errorf("%w: %s is proved to within a slack, or to within what double precision rounds to 0, and a certificate leaves no room for either; state probabilities as fractions \"p/q\"", certtext.ErrNone, name)
		}
		return writeKept(certtext.NewWriter(w, "private"), k, o, delta)
	}
	if !asked {
		return fmt.Errorf("%w: property asks for neither dp nor approximate-dp", certtext.ErrNone)
	}
	return fmt.Errorf("%w: dp or approximate-dp was neither proved nor violated", certtext.ErrNone)
}

// proves reports whether Σ max(0, z p - p') <= zδ on every pair, z = e^{-dε}, without any slack, p being the upper end and p' the lower one.
func proves(k *audit.Kept, o *audit.Options, delta *big.Rat) bool {
	for ab, d := range k.Pairs {
		z, exact := o.Epsilon.ExpNegRat(d)
		if !exact {
			z, _ = o.Epsilon.ExpNeg(d, 512).Hi().Rat(nil)
		}
		for _, at := range [][2]int{ab, {ab[1], ab[0]}} {
			sum := new(big.Rat)
			for r, p := range k.High[at[0]] {
				over := new(big.Rat).Mul(z, p)
				if low := k.Low[at[1]]; r < len(low) {
					over.Sub(over, low[r])
				}
				if over.Sign() > 0 {
					sum.Add(sum, over)
				}
			}
			if sum.Cmp(new(big.Rat).Mul(z, delta)) > 0 {
				return false
			}
			if !k.Both {
				break
			}
		}
	}
	return true
}

func writeKept(c *certtext.Writer, k *audit.Kept, o *audit.Options, delta *big.Rat) error {
	outcomes := 0
	for _, p := range k.Low {
		outcomes = max(outcomes, len(p))
	}
	c.Epsilon(o.Epsilon.Exp(), o.Epsilon.Eps())
	c.Line("delta %s", delta.RatString())
	c.Line("inputs %d", len(k.Names))
	c.Line("outputs %d", outcomes)
	for i, name := range k.Names {
		c.Line("input %s", name)
		ends := slices.Repeat([]string{"0"}, outcomes)
		for r, lo := range k.Low[i] {
			if ends[r] = lo.RatString(); lo.Cmp(k.High[i][r]) != 0 {
				ends[r] += "," + k.High[i][r].RatString()
			}
		}
		c.Line("pmf %s", strings.Join(ends, " "))
	}
	word, turned := "pair", map[[2]int]*big.Rat{}
	for ab, d := range k.Pairs {
		if !k.Both { // an arrow's second input is the one that may be no likelier
			word, ab = "arrow", [2]int{ab[1], ab[0]}
		}
		turned[ab] = d
	}
	var order [][2]int
	for ab := range turned {
		order = append(order, ab)
	}
	slices.SortFunc(order, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, ab := range order {
		c.Line("%s %d %d %s", word, ab[0], ab[1], turned[ab].RatString())
	}
	return c.End()
}
