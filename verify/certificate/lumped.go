package certificate

import (
	"math/big"
	"slices"

	"optratio/internal/evidence"
	"optratio/number"
)

// partition divides the count vectors into classes by questions, in the order of the file: where fewer than count candidates are at the depth,
// what follows is the next item, otherwise the one numbered more. An item with count 0 is a class, all of whose count vectors have one multiplier.
type partition struct {
	items   []item
	y       []*big.Rat // the multiplier of each class, in the order of the file
	weights []*big.Int // and the number of score vectors in it
	cost    *evidence.Effort
}

type item struct {
	depth, count int
	more         int // of a question
	class        int // number of a class
}

// Limits of proof lumped.
const (
	maxLumpedSize = 1 << 14 // of n and of k
	bytesPerLeaf  = 1000    // so that memory limits their number; beside what its multiplier takes
	maxNested     = 1 << 18 // divisions of ranges within each other
)

// ranges is a set of count vectors of a number of candidates: those with lo[v] to hi[v] of them at depth v.
type ranges struct {
	n        int
	lo, hi   []int
	los, his int // their sums
}

// newRanges admits all count vectors of n >= 0 candidates with one of them at least at depth 0.
func newRanges(n, k int) *ranges {
	r := &ranges{n: n, lo: make([]int, k+1), hi: make([]int, k+1), los: 1, his: n * (k + 1)}
	for v := range r.hi {
		r.hi[v] = n
	}
	r.lo[0] = 1
	return r
}

// some reports whether there are such count vectors.
func (r *ranges) some() bool { return r.los <= r.n && r.n <= r.his }

// at returns the range at depth v, where there is nobody above depth 0.
func (r *ranges) at(v int) (lo, hi int) {
	if v < 0 {
		return 0, 0
	}
	return r.lo[v], r.hi[v]
}

// set changes the range at depth v, and returns what it was.
func (r *ranges) set(v, lo, hi int) (wasLo, wasHi int) {
	wasLo, wasHi = r.lo[v], r.hi[v]
	r.los += lo - wasLo
	r.his += hi - wasHi
	r.lo[v], r.hi[v] = lo, hi
	return wasLo, wasHi
}

// partition reads the ask and class lines.
func (c *certificate) partition(r *evidence.Reader) {
	if max(c.n, c.k) > maxLumpedSize {
		evidence.Limit("proof lumped with n = %d, k = %d; neither may be more than %d", c.n, c.k, maxLumpedSize)
	}
	c.lumps = &partition{cost: r.Cost}
	c.below(r, newRanges(c.n, c.k), &words{n: c.n, cost: r.Cost}, 0)
}

// below reads the lines of the count vectors that are left after so many answers.
func (c *certificate) below(r *evidence.Reader, at *ranges, words *words, answers int) {
	p := c.lumps
	if p.cost.Spend(1); answers > maxNested {
		evidence.Limit("the classes of the certificate take more than %d questions", maxNested)
	}
	if r.Is("class") {
		y := r.Value("class", r.Take("class"))
		p.cost.Keep(bytesPerLeaf + 4*len(r.Next))
		p.items = append(p.items, item{class: len(p.y)})
		p.y, p.weights = append(p.y, y), append(p.weights, words.count(at))
		return
	}
	q, i := question(r, c, at), len(p.items)
	p.items = append(p.items, q)
	lo, hi := at.set(q.depth, at.lo[q.depth], q.count-1)
	c.below(r, at, words, answers+1)
	p.items[i].more = len(p.items)
	at.set(q.depth, q.count, hi)
	c.below(r, at, words, answers+1)
	at.set(q.depth, lo, hi)
}

