package lumped

import "slices"

// Tree is a partition of the count vectors of Q(n,k) into classes, written as a decision tree: an inner node asks whether fewer than some number
// of candidates are at some depth, and the leaves are the classes. So a class is a range of counts for each depth.
type Tree struct{ nodes []node }

// node is a question or, where count is 0, a leaf.
type node struct {
	depth, count int32
	less, more   int32 // the nodes for fewer than count candidates and for count or more; at a leaf less is its number
}

// newTree returns the tree without questions.
func newTree() *Tree { return &Tree{nodes: make([]node, 1)} }

func (t *Tree) clone() *Tree { return &Tree{slices.Clone(t.nodes)} }

// Classes returns the number of leaves.
func (t *Tree) Classes() int { return (len(t.nodes) + 1) / 2 }

// split makes the leaf at a node a question. What has fewer than count candidates at depth keeps its number, the rest gets the next one.
func (t *Tree) split(at, depth, count int32) (less, more int32) {
	less = int32(len(t.nodes))
	t.nodes = append(t.nodes, node{less: t.nodes[at].less}, node{less: int32(t.Classes())})
	t.nodes[at] = node{depth, count, less, less + 1}
	return less, less + 1
}

// Visit calls ask for every question and class with the number of every class, in preorder: after a question comes what is below its
// answer "fewer", then what is below the other.
func (t *Tree) Visit(ask func(depth, count int), class func(number int)) {
	for todo := []int32{0}; len(todo) > 0; {
		x := t.nodes[todo[len(todo)-1]]
		todo = todo[:len(todo)-1]
		if x.count == 0 {
			class(int(x.less))
			continue
		}
		ask(int(x.depth), int(x.count))
		todo = append(todo, x.more, x.less)
	}
}

// Of returns the class of a count vector.
func (t *Tree) Of(m []int) int {
	x := t.nodes[0]
	for x.count > 0 {
		if m[x.depth] < int(x.count) {
			x = t.nodes[x.less]
		} else {
			x = t.nodes[x.more]
		}
	}
	return int(x.less)
}

// box is a set of count vectors of a number of candidates: those with lo[v] to hi[v] of them at each depth v.
type box struct {
	lo, hi      []int32
	least, most int // Σ lo, Σ hi
}

// newBox returns the box of all count vectors of n candidates with at least one at depth 0.
func newBox(n, k int) box {
	b := box{lo: make([]int32, k+1), hi: make([]int32, k+1), least: 1, most: n + k*(n-1)}
	for v := range b.hi {
		b.hi[v] = int32(n - 1)
	}
	b.lo[0], b.hi[0] = 1, int32(n)
	return b
}

func (b *box) clone() box { return box{slices.Clone(b.lo), slices.Clone(b.hi), b.least, b.most} }

// below takes away what has count candidates or more at a depth, and from takes away the rest.
func (b *box) below(depth, count int32) {
	b.most += int(count - 1 - b.hi[depth])
	b.hi[depth] = count - 1
}

func (b *box) from(depth, count int32) {
	b.least += int(count - b.lo[depth])
	b.lo[depth] = count
}

// holds reports whether the box has count vectors of n candidates.
func (b *box) holds(n int) bool { return b.least <= n && n <= b.most }

// any returns a count vector of n candidates in a box that has some.
func (b *box) any(n int) []int {
	m, left := make([]int, len(b.lo)), n-b.least
	for v, lo := range b.lo {
		more := min(left, int(b.hi[v]-lo))
		m[v] = int(lo) + more
		left -= more
	}
	return m
}
