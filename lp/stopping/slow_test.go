//go:build slow

package stopping

func init() { largestRow = 1000 }
