// Package proptest tests selection mechanisms by their properties on random inputs, in one call:
//
//	func TestMyMechanism(t *testing.T) {
//		proptest.Run(t, proptest.PMF(func(c proptest.Case) ([]float64, error) {
//			return mine(c.Scores, c.Sensitivity, c.Epsilon), nil
//		}), proptest.Options{})
//	}
//
// Every property becomes a subtest: ε-DP towards all neighbors, symmetry, shift-invariance,
// monotonicity, the sum of the probabilities, dominance over the exponential mechanism, and that
// there is an answer, always the same. All of them run, whatever fails; a failure shows the smallest case that was
// found and the seed that leads to it.
//
// Of makes a subject of a mechanisms.Mechanism: proptest.Run(t, proptest.Of(m), proptest.Options{}).
//
// What is tested is a function that states its probabilities as float64 numbers, each of which stands
// for any real number near it. Passing proves nothing beyond the cases tried: package verify proves,
// on lattices, and package verify/audit examines programs and samplers.
package proptest
