// Command flip draws from permute-and-flip, for optratio audit --sample-exec.
package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"optratio/verify/audit"
)

func main() { audit.ServeSamples(draw) }

// draw visits the candidates in a random order and takes the first whose coin shows heads; the best one's
// always does.
func draw(q audit.Question) (int, error) {
	best := slices.Max(q.Scores)
	for _, r := range rand.Perm(len(q.Scores)) {
		if rand.Float64() < math.Exp(q.Epsilon*(q.Scores[r]-best)/(2*q.Sensitivity)) {
			return r, nil
		}
	}
	panic("the best candidate is always taken")
}
