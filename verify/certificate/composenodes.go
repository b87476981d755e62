package certificate

import (
	"math"
	"math/big"

	"optratio/internal/evidence"
	"optratio/number"
)

// nodes are bounds of V at i·d, from i = 0, and around the nodes of the next row: those below 0 follow by symmetry, above the last one it stays.
type nodes struct {
	bounds         []float64
	pad            int
	around         []float64 // bounds[i] is around[pad+i]
	chordP, chordQ []float64 // the chord of V from node i to the next is chordP - e^{s-id} chordQ
	fall, rest     []float64 // e^{-id}, 1-e^{-id}
	step           float64   // 1/(e^d-1)
	grid           *big.Rat
}

// unit is the greatest relative error of a rounding.
const unit = 0x1p-53

// stepsPerPower is what a power of e costs.
const stepsPerPower = 1 << 11

func newNodes(grid *big.Rat, steps []composedStep, cost *evidence.Effort) *nodes {
	n := &nodes{grid: grid, bounds: []float64{0, 0}}
	for _, st := range steps {
		for _, p := range st.kind.stretches {
			for _, at := range p.nodes {
				n.pad = max(n.pad, at+2, 2-at)
			}
		}
	}
	d := number.FromRat(grid, composePrecision)
	for i := range n.pad + 1 {
		cost.Spend(stepsPerPower)
		f := number.Exp(d.Mul(whole(-i)))
		_, fall := f.Float64()
		_, rest := whole(1).Sub(f).Float64()
		n.fall, n.rest = append(n.fall, fall), append(n.rest, rest)
	}
	_, n.step = whole(1).Quo(number.Exp(d).Sub(whole(1))).Float64()
	return n
}

// surround prepares for a row of so many nodes. V does not increase: a bound that rises is lowered to the one before, so that chords are not negative.
func (n *nodes) surround(row int) {
	last := len(n.bounds) - 1
	n.around = make([]float64, 2*n.pad+row)
	n.chordP, n.chordQ = make([]float64, len(n.around)), make([]float64, len(n.around))
	for i := range n.around {
		at := i - n.pad
		v := n.bounds[min(max(at, -at), last)]
		if at < 0 {
			v = (n.rest[-at] + float64(n.fall[-at]*v)) * (1 + 4*unit)
		}
		if n.around[i] = v; i > 0 {
			n.around[i] = min(v, n.around[i-1])
		}
	}
	for i := range len(n.around) - 1 {
		n.chordQ[i] = (n.around[i] - n.around[i+1]) * n.step
		n.chordP[i] = n.around[i] + n.chordQ[i]
	}
}

// advance takes the bounds of one selection more, once it is sure of them. From the sum of all ε on V is 0.
func (n *nodes) advance(k *kind, claimed []float64, sum *big.Rat, row int, cost *evidence.Effort) {
	cost.Spend(len(claimed)*(len(k.stretches)+1)*4 + 16*n.pad)
	n.surround(len(claimed))
	below := claimed
	end := new(big.Rat).Quo(sum, n.grid)
	if last := new(big.Int).Quo(new(big.Int).Sub(end.Num(), big.NewInt(1)), end.Denom()); last.Cmp(big.NewInt(int64(len(claimed)))) < 0 {
		below = claimed[:last.Int64()+1]
	}
	for i, bound := range below {
		greatest := 0.0
		for j := range k.stretches {
			greatest = max(greatest, n.most(&k.stretches[j], i))
		}
		// the summand is for products below the least number
		if greatest = min(1, float64((greatest+float64(k.stay*n.around[n.pad+i]))*(1+4*unit))+0x1p-1010); greatest > bound {
			evidence.Refute("bound: in row %d node %d may have %v, %v is claimed", row, i, greatest, bound)
		}
	}
	n.bounds = claimed
}

// most returns the most that a stretch has at node i.
func (n *nodes) most(p *stretch, i int) float64 {
	i += n.pad
	var g [2]float64
	for end := range g {
		for j, at := range p.nodes {
			g[end] += float64(p.weights[end][j] * n.around[i+at])
		}
		g[end] *= 1 + 8*unit
	}
	// chords, with roundings of the differences; near a node the function is constant
	aA, bA := n.chordP[i+p.a.at], n.chordQ[i+p.a.at]
	if p.a.tiny > 0 {
		aA, bA = n.around[i+p.a.at]+n.around[i+p.a.at-1], 0
	}
	aB, bB := n.chordP[i+p.b.at], n.chordQ[i+p.b.at]
	if p.b.tiny > 0 {
		aB, bB = 0, 0
	}
	const few = 8 * unit
	h := float64(p.onP*max(0, aA-aB+float64(few*aA))) + max(0, float64(float64(p.onA*bA)*(1+few))-float64(float64(p.onB*bB)*(1-few)))
	h = float64(h * (1 + few))
	up := g[1] - g[0]
	if math.Abs(up) >= h {
		return max(g[0], g[1])
	}
	return (g[0] + float64(float64((up+h)*(up+h))/(4*h))) * (1 + 4*unit)
}
