//go:build slow

package lp

func init() { largestLattice = 1 << 20 }
