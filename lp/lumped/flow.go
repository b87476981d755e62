package lumped

import (
	"math"
	"math/big"
)

// flow is the lumped program in floating point, sequence by sequence, for a first-order method. Its variables are
// x, the probability of the sinking candidate at each position of each sequence; with W the weight of a sequence:
//
//	minimise Σ W c x   subject to   Σ_{positions in class} W x = N(class),   x in the cones x_first >= 0, x_i >= z x_{i-1}.
//
// In the inner products weighted by W and N the operator x ↦ (Σ W x)/N(class) has norm sqrt(n), as Σ W = n N(class) over
// the positions of a class, and its adjoint only reads y at the class of a position.
type flow struct {
	n      int
	start  []int32   // sequence s holds positions start[s]..start[s+1], from first to deepest
	class  []int32   // of each position
	cost   []float64 // of each position
	share  []float64 // W / N(class) of each position
	chains []float64 // W of each sequence over |Q|
	weight []float64 // N of each class over |Q|
	z      float64
	power  []float64 // z^i
	norm   []float64 // Σ_{j<i} z^2j
}

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

func (p *program) flow(z float64) *flow {
	f := &flow{n: p.n, z: z, start: []int32{0}}
	sum := new(big.Int)
	class := make([]scaled, len(p.classes))
	for c, w := range p.weight {
		class[c] = scale(w)
		sum.Add(sum, w)
	}
	total := scale(sum)
	for _, c := range class {
		f.weight = append(f.weight, c.over(total))
	}
	for _, s := range p.shapes {
		w := scale(s.weight)
		f.chains = append(f.chains, w.over(total))
		for i := s.sequence; i >= 0; i = p.next[i] {
			f.class = append(f.class, p.visit[i])
			f.cost = append(f.cost, float64(p.cost(int(i))))
			f.share = append(f.share, w.over(class[p.visit[i]]))
		}
		f.start = append(f.start, int32(len(f.class)))
	}
	f.power, f.norm = []float64{1}, []float64{0}
	for i := range 2*p.k + 1 {
		f.norm = append(f.norm, f.norm[i]+f.power[i]*f.power[i])
		f.power = append(f.power, f.power[i]*z)
	}
	return f
}

// block is a run of positions that the projection makes geometric: head, z head, z² head, …
type block struct {
	length    int
	sum, head float64 // Σ z^j a_j, and that over Σ z^2j
}

// project replaces a by the nearest point of the cone a_0 >= 0, a_i >= z a_{i-1}: pool adjacent violators with geometric
// blocks.
func (f *flow) project(a []float64, stack []block) []block {
	stack = stack[:0]
	for _, v := range a {
		b := block{1, v, v}
		for len(stack) > 0 {
			last := stack[len(stack)-1]
			if b.head >= f.power[last.length]*last.head {
				break
			}
			b.sum = last.sum + f.power[last.length]*b.sum
			b.length += last.length
			b.head = b.sum / f.norm[b.length]
			stack = stack[:len(stack)-1]
		}
		stack = append(stack, b)
	}
	i := 0
	for _, b := range stack {
		head := max(b.head, 0)
		for j := range b.length {
			a[i+j] = f.power[j] * head
		}
		i += b.length
	}
	return stack
}

// repair lowers y until it is dual feasible, up to rounding, and returns the bound Σ N y it then gives, over |Q|. Feasible
// is what keeps
//
//	R_i = cost_i - y_i + z R_{i+1} >= 0
//
// at every position. Lowering y anywhere only raises R everywhere, so one pass suffices; where R_i is negative, the class that is lowered is
// the one from i on, lightest after its distance: N z^-d. A light class that y leaves badly off thus never costs a heavy one.
func (f *flow) repair(y []float64) float64 {
	for s := range len(f.chains) {
		rest := 0.0
		cheapest, price, power := int32(-1), math.Inf(1), 1.0
		from, to := int(f.start[s]), int(f.start[s+1])
		for i := to - 1; i >= from; i-- {
			c := f.class[i]
			price, power = price/f.z, power*f.z
			if w := f.weight[c]; w <= price || power < 1e-100 {
				cheapest, price, power = c, w, 1
			}
			rest = f.cost[i] - y[c] + f.z*rest
			if rest < 0 {
				y[cheapest] += rest / power
				rest = 0
			}
		}
	}
	sum := 0.0
	for c, w := range f.weight {
		sum += w * y[c]
	}
	return sum
}
