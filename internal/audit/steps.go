package audit

import (
	"math/big"
	"slices"
)

const (
	mostSteps   = 4    // of neighbors, that the vectors of a pair may be apart
	beyondClaim = 1.05 // times the claimed ε is the most that such a pair promises
)

// stretch adds pairs that are d = 2, 3, … steps of neighbors apart: q and q + dΔs, where every q + iΔs and the next one are neighbors, so that the probabilities of an
// ε-private mechanism differ by a factor of at most e^{dε}. A bound on the logarithm of the ratio is divided by d, and so is its scatter, while the smaller probability
// grows rarer by less than that costs. One candidate moves against all others, from vectors with at most two different scores to such as are looked at anyway up to
// the order of candidates and a shift.
func (f *field) stretch(o *Options, unit int64) {
	if !f.pooled || unit == 0 {
		return
	}
	seen := map[string]bool{}
	for _, c := range slices.Clone(f.classes) {
		if len(c.sizes) > 2 {
			continue
		}
		q := f.places[c.members[0]].q
		for s := range o.extremes(len(q), unit) {
			for d := int64(2); d <= mostSteps; d++ {
				other := q.Moved(scaled(s, d))
				sorted := descending(other)
				if _, known := f.byShape[sorted.Plus(-sorted[0]).Key()]; !known {
					continue
				}
				pair := [2]int{c.members[0], f.place(other)}
				if shape := f.shape(pair); !seen[shape] {
					seen[shape] = true
					f.edges = append(f.edges, edge{from: pair[0], to: pair[1], distance: big.NewRat(d, 1), steps: true})
				}
			}
		}
	}
}
