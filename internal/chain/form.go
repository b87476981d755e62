// Package chain writes the optimal-mechanism program as chains of variables, which decrease by at most the factor z at each step, and
// evaluates its dual function by one walk along each chain: exactly, in intervals, or in floating point. The first-order method in here
// proposes points and multipliers; it proves nothing.
package chain

import "math"

// Form is the optimal-mechanism program in chain form, in floating point, for a first-order method. A chain holds the variables of one candidate
// that sinks step by step among others that stay as they are; its positions visit orbits, or classes of orbits. The variables are
// x, the probability of the sinking candidate at each position of each chain; with W the weight of a chain:
//
//	minimise Σ W c x   subject to   Σ_{positions in class} W x = N(class),   x in the cones x_first >= 0, x_i >= z x_{i-1}.
//
// In the inner products weighted by W and N the operator x ↦ (Σ W x)/N(class) has norm sqrt(n), as Σ W = n N(class) over
// the positions of a class, and its adjoint only reads y at the class of a position.
type Form struct {
	N       int       // candidates
	Start   []int32   // chain s holds positions Start[s]..Start[s+1], from first to deepest
	Class   []int32   // of each position
	Cost    []float64 // of each position
	Share   []float64 // W / N(class) of each position
	Chains  []float64 // W of each chain over |Q|
	Weight  []float64 // N of each class over |Q|
	Z       float64   // e^{-ε}
	Power   []float64 // z^i, from Prepare
	inverse []float64 // 1 / Σ_{j<i} z^2j
}

// Prepare tabulates powers of z for chains of at most the given length. It must be called before anything else is done with the form.
func (f *Form) Prepare(length int) {
	f.Power, f.inverse = []float64{1}, []float64{0}
	norm := 0.0
	for i := range length {
		norm += float64(f.Power[i] * f.Power[i])
		f.inverse = append(f.inverse, 1/norm)
		f.Power = append(f.Power, f.Power[i]*f.Z)
	}
}

// block is a run of positions that the projection makes geometric: head, z head, z² head, …
type block struct {
	length    int
	sum, head float64 // Σ z^j a_j, and that over Σ z^2j
}

// project replaces a by the nearest point of the cone a_0 >= 0, a_i >= z a_{i-1}: pool adjacent violators with geometric
// blocks. The stack has room for one more block than a is long.
func (f *Form) project(a []float64, stack []block) {
	top := 0 // of the stack, below which the blocks before b are
	b := block{1, a[0], a[0]}
	for _, v := range a[1:] {
		if least := f.Power[b.length] * b.head; v >= least {
			stack[top] = b
			top++
			b = block{1, v, v}
			continue
		}
		b.sum += float64(f.Power[b.length] * v)
		b.length++
		b.head = b.sum * f.inverse[b.length]
		for top > 0 {
			last := &stack[top-1]
			power := f.Power[last.length]
			if b.head >= power*last.head {
				break
			}
			b.sum = last.sum + float64(power*b.sum)
			b.length += last.length
			b.head = b.sum * f.inverse[b.length]
			top--
		}
	}
	stack[top] = b
	i := 0
	for _, b := range stack[:top+1] {
		head := max(b.head, 0)
		for j, power := range f.Power[:b.length] {
			a[i+j] = power * head
		}
		i += b.length
	}
}

// Repair lowers y until it is dual feasible, up to rounding, and returns the bound Σ N y it then gives, over |Q|. Feasible
// is what keeps
//
//	R_i = cost_i - y_i + z R_{i+1} >= 0
//
// at every position. Lowering y anywhere only raises R everywhere, so one pass suffices; where R_i is negative, the class that is lowered is
// the one from i on, lightest after its distance: N z^-d. A light class that y leaves badly off thus never costs a heavy one.
func (f *Form) Repair(y []float64) float64 {
	for s := range len(f.Chains) {
		rest := 0.0
		cheapest, price, power := int32(-1), math.Inf(1), 1.0
		from, to := int(f.Start[s]), int(f.Start[s+1])
		for i := to - 1; i >= from; i-- {
			c := f.Class[i]
			price, power = price/f.Z, power*f.Z
			if w := f.Weight[c]; w <= price || power < 1e-100 {
				cheapest, price, power = c, w, 1
			}
			rest = f.Cost[i] - y[c] + float64(f.Z*rest)
			if rest < 0 {
				y[cheapest] += rest / power
				rest = 0
			}
		}
	}
	sum := 0.0
	for c, w := range f.Weight {
		sum += float64(w * y[c])
	}
	return sum
}
