//go:build slow

package ratiomap

import (
	"testing"
)

// TestWholeMapAgain proves every bound of the two maps of testdata anew: minutes.
func TestWholeMapAgain(t *testing.T) {
	for _, name := range []string{"map.csv", "map-full.csv"} {
		table, _ := mapTable(t, name)
		for _, rows := range table {
			again(t, rows)
		}
	}
}
