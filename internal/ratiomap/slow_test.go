//go:build slow

package ratiomap

import (
	"testing"
)

// TestWholeMapAgain proves every bound of testdata/map.csv anew: minutes.
func TestWholeMapAgain(t *testing.T) {
	table, _ := mapTable(t)
	for _, rows := range table {
		again(t, rows)
	}
}
