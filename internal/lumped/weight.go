package lumped

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"slices"
)

// weights counts the score vectors of boxes of n candidates. It remembers the counts of words and the binomials that boxes share.
type weights struct {
	n         int
	words     map[string]*big.Int
	binomials map[[2]int32]*big.Int
	key       []byte
}

// span is a range of counts.
type span struct{ lo, hi int32 }

func newWeights(n int) *weights {
	return &weights{n: n, words: map[string]*big.Int{}, binomials: map[[2]int32]*big.Int{}}
}

// span returns the range of counts at a depth of a box, with n as its end where it has none: one candidate at least is at depth 0.
func (w *weights) span(b *box, v int) span {
	s := span{b.lo[v], b.hi[v]}
	if v > 0 && int(s.hi) == w.n-1 && s.lo < s.hi {
		s.hi++
	}
	return s
}

func (w *weights) open(s span) bool { return int(s.hi) == w.n }

// alphabet is what a box leaves open.
type alphabet struct {
	letters int32  // r: candidates outside the counts that are known exactly
	spans   []span // ranges of counts that are not known, in order
	free    int    // depths with any number of candidates
}

func (w *weights) alphabet(b *box) alphabet {
	a := alphabet{letters: int32(w.n)}
	for v := range b.lo {
		switch s := w.span(b, v); {
		case s.lo == s.hi:
			a.letters -= s.lo
		case s.lo == 0 && w.open(s):
			a.free++
		default:
			a.spans = append(a.spans, s)
		}
	}
	slices.SortFunc(a.spans, func(x, y span) int { return cmp.Or(cmp.Compare(x.hi, y.hi), cmp.Compare(x.lo, y.lo)) })
	return a
}

// of returns Σ N(m) over the count vectors m of n candidates in a box that has some: with r candidates outside the counts that are known exactly,
//
//	n!/(r! Π m_v!) · #{words of r letters with as many of each letter as the other depths allow}.
func (w *weights) of(b *box) *big.Int {
	a := w.alphabet(b)
	total := new(big.Int).Set(w.count(a.letters, a.spans, a.free))
	left := int32(w.n)
	for v, lo := range b.lo {
		if lo > 0 && lo == b.hi[v] {
			total.Mul(total, w.choose(left, lo))
			left -= lo
		}
	}
	return total
}

// count returns the number F(r, spans, o) of words of r letters over an alphabet of letters that occur as often as the spans say and o that occur
// any number of times. F(r, none, o) = o^r, and taking apart one span [a, b]
//
//	F(r, spans, o) = Σ_{a<=c<=b} C(r,c) F(r-c, others, o),
//
// or, where it has no upper end, F(r, others, o+1) - Σ_{c<a} C(r,c) F(r-c, others, o).
func (w *weights) count(r int32, spans []span, o int) *big.Int {
	w.key = binary.AppendUvarint(binary.AppendUvarint(w.key[:0], uint64(r)), uint64(o))
	for _, s := range spans {
		w.key = binary.AppendUvarint(binary.AppendUvarint(w.key, uint64(s.lo)), uint64(s.hi))
	}
	if f, ok := w.words[string(w.key)]; ok {
		return f
	}
	key, f := string(w.key), new(big.Int)
	var term big.Int
	if len(spans) == 0 {
		f.Exp(big.NewInt(int64(o)), big.NewInt(int64(r)), nil)
	} else if s, others := spans[len(spans)-1], spans[:len(spans)-1]; w.open(s) {
		f.Set(w.count(r, others, o+1))
		for c := range min(s.lo, r+1) {
			f.Sub(f, term.Mul(w.choose(r, c), w.count(r-c, others, o)))
		}
	} else {
		for c := s.lo; c <= min(s.hi, r); c++ {
			f.Add(f, term.Mul(w.choose(r, c), w.count(r-c, others, o)))
		}
	}
	w.words[key] = f
	return f
}

func (w *weights) choose(n, m int32) *big.Int {
	key := [2]int32{n, m}
	b, ok := w.binomials[key]
	if !ok {
		b = new(big.Int).Binomial(int64(n), int64(m))
		w.binomials[key] = b
	}
	return b
}

// tails yields, for every depth where counts in a box differ, the shares of the box's score vectors that have more than lo, lo+1, … candidates there.
// It goes on to the first share below tailShare, at most to maxTail.
func (w *weights) tails(b *box, yield func(depth int, shares []float64)) {
	a := w.alphabet(b)
	total := scale(w.count(a.letters, a.spans, a.free))
	known := map[span][]float64{}
	for v := range b.lo {
		s := w.span(b, v)
		if s.lo == s.hi {
			continue
		}
		shares, ok := known[s]
		if !ok {
			others, free := a.spans, a.free-1
			if s.lo > 0 || !w.open(s) {
				i := slices.Index(a.spans, s)
				others, free = slices.Delete(slices.Clone(a.spans), i, i+1), a.free
			}
			share := 1.0
			for c := s.lo; c < min(s.hi, a.letters+1) && len(shares) < maxTail && share >= tailShare; c++ {
				part := new(big.Int).Mul(w.choose(a.letters, c), w.count(a.letters-c, others, free))
				share -= scale(part).over(total)
				shares = append(shares, max(share, 0))
			}
			known[s] = shares
		}
		yield(v, shares)
	}
}

// Limits of tails.
const (
	maxTail   = 40
	tailShare = 0.01
)
