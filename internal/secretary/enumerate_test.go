package secretary

import (
	"math/big"
)

// permutations calls visit with every order of 1..n; visit must not keep the slice.
func permutations(n int, visit func([]int)) {
	p := make([]int, n)
	for i := range p {
		p[i] = i + 1
	}
	var walk func(k int)
	walk = func(k int) {
		if k == n {
			visit(p)
			return
		}
		for i := k; i < n; i++ {
			p[k], p[i] = p[i], p[k]
			walk(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	walk(0)
}

// enumerated is the oracle for outcome laws: it plays every arrival order.
// stopTimes returns the probability of stopping at each time.
func enumerated(n int, stopTimes func(arrivals []int) []*big.Rat) []*big.Rat {
	law := make([]*big.Rat, n)
	for k := range law {
		law[k] = new(big.Rat)
	}
	orders := int64(0)
	permutations(n, func(arrivals []int) {
		orders++
		for i, p := range stopTimes(arrivals) {
			law[arrivals[i]-1].Add(law[arrivals[i]-1], p)
		}
	})
	for k := range law {
		law[k].Quo(law[k], big.NewRat(orders, 1))
	}
	return law
}

// playThreshold is the secretary rule from its definition, without any of the package's code.
func playThreshold(t int, arrivals []int) int {
	best := len(arrivals) + 1
	for i, a := range arrivals {
		if a < best {
			best = a
			if i+1 >= t {
				return i
			}
		}
	}
	return len(arrivals) - 1
}

func enumeratedThreshold(n, t int) []*big.Rat {
	return enumerated(n, func(arrivals []int) []*big.Rat {
		times := make([]*big.Rat, n)
		for i := range times {
			times[i] = new(big.Rat)
		}
		times[playThreshold(t, arrivals)].SetInt64(1)
		return times
	})
}
