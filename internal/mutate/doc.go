// Package mutate is the mutation tester behind `make mutate`. It changes one place of a package at a time (a comparison, an operator,
// a constant, a direction of rounding, a result, a statement), runs the package's tests on the changed source, and reports the
// changes that no test noticed. It holds tests only; docs/development/testing.md says how to run it and what it found.
package mutate
