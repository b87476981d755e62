// Package certificate checks certificates: files that hold what it takes to prove bounds on an optimum, of the optimal-mechanism program and of other private choices,
// or that a mechanism lacks a property.
//
// It shares nothing with the solvers. It builds the program from the parameters in the
// file with an enumerator of its own, takes from the file only multipliers and points, and works out from these what they prove. A certificate is valid if it has the
// form that the format prescribes and every claim in it follows. Nothing that the
// file holds need be true for the verdict to be right: any multipliers give some lower
// bound, any injections some feasible point, and a claim stands or falls with those.
//
// # What to read
//
// There is one format, whose second line names a section: what the file is about and how it is proved. Package internal/evidence has what sections
// share, and package number the arithmetic below all of it. To believe a claim, read the files of the first line below and those of the claim's
// section, in this order; they are in this package and in internal/evidence. The number is about how many lines these are together:
//
//	any claim                       certificate check read setting number effort verdict              950
//	section stopping                stopping                                                          1150
//	section compose                 compose composekind composenodes composemasses                    1950
//	section witness                 witness input                                                     1450
//	section private                 witness explicit private                                          1600
//	section table                   finite explicit                                                   1450
//	section heterogeneous           finite heterogeneous                                              1500
//	section lattice                 lattice level finite orbits                                       1950
//	section program, by theorem     program results closed recurrence                                 1450
//	…with claims on em              program results closed exponential recurrence lattice finite orbits  2300
//	section program, proof lp       program results closed lattice level finite orbits bound          2650
//	section program, proof lumped   program results closed walk lumped                                1750
//
// What is left is vipr.go, which writes a valid proof in another format.
//
// # Arithmetic
//
// Finite problems are decided in integers over a common denominator, at either end of an enclosure of z = e^-ε where e^ε is not rational. Theorems, proof lumped and
// witnesses are worked out in rationals, or in outward-rounded intervals whose precision is raised until every claim is decided. Section compose
// is in floating-point numbers: sums of products that are not negative, whose roundings are bounded. No comparison has a tolerance.
//
// The package does not solve anything, does not improve what a file claims, and does not
// write certificates. It does not decide claims on the exponential mechanism on lattices that
// are too large to enumerate.
//
// Sources: McKenna & Sheldon, Permute-and-Flip (NeurIPS 2020), Appendix D, for the
// program; Neumaier & Shcherbina, Safe bounds in linear and mixed-integer linear
// programming (Math. Programming 99, 2004), for bounds from approximate multipliers.
package certificate
