// Package certificate checks certificates: files that hold what it takes to prove bounds on an optimum, of the optimal-mechanism program and of other private choices,
// or that a mechanism lacks a property.
//
// There is one format, whose second line names a section: what the file is about and how it is proved. To read the package, begin with check.go, which says what a
// section is, and read.go, from which all sections take their lines. Then come section program (program.go; bound.go for proof lp, closed.go and recurrence.go for
// the proofs by theorem, lumped.go and product.go for proof lumped), interval.go with classes.go, finite.go with the finite problems orbits.go (section lattice),
// heterogeneous.go and explicit.go (section table), and stopping.go and witness.go. lattice.go and level.go enumerate count vectors, chains and rows.
//
// It shares nothing with the solvers. It builds the program from the parameters in the
// file with an enumerator of its own, takes from the file only multipliers and points, and works out from these what they prove. A certificate is valid if it has the
// form that the format prescribes and every claim in it follows. Nothing that the
// file holds need be true for the verdict to be right: any multipliers give some lower
// bound, any injections some feasible point, and a claim stands or falls with those.
//
// Where e^ε is rational, all arithmetic is in integers over a common denominator. Where
// only ε is, z = e^-ε is enclosed, and all arithmetic is in outward-rounded intervals whose
// precision is raised until every claim is decided. No comparison has a tolerance.
//
// The package does not solve anything, does not improve what a file claims, and does not
// write certificates. It does not decide claims on the exponential mechanism on lattices that
// are too large to enumerate.
//
// Sources: McKenna & Sheldon, Permute-and-Flip (NeurIPS 2020), Appendix D, for the
// program; Neumaier & Shcherbina, Safe bounds in linear and mixed-integer linear
// programming (Math. Programming 99, 2004), for bounds from approximate multipliers.
package certificate
