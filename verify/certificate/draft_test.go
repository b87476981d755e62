package certificate_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// draft is a certificate to be written, and doctored before that.
type draft struct {
	header []string // from the magic to the precision
	claims []string
	body   []string
}

func (d *draft) String() string {
	lines := slices.Concat(d.header, d.claims, d.body)
	return strings.Join(lines, "\n") + fmt.Sprintf("\nend %d\n", len(lines))
}

func (d *draft) claim(on string, lo, hi any) *draft {
	str := func(x any) string {
		if r, ok := x.(*big.Rat); ok {
			return r.RatString()
		}
		return x.(string)
	}
	d.claims = append(d.claims, fmt.Sprintf("claim %s %s %s", on, str(lo), str(hi)))
	return d
}

func counts(m []int) string { return strings.Trim(fmt.Sprint(m), "[]") }

// draft writes the certificate of a solution. Values pass through format.
func (p *problem) draft(epsilon string, sol *solution, format func(*big.Rat) string) *draft {
	objective := "paper"
	if p.Box {
		objective = "box"
	}
	d := &draft{header: []string{
		"optratio-certificate 3", "problem program", fmt.Sprint("n ", p.N), fmt.Sprint("k ", p.K), epsilon,
		"objective " + objective, "constraints " + p.Level, "proof lp", "precision 0",
	}}
	for i, m := range p.Orbits {
		d.body = append(d.body, "dual "+counts(m)+" "+format(sol.y[i]))
	}
	for i, x := range p.Vars {
		if x.V > 0 {
			s := new(big.Rat).Sub(sol.u[i], new(big.Rat).Mul(p.Z, sol.u[p.Before[i]]))
			if s.Sign() > 0 {
				d.body = append(d.body, fmt.Sprintf("inject %d %s %s", x.V, counts(x.M), format(s)))
			}
		}
	}
	var cuts []levelRow
	for r := range sol.cuts {
		cuts = append(cuts, r)
	}
	slices.SortFunc(cuts, func(x, y levelRow) int {
		return slices.Compare([]int{int(x.Kind[0]), x.A, x.B}, []int{int(y.Kind[0]), y.A, y.B})
	})
	for _, r := range cuts {
		a, b := p.Vars[r.A], p.Vars[r.B]
		d.body = append(d.body, fmt.Sprintf("cut %s %d %s %d %s %s", r.Kind, a.V, counts(a.M), b.V, counts(b.M), format(sol.cuts[r])))
	}
	return d
}

// exactDraft is the certificate with everything claimed exactly.
func (p *problem) exactDraft(expEps string, sol *solution) *draft {
	d := p.draft("exp-epsilon "+expEps, sol, (*big.Rat).RatString)
	mean := func(x *big.Rat) *big.Rat { return new(big.Rat).Quo(x, p.ScoreVectors()) }
	em := p.exponential()
	ratio := func(x *big.Rat) *big.Rat {
		if sol.minimum.Sign() == 0 {
			return big.NewRat(1, 1)
		}
		return new(big.Rat).Quo(x, sol.minimum)
	}
	d.claim("optimum", mean(sol.minimum), mean(sol.minimum))
	d.claim("error pf", mean(sol.flip), mean(sol.flip)).claim("error em", mean(em), mean(em))
	d.claim("ratio pf", ratio(sol.flip), ratio(sol.flip)).claim("ratio em", ratio(em), ratio(em))
	return d
}
