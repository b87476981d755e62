// Package clp solves linear programs with CLP, the simplex code of the COIN-OR
// project, through CLP's C interface. It implements linear.Solver.
//
// The binding exists only where the build tag clp is set and CLP's development
// files are installed (pkg-config clp must answer). Without the tag the
// package still compiles, needs no C compiler, and New returns an error that
// says how to get the binding; Available tells the two builds apart.
//
// The binding is this project's own: github.com/lanl/clp, the published one that we know of, does not return the status of the
// variables, which exact solutions start from, and the Go module proxy does not serve it.
//
// CLP does the scaling. The binding sees to it that nothing is printed, that a solve stops within milliseconds when its context ends,
// that no number reaches CLP at which it aborts the process, and that CLP is asked again, without scaling, where its first answer may be wrong.
//
// What it does not do: prove anything. Its answers are floating-point
// proposals like those of every linear.Solver. Presolve is never used, so
// the basis handed in is the basis that CLP starts from, and the basis handed
// out is one of the program itself.
package clp