// question reads an ask line. Either answer must be that of some count vector.
func question(r *evidence.Reader, c *certificate, at *ranges) (q item) {
	f := r.Fields("ask", 2)
	q.depth = r.Integer("ask: depth", f[0], 0, c.k)
	q.count = r.Integer("ask: count", f[1], 0, c.n)
	for _, half := range [][2]int{{at.lo[q.depth], q.count - 1}, {q.count, at.hi[q.depth]}} {
		lo, hi := at.set(q.depth, half[0], half[1])
		some := half[0] <= half[1] && at.some()
		at.set(q.depth, lo, hi)
		if !some {
			r.Failf("ask: only one answer is possible here to whether fewer than %d candidates are at depth %d", q.count, q.depth)
		}
	}
	return q
}

// words counts score vectors: words of n letters, one for each candidate, over an alphabet of depths. It shares the counts for alphabets that
// begin alike.
type words struct {
	n    int
	cost *evidence.Effort
	none []*alphabet // by the number of letters that may occur any number of times
}

// alphabet is an alphabet with one more letter than the one before, which occurs lo to hi times.
type alphabet struct {
	before *alphabet
	free   int // letters that may occur any number of times, where there is no alphabet before
	lo, hi int
	next   map[[2]int]*alphabet
	counts map[int]*big.Int // of words, by length
}

// count returns Σ N(m) over the count vectors in the ranges.
func (w *words) count(at *ranges) *big.Int {
	var letters [][2]int
	free := 0
	for v, lo := range at.lo {
		if lo == 0 && at.hi[v] == w.n {
			free++
		} else if at.hi[v] > 0 {
			letters = append(letters, [2]int{lo, at.hi[v]})
		}
	}
	w.cost.Spend(len(at.lo))
	// Letters that occur a known number of times come last: they need only one count of shorter words.
	slices.SortFunc(letters, func(a, b [2]int) int {
		if exactA, exactB := a[0] == a[1], b[0] == b[1]; exactA != exactB {
			if exactA {
				return 1
			}
			return -1
		}
		return slices.Compare(a[:], b[:])
	})
	for len(w.none) <= free {
		w.none = append(w.none, &alphabet{free: len(w.none), next: map[[2]int]*alphabet{}, counts: map[int]*big.Int{}})
	}
	a := w.none[free]
	for _, l := range letters {
		b, ok := a.next[l]
		if !ok {
			b = &alphabet{before: a, lo: l[0], hi: l[1], next: map[[2]int]*alphabet{}, counts: map[int]*big.Int{}}
			a.next[l] = b
			w.cost.Keep(bytesPerLeaf)
		}
		a = b
	}
	return w.of(a, w.n)
}

// of returns the number of words of a length over an alphabet: with c of them the last letter, C(length, c) times those of the rest.
func (w *words) of(a *alphabet, length int) *big.Int {
	if f, ok := a.counts[length]; ok {
		return f
	}
	f := new(big.Int)
	if a.before == nil {
		f.Exp(big.NewInt(int64(a.free)), big.NewInt(int64(length)), nil)
	}
	var choose, term big.Int // C(length, c)
	for c := a.lo; a.before != nil && c <= min(a.hi, length); c++ {
		if c == a.lo {
			w.cost.Spend(c * (1 + length/64))
			choose.Binomial(int64(length), int64(c))
		} else {
			choose.Mul(&choose, term.SetInt64(int64(length-c+1)))
			choose.Quo(&choose, term.SetInt64(int64(c)))
		}
		rest := w.of(a.before, length-c)
		f.Add(f, term.Mul(&choose, rest))
		w.cost.Spend(1 + (choose.BitLen()/64+1)*(rest.BitLen()/64+1))
	}
	a.counts[length] = f
	w.cost.Keep(64 + f.BitLen()/8)
	return f
}

// sinking evaluates the dual function at multipliers y(m) that are constant on classes. It walks all chains at once, from the deep end: a chain
// is one candidate that sinks past n-1 others. What is known of the others are ranges, which are divided where it matters for the class of a position; so
// chains are told apart only from where they visit different classes, and each set of chains that visit the same has its multiplier λ once.
type sinking struct {
	*partition
	k       int
	box     bool
	deepest int // greatest depth of the others, under the objective box
	dual    *evidence.Walk
	others  *ranges
	nested  int
	price   int // steps that a position costs
}

