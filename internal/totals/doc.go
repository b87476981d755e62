// Package totals encloses the total error of the exponential mechanism over the lattice Q(n,k) without
// enumerating it, and has the objectives that such totals are taken over.
//
// With z = e^{-ε} and depths 0..k the mechanism takes a candidate at depth v with probability z^v/Σ_s z^{v_s}. As
// 1/w = ∫₀^∞ e^{-tw} dt, the sum over all score vectors of the expected depth factorises under the integral:
//
//	Σ_{q in Q(n,k)} E[depth] = n ∫₀^∞ D(t) [ S_0(t)^{n-1} - S_1(t)^{n-1} ] dt,
//	S_l(t) = Σ_{v=l}^k e^{-t z^v},  D(t) = Σ_{v=0}^k v z^v e^{-t z^v},
//
// the first power counting the vectors of {0..k}^n and the second those without a candidate at depth 0. The integrand is a
// sum of exponentials e^{-at} with positive coefficients and a >= 1: entire, completely monotone, and below its value at T
// times e^{T-t} from any T on. That makes Gauss–Legendre quadrature rigorous: its error is of known sign, bounded by
// the values of the integrand at real points, and so is the tail.
//
// The package integrates this one function, in outward-rounded arithmetic. Permute-and-flip needs none of it, having a total
// in closed form.
package totals
