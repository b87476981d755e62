package lumped

import (
	"context"
	"fmt"
	"math/big"
)

// program is the lumped program of Q(n,k): its classes, and the suffixes of the sequences in which chains visit them.
//
// A chain fixes the n-1 other candidates and lets one sink. Its positions, from the deep end: the candidate at
// depths k, k-1, …, 0 among the others as they are, then at depth 0 with all others 1, 2, … steps further down, as
// far as k permits. Chains that visit the same classes are one.
type program struct {
	n, k   int
	tree   *Tree
	boxed  bool
	weight []*big.Int // of each class: the number of score vectors of Q(n,k) in it
	// Suffix i is one position, of class visit[i] at the given cost, followed by suffix next[i] (< i, or -1 after the deep end). No
	// position comes before it where first[i] says so.
	visit, cost, next []int32
	first             []bool
	shapes            []shape
	byOthers          *Tree // finds the number of a shape
}

// shape is a set of chains that visit the same classes.
type shape struct {
	others   box      // the n-1 others
	sequence int32    // the suffix that is all of it
	weight   *big.Int // n Σ N(others), which is that of u against x at every position
}

// build lists the sequences of Q(n,k), n >= 2, with no more than so many bytes of memory where that is not 0. The classes have the given boxes.
func build(ctx context.Context, n, k int, tree *Tree, classes []box, boxed bool, memory int64) (*program, error) {
	b := &builder{program: program{n: n, k: k, tree: tree, boxed: boxed, byOthers: newTree()}, ctx: ctx, memory: memory}
	if b.spend(bytesPerCount * (k + 1) * len(classes)) {
		b.others = newBox(n-1, k)
		b.walk(0, -1)
	}
	w := newWeights(n)
	for i := range classes {
		if !b.spend(0) {
			return nil, b.err
		}
		b.weight = append(b.weight, w.of(&classes[i]))
	}
	w = newWeights(n - 1)
	for i := range b.shapes {
		if !b.spend(0) {
			return nil, b.err
		}
		s := &b.shapes[i]
		s.weight = w.of(&s.others)
		s.weight.Mul(s.weight, big.NewInt(int64(n)))
	}
	return &b.program, b.err
}

type builder struct {
	program
	ctx     context.Context
	memory  int64 // what is left of it, where it is limited
	err     error
	steps   int
	others  box   // what is known of the others
	deepest int   // their greatest depth, where the objective depends on it
	at      int32 // the leaf of byOthers
}

// What the parts of a program take in memory, in bytes: a class and a shape for each depth, a suffix, and a position of the chain form, which lists
// sequences in full.
const (
	bytesPerCount    = 8
	bytesPerSuffix   = 20
	bytesPerPosition = 80
)

// spend takes bytes from the memory that is left, and reports whether there is use in going on.
func (b *builder) spend(bytes int) bool {
	if b.steps++; b.err == nil && b.steps%1024 == 1 {
		b.err = b.ctx.Err()
	}
	if b.memory > 0 && b.err == nil {
		if b.memory -= int64(bytes); b.memory <= 0 {
			b.err = fmt.Errorf("%w: %d classes take more than the memory allowed", ErrTooMany, b.tree.Classes())
		}
	}
	return b.err == nil
}

// walk enters the positions from number p on, counted from the deep end, of the chains whose others are in the box; next is the suffix that
// follows. Where that depends on the others it divides the box.
func (b *builder) walk(p int, next int32) {
	o := &b.others
	if b.boxed && p == 0 { // costs depend on the deepest depth
		for b.deepest = b.k; o.hi[b.deepest] == 0; b.deepest-- {
		}
		if o.lo[b.deepest] == 0 {
			b.divide(b.deepest, 1, p, next)
			return
		}
	}
	for ; b.spend(bytesPerSuffix); p++ {
		depth, gap := max(b.k-p, 0), max(p-b.k, 0)
		first := false
		if p >= b.k { // the others sink as long as none of them gets below depth k
			if first = o.lo[b.k-gap] > 0; !first && o.hi[b.k-gap] > 0 {
				b.divide(b.k-gap, 1, p, next)
				return
			}
		}
		class, from, count := b.class(depth, gap)
		if count > 0 {
			b.divide(from, count, p, next)
			return
		}
		cost := depth
		if b.boxed {
			cost *= b.k + 1 - max(depth, b.deepest+gap)
		}
		b.visit, b.cost = append(b.visit, class), append(b.cost, int32(cost))
		b.next, b.first = append(b.next, next), append(b.first, first)
		next = int32(len(b.visit) - 1)
		if first {
			if b.spend(bytesPerCount*len(o.lo) + bytesPerPosition*(p+1)) {
				b.byOthers.nodes[b.at].less = int32(len(b.shapes))
				b.shapes = append(b.shapes, shape{others: o.clone(), sequence: next})
			}
			return
		}
	}
}

// class returns the class of the vectors with one candidate at a depth and the others gap steps below where the box has them. Where these
// are of several classes it returns a question about the others that tells some apart: whether fewer than count are at depth from.
func (b *builder) class(depth, gap int) (class int32, from int, count int32) {
	x := b.tree.nodes[0]
	for x.count > 0 {
		from, count = int(x.depth)-gap, x.count
		if int(x.depth) == depth {
			count--
		}
		lo, hi := int32(0), int32(0)
		if from >= 0 {
			lo, hi = b.others.lo[from], b.others.hi[from]
		}
		switch {
		case hi < count:
			x = b.tree.nodes[x.less]
		case lo >= count:
			x = b.tree.nodes[x.more]
		default:
			return 0, from, count
		}
	}
	return x.less, 0, 0
}

// divide walks on from position p in both halves of the box of the others, that with fewer than count at a depth and that with count or more.
func (b *builder) divide(depth int, count int32, p int, next int32) {
	o, at, d := &b.others, b.at, int32(depth)
	lo, hi := o.lo[d], o.hi[d]
	less, more := b.byOthers.split(at, d, count)
	if o.below(d, count); o.holds(b.n - 1) {
		b.at = less
		b.walk(p, next)
	}
	o.below(d, hi+1)
	if o.from(d, count); o.holds(b.n - 1) {
		b.at = more
		b.walk(p, next)
	}
	o.from(d, lo)
	b.at = at
}
