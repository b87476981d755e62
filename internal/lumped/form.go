package lumped

import (
	"math"
	"math/big"

	"optratio/internal/chain"
)

// scaled is a nonnegative number mant·2^exp, for weights beyond the range of float64.
type scaled struct {
	mant float64
	exp  int
}

func scale(x *big.Int) scaled {
	var m big.Float
	exp := new(big.Float).SetPrec(64).SetInt(x).MantExp(&m)
	f, _ := m.Float64()
	return scaled{f, exp}
}

// over returns a/b, where the quotient is too small 0.
func (a scaled) over(b scaled) float64 { return math.Ldexp(a.mant/b.mant, a.exp-b.exp) }

// form returns the program in chain form at the given z.
func (p *program) form(z float64) *chain.Form {
	f := &chain.Form{N: p.n, Z: z, Start: []int32{0}}
	sum := new(big.Int)
	class := make([]scaled, len(p.weight))
	for c, w := range p.weight {
		class[c] = scale(w)
		sum.Add(sum, w)
	}
	total := scale(sum)
	for _, c := range class {
		f.Weight = append(f.Weight, c.over(total))
	}
	for _, s := range p.shapes {
		w := scale(s.weight)
		f.Chains = append(f.Chains, w.over(total))
		for i := s.sequence; i >= 0; i = p.next[i] {
			f.Class = append(f.Class, p.visit[i])
			f.Cost = append(f.Cost, float64(p.cost[i]))
			f.Share = append(f.Share, w.over(class[p.visit[i]]))
		}
		f.Start = append(f.Start, int32(len(f.Class)))
	}
	f.Prepare(2*p.k + 1)
	return f
}
