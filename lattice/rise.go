package lattice

import "iter"

// Rises yields the ways in which the candidates of each of some classes rise by 0 to most steps, for most >= 1: up[i][t] of class i rise by t. Nobody does at
// first, and the first class changes fastest. The slices are reused.
func Rises(classes []int32, most int) iter.Seq[[][]int32] {
	return func(yield func(up [][]int32) bool) {
		up := make([][]int32, len(classes))
		for i, count := range classes {
			up[i] = make([]int32, most+1)
			up[i][0] = count
		}
		for yield(up) {
			i := 0
			for i < len(up) && !advance(up[i]) {
				up[i][0], up[i][most] = up[i][most], 0
				i++
			}
			if i == len(up) {
				return
			}
		}
	}
}

// advance makes up the next list with its sum in colexicographic order, and reports false at the last, where all stands at the end.
func advance(up []int32) bool {
	for t, count := range up[:len(up)-1] {
		if count > 0 {
			up[t] = 0
			up[t+1]++
			up[0] = count - 1
			return true
		}
	}
	return false
}
