package audit

import (
	"math"
	"math/big"
	"slices"

	"optratio/internal/inquiry"
)

// Samplers of candidates are asked about one ladder of scores moved up and down by powers of two, as stated programs are (cliff.go): where e^q overflows, where
// scores are rounded, where integers wrap, they begin to do something else. Where they seem to, the place is bisected down to two neighbors.
const (
	mostDoubled   = 32   // powers of two
	largeShare    = 5000 // such a part of the budget is drawn at each place,
	fewLarge      = 6    // but so many at least,
	mostLarge     = 30   // and at most
	leastForLarge = 5000 // budget
)

// large looks for such neighbors, and puts them before the pairs that are looked at.
func (s *statistics) large() error {
	o := s.o
	if !s.field.pooled || o.N < 2 || len(o.Vectors)+len(o.Pairs) > 0 || o.Budget < leastForLarge {
		return nil
	}
	unit := new(big.Rat).Quo(o.Sensitivity, s.space.Unit).Num().Int64()
	ladder := make(inquiry.Vector, o.N)
	for r := range ladder {
		ladder[r] = -2 * unit * int64(min(r, 3))
	}
	each := max(fewLarge, min(mostLarge, o.Budget/largeShare))
	known, err := s.draw(s.field.place(ladder), 2*each)
	if err != nil || known == nil {
		return err
	}
	at := func(steps int64) int { return s.field.placeAlone(ladder.Plus(steps * unit)) }
	for _, sign := range []int64{1, -1} {
		near := int64(0)
		for i := range mostDoubled {
			far := sign << i
			other, err := s.draws(at(far), each, known)
			if err != nil {
				return err
			}
			if other {
				other, err = s.draws(at(far), 2*each, known)
			}
			if err != nil {
				return err
			}
			if other {
				if err := s.halve(near, far, 2*each, known, at); err != nil {
					return err
				}
				break
			}
			near = far
		}
	}
	return nil
}

// draws draws at a place, and reports whether that is not like what is known.
func (s *statistics) draws(i int, samples int64, known []int64) (bool, error) {
	got, err := s.draw(i, min(samples, s.o.Budget-s.drawn))
	if err != nil || got == nil {
		return s.field.places[i].event != "", err
	}
	return unlikeCounts(known, got) > 12+2*float64(len(known)-1), nil
}

// unlikeCounts is twice the logarithm of the likelihood ratio between two frequencies of outcomes and one for both.
func unlikeCounts(a, b []int64) (sum float64) {
	n, m := float64(sumOf(a)), float64(sumOf(b))
	for r := range a {
		both := float64(a[r]+b[r]) / (n + m)
		for _, x := range [][2]float64{{float64(a[r]), n}, {float64(b[r]), m}} {
			if x[0] > 0 {
				sum += float64(2 * x[0] * math.Log(x[0]/x[1]/both))
			}
		}
	}
	return sum
}

// halve bisects between steps at which the ladder is answered as known, and as something else, and adds the neighbors that it ends with.
func (s *statistics) halve(near, far, samples int64, known []int64, at func(steps int64) int) error {
	f := s.field
	for max(far-near, near-far) > 1 {
		middle := near + (far-near)/2
		other, err := s.draws(at(middle), samples, known)
		if err != nil {
			return err
		}
		if other {
			far = middle
		} else {
			near = middle
		}
	}
	i, j := at(near), at(far)
	pairs := [][2]int{{i, j}}
	unit := new(big.Rat).Quo(s.o.Sensitivity, s.space.Unit).Num().Int64()
	for _, end := range pairs[0] {
		for step := range s.o.extremes(s.o.N, unit) {
			pairs = append(pairs, [2]int{end, f.placeAlone(f.places[end].q.Moved(step))})
		}
	}
	var edges []edge
	for _, pair := range pairs {
		edges = append(edges, edge{from: pair[0], to: pair[1]})
		for _, k := range pair {
			if _, err := s.draw(k, min(samples, s.o.Budget-s.drawn)); err != nil {
				return err
			}
		}
	}
	f.all = append(pairs, f.all...)
	f.edges = slices.Concat(edges, f.edges)
	return nil
}
