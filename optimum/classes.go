package optimum

// classes are disjoint sets of numbers; each is represented by its least member.
type classes []int

func newClasses(n int) classes {
	c := make(classes, n)
	for i := range c {
		c[i] = i
	}
	return c
}

func (c classes) find(i int) int {
	for c[i] != i {
		c[i] = c[c[i]]
		i = c[i]
	}
	return i
}

func (c classes) join(i, j int) {
	i, j = c.find(i), c.find(j)
	c[max(i, j)] = min(i, j)
}

// symmetry is a permutation of inputs and one of outputs: input x goes to inputs[x], output o to outputs[o].
type symmetry struct{ inputs, outputs []int }
