package lumped

import "math/big"

// weights counts score vectors class by class. It remembers the counts of words and the binomials that classes share.
type weights struct {
	partition Partition
	n         int
	words     map[[3]int]*big.Int
	binomials map[[2]int]*big.Int
}

func newWeights(p Partition, n int) *weights {
	return &weights{partition: p, n: n, words: map[[3]int]*big.Int{}, binomials: map[[2]int]*big.Int{}}
}

// of returns Σ N(m) over the count vectors m of n candidates in the class c: with r candidates outside the counts
// that are known exactly,
//
//	n!/(r! Π m_v!) · #{words of r letters that fit the other depths}.
func (w *weights) of(c *Class) *big.Int {
	s := w.partition.census(c)
	rest := w.n - s.known + s.capped*w.partition.Cap
	if rest < 0 {
		return new(big.Int)
	}
	total := new(big.Int).Set(w.count(rest, s.capped, s.open))
	if s.last {
		total.Sub(total, w.count(rest, s.capped, s.open-1))
	}
	left := w.n
	for _, m := range c.Counts[:c.Deepest+1] {
		if m > 0 && (w.partition.Cap == 0 || m < w.partition.Cap) {
			total.Mul(total, w.choose(left, m))
			left -= m
		}
	}
	return total
}

// count returns the number F(r, j, o) of words of r letters over an alphabet of j letters that each occur Cap times or
// more and o that occur any number of times. F(r, 0, o) = o^r, and freeing one of the j letters gives
//
//	F(r, j, o) = F(r, j-1, o+1) - Σ_{c<Cap} C(r,c) F(r-c, j-1, o).
func (w *weights) count(r, j, o int) *big.Int {
	key := [3]int{r, j, o}
	if f, ok := w.words[key]; ok {
		return f
	}
	f := new(big.Int)
	if j == 0 {
		f.Exp(big.NewInt(int64(o)), big.NewInt(int64(r)), nil)
	} else {
		f.Set(w.count(r, j-1, o+1))
		var term big.Int
		for c := range min(w.partition.Cap, r+1) {
			f.Sub(f, term.Mul(w.choose(r, c), w.count(r-c, j-1, o)))
		}
	}
	w.words[key] = f
	return f
}

func (w *weights) choose(n, m int) *big.Int {
	key := [2]int{n, m}
	b, ok := w.binomials[key]
	if !ok {
		b = new(big.Int).Binomial(int64(n), int64(m))
		w.binomials[key] = b
	}
	return b
}
