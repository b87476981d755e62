// Package constant proposes what proves a bound on permute-and-flip's ratio at level paper for every n and every k at once, at each z = e^-ε of a range: dual points that look at the
// depths of the second to the s-th best candidate and at how far the deepest is from k. research/docs/points.md has the theorem, package check decides it. All here is in floating
// point and decides nothing.
package constant
