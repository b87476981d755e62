package lumped

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"optratio/lattice"
)

// program is the lumped program of Q(n,k): its classes, and the suffixes of the sequences in which chains visit them.
//
// A chain fixes the n-1 other candidates and lets one sink. Its positions, from the deep end: the candidate at
// depths k, k-1, …, 0 among the others as they are, then at depth 0 with all others 1, 2, … steps further down, as
// far as k permits. Chains whose others are of one class visit the same classes.
type program struct {
	n, k      int
	partition Partition
	objective lattice.Objective
	classes   []Class
	weight    []*big.Int // N(class): number of score vectors of Q(n,k) in it
	// Suffix i is one position, of class visit[i] with the sinking candidate at depth[i], followed by suffix next[i]
	// (< i, or -1 after the deep end).
	visit, depth, next []int32
	// shapes lists the classes of the n-1 others with their chains: the whole sequence, a suffix number, and the
	// chains' weight n Σ N(others), which is that of u against x at every position.
	shapes []shape
}

type shape struct {
	others   Class
	sequence int32
	weight   *big.Int
}

// build lists the classes and sequences of Q(n,k), n >= 2, at most limit classes where limit is not 0, and no more than fit so many bytes
// of memory where that is not 0.
func build(ctx context.Context, n, k int, p Partition, objective lattice.Objective, limit int, memory int64) (*program, error) {
	b := &builder{
		program:  program{n: n, k: k, partition: p, objective: objective},
		ctx:      ctx,
		limit:    limit,
		memory:   memory,
		ids:      map[string]int32{},
		suffixes: map[suffix]int32{},
		shape:    make([]int, k+1),
		moved:    make([]int, k+1),
		scratch:  Class{Counts: make([]int, k+1)},
	}
	b.walk()
	if b.err != nil {
		return nil, b.err
	}
	w := newWeights(p, n)
	b.weight = make([]*big.Int, len(b.classes))
	for i := range b.classes {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.weight[i] = w.of(&b.classes[i])
	}
	w = newWeights(p, n-1)
	for i := range b.program.shapes {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s := &b.program.shapes[i]
		s.weight = w.of(&s.others)
		s.weight.Mul(s.weight, big.NewInt(int64(n)))
	}
	return &b.program, nil
}

// factor returns W(m)/N(m) for the vectors of a class.
func (p *program) factor(class int32) int {
	if p.objective == lattice.Box {
		return p.k - p.classes[class].Deepest + 1
	}
	return 1
}

// cost returns the objective's coefficient of u at suffix i: factor times depth.
func (p *program) cost(i int) int { return p.factor(p.visit[i]) * int(p.depth[i]) }

// first reports whether suffix i is a whole sequence: the candidate is at depth 0 and the others can sink no further.
func (p *program) first(i int) bool {
	return p.depth[i] == 0 && p.classes[p.visit[i]].Deepest == p.k
}

type suffix struct{ class, depth, next int32 }

type builder struct {
	program
	ctx      context.Context
	limit    int
	memory   int64 // what is left of it, where it is limited
	err      error
	ids      map[string]int32
	suffixes map[suffix]int32
	shape    []int // what is known of the others
	moved    []int
	scratch  Class
	buf      []byte
}

// What the parts of a program take in memory, in bytes: a class and a shape for each depth, a suffix, and a position of the chain form, which lists
// sequences in full.
const (
	bytesPerCount    = 24
	bytesPerSuffix   = 100
	bytesPerPosition = 80
)

// spend takes bytes from the memory that is left.
func (b *builder) spend(bytes int) {
	if b.memory == 0 || b.err != nil {
		return
	}
	if b.memory -= int64(bytes); b.memory <= 0 {
		b.memory = -1
		b.err = fmt.Errorf("%w of (%v): more than fit the memory allowed", ErrTooMany, b.partition)
	}
}

// stopped reports whether there is no use in going on.
func (b *builder) stopped() bool {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	return b.err != nil
}

// walk visits every class of n-1 candidates with at least one at depth 0: start and deepest first, then the known counts.
func (b *builder) walk() {
	if b.n == 2 {
		b.shape[0] = 1
		b.chain(0)
		return
	}
	for start := range b.k + 1 {
		for deepest := start; deepest <= b.k; deepest++ {
			if b.stopped() {
				return
			}
			for v := range b.shape {
				switch {
				case v == 0 && start > 0:
					b.shape[v] = 1
				case v > 0 && v < start || v > deepest:
					b.shape[v] = 0
				default:
					b.shape[v] = Unknown
				}
			}
			left := b.n - 1
			if start > 0 {
				left--
			}
			b.counts(start, start, deepest, left)
		}
	}
}

// counts fills in the known depths from v on, of at most left candidates.
func (b *builder) counts(v, start, deepest, left int) {
	if b.err != nil {
		return
	}
	if v > deepest {
		if !b.partition.empty(&Class{b.shape, deepest}, b.n-1) {
			b.chain(deepest)
		}
		return
	}
	if v >= start+b.partition.Top && v <= deepest-b.partition.Bottom {
		b.counts(v+1, start, deepest, left)
		return
	}
	least := 0
	if v == start || v == deepest {
		least = 1
	}
	if v == 0 {
		least = 2
	}
	for c := least; c <= b.partition.cut(left); c++ {
		b.shape[v] = c
		b.counts(v+1, start, deepest, left-c)
	}
	b.shape[v] = Unknown
}

// chain enters the sequence that chains visit whose others are known as b.shape says, none deeper than deepest.
func (b *builder) chain(deepest int) {
	next := int32(-1)
	b.spend(bytesPerCount*len(b.shape) + bytesPerPosition*(2*b.k-deepest+1))
	for v := b.k; v >= 0 && !b.stopped(); v-- {
		copy(b.moved, b.shape)
		if b.moved[v] != Unknown {
			b.moved[v]++
		}
		next = b.position(v, next)
	}
	for gap := 1; gap <= b.k-deepest && !b.stopped(); gap++ {
		clear(b.moved)
		b.moved[0] = 1
		copy(b.moved[gap:], b.shape[:deepest+1])
		next = b.position(0, next)
	}
	b.shapes = append(b.shapes, shape{others: Class{slices.Clone(b.shape), deepest}, sequence: next})
}

// position enters the position whose vectors are known as b.moved says, the candidate being at the given depth.
func (b *builder) position(depth int, next int32) int32 {
	b.partition.of(b.moved, &b.scratch)
	b.buf = b.scratch.key(b.buf)
	id, ok := b.ids[string(b.buf)]
	if !ok {
		id = int32(len(b.classes))
		if b.limit > 0 && len(b.classes) == b.limit && b.err == nil {
			b.err = fmt.Errorf("%w: more than %d of (%v)", ErrTooMany, b.limit, b.partition)
		}
		b.spend(bytesPerCount * len(b.shape))
		b.ids[string(b.buf)] = id
		b.classes = append(b.classes, b.scratch.clone())
	}
	s := suffix{id, int32(depth), next}
	i, ok := b.suffixes[s]
	if !ok {
		b.spend(bytesPerSuffix)
		i = int32(len(b.visit))
		b.suffixes[s] = i
		b.visit = append(b.visit, id)
		b.depth = append(b.depth, int32(depth))
		b.next = append(b.next, next)
	}
	return i
}
