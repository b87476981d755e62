package lumped

import (
	"cmp"
	"container/heap"
	"math"
)

// question is one that would divide a class.
type question struct {
	class        int
	depth, count int32
	promise      float64
}

// queue is a heap of questions with the most promising one in front.
type queue []question

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[j].promise, q[i].promise), cmp.Compare(q[i].class, q[j].class)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(question)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// refinement is a tree that grows by one question at a time, always the most promising one.
type refinement struct {
	n       int
	z       float64
	near    bool // see newRefinement
	tree    *Tree
	classes []box
	leaf    []int32 // of each class
	weights *weights
	total   scaled
	queue   queue
}

// Where there are crowded candidates or more for each depth, permute-and-flip is nearly optimal. What its optimality depends on most is
// how many share the best score or, where one has it alone, the second best.
const (
	crowded    = 3
	nearCount  = 12
	nearNumber = 4000
)

// newRefinement starts with the two classes that permute-and-flip tells apart: whether the best score is shared. On crowded lattices it goes on with
// what counts below nearCount are at start, and what the deepest depth is, into at most nearNumber classes.
func newRefinement(n, k int, z float64, most int) *refinement {
	r := &refinement{n: n, z: z, tree: newTree(), classes: []box{newBox(n, k)}, leaf: []int32{0}, weights: newWeights(n)}
	r.total = scale(r.weights.of(&r.classes[0]))
	r.near = n >= crowded*(k+1)
	r.ask(question{depth: 0, count: 2})
	if r.near {
		r.grow(min(nearNumber, most))
		r.near, r.queue = false, nil
		for c := range r.classes {
			r.consider(c)
		}
	}
	return r
}

// grow asks questions until there are so many classes, and reports whether there were any left to ask.
func (r *refinement) grow(classes int) bool {
	before := len(r.classes)
	for len(r.queue) > 0 && len(r.classes) < classes {
		r.ask(heap.Pop(&r.queue).(question))
	}
	return len(r.classes) > before
}

func (r *refinement) ask(q question) {
	less, more := r.tree.split(r.leaf[q.class], q.depth, q.count)
	other := r.classes[q.class].clone()
	r.classes[q.class].below(q.depth, q.count)
	other.from(q.depth, q.count)
	r.leaf[q.class] = less
	r.leaf, r.classes = append(r.leaf, more), append(r.classes, other)
	r.consider(q.class)
	r.consider(len(r.classes) - 1)
}

// consider queues the best question about a class, if there is one.
func (r *refinement) consider(class int) {
	if best := r.best(class); best.promise > 0 {
		heap.Push(&r.queue, best)
	}
}

// Of the promise of a question: how it grows with the weight of its class, less than in proportion, as light classes have the extreme multipliers; and
// what it loses where it is about counts below the second best depth while that is not known.
const (
	sizePower   = 0.3
	gapDiscount = 0.5
)

// best returns the most promising question about a class of weight W. If a share s of it answers "fewer", and the multipliers of both parts differ by d,
// one multiplier for all is off by s(1-s) d² in the mean square. How much a count at depth v matters to permute-and-flip, and so to y, falls like z^(v-start),
// where start is 0 if the best score is shared and else the second best depth; the deepest depth, which says how far the others can sink,
// counts like start. And the c-th candidate at a depth matters the less the larger c is. So for the question whether there are fewer than c the promise is
//
//	W^sizePower s(1-s) z^(2(v-start)) / c.
func (r *refinement) best(class int) question {
	b := &r.classes[class]
	deepest := len(b.hi) - 1
	for deepest > 0 && b.hi[deepest] == 0 {
		deepest--
	}
	start := 0
	if b.lo[0] < 2 {
		for start = 1; start < deepest && b.hi[start] == 0; start++ {
		}
	}
	weight := math.Pow(scale(r.weights.of(b)).over(r.total), sizePower)
	x := question{class: class}
	r.weights.tails(b, func(v int, shares []float64) {
		matters := math.Pow(r.z, 2*math.Abs(float64(v-start)))
		if v > start && start > 0 && b.lo[start] == 0 {
			matters *= gapDiscount
		}
		for j, share := range shares {
			count := b.lo[v] + 1 + int32(j)
			promise := weight * share * (1 - share) / float64(count)
			switch {
			case v == deepest && count == 1:
			case r.near && (v != start || count > nearCount):
				return
			default:
				promise *= matters
			}
			both := b.most-int(b.hi[v]-count+1) >= r.n && b.least+j+1 <= r.n // what rounding of the share leaves open
			if both && promise > x.promise {
				x.depth, x.count, x.promise = int32(v), count, promise
			}
		}
	})
	return x
}