// lower returns Σ N(class) y'(class), which the minimum is not below: with
//
//	λ_i = max(0, c_i + z λ_{i+1} - y_i),  λ = 0 at the first position of a chain,
//
// y'(class) is the least c_i + z λ_{i+1} - λ_i at any position in the class.
func (p *partition) lower(z number.Interval, n, k int, box bool) number.Interval {
	s := &sinking{partition: p, k: k, box: box, dual: evidence.NewWalk(z, p.y), price: int(z.Prec()) / 4}
	if n == 1 {
		return s.dual.Zero // one score vector and no error
	}
	least := k
	if box {
		least = 0
	}
	for s.deepest = least; s.deepest <= k; s.deepest++ {
		s.others = newRanges(n-1, k)
		if box {
			for v := s.deepest + 1; v <= k; v++ {
				s.others.set(v, 0, 0)
			}
			s.others.set(s.deepest, 1, n-1)
		}
		if s.others.some() {
			s.walk(0, 0, s.dual.Zero)
		}
	}
	return s.dual.Total(p.weights)
}

// walk goes on at position p, counted from the deep end, at some item of the partition, with the λ of the position after it.
func (s *sinking) walk(p, at int, lambda number.Interval) {
	for {
		s.cost.Spend(1)
		// The candidate is at depth v; once it is the best, the others are down steps deeper than at first.
		v, down := max(s.k-p, 0), max(p-s.k, 0)
		first := false
		if p >= s.k {
			rim := s.k - down // from here the others cannot sink further
			if first = s.others.lo[rim] > 0; !first && s.others.hi[rim] > 0 {
				s.divide(rim, 1, p, at, lambda)
				return
			}
		}
		if q := s.items[at]; q.count > 0 {
			u, wanted := q.depth-down, q.count // so many are wanted of the others at their depth u
			if q.depth == v {
				wanted--
			}
			lo, hi := s.others.at(u)
			switch {
			case hi < wanted:
				at++
			case lo >= wanted:
				at = q.more
			default:
				s.divide(u, wanted, p, at, lambda)
				return
			}
			continue
		}
		s.cost.Spend(s.price)
		c := v
		if s.box {
			c *= s.k + 1 - max(v, s.deepest)
		}
		lambda = s.dual.Step(s.items[at].class, number.FromInt(int64(c), s.dual.Z.Prec()), lambda, first)
		if first {
			return
		}
		p, at = p+1, 0
	}
}

// divide walks on with fewer than count of the others at depth v, and with count or more.
func (s *sinking) divide(v, count, p, at int, lambda number.Interval) {
	if s.nested++; s.nested > maxNested {
		evidence.Limit("the classes of the certificate divide chains more than %d times", maxNested)
	}
	lo, hi := s.others.set(v, s.others.lo[v], count-1)
	if s.others.some() {
		s.walk(p, at, lambda)
	}
	s.others.set(v, count, hi)
	if s.others.some() {
		s.walk(p, at, lambda)
	}
	s.others.set(v, lo, hi)
	s.nested--
}

// lumped returns the bounds of proof lumped: that of the multipliers, and the error of permute-and-flip.
func (c *certificate) lumped(flip, all number.Number, prec uint) results {
	sum := new(big.Int)
	for _, w := range c.lumps.weights {
		sum.Add(sum, w)
	}
	if n := int64(c.n); sum.Cmp(new(big.Int).Sub(evidence.Power(c.k+1, n), evidence.Power(c.k, n))) != 0 {
		panic("certificate: the classes do not make up all score vectors")
	}
	low := c.lumps.lower(c.enclose(prec), c.n, c.k, c.box)
	return results{lower: number.Enclosed(low).Quo(all), upper: flip, flip: flip}
}
