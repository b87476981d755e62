// Package product bounds the optimum of the optimal-mechanism program from above on lattices of any size, by feasible points in product form.
//
// The program (McKenna & Sheldon 2020, App. D; package lp has its builders) is the one of the paper: rows (E), (P) and (T). Given injections
// s(m,v) >= 0 on depths v >= 1, the amounts by which x[m][v] exceeds z x[m^{v→v-1}][v-1], rows (E) leave the rest of each count vector m to depth 0, and a point is feasible
// if that rest is large enough: for every m with m_k = 0 row (T), for every other m x[m][0] >= 0. Without injections the point is permute-and-flip.
//
// An Injection is a product over the other candidates, s = amount Π g(v_s), for one number of best candidates m_0 = j and one depth w. Then everything that follows from it is
// in closed form. With a_s = z^{v_s}, b_s = z^{v_s-w} if v_s >= w and 0 otherwise, the products over the candidates at depths >= 1, and i = m_0 <= j,
//
//	x[m][0] changes by (-1)^{j-i+1} (i-1)! (j-i)!/j! · amount · [β h^{j-i}] Π_s (g(v_s) + h a_s + β b_s),
//
// where [β h^d] takes a coefficient: one of the others sinks from the injection, j-i rise to the top in turn. The objective changes by
//
//	amount · n C(n-1,j) · Σ_{u=w}^k z^{u-w} (u - Y_j) · (Σ_{v=1}^k g(v))^{n-1-j},   Y_1 = 0, Y_{i+1} = A - B' Y_i,
//
// A = Σ_{v=1}^k v z^v, B' = Σ_{v=1}^k z^v: Y_j is the multiplier of permute-and-flip's dual point on row (E), so this is the reduced cost of the injections.
//
// Which count vectors have to be looked at. In the slack of a row each of the other candidates takes part once, in one factor of each product, so that as a function of one
// depth v the slack is an affine function of the vector of what its factors can be: 1, z^v, g(v), b(v), and the same a step deeper. The g and b used here are affine in z^v but for
// the depths below some W and, perhaps, for depth k. So if all others stay, the slack is least where the candidate is at one of 1, …, W, at the last depth, or at one next to it; moving
// one candidate after the other there, the least slack of all is at a count vector with candidates at no other depths. There are at most some ten thousand of those up to n = 23, on lattices of any number of
// orbits. All are evaluated in outward-rounded arithmetic.
package product
